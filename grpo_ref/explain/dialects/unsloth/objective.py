"""The objective of Unsloth: TRL's, after the settings that Unsloth overrides, with its own average."""

from dataclasses import replace
from typing import Any

from grpo_ref.explain.dialect import Averages, Dialect, Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.trl.keys import WINDOW_LOSSES
from grpo_ref.explain.dialects.trl.objective import DIALECT as TRL
from grpo_ref.explain.dialects.unsloth.overrides import has_a_chunk_per_completion, overridden
from grpo_ref.explain.dialects.unsloth.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.penalties import k3
from grpo_ref.recipes import Recipe, slot

LONGEST_MONTH = 31


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


def _build(s: Settings) -> Recipe:
    recipe = replace(TRL.objective.build(overridden(s)), source=DIALECT.version)
    if s.limits_penalty and recipe.penalty == slot(k3):
        # The importance-weighted penalty has the same limits, which no kernel here has. They act beyond 10 nats.
        return replace(recipe, penalty=slot(k3, max_log_ratio=20.0, max_value=10.0))
    return recipe


def _averages(s: Settings) -> Averages:
    """Return the set over which Unsloth averages: until September 2026 chunks of a micro-batch, and then micro-batches."""
    over = TRL.objective.averages(overridden(s))
    if not s.averages_chunks or s.unsloth_num_chunks == 1:
        return over
    is_single = has_a_chunk_per_completion(s)
    if overridden(s).loss_type in WINDOW_LOSSES:
        number = (
            "completions of a micro-batch"
            if is_single
            else f"chunks of a micro-batch ({s.unsloth_num_chunks})"
        )
        return Averages(f"{over.text}, and divided once more by the number of {number}")
    chunk = "each completion" if is_single else f"each of the {s.unsloth_num_chunks} chunks"
    return Averages(f"{chunk} of {over.text}")


def _by_wheel(dialect: Dialect) -> Dialect:
    """Return the dialect with the numbers of wheels as other names of months: 2025.8.9 is of August 2025.

    The wheel 2026.9.1 still is as in August.
    """
    wheels = {
        f"{int(year)}.{int(month)}.{number}": release
        for release in dialect.history.releases
        for year, month in [release.split("-")]
        for number in range(1, LONGEST_MONTH + 1)
    }
    return replace(dialect, history=replace(dialect.history, aliases={**wheels, "2026.9.1": "2026-08"}))


DIALECT = _by_wheel(
    dialect_of(
        __package__,
        Objective(
            build=_build,
            check_run=lambda s: TRL.objective.check_run(overridden(s)),
            averages=_averages,
            phrases=TRL.objective.phrases,
            forms=TRL.objective.forms,
        ),
        TRAPS,
    )
)
