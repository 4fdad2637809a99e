"""The trainers: each trainer's keys and defaults, and the recipe that it computes from them.

Each trainer has its own folder: the names, groups and defaults of its keys (`keys.py`), the meaning of
the keys as a recipe (`objective.py`, with the `DIALECT`), its traps (`traps.py`), and its own kernels (`kernels.py`).
`common/` has what several trainers share. Only a `DIALECT` in `__init__.py` is required.
"""

import importlib
from typing import TYPE_CHECKING

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.explain.dialect import Dialect, Program

TRAINERS = (
    *("trl", "unsloth", "verl", "open_instruct", "rlinf", "openrlhf", "nemo_rl", "slime", "miles", "easy_r1"),
    *("skyrl", "prime_rl", "areal", "ms_swift", "roll", "understand_r1_zero", "torchtune", "tunix"),
    *("tinker", "trinity", "liger"),
)
"""The folders, in the order in which they are listed. The name of a folder is the name of its dialect."""


def _dialect(name: str) -> "Dialect":
    """Return the `DIALECT` of a trainer's folder."""
    dialect: Dialect = importlib.import_module(f"{__name__}.{name}").DIALECT
    return dialect


DIALECTS: "LazyListing[Dialect]" = LazyListing("dialect", TRAINERS, _dialect)
"""Every dialect by name. Its folder is imported at the first look-up."""


def _program(name: str) -> "Program":
    """Return the ways to start a trainer, from its `keys.toml` alone."""
    from grpo_ref.explain.dialect_files import (
        read_program,  # this package is imported by everything that reads it
    )

    return read_program(f"{__name__}.{name}")


PROGRAMS: "LazyListing[Program]" = LazyListing("program", TRAINERS, _program)
"""The ways to start each trainer, by its name. No trainer's modules are imported."""
