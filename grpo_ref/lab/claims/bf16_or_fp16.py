"""Claim: a sampler in bfloat16 differs from the learner and harms training, and float16 removes both."""

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.low_precision import BITS, Pair, pair
from grpo_ref.lab.framework.network import SUMS, sums
from grpo_ref.lab.framework.tasks.digit_sums import labelled_answers
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import Visited, pull_back
from grpo_ref.learning.rollout import draw

COPIES, UPDATES, PROMPTS, GROUP = 5, 60, 16, 8
"""Prompts of each question; batches, prompts of each, and completions per prompt."""
RATE = 0.003
"""The learning rate at which the mismatch is compared."""


def train_with_sampler(*, precision: str, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train on completions of a sampler in low precision, with the plain policy gradient.

    Args:
      precision: number format of the sampler, a key of `BITS`.
      learning_rate: step size.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
    """
    task, policy = sums(seed, COPIES)
    answers, asked = labelled_answers(task)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    params, optimizer = policy.start(task, seeds), Adam(learning_rate)
    state, correct, mismatch = optimizer.init(params), [], []
    for _ in range(UPDATES):
        duo: Pair = pair(policy.at(params, 1.0), BITS[precision])
        batch = draw(task, duo.sampler, generators, prompts=PROMPTS, group_size=GROUP)
        learner, sampler = (one.visit(task, batch.prompts, batch.states, batch.tokens) for one in duo)
        mismatch.append(divergence(sampler, learner, batch.mask))

        # The learner's chance to give the labelled answer, before the step.
        tokens = answers[batch.prompts][:, :, None]
        right = duo.learner.visit(task, batch.prompts, tokens, tokens).log_probs
        correct.append(np.exp((right * asked[batch.prompts][:, :, None]).sum(-1)).mean((-2, -1)))

        advantages = batch.rewards - batch.rewards.mean(-1, keepdims=True)
        pushes = -advantages[..., None] * batch.mask / (PROMPTS * GROUP)
        gradient = pull_back(pushes, learner.states, batch.tokens, learner.policy.probs)
        params, state = optimizer.step(params, duo.learner.pull_back(learner, gradient), state)
    by_update = np.stack(mismatch, axis=-1)
    log_mismatch = np.log10(np.maximum(by_update, 1e-16))
    return summarized({"correct": np.stack(correct, axis=-1), "log10 KL": log_mismatch})


def divergence(sampler: Visited, learner: Visited, mask: Floats) -> Floats:
    """Return (S,) the mean exact KL from the sampler to the learner, in nats per token of a batch."""
    log_ratio = sampler.policy.log_probs - learner.policy.log_probs
    each = (sampler.policy.probs * log_ratio).sum(-1).reshape(mask.shape)
    mean: Floats = (each * mask).sum((1, 2, 3)) / mask.sum((1, 2, 3))
    return mean


def _tuned(precision: str) -> Arm:
    rates = Tuning("learning_rate", (0.003, 0.01, 0.03), by="mean correct")
    return tuned(train_with_sampler, rates, precision=precision)


FULL, HALF, BRAIN = "float32", "float16", "bfloat16"
HALF_AT_RATE, BRAIN_AT_RATE = (f"{label}, rate {RATE}" for label in (HALF, BRAIN))
TEN_TIMES, SAME = 1.0, 0.02
"""Margins: a factor of ten in the KL, and a share of right answers."""

EXPERIMENT = Experiment(
    name="bf16_or_fp16",
    title="Does a sampler in float16 instead of bfloat16 remove the mismatch and help training?",
    group="mismatch",
    policy="network",
    claim="Rounding in bfloat16 makes the sampler's policy differ from the learner's and harms training;"
    " float16, with three binary digits more, effectively removes the mismatch, and more is learned.",
    source="Qi et al. 2025, Defeating the training-inference mismatch via FP16 (arXiv:2510.26788)",
    family=SUMS,
    run="The sampler has the learner's weights, but rounds the weights, the output of the layer and the"
    f" logits to {BITS[BRAIN]} binary digits (bfloat16) or {BITS[HALF]} (float16). The learner computes in"
    " float32 and learns by the plain policy gradient with the group's mean reward as baseline, without a"
    f" correction, for {UPDATES} updates of {PROMPTS} x {GROUP} completions with Adam. In the variants called"
    f' "rate {RATE}" the learning rate is the same; in the others each has its best.',
    measured="The exact KL from the sampler to the learner in nats per token of a batch, as a power of ten:"
    " a mean over all updates. The chance that the learner gives the labelled answer, at temperature 1: a"
    " mean over all updates, by which the learning rate is chosen.",
    arms={label: _tuned(label) for label in (FULL, HALF, BRAIN)}
    | {
        label: arm(train_with_sampler, precision=precision, learning_rate=RATE)
        for label, precision in ((HALF_AT_RATE, HALF), (BRAIN_AT_RATE, BRAIN))
    },
    predictions=(
        Prediction(
            "In float16 the mismatch is more than ten times smaller",
            "mean log10 KL",
            HALF_AT_RATE,
            "less",
            BRAIN_AT_RATE,
            TEN_TIMES,
            main=True,
        ),
        Prediction(
            "With a sampler in float16 more is learned than in bfloat16",
            "mean correct",
            HALF,
            "more",
            BRAIN,
            SAME,
            main=True,
        ),
        Prediction("Float16 learns as much as float32", "mean correct", HALF, "same", FULL, SAME),
        Prediction("Bfloat16 learns less than float32", "mean correct", BRAIN, "less", FULL, SAME),
    ),
    panels=(
        Curves("log10 KL", "KL from sampler to learner\n(nats per token, power of ten)"),
        Points("mean correct", "right completions (mean over updates)"),
        Grid("right completions (mean over updates)"),
    ),
)
