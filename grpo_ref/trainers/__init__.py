"""The trainers' dialects: their own keys and defaults give the recipe that each one computes.

Each trainer has a folder that owns all that is known of it: its keys and what they do (`keys.py`), how they
become a recipe (`__init__.py`, with the `DIALECT`), its traps (`traps.py`), what it alone does (`quirks.py`)
and numbers that were recorded from it (`recorded.json`). Only `__init__.py` is needed.

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

import lazy_loader

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.trainers.dialect import Dialect

TRAINERS = (
    *("trl", "verl", "open_instruct", "rlinf", "openrlhf", "nemo_rl", "slime", "easy_r1", "skyrl"),
    *("prime_rl", "areal", "ms_swift", "roll", "understand_r1_zero", "torchtune", "tunix"),
)
"""The folders, in the order in which they are shown; each one's name is that of its dialect."""


def _dialect(name: str) -> "Dialect":
    """`DIALECT` of a trainer's folder."""
    dialect: Dialect = importlib.import_module(f"{__name__}.{name}").DIALECT
    return dialect


DIALECTS: "LazyListing[Dialect]" = LazyListing("dialect", TRAINERS, _dialect)
"""Every dialect by name; its folder is imported when it is looked up."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
