"""Claim: training with the gradient of a KL estimate need not reach the policy that a KL penalty defines."""

from collections import deque
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Experiment, Measures, Points, Prediction, arm
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.penalties import k1, k2, k3, weighted_k3
from grpo_ref.recipes import RLOO, Recipe, slot
from grpo_ref.tasks.bandit import bandit_with
from grpo_ref.training import iter_train

STAGES = {250: 0.1, 400: 0.02}
"""Update at which a stage of the training ends -> its learning rate."""


class Drawn(NamedTuple):
    """A task of the family.

    Attributes:
      means: (contexts, arms) reward of each arm.
      ref_logits: (contexts, arms) of the reference.
      weight: of the penalty, in units of reward per nat.
    """

    means: Floats
    ref_logits: Floats
    weight: float


def drawn(seed: int) -> Drawn:
    """A bandit with a reference and the weight of a penalty."""
    generator = np.random.default_rng([seed, 4])
    shape = (4, int(generator.integers(4, 17)))
    weight = float(np.exp(generator.uniform(np.log(0.05), np.log(0.5))))
    return Drawn(generator.random(shape), generator.uniform(0.5, 2.0) * generator.normal(size=shape), weight)


def regularized(*, recipe: Recipe, penalized: bool = True, seeds: int, seed: int) -> Measures:
    """Train on a drawn bandit, and compare the policy with the exact optima of two regularized objectives.

    Args:
      recipe: with the estimate of the KL; its weight is the task's.
      penalized: whether there is a penalty at all.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    means, ref_logits, weight = drawn(seed)
    task = replace(bandit_with(means), ref_logits=ref_logits)
    weighted = replace(recipe, kl_coef=weight if penalized else 0.0)
    ref, ends, state = log_softmax(ref_logits), [], None
    for updates, rate in STAGES.items():
        config = config_for(
            task, updates=updates, prompts=16, group_size=8, learning_rate=rate, seeds=seeds, seed=seed
        )
        (last,) = deque(iter_train(task, weighted, config, state, metrics=()), maxlen=1)
        state = last.state
        ends.append(log_softmax(state.params))
    policy = ends[-1]
    return {
        "reward": (np.exp(policy) * means).sum(-1).mean(-1),
        "kl": _divergence(policy, ref),
        "moved": _divergence(policy, ends[0]),
        "from the optimum": _divergence(policy, log_softmax(ref + means / weight)),
        "from the other optimum": _divergence(policy, _other_optimum(means, ref, weight)),
    }


def _divergence(policy: Floats, other: Floats) -> Floats:
    """(...,) KL(policy || other) in nats, mean of the contexts."""
    divergence: Floats = (np.exp(policy) * (policy - other)).sum(-1).mean(-1)
    return divergence


def _other_optimum(means: Floats, ref: Floats, weight: float) -> Floats:
    """Log-probabilities of the best policy where KL(ref || policy) is the penalty.

    πₐ = weight refₐ / (weight + V - rₐ),    V such that they sum to 1, found by bisection
    """
    high = means.max(-1, keepdims=True)
    low = high - weight
    for _ in range(60):
        middle = (low + high) / 2.0
        total = (weight * np.exp(ref) / (weight + middle - means)).sum(-1, keepdims=True)
        low, high = np.where(total > 1.0, middle, low), np.where(total > 1.0, high, middle)
    log_probs: Floats = np.log(weight) + ref - np.log(weight + high - means)
    return log_probs


PENALTIES = {"k1": slot(k1), "k2": slot(k2), "k3": slot(k3), "weighted k3": slot(weighted_k3)}

EXPERIMENT = Experiment(
    name="kl_optimum",
    title="Which KL penalty leads to the intended optimum?",
    group="divergence",
    claim="To differentiate an estimate of the KL does not in general enforce the regularization: k1 does"
    " nothing, k3 regularizes by the other direction, and k2 and weighted k3 reach the intended optimum.",
    source="Tang & Munos 2025, On a few pitfalls in KL divergence gradient estimation (arXiv:2506.09477)",
    family="Bandits of 4 contexts and 4 to 16 arms, with rewards between 0 and 1. Drawn are also how sharp"
    " the reference is (a standard deviation of its logits of 0.5 to 2) and the weight of the penalty (0.05"
    " to 0.5, evenly on a logarithmic scale).",
    run="RLOO with a penalty is trained on-policy with Adam, for 250 updates at a learning rate of 0.1, and"
    " for 150 more at 0.02, so that it comes to rest. The best policies under the reward minus the weighted"
    " KL(policy || ref), and minus the weighted KL(ref || policy), are known exactly.",
    measured="KL from the final policy to each of the two best policies, to the reference, and to the policy"
    " before the last 150 updates (nats); and its exact reward.",
    arms={"none": arm(regularized, recipe=RLOO, penalized=False)}
    | {name: arm(regularized, recipe=replace(RLOO, penalty=penalty)) for name, penalty in PENALTIES.items()},
    predictions=(
        Prediction(
            "k3 does not reach the intended optimum", "from the optimum", "k3", "more", 0.0, 0.02, main=True
        ),
        Prediction("k2 reaches the intended optimum", "from the optimum", "k2", "same", 0.0, 0.02, main=True),
        Prediction("k1 does not reach the intended optimum", "from the optimum", "k1", "more", 0.0, 0.02),
        Prediction(
            "Weighted k3 reaches the intended optimum", "from the optimum", "weighted k3", "same", 0.0, 0.02
        ),
        Prediction(
            "k3 reaches the optimum of the other direction", "from the other optimum", "k3", "same", 0.0, 0.02
        ),
        Prediction("With k1 the policy goes as far as without a penalty", "kl", "k1", "same", "none", 0.05),
        Prediction("With k1 the reward is as without a penalty", "reward", "k1", "same", "none", 0.01),
        Prediction("k2 has come to rest", "moved", "k2", "same", 0.0, 0.01),
        Prediction("k3 has come to rest", "moved", "k3", "same", 0.0, 0.01),
        Prediction("k1 has come to rest", "moved", "k1", "same", 0.0, 0.01),
    ),
    panels=(
        Points("from the optimum", "KL to the best policy under\nKL(policy || ref) (nats)", log="y"),
        Points("from the other optimum", "KL to the best policy under\nKL(ref || policy) (nats)", log="y"),
    ),
)
