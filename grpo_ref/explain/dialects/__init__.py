"""The trainers: each one's keys and defaults, and the recipe that it computes from them.

Each trainer has a folder of its own: its keys and what they do (`keys.py`), how they become a recipe
(`__init__.py`, with the `DIALECT`), its traps (`traps.py`), its own kernels (`quirks.py`) and numbers that were
recorded from it (`recorded.json`). Only `__init__.py` is needed.
"""

import importlib
from typing import TYPE_CHECKING

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.explain.dialect import Dialect

TRAINERS = (
    *("trl", "verl", "open_instruct", "rlinf", "openrlhf", "nemo_rl", "slime", "easy_r1", "skyrl"),
    *("prime_rl", "areal", "ms_swift", "roll", "understand_r1_zero", "torchtune", "tunix"),
)
"""The folders, in the order in which they are listed; the name of a folder is that of its dialect."""


def _dialect(name: str) -> "Dialect":
    """`DIALECT` of a trainer's folder."""
    dialect: Dialect = importlib.import_module(f"{__name__}.{name}").DIALECT
    return dialect


DIALECTS: "LazyListing[Dialect]" = LazyListing("dialect", TRAINERS, _dialect)
"""Every dialect by name; its folder is imported when it is looked up."""
