"""Claim: a sampler that differs from the learner biases the gradient, and importance weights repair it."""

import math
from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.tasks.small_language import (
    LENGTH,
    SHAPE,
    STATES,
    TOKENS,
    VOCABULARY,
    completion_probs,
    expected_reward_gradient,
)
from grpo_ref.kernels.corrections import masked, truncated
from grpo_ref.kernels.levels import sequence_sum_level
from grpo_ref.learning.policies.table import Policy, log_softmax, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import REINFORCE, Recipe, Slot, slot

CAP = 2.0
"""The largest ratio of learner to sampler that is not truncated or masked."""
NOISES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5)
"""Standard deviations of the random change from the learner's logits to the sampler's."""
SINGLE = {"small": NOISES.index(0.2), "middle": NOISES.index(0.4), "large": NOISES.index(1.0)}
"""Where single numbers are taken."""
TEMPERATURE = 0.7
"""Of the sampler that differs from the learner in nothing but its temperature."""
RIGHT = 0.25
"""Probability of each completion to be right."""
BATCH = 512
"""Completions in the batch whose total error is measured."""


def expected(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The expected gradient and its variance for a random learner, sampler and verifier of each seed.

    Every completion is evaluated once and weighted by the probability that the sampler draws it.
    """
    runs = [_one_seed(np.random.default_rng([seed, run]), recipe) for run in range(seeds)]
    measures = {}
    for name in runs[0]:
        values = np.stack([run[name] for run in runs])
        measures[name] = values[:, :-1]
        measures[f"{name}, temperature"] = values[:, -1]
        measures |= {f"{name}, {size} noise": values[:, at] for size, at in SINGLE.items()}
    return measures


def _one_seed(generator: np.random.Generator, recipe: Recipe) -> dict[str, Floats]:
    """Measure -> (samplers,): one for each noise, and the one with another temperature."""
    logits, change = generator.normal(size=(2, *SHAPE))
    rewards = np.where(generator.random(TOKENS.shape[-2]) < RIGHT, 1.0, 0.0)
    noisy = logits + np.array(NOISES)[:, None, None] * change
    samplers = log_softmax(np.concatenate([noisy, logits[None] / TEMPERATURE]))
    learner = policy_of(logits)
    mean, variance = _moments(recipe, rewards, np.broadcast_to(learner.log_probs, samplers.shape), samplers)
    exact = _exact(rewards, learner)
    target = float(np.linalg.norm(exact))
    bias, length = (np.linalg.norm(x, axis=(-2, -1)) / target for x in (mean - exact, mean))
    noise = np.sqrt(variance) / target
    return {
        "bias": bias,
        "noise": noise,
        "noise of its own length": noise / length,
        "error": np.sqrt(bias**2 + noise**2 / BATCH),
    }


def _moments(recipe: Recipe, rewards: Floats, learner: Floats, samplers: Floats) -> tuple[Floats, Floats]:
    """(M, N, V) expected ascent direction of one completion for each sampler, and (M,) its variance."""
    log_probs, rollout = learner[:, STATES[0], TOKENS[0]], samplers[:, STATES[0], TOKENS[0]]
    chances = np.exp(rollout.sum(-1))
    advantages = rewards - (chances * rewards).sum(-1, keepdims=True)
    batch = (*chances.shape, 1, 1)
    shape = (*batch, LENGTH)
    loss = policy_loss(
        log_probs.reshape(shape),
        advantages.reshape(batch),
        np.ones(shape),
        recipe=recipe,
        rollout_log_probs=rollout.reshape(shape),
        metrics=(),
    )
    states, tokens = (np.broadcast_to(x.reshape(-1, 1, 1, LENGTH), shape) for x in (STATES, TOKENS))
    probs = np.broadcast_to(np.exp(learner)[:, None], (*chances.shape, *learner.shape[1:]))
    ascent = -pull_back(loss.gradient, states, tokens, probs)
    weights = chances[..., None, None]
    mean: Floats = (weights * ascent).sum(1)
    return mean, (weights * (ascent - mean[:, None]) ** 2).sum((1, 2, 3))


def _exact(rewards: Floats, learner: Policy) -> Floats:
    """(N, V) the gradient of the learner's expected reward with respect to its logits."""
    value = completion_probs(learner)[0] @ rewards
    return expected_reward_gradient((rewards - value)[None], learner)


def _with(*corrections: Slot) -> Recipe:
    """Plain policy gradient with these weights."""
    return replace(REINFORCE, corrections=corrections)


TOKEN_TIS, TOKEN_MIS = "TIS, token", "MIS, token"
SEQUENCE_TIS, SEQUENCE_MIS = "TIS, sequence", "MIS, sequence"
FULL = "full weight, sequence"
SHOWN = ("no correction", TOKEN_TIS, TOKEN_MIS, SEQUENCE_TIS, SEQUENCE_MIS, FULL)

EXPERIMENT = Experiment(
    name="sampler_mismatch",
    group="mismatch",
    claim="Log-probabilities of the sampler that differ from the learner's bias the gradient; importance"
    " weights repair it, sequence-level ones better than token-level ones; truncation (TIS) is the better"
    " one where the mismatch is small, masking (MIS) where it is large.",
    source="Yao et al. 2025, truncated importance sampling; a book chapter on GRPO (2026, not public), sec."
    " 7.5.7",
    run=f"A language has {VOCABULARY} tokens and completions of {LENGTH} tokens; for each seed there are a"
    " random learner and a random verifier. The sampler's logits are the learner's plus normal noise, or the"
    f" learner's divided by a temperature of {TEMPERATURE}. All {TOKENS.shape[-2]} completions are evaluated"
    " and weighted by the sampler's probabilities, so nothing is sampled. The algorithm is the plain policy"
    f" gradient with the sampler's mean reward as baseline; TIS limits the importance weights to {CAP:g},"
    f" and MIS (as in TRL) drops those above {CAP:g}.",
    measured="The gradient with respect to the logits, relative to the length of the exact gradient of the"
    " learner's expected reward: bias is the length of the expected gradient minus the exact one, noise is"
    " the standard deviation of the gradient from a single completion, and error is the root mean square"
    f" error of the mean over {BATCH} completions. The standard deviation of the noise in the logits is"
    f" {NOISES[SINGLE['small']]} (small), {NOISES[SINGLE['middle']]} (middle) or {NOISES[SINGLE['large']]:g}"
    " (large).",
    arms={
        "no correction": arm(expected, recipe=_with()),
        TOKEN_TIS: arm(expected, recipe=_with(slot(truncated, max_ratio=CAP))),
        TOKEN_MIS: arm(expected, recipe=_with(slot(masked, max_ratio=CAP))),
        SEQUENCE_TIS: arm(expected, recipe=_with(slot(truncated, level=sequence_sum_level, max_ratio=CAP))),
        SEQUENCE_MIS: arm(expected, recipe=_with(slot(masked, level=sequence_sum_level, max_ratio=CAP))),
        FULL: arm(expected, recipe=_with(slot(truncated, level=sequence_sum_level, max_ratio=math.inf))),
    },
    predictions=(
        Prediction(
            "The full weight of a completion leaves no bias", "bias, middle noise", FULL, "same", 0.0, 0.001
        ),
        Prediction(
            "Truncated weights of tokens leave less bias than none",
            "bias, middle noise",
            TOKEN_TIS,
            "less",
            "no correction",
            0.01,
        ),
        Prediction(
            "Truncated weights of tokens leave less bias at another temperature",
            "bias, temperature",
            TOKEN_TIS,
            "less",
            "no correction",
            0.01,
        ),
        Prediction(
            "Truncated weights of completions leave less bias than those of tokens",
            "bias, middle noise",
            SEQUENCE_TIS,
            "less",
            TOKEN_TIS,
            0.01,
        ),
        Prediction(
            "At small mismatch, truncating biases less than masking",
            "bias, small noise",
            SEQUENCE_TIS,
            "less",
            SEQUENCE_MIS,
            0.01,
        ),
        Prediction(
            "At large mismatch, masking is less noisy than truncating",
            "noise, large noise",
            SEQUENCE_MIS,
            "less",
            SEQUENCE_TIS,
            0.1,
        ),
    ),
    panels=(
        Curves(
            "bias",
            "|expected - exact gradient| /\n|exact gradient|",
            xlabel="noise of the sampler's logits (standard deviation)",
            x=NOISES,
            arms=SHOWN,
        ),
        Curves(
            "error",
            f"RMS error of {BATCH} completions /\n|exact gradient|",
            xlabel="noise of the sampler's logits (standard deviation)",
            x=NOISES,
            arms=SHOWN,
            log="y",
        ),
    ),
    remark="The weight of a token repairs only its own probability, and not those of the text before and"
    f" after it, on which its reward depends. In batches of {BATCH} completions, truncated weights of"
    " completions have a smaller total error than masked ones at every size of noise, since masking leaves a"
    " gradient that is far too short; the smaller the batch, the more the low noise of masking counts.",
)
