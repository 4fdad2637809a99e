"""Wrong answers to `training/train_bandit`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, arms
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.training.train_bandit.tests import NORMALIZED, of, reference
from grpo_ref.learning.policies.table import policy_of


def _on_the_bound(probs, uniforms):
    """Choose an arm if its cumulative probability is at least the number."""
    return arms(probs, np.nextafter(uniforms, -1.0))


WRONG = (
    Mutant(
        "downhill",
        of(replace(NORMALIZED, direction=-1.0)),
        "The sign is turned over: it learns the worst arm.",
    ),
    Mutant(
        "no baseline",
        of(replace(NORMALIZED, advantage=raw_rewards)),
        "The rewards are used as they are; the mean of the group is to be taken off.",
    ),
    Mutant("centered only", of(RIGHT), "The advantages are not divided by the std."),
    Mutant(
        "greedy",
        of(replace(NORMALIZED, walk=stages.greedy)),
        "It pulls the likeliest arm each time and never explores.",
    ),
    Mutant(
        "pulls lost",
        of(replace(NORMALIZED, back=stages.repeats_lost)),
        "`gradient[arms] += x` writes a repeated arm once.",
    ),
    Mutant(
        "drawn on the bound",
        of(replace(NORMALIZED, walk=_on_the_bound)),
        "A number equal to a cumulative probability belongs to the next arm: larger, not at least.",
    ),
    Mutant(
        "sum for mean",
        of(replace(NORMALIZED, weight=token_sum)),
        "The sum over the group is not divided by G.",
    ),
    Mutant(
        "the same numbers in every update",
        lambda p, u, lr=2.0: reference(p, np.broadcast_to(np.asarray(u)[:1], np.shape(u)), lr),
        "Each update has its own random numbers.",
    ),
    Mutant(
        "the first payoffs in every update",
        lambda p, u, lr=2.0: reference(np.broadcast_to(np.asarray(p)[:1], np.shape(p)), u, lr),
        "Each update has its own payoffs.",
    ),
    Mutant(
        "the last update only",
        lambda p, u, lr=2.0: reference(np.asarray(p)[-1:], np.asarray(u)[-1:], lr),
        "The logits are carried from one update to the next.",
    ),
    Mutant(
        "probabilities returned",
        lambda p, u, lr=2.0: policy_of(reference(p, u, lr)).probs,
        "The logits are asked for.",
    ),
)
