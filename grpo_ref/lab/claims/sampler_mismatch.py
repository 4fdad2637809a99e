"""Claim: a sampler that differs from the learner biases the gradient, and importance weights repair it."""

import math
from dataclasses import replace

import numpy as np

from grpo_ref.corrections import masked, truncated
from grpo_ref.lab.framework.experiment import (
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.mismatch import ascent, drawn, moments
from grpo_ref.lab.framework.tasks.small_language import (
    LENGTH,
    TOKENS,
    VOCABULARY,
    completion_probs,
    expected_reward,
    expected_reward_gradient,
    log_probs,
)
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.levels import sequence_sum_level
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
"""Number of updates of the training runs, and of completions per update."""


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
        mean, variance = moments(recipe, case.rewards, learner, case.sampler(case.logits, size))
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
        step = ascent(recipe, frequent, log_probs(learner), log_probs(sampler), learner.probs)
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
RATES = Tuning("learning_rate", (10.0, 30.0, 100.0, 300.0, 1000.0), by="mean reward")


def _less_error(
    says: str, left: str, right: str, batch: int = 512, measure: str = "log10 error", *, main: bool = False
) -> Prediction:
    return Prediction(says, f"{measure}, {batch}", left, "less", right, 0.02, main)


def _more_reward(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean reward", f"{left}, learning", "more", f"{right}, learning", 0.02, main)


EXPERIMENT = Experiment(
    name="sampler_mismatch",
    title="Which importance weights repair a mismatch between sampler and trainer (TIS, MIS)?",
    group="mismatch",
    claim="Log-probabilities of the sampler that differ from the learner's bias the gradient; importance"
    " weights repair it, sequence-level ones better than token-level ones; truncation (TIS) is the better"
    " one where the mismatch is small, masking (MIS) where it is large.",
    source="Yao et al. 2025, truncated importance sampling; a book chapter on GRPO (2026, not public), sec."
    " 7.5.7",
    family=f"A language has {VOCABULARY} tokens and completions of {LENGTH} tokens. Of these 5 to 50 % are"
    " right, or, in half of the tasks, each has a reward of its own between 0 and 1. The learner is random,"
    " its logits with a standard deviation of 0.5 to 2. Those of the sampler differ by normal noise or, for"
    " one task in three, are the learner's times a number above 1. The size of the mismatch, the noise's"
    f" standard deviation or how far that number is above 1, is {ANY[0]} to {ANY[1]} (log-uniform); small is"
    f" up to {SMALL[1]}, and large from {LARGE[0]} on.",
    run="The algorithm is the plain policy gradient with the sampler's mean reward as baseline. The weight of"
    ' a token is its own ratio of learner to sampler ("token"), or the product of the ratios of its'
    f' completion ("sequence"). TIS limits weights to {CAP:g}, MIS (as in TRL) drops those above {CAP:g}, and'
    " the full weight has no limit. The error of the gradient is exact: all"
    f" {TOKENS.shape[-2]} completions are listed and weighted by the sampler's probabilities. In the variants"
    f' called "learning", a policy is trained with SGD for {UPDATES} updates of {BATCH} completions each,'
    " which the sampler draws.",
    measured="The root mean square error of the gradient of a batch, relative to the length of the exact"
    " gradient of the learner's expected reward, as a power of ten (0.02 is 5 %). The number after the name"
    " of an error is the number of completions in the batch. The best error is the error that is left if the"
    " gradient is scaled by the best number, which a learning rate can do. The bias is the error of an"
    " infinite batch. In training, the learner's exact expected reward, as a mean of all updates.",
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
        _less_error("Large: TIS of completions errs less than none", f"{TIS}, large", f"{NONE}, large"),
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
            arms=(NONE, TIS, MIS, FULL, TOKEN_TIS),
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
)
