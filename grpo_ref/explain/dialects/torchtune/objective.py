"""The objective of torchtune: the meaning of its keys, and the recipe that they give."""

from typing import Any

from grpo_ref.advantages import group_normalized
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.torchtune.kernels import at_ratio_one, batch_sum_level, k3_of_the_batch
from grpo_ref.explain.dialects.torchtune.keys import (
    BATCH,
    LINEAR,
    SIMPLE,
    TOKEN,
    component,
)
from grpo_ref.explain.dialects.torchtune.phrases import PHRASES
from grpo_ref.explain.dialects.torchtune.refusals import check
from grpo_ref.explain.dialects.torchtune.traps import TRAPS
from grpo_ref.explain.groups_of_one import without_a_sibling
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups
from grpo_ref.levels import sequence_sum_level, token_level
from grpo_ref.penalties import k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import clipped, reinforce, two_sided_clipped

AGGREGATES = {
    SIMPLE: slot(sequence_mean_token_mean),
    TOKEN: slot(token_mean),
    BATCH: slot(sequence_mean_token_mean),
    LINEAR: slot(sequence_mean_token_mean),
}
"""Averages. torchtune adds 1e-8 to token counts, which has no effect: they are whole numbers, summed in float32."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that torchtune computes.

    Args:
      config: the keys of its YAML files, in groups or not, for either of its two programs.

    Raises:
      ValueError: if a key is unknown, or if torchtune would refuse a value.

    >>> print(recipe(loss="torchtune.dev.grpo.loss.GRPOLoss").surrogate)
    clipped(clip_low=0.1, clip_high=0.1)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings = s
    check(settings, AGGREGATES)
    loss = component(settings)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=slot(without_a_sibling)
        if s.grpo_samples == 1
        else slot(group_normalized, ddof=1, eps=1e-4),
        level=batch_sum_level if loss == BATCH else token_level,
        surrogate=_surrogate(loss, settings["loss.epsilon"]),
        penalty=slot(k3_of_the_batch if loss == BATCH else k3),
        kl_coef=settings["loss.kl_coeff"],
        aggregate=AGGREGATES[loss],
        source=DIALECT.version,
    )


def _surrogate(loss: str, width: float) -> Slot:
    if loss not in (TOKEN, BATCH):
        return slot(at_ratio_one)
    if width < 0.0:
        return slot(clipped_as_given, clip_low=width, clip_high=width)
    return slot(clipped, clip_low=min(width, NO_CLIP_LOW), clip_high=width)


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        # torchtune accumulates no gradients: a micro-batch is the whole batch of a rank.
        averages=lambda s: Averages("each rank's whole batch, and then over ranks", over="micro-batch"),
        phrases=PHRASES,
        forms={
            at_ratio_one: reinforce,
            batch_sum_level: sequence_sum_level,
            k3_of_the_batch: k3,
            clipped_as_given: two_sided_clipped,
            without_a_sibling: group_normalized,
        },
    ),
    TRAPS,
)
