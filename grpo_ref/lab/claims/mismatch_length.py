"""Claim: with a sampler that differs per token, prefix ratios lie between token and sequence weights."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.corrections import masked, prefix_ratio, truncated
from grpo_ref.lab.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.lab.framework.tasks.long_language import (
    FAMILY,
    Sampled,
    ascent,
    drawn_language,
    expected_reward,
    expected_step,
    gradient,
    required,
    sampled,
)
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.levels import sequence_sum_level
from grpo_ref.recipes import REINFORCE, Recipe, Slot, slot

LENGTHS = (2, 4, 8, 16, 32, 64)
"""Number of tokens in a completion."""
SHORT = 4
CAP = 2.0
"""The largest weight; verl's and Open Instruct's default."""
COMPLETIONS, BATCH = 2048, 512
"""Number of completions from which a run estimates its errors, and of those in the batch that is judged."""


def exact_bias(*, before: str, token: str, after: str, seeds: int, seed: int) -> Measures:
    """Compute the error of an infinite batch if weights correct a part of the completion.

    Args:
      before, token, after: "sampler" or "learner": the policy that the tokens before a token, the token
        itself and the tokens after the token seem to come from, once weighted.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
    """
    language = drawn_language(seeds, seed)
    learner = policy_of(language.logits).probs[:, None]
    biases = []
    for length in LENGTHS:
        needed, sampler = required(language, length), language.sampler(language.logits, length)
        policies = {"sampler": sampler, "learner": np.broadcast_to(learner, sampler.shape)}
        step = expected_step(
            language,
            needed,
            before=policies[before],
            token=policies[token],
            after=policies[after],
            baseline=expected_reward(language, sampler, needed),
        )
        exact = gradient(language, needed, length)
        biases.append(np.sqrt(((step - exact) ** 2).sum((-2, -1)) / (exact**2).sum((-2, -1))))
    bias = np.stack(biases, axis=-1)
    return {"bias": bias, "bias, short": bias[:, LENGTHS.index(SHORT)], "bias, long": bias[:, -1]}


def errors(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Estimate bias and noise of the gradient from completions of the sampler, for each length."""
    language = drawn_language(seeds, seed)
    learner = policy_of(language.logits)
    by_length = []
    for length in LENGTHS:
        needed, batch, baseline = _completions(seeds, seed, length)
        exact = gradient(language, needed, length)
        each = ascent(recipe, learner, batch, baseline)
        mean, noise = each.mean(1), each.var(1, ddof=1).sum((-2, -1))
        # Squares of the mean of N completions contain the mean's own noise, which is subtracted here.
        own = noise / COMPLETIONS
        bias, length_of_mean = (((mean - off) ** 2).sum((-2, -1)) - own for off in (exact, 0.0))
        size, along = (exact**2).sum((-2, -1)), (mean * exact).sum((-2, -1)) ** 2
        error = (np.maximum(bias, 0.0) + noise / BATCH) / size
        scaled = 1.0 - along / size / (np.maximum(length_of_mean, along / size) + noise / BATCH)
        by_length.append([np.sqrt(square) for square in (noise / BATCH / size, error, scaled)])
    noise, error, scaled = (np.stack(one, axis=-1) for one in zip(*by_length, strict=True))
    short, long = LENGTHS.index(SHORT), -1
    log_noise, log_scaled = np.log10(noise), np.log10(scaled)
    return {
        "noise by length": noise,
        "error by length": error,
        "scaled error by length": scaled,
        "log10 noise, long": log_noise[:, long],
        "log10 noise, growth": log_noise[:, long] - log_noise[:, short],
        "log10 error, long": np.log10(error)[:, long],
        "log10 scaled error, short": log_scaled[:, short],
        "log10 scaled error, long": log_scaled[:, long],
    }


@lru_cache(maxsize=len(LENGTHS))
def _completions(seeds: int, seed: int, length: int) -> tuple[Integers, Sampled, Floats]:
    """Sample completions, the same ones for all weights: the required number, the batch and the baseline."""
    language = drawn_language(seeds, seed)
    needed, sampler = required(language, length), language.sampler(language.logits, length)
    runs = [np.random.default_rng([seed, run, length]) for run in range(seeds)]
    uniforms = np.stack([one.random((COMPLETIONS, length)) for one in runs])
    return needed, sampled(language, sampler, needed, uniforms), expected_reward(language, sampler, needed)


def _with(*corrections: Slot) -> Recipe:
    """Return the plain policy gradient with these weights."""
    return replace(REINFORCE, corrections=corrections)


NONE, TOKEN = "no weight", "token, truncated"
PREFIX, MINIMUM = "prefix, truncated", "smallest of prefix, truncated"
TIS, MIS = "sequence, truncated", "sequence, masked"
FULL_PREFIX, FULL = "prefix, full", "sequence, full"
WEIGHTS = {
    NONE: _with(),
    TOKEN: _with(slot(truncated, max_ratio=CAP)),
    PREFIX: _with(slot(prefix_ratio, max_ratio=CAP)),
    MINIMUM: _with(slot(prefix_ratio, minimum=True, max_ratio=CAP)),
    TIS: _with(slot(truncated, level=sequence_sum_level, max_ratio=CAP)),
    MIS: _with(slot(masked, level=sequence_sum_level, max_ratio=CAP)),
    FULL_PREFIX: _with(slot(prefix_ratio)),
    FULL: _with(slot(truncated, level=sequence_sum_level, max_ratio=math.inf)),
}
EXACT: Mapping[str, Mapping[str, str]] = {
    "exact: no weight": {"before": "sampler", "token": "sampler", "after": "sampler"},
    "exact: token": {"before": "sampler", "token": "learner", "after": "sampler"},
    "exact: prefix": {"before": "learner", "token": "learner", "after": "sampler"},
    "exact: sequence": {"before": "learner", "token": "learner", "after": "learner"},
}
"""Policy that each part of the completion seems to have after the full weights."""
MARGIN = 0.02
"""In powers of ten (5 %)."""


def _less(
    says: str, measure: str, left: str, right: str, margin: float = MARGIN, *, main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, "less", right, margin, main)


NOISE, ERROR, SCALED = "log10 noise, long", "log10 error, long", "log10 scaled error, long"


EXPERIMENT = Experiment(
    name="mismatch_length",
    title="Which importance weights repair a sampler's mismatch in long completions?",
    group="mismatch",
    claim="The noise of sequence weights grows with the length of a completion, and token weights leave a"
    " bias. The product of the ratios up to a token corrects the bias of the token weights with less noise"
    " than sequence weights, and the smallest ratio of the prefix is more stable than the product.",
    source="Zhang et al. 2026, CTPO, a cumulative token perspective (arXiv:2605.07331); Lei et al. 2026,"
    " MinPRO, prefix importance ratio (arXiv:2601.22718). Both put the ratio in the place of the clipped"
    " ratio, with clips of their own; here the same ratio weights a plain policy gradient, truncated at a"
    " constant",
    family=FAMILY,
    run=f"The lengths are {', '.join(map(str, LENGTHS))} tokens. A state has the same logits at all"
    " positions of a completion. The algorithm is the plain policy gradient with"
    " the sampler's expected reward as baseline. The weight of a token is its own ratio of learner to"
    ' sampler ("token"), the product of the ratios up to this token ("prefix"), its ratio times the smallest'
    ' ratio before it ("smallest of prefix"), or the product of all ratios of the completion ("sequence").'
    f' Weights are truncated at {CAP:g}, masked above {CAP:g} or not limited ("full"). The bias of weights'
    ' without a limit is computed exactly ("exact"). Noise and error of all weights'
    f" are estimated from {COMPLETIONS} completions of the sampler in each run, the same ones for all"
    f" weights, and hold for a batch of {BATCH}.",
    measured="Bias: length of the difference between the expected step and the exact gradient of the"
    " learner's reward, relative to the length of that gradient. Noise: standard deviation of the step of a"
    " batch, relative in the same way. Error: root mean square of both together. Scaled error: the error that"
    " is left if the step is scaled by the best number, which a learning rate can do. All but the bias are"
    f" compared as powers of ten (0.02 is 5 %). Short is {SHORT} tokens, long is {LENGTHS[-1]}.",
    arms={label: arm(exact_bias, **parts) for label, parts in EXACT.items()}
    | {label: arm(errors, recipe=recipe) for label, recipe in WEIGHTS.items()},
    predictions=(
        Prediction(
            "From 4 to 64 tokens the noise of full sequence weights grows more than without weights",
            "log10 noise, growth",
            FULL,
            "more",
            NONE,
            MARGIN,
            main=True,
        ),
        _less(
            "Long: full prefix ratios leave less bias than token weights",
            "bias, long",
            "exact: prefix",
            "exact: token",
            0.01,
            main=True,
        ),
        _less(
            "Long: full prefix ratios are less noisy than full sequence weights",
            NOISE,
            FULL_PREFIX,
            FULL,
            main=True,
        ),
        Prediction(
            "Long: full prefix ratios leave no bias if the reward comes at the end",
            "bias, long",
            "exact: prefix",
            "same",
            0.0,
            0.01,
        ),
        _less(
            "Long: token weights leave less bias than no weight",
            "bias, long",
            "exact: token",
            "exact: no weight",
            0.01,
        ),
        _less("Long: truncated prefix ratios err less than token weights", SCALED, PREFIX, TOKEN),
        _less("Long: truncated prefix ratios err less than truncated sequence weights", SCALED, PREFIX, TIS),
        _less("Long: the smallest ratio is less noisy than the truncated product", NOISE, MINIMUM, PREFIX),
        _less("Long: the smallest ratio errs less than the truncated product", SCALED, MINIMUM, PREFIX),
        _less("Long: the smallest ratio errs less than token weights", SCALED, MINIMUM, TOKEN),
        _less("Long: token weights err less than no weight", SCALED, TOKEN, NONE),
        _less("Long: truncated sequence weights err less than token weights", SCALED, TIS, TOKEN),
        _less(
            "Short: truncated sequence weights err less than token weights",
            "log10 scaled error, short",
            TIS,
            TOKEN,
        ),
        _less("Long: truncated sequence weights err less than masked ones", SCALED, TIS, MIS),
        _less("Long, not scaled: truncated prefix ratios err less than token weights", ERROR, PREFIX, TOKEN),
    ),
    panels=(
        Curves(
            "bias",
            "bias / |exact gradient|",
            xlabel="tokens in a completion",
            x=LENGTHS,
            arms=("exact: no weight", "exact: token", "exact: prefix"),
            log="xy",
        ),
        Curves(
            "scaled error by length",
            f"RMS error of {BATCH} completions\nat the best scale / |exact gradient|",
            xlabel="tokens in a completion",
            x=LENGTHS,
            arms=tuple(WEIGHTS),
            log="xy",
        ),
    ),
)
