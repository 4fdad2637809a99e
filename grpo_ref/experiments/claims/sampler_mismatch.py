"""Claim: a sampler that differs from the learner biases the gradient, and importance weights repair it."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.experiments.framework.tasks.small_language import (
    LENGTH,
    SHAPE,
    STATES,
    TOKENS,
    VOCABULARY,
    completion_probs,
    expected_reward,
    expected_reward_gradient,
    log_probs,
)
from grpo_ref.experiments.framework.training import summarized
from grpo_ref.kernels.corrections import masked, truncated
from grpo_ref.kernels.levels import sequence_sum_level
from grpo_ref.learning.policies.table import Policy, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import REINFORCE, Recipe, Slot, slot

CAP = 2.0
"""The largest ratio of learner to sampler that is not truncated or masked; verl's and Open Instruct's."""
ANY, SMALL, LARGE = (0.03, 1.5), (0.03, 0.2), (0.7, 1.5)
"""Between which the size of the mismatch is drawn: a standard deviation of differences between logits."""
NOISES = (0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5)
"""Sizes for the curve."""
BATCHES = (32, 128, 512, 2048, 8192)
"""Completions, over which a gradient is a mean."""
UPDATES, BATCH = 60, 64
"""Of the training."""


class Case(NamedTuple):
    """A learner, what differs in its sampler, and what is right; run axes (S) but for the size.

    Attributes:
      logits: (S, N, V) of the learner.
      noise: (S, N, V) by which the sampler's logits differ, for a mismatch of size 1.
      sharper: whether they are the learner's, made sharper, instead.
      rewards: (S, 1, M) of every completion.
      size: of the mismatch.
    """

    logits: Floats
    noise: Floats
    sharper: bool
    rewards: Floats
    size: float

    def sampler(self, logits: Floats, size: float) -> Policy:
        """The policy that draws when these are the learner's logits."""
        return policy_of(logits + size * (logits if self.sharper else self.noise))


def drawn(sizes: tuple[float, float], *, seeds: int, seed: int) -> Case:
    """One task of the family, with a language of its own for each run.

    Args:
      sizes: between which the size of the mismatch is drawn.
      seeds, seed: number of runs; base of the random numbers.
    """
    task = np.random.default_rng([seed, 5])
    size, right, spread = np.exp(task.uniform(*np.log(sizes))), task.uniform(0.05, 0.5), task.uniform(0.5, 2)
    sharper = bool(task.random() < 1 / 3)
    runs = [np.random.default_rng([seed, run]) for run in range(seeds)]
    logits, noise = (np.stack([one.normal(size=SHAPE) for one in runs]) for _ in range(2))
    rewards = np.stack([one.random(TOKENS.shape[:-1]) < right for one in runs]).astype(np.float64)
    return Case(spread * logits, noise, sharper, rewards, float(size))


def errors(*, recipe: Recipe, sizes: tuple[float, float] = ANY, seeds: int, seed: int) -> Measures:
    """The error of the gradient: exact, since all completions are listed and weighted by their chances."""
    case = drawn(sizes, seeds=seeds, seed=seed)
    learner = policy_of(case.logits)
    exact = expected_reward_gradient(
        case.rewards - expected_reward(case.rewards, learner)[:, None, None], learner
    )
    target = (exact**2).sum((-2, -1))
    by_size = []
    for size in (case.size, *NOISES):
        mean, variance = _moments(recipe, case.rewards, learner, case.sampler(case.logits, size))
        bias, length = (((mean - off) ** 2).sum((-2, -1)) for off in (exact, 0.0))
        total = np.stack([bias + variance / batch for batch in BATCHES], axis=-1)
        squared = np.stack([length + variance / batch for batch in BATCHES], axis=-1)
        along = (mean * exact).sum((-2, -1))[:, None] ** 2 / target[:, None]
        by_size.append((bias / target, total / target[:, None], 1.0 - along / squared))
    bias, total, turned = (np.sqrt(np.stack(one, axis=1)) for one in zip(*by_size, strict=True))
    measures = {"bias": bias[:, 0], "error by batch": total[:, 0]}
    measures["error by noise"] = total[:, 1:, BATCHES.index(512)]
    for place, batch in enumerate(BATCHES):
        measures[f"log10 error, {batch}"] = np.log10(total[:, 0, place])
        measures[f"log10 best error, {batch}"] = np.log10(turned[:, 0, place])
    return measures


def _moments(recipe: Recipe, rewards: Floats, learner: Policy, sampler: Policy) -> tuple[Floats, Floats]:
    """(S, N, V) expected ascent direction of one completion, and (S,) its variance."""
    chances = completion_probs(sampler)[:, 0]
    advantages = (rewards - expected_reward(rewards, sampler)[:, None, None])[:, 0]
    batch = (*chances.shape, 1, 1)
    ascent = _ascent(
        recipe,
        advantages.reshape(batch),
        log_probs(learner).reshape(*batch, LENGTH),
        log_probs(sampler).reshape(*batch, LENGTH),
        np.broadcast_to(learner.probs[:, None], (*chances.shape, *SHAPE)),
    )
    weights = chances[..., None, None]
    mean: Floats = (weights * ascent).sum(1)
    return mean, (weights * (ascent - mean[:, None]) ** 2).sum((1, 2, 3))


def _ascent(recipe: Recipe, advantages: Floats, learner: Floats, sampler: Floats, probs: Floats) -> Floats:
    """(..., N, V) minus the gradient of the loss; log-probabilities are (..., P, G, T)."""
    mask, shape = np.ones(learner.shape), learner.shape
    loss = policy_loss(learner, advantages, mask, recipe=recipe, rollout_log_probs=sampler, metrics=())
    states, tokens = (np.broadcast_to(x.reshape(shape[1:]), shape) for x in (STATES, TOKENS))
    return -pull_back(loss.gradient, states, tokens, probs)


def learned(
    *, recipe: Recipe, sizes: tuple[float, float] = ANY, learning_rate: float, seeds: int, seed: int
) -> Measures:
    """Train with completions of the sampler; the reward is the exact one of the learner."""
    case = drawn(sizes, seeds=seeds, seed=seed)
    runs = [np.random.default_rng([seed, run, 1]) for run in range(seeds)]
    logits, values = case.logits, []
    for _ in range(UPDATES):
        learner, sampler = policy_of(logits), case.sampler(logits, case.size)
        chances = completion_probs(sampler)[:, 0]
        counts = np.stack([one.multinomial(BATCH, p) for one, p in zip(runs, chances, strict=True)])[:, None]
        baseline = (counts * case.rewards).sum(-1, keepdims=True) / BATCH
        frequent = (case.rewards - baseline) * counts * counts.shape[-1] / BATCH
        step = _ascent(recipe, frequent, log_probs(learner), log_probs(sampler), learner.probs)
        logits = logits + learning_rate * step
        values.append(expected_reward(case.rewards, policy_of(logits)))
    return summarized({"reward": np.stack(values, axis=-1)})


def _with(*corrections: Slot) -> Recipe:
    """Plain policy gradient with these weights."""
    return replace(REINFORCE, corrections=corrections)


NONE, TOKEN_TIS, TOKEN_MIS = "no correction", "TIS, token", "MIS, token"
TIS, MIS, FULL = "TIS, sequence", "MIS, sequence", "full weight, sequence"
WEIGHTS = {
    NONE: _with(),
    TOKEN_TIS: _with(slot(truncated, max_ratio=CAP)),
    TOKEN_MIS: _with(slot(masked, max_ratio=CAP)),
    TIS: _with(slot(truncated, level=sequence_sum_level, max_ratio=CAP)),
    MIS: _with(slot(masked, level=sequence_sum_level, max_ratio=CAP)),
    FULL: _with(slot(truncated, level=sequence_sum_level, max_ratio=math.inf)),
}
RATES = Tuning("learning_rate", (1.0, 3.0, 10.0, 30.0, 100.0), by="mean reward")


def _less_error(
    says: str, left: str, right: str, batch: int = 512, measure: str = "log10 error", *, main: bool = False
) -> Prediction:
    return Prediction(says, f"{measure}, {batch}", left, "less", right, 0.02, main)


def _more_reward(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean reward", f"{left}, learning", "more", f"{right}, learning", 0.02, main)


EXPERIMENT = Experiment(
    name="sampler_mismatch",
    group="mismatch",
    claim="Log-probabilities of the sampler that differ from the learner's bias the gradient; importance"
    " weights repair it, sequence-level ones better than token-level ones; truncation (TIS) is the better"
    " one where the mismatch is small, masking (MIS) where it is large.",
    source="Yao et al. 2025, truncated importance sampling; a book chapter on GRPO (2026, not public), sec."
    " 7.5.7",
    family=f"A language has {VOCABULARY} tokens and completions of {LENGTH} tokens, of which 5 to 50 % are"
    " right. The learner is random, its logits with a standard deviation of 0.5 to 2. Those of the sampler"
    " differ by normal noise or, for one task in three, are the learner's times a number above 1. The size of"
    f" the mismatch, the noise's standard deviation or how far that number is above 1, is {ANY[0]} to"
    f" {ANY[1]} (log-uniform); small is up to {SMALL[1]}, and large from {LARGE[0]} on.",
    run="The algorithm is the plain policy gradient with the sampler's mean reward as baseline. TIS limits"
    f" weights to {CAP:g}, MIS (as in TRL) drops those above {CAP:g}. The error of the gradient is"
    f" exact: all {TOKENS.shape[-2]} completions are listed and weighted by the sampler's probabilities. And"
    f" it learns for {UPDATES} updates of {BATCH} completions that the sampler draws, with SGD.",
    measured="The root mean square error of the gradient of a batch, relative to the length of the exact"
    " gradient of the learner's expected reward, as a power of ten (0.02 is 5 %); best error is what is left"
    " of it if the gradient is scaled by the best number, which a learning rate can do. Bias is the error of"
    " an infinite batch. In training, the learner's exact expected reward, as a mean of all updates.",
    arms={label: arm(errors, recipe=recipe) for label, recipe in WEIGHTS.items()}
    | {f"{label}, small": arm(errors, recipe=WEIGHTS[label], sizes=SMALL) for label in (TIS, MIS)}
    | {f"{label}, large": arm(errors, recipe=WEIGHTS[label], sizes=LARGE) for label in (NONE, TIS, MIS, FULL)}
    | {
        f"{label}, learning": tuned(learned, RATES, recipe=WEIGHTS[label])
        for label in (NONE, TOKEN_TIS, TIS, MIS)
    }
    | {
        f"{label}, large, learning": tuned(learned, RATES, recipe=WEIGHTS[label], sizes=LARGE)
        for label in (NONE, TIS, MIS)
    },
    predictions=(
        _less_error("TIS of completions leaves a smaller error than none", TIS, NONE, main=True),
        _more_reward("TIS of completions gains more reward than none", TIS, NONE, main=True),
        Prediction("The full weight of a completion leaves no bias", "bias", FULL, "same", 0.0, 0.001),
        _less_error("TIS of tokens leaves a smaller error than none", TOKEN_TIS, NONE),
        _less_error("TIS of completions leaves a smaller error than of tokens", TIS, TOKEN_TIS),
        _less_error("Small: TIS errs less than MIS", f"{TIS}, small", f"{MIS}, small"),
        _less_error("Large, 32 completions: MIS errs less than TIS", f"{MIS}, large", f"{TIS}, large", 32),
        _less_error("Large, 512: MIS errs less than TIS", f"{MIS}, large", f"{TIS}, large"),
        _less_error("Large, 8192: MIS errs less than TIS", f"{MIS}, large", f"{TIS}, large", 8192),
        _less_error(
            "Large, scaled at best, 512: MIS errs less",
            f"{MIS}, large",
            f"{TIS}, large",
            measure="log10 best error",
        ),
        _more_reward("Large: MIS gains more than TIS", f"{MIS}, large", f"{TIS}, large"),
        _more_reward("Large: TIS gains more than none", f"{TIS}, large", f"{NONE}, large"),
    ),
    panels=(
        Curves(
            "error by noise",
            "RMS error of 512 completions /\n|exact gradient|",
            xlabel="size of the mismatch",
            x=NOISES,
            arms=(NONE, TOKEN_TIS, TIS, MIS, FULL),
            log="xy",
        ),
        Curves(
            "error by batch",
            "large mismatch: RMS error /\n|exact gradient|",
            xlabel="completions in a batch",
            x=BATCHES,
            arms=(f"{NONE}, large", f"{TIS}, large", f"{MIS}, large", f"{FULL}, large"),
            log="xy",
        ),
        Grid(
            "expected reward, mean of all updates",
            arms=tuple(f"{label}, large, learning" for label in (NONE, TIS, MIS)),
        ),
    ),
    chosen="Before, truncating was judged by its bias and masking by its noise, and the size of the mismatch"
    " was fixed.",
)
