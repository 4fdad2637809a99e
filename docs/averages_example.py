"""The example of docs/averages.md: one batch of short and long completions, averaged by each trainer.

    prompt 1    a right completion of 10 tokens, a wrong one of 10 tokens
    prompt 2    a right completion of 10 tokens, a wrong one of 1,000 tokens

Each prompt has one right and one wrong completion, so all four advantages have the same size. The weights
alone decide how much each completion moves the policy.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grpo_ref import DAPO, DR_GRPO, GRPO, explain
from grpo_ref.aggregation import group_token_mean
from grpo_ref.arrays import Floats
from grpo_ref.explain import effective_weights
from grpo_ref.recipes import Recipe, slot

LENGTHS = np.array([[10, 10], [10, 1000]])
MASK = np.arange(1000) < LENGTHS[..., None]
"""(2, 2, 1000) true on completion tokens."""

PAPERS: dict[str, Recipe] = {
    "GRPO, eq. 3": GRPO,
    "DAPO, eq. 8": replace(DAPO, aggregate=slot(group_token_mean)),
    "Dr. GRPO": DR_GRPO,
}
"""The averages that the papers print. They have no micro-batches."""


class Configuration(NamedTuple):
    """The name of a trainer, the settings that differ from its defaults, and its release."""

    trainer: str
    settings: tuple[str, ...] = ()
    version: str = ""


CONFIGURATIONS = (
    Configuration("trl"),
    Configuration("trl", ("loss_type=grpo",)),
    Configuration("trl", ("loss_type=bnpo",)),
    Configuration("trl", ("loss_type=dr_grpo",)),
    Configuration("unsloth"),
    Configuration("ms_swift"),
    Configuration("ms_swift", ("loss_type=bnpo",)),
    Configuration("ms_swift", ("loss_type=dapo",)),
    Configuration("verl"),
    Configuration("verl", ("loss_agg_mode=seq-mean-token-mean",)),
    Configuration("verl", ("loss_agg_mode=seq-mean-token-sum-norm",)),
    Configuration("verl", version="0.7.1"),
    Configuration("easy_r1"),
    Configuration("easy_r1", ("loss_avg_mode=seq",)),
    Configuration("openrlhf"),
    Configuration("openrlhf", ("actor.loss_agg_mode=seq-mean-token-mean",)),
    Configuration("nemo_rl"),
    Configuration("nemo_rl", ("token_level_loss=False",)),
    Configuration("skyrl"),
    Configuration("skyrl", ("loss_reduction=sequence_mean",)),
    Configuration("skyrl", ("loss_reduction=prompt_mean",)),
    Configuration("slime"),
    Configuration("slime", ("calculate_per_token_loss=True",)),
    Configuration("miles"),
    Configuration("rlinf"),
    Configuration("rlinf", ("use_valid_token_scale=True",)),
    Configuration("roll"),
    Configuration("roll", ("loss_agg_mode=token-mean",)),
    Configuration("open_instruct"),
    Configuration("open_instruct", version="2025.11"),
    Configuration("prime_rl"),
    Configuration("areal"),
    Configuration("tunix"),
    Configuration("torchtune"),
    Configuration("trinity"),
    Configuration("tinker"),
    Configuration("understand_r1_zero"),
)
"""The default configuration of each trainer, and common alternatives."""


def weights(configuration: Configuration, micro_batches: int) -> Floats:
    """Return the (2, 2, 1000) weights of the tokens."""
    trainer, settings, version = configuration
    report = explain(*settings, trainer=trainer, version=version)
    return effective_weights(report, MASK, micro_batches=micro_batches)


def shares(weights: Floats) -> Floats:
    """Return the share of each completion in the sum of all weights, (4,)."""
    of_completions: Floats = weights.sum(axis=-1).ravel()
    share: Floats = of_completions / of_completions.sum()
    return share
