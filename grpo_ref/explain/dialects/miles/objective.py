"""The objective of miles: that of slime, with its own names of functions and without cispo."""

from dataclasses import replace
from typing import Any

from grpo_ref.explain.dialect import Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.miles.functions import as_in_slime
from grpo_ref.explain.dialects.miles.traps import TRAPS
from grpo_ref.explain.dialects.slime.objective import DIALECT as SLIME
from grpo_ref.explain.settings import Settings
from grpo_ref.recipes import Recipe


def recipe(**config: Any) -> Recipe:
    """Return the recipe that miles computes.

    Args:
      config: flags of `train.py`, with underscores or hyphens. miles's own default of n_samples_per_prompt is 1, here
        it is 8.

    Raises:
      ValueError: if a key is unknown, if miles would refuse a value, or if no recipe here can express it.

    >>> print(recipe(eps_clip_c=3.0).surrogate)
    dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    return replace(SLIME.objective.build(as_in_slime(s)), source=DIALECT.version)


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=lambda s: SLIME.objective.check_run(as_in_slime(s)),
        averages=lambda s: SLIME.objective.averages(as_in_slime(s)),
        phrases=SLIME.objective.phrases,
        forms=SLIME.objective.forms,
    ),
    TRAPS,
)
