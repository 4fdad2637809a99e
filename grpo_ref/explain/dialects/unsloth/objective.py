"""The objective of Unsloth: TRL's, after the settings that Unsloth overrides."""

from dataclasses import replace
from typing import Any

from grpo_ref.explain.dialect import Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.trl.objective import DIALECT as TRL
from grpo_ref.explain.dialects.unsloth.overrides import overridden
from grpo_ref.explain.dialects.unsloth.traps import TRAPS
from grpo_ref.recipes import Recipe


def recipe(**config: Any) -> Recipe:
    """Return the recipe that Unsloth computes.

    Args:
      config: keys of `GRPOConfig`.

    Raises:
      ValueError: if a key is unknown, or if TRL would refuse a value.

    >>> print(recipe(loss_type="dapo").surrogate)
    clipped(clip_low=0.2, clip_high=0.28)
    """
    return DIALECT.recipe(**config)


DIALECT = dialect_of(
    __package__,
    Objective(
        build=lambda s: replace(TRL.objective.build(overridden(s)), source=DIALECT.version),
        check_run=lambda s: TRL.objective.check_run(overridden(s)),
        mean=lambda s: TRL.objective.mean(overridden(s)),
        phrases=TRL.objective.phrases,
        forms=TRL.objective.forms,
    ),
    TRAPS,
)
