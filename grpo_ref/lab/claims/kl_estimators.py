"""Claim: an estimate of the KL can be right as a value and still have the gradient of something else."""

from dataclasses import replace
from typing import Literal

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Arm, Curves, Experiment, Measures, Prediction, arm
from grpo_ref.lab.framework.stale_data import largest_step
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.penalties import exact_kl, k1, k2, k3, weighted_k3
from grpo_ref.recipes import GRPO, Recipe, slot

STATES, TOKENS = 16, 1024
"""States of a policy, and tokens sampled in each of them for a gradient."""
DISTANCES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)
"""KL from the policy to the reference, in nats per token, for the curves."""
DIGITS = 9
"""To which a bias is rounded, so that one that is exactly 0 is seen to be so."""
Change = Literal["drawn", "random", "learned"]


def estimated(
    *, recipe: Recipe, is_stale: bool = False, change: Change = "drawn", seeds: int, seed: int
) -> Measures:
    """Bias and error of the recipe's penalty for drawn policies, computed without sampling.

    Every token of every state is evaluated once and weighted by the probability that the sampler draws it.

    Args:
      recipe: whose penalty is judged.
      is_stale: whether the tokens come from another policy.
      change: what led from the reference to the policy; "drawn" is a mixture of the two others.
      seeds, seed: number of policies; base of their random numbers and of the family's draw.
    """
    runs = [
        _one_seed(np.random.default_rng([seed, run]), recipe, is_stale, change, seed) for run in range(seeds)
    ]
    found = {name: np.stack([run[name] for run in runs]) for name in runs[0]}
    curves = {f"{name} by KL": curve[:, 1:] for name, curve in found.items()}
    places = {"": 0, "near ": 1, "far ": len(DISTANCES)}
    errors = {name: np.log10(found[name]) for name in ("value error", "gradient error")}
    return curves | {
        place + name: values[:, at]
        for place, at in places.items()
        for name, values in (found | errors).items()
    }


def _policies(generator: np.random.Generator, change: Change, seed: int) -> tuple[Floats, Floats, Floats]:
    """(distances, states, V) log-probabilities of the policy, its reference and a sampler.

    The first distance is the drawn one, the others are `DISTANCES`.
    """
    family = np.random.default_rng([seed, 6])
    vocabulary = round(np.exp(family.uniform(np.log(8.0), np.log(256.0))))
    sharpness, learned = family.uniform(0.5, 3.0), family.uniform()
    distances = np.array([np.exp(family.uniform(np.log(DISTANCES[0]), np.log(DISTANCES[-1]))), *DISTANCES])
    stale = family.uniform(0.05, 0.5)
    share = {"drawn": learned, "random": 0.0, "learned": 1.0}[change]
    reference, drift, delay = generator.normal(size=(3, STATES, vocabulary))
    rewards = (generator.random((STATES, vocabulary)) < 0.2) / 0.4  # a standard deviation of 1
    ref, direction = sharpness * reference, (1.0 - share) * drift + share * rewards

    def logits(steps: Floats) -> Floats:
        moved: Floats = ref + steps[:, None, None] * direction
        return moved

    ref_log_probs = log_softmax(np.broadcast_to(ref, (len(distances), *ref.shape)))
    steps = largest_step(
        lambda steps: exact_kl(log_softmax(logits(steps)), ref_log_probs).value.mean(-1) > distances,
        distances.shape,
    )
    return log_softmax(logits(steps)), ref_log_probs, log_softmax(logits(steps) + stale * delay)


def _one_seed(
    generator: np.random.Generator, recipe: Recipe, is_stale: bool, change: Change, seed: int
) -> dict[str, Floats]:
    """Measure -> (distances,), each a ratio of means over the states."""
    policy, ref, other = _policies(generator, change, seed)
    old = other if is_stale else policy
    sampled = np.exp(old)
    term = recipe.penalty(log_probs=policy, ref_log_probs=ref, log_ratio=policy - old)
    slope: Floats = np.asarray(term.slope + term.direct)
    exact, forward = exact_kl(policy, ref), np.exp(policy) - np.exp(ref)
    target: Floats = np.asarray(exact.slope)
    gradient = _to_logits(sampled * slope, policy)
    kl = exact.value.mean(-1)
    squares = (sampled * (term.value - exact.value[..., None]) ** 2).sum(-1)
    noise = (sampled * slope**2 * _squared_steps(policy)).sum(-1) - _squared(gradient)
    error = _squared(gradient - target) + np.maximum(noise, 0.0) / TOKENS
    return {
        "value bias": _rounded(((sampled * term.value).sum(-1) - exact.value).mean(-1) / kl),
        "value error": np.sqrt(squares.mean(-1)) / kl,
        "gradient bias": _rounded(_length(gradient - target) / _length(target)),
        "gradient error": np.sqrt(error.mean(-1)) / _length(target),
        "other direction": _rounded(_length(gradient - forward) / _length(forward)),
    }


def _rounded(bias: Floats) -> Floats:
    return np.round(bias, DIGITS) + 0.0


def _to_logits(weights: Floats, log_probs: Floats) -> Floats:
    """Σₜ wₜ ∂log π(t)/∂logits of each state."""
    pulled: Floats = weights - np.exp(log_probs) * weights.sum(-1, keepdims=True)
    return pulled


def _squared_steps(log_probs: Floats) -> Floats:
    """(..., V) squared length of ∂log π(t)/∂logits for each token: 1 - 2 π(t) + Σ π²."""
    probs = np.exp(log_probs)
    lengths: Floats = 1.0 - 2.0 * probs + (probs**2).sum(-1, keepdims=True)
    return lengths


def _squared(gradient: Floats) -> Floats:
    """(...,) squared length in each state."""
    lengths: Floats = (gradient**2).sum(-1)
    return lengths


def _length(gradient: Floats) -> Floats:
    """(...,) root of the mean squared length over the states."""
    lengths: Floats = np.sqrt(_squared(gradient).mean(-1))
    return lengths


PENALTIES = {
    "k1": slot(k1),
    "k2": slot(k2),
    "k3": slot(k3),
    "weighted k3": slot(weighted_k3),
}
RECIPES = {name: replace(GRPO, penalty=penalty) for name, penalty in PENALTIES.items()}
ON_POLICY = ("k1", "k2", "k3")
OFF_POLICY = tuple(f"{name}, off-policy" for name in ("k2", "weighted k3"))


def _arms() -> dict[str, Arm]:
    on = {name: arm(estimated, recipe=RECIPES[name]) for name in ON_POLICY}
    off = {name: arm(estimated, recipe=RECIPES[name.split(",")[0]], is_stale=True) for name in OFF_POLICY}
    changes = {
        f"{name}, {change}": arm(estimated, recipe=RECIPES[name], change=change)
        for change in ("random", "learned")
        for name in ("k1", "k3")
    }
    return on | off | changes


FACTOR = 0.1
"""In powers of ten: a quarter more."""


def _less(says: str, measure: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, measure, left, "less", right, FACTOR, main)


def _exact(says: str, measure: str, left: str) -> Prediction:
    return Prediction(says, measure, left, "same", 0.0, 0.01)


def _biased(says: str, measure: str, left: str, *, main: bool = False) -> Prediction:
    return Prediction(says, measure, left, "more", 0.0, 0.1, main)


ERROR, BIAS = "value error", "gradient bias"

EXPERIMENT = Experiment(
    name="kl_estimators",
    title="Which KL estimator is best: k1, k2 or k3?",
    group="divergence",
    claim="k3 is an unbiased and less noisy estimate of the KL than k1, but its gradient is that of KL(ref"
    " || policy); that of KL(policy || ref) is the gradient of k2, or off-policy of weighted k3.",
    source="Schulman 2020, Approximating KL divergence; Tang & Munos 2025 (arXiv:2506.09477)",
    family="Random references over 8 to 256 tokens, mild or sharp (a standard deviation of the logits of 0.5"
    " to 3), and policies at 0.001 to 1 nats per token from them (evenly on a logarithmic scale). What"
    " changed the logits is a drawn mixture of a random drift and of a reward for a fifth of the tokens.",
    run=f"For each seed there are {STATES} states. Expectations are sums over the vocabulary, so nothing is"
    " sampled. Off-policy means that the sampler's logits differ from the policy's with a drawn standard"
    " deviation of 0.05 to 0.5. Two more pairs of arms have only drift, or only what a reward teaches.",
    measured="The root mean squared error of the estimate from one token, relative to the exact KL, and that"
    f" of its gradient with respect to a state's logits from {TOKENS} tokens, relative to the length of the"
    " exact gradient; both are compared as powers of ten, 0.1 is a quarter more. And their biases, in the"
    " same units, without powers. Near and far are at 0.001 nats and at 1 nat.",
    arms=_arms(),
    predictions=(
        _less("k3 is less noisy as a value than k1", ERROR, "k3", "k1", main=True),
        _biased("The gradient of k3 is not that of KL(policy || ref)", BIAS, "k3", main=True),
        _exact("k3 is unbiased as a value", "value bias", "k3"),
        _exact("The gradient of k2 is that of KL(policy || ref)", BIAS, "k2"),
        _exact("The gradient of k3 is that of KL(ref || policy)", "other direction", "k3"),
        _exact(
            "Off-policy, the gradient of weighted k3 is that of KL(policy || ref)",
            BIAS,
            "weighted k3, off-policy",
        ),
        _biased("Off-policy, that of k2 is not", BIAS, "k2, off-policy"),
        _less("Near the reference k3 is less noisy than k1", f"near {ERROR}", "k3", "k1"),
        _less("Far from it, too", f"far {ERROR}", "k3", "k1"),
        _less("After a random drift, too", ERROR, "k3, random", "k1, random"),
        _less("After a change by a reward, too", ERROR, "k3, learned", "k1, learned"),
        _biased("Near the reference, too, the gradient of k3 is another", f"near {BIAS}", "k3"),
        _less("From a batch, the gradient of k2 is nearer to the exact one", "gradient error", "k2", "k3"),
        _less(
            "Off-policy, that of weighted k3 is nearer than that of k2",
            "gradient error",
            "weighted k3, off-policy",
            "k2, off-policy",
        ),
    ),
    panels=(
        Curves(
            "value error by KL",
            "error of the value from one token / KL",
            xlabel="KL to the reference (nats per token)",
            x=DISTANCES,
            arms=("k1", "k2", "k3", "k3, random", "k3, learned"),
            log="xy",
        ),
        Curves(
            "gradient error by KL",
            f"error of the gradient from {TOKENS} tokens /\n|gradient of the KL|",
            xlabel="KL to the reference (nats per token)",
            x=DISTANCES,
            arms=("k1", "k2", "k3", "k2, off-policy", "weighted k3, off-policy"),
            log="xy",
        ),
    ),
)
