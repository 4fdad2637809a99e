"""Claim: training with the gradient of a KL estimate need not reach the policy that a KL penalty defines."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Experiment, Measures, Points, Prediction, arm
from grpo_ref.experiments.framework.training import last_state
from grpo_ref.kernels.penalties import k1, k2, k3, weighted_k3
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.tasks.bandit import bandit_with
from grpo_ref.recipes import RLOO, Recipe, slot

CONTEXTS, ARMS = 8, 10
WEIGHT = 0.2
"""Of the penalty, in units of reward per nat."""


def regularized(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Train on a bandit, and compare the policy with the exact optima of two regularized objectives."""
    generator = np.random.default_rng(0)
    means, ref_logits = generator.random((CONTEXTS, ARMS)), generator.normal(size=(CONTEXTS, ARMS))
    task = replace(bandit_with(means), ref_logits=ref_logits)
    settings = config_for(
        task, updates=300, prompts=32, group_size=8, learning_rate=0.05, seeds=seeds, seed=seed
    )
    policy, ref = log_softmax(last_state(task, recipe, settings).params), log_softmax(ref_logits)
    return {
        "reward": (np.exp(policy) * means).sum(-1).mean(-1),
        "kl": _divergence(policy, ref),
        "from the optimum": _divergence(policy, log_softmax(ref + means / WEIGHT)),
        "from the other optimum": _divergence(policy, _other_optimum(means, ref)),
    }


def _divergence(policy: Floats, other: Floats) -> Floats:
    """(...,) KL(policy || other) in nats, mean of the contexts."""
    divergence: Floats = (np.exp(policy) * (policy - other)).sum(-1).mean(-1)
    return divergence


def _other_optimum(means: Floats, ref: Floats) -> Floats:
    """Log-probabilities of the best policy where KL(ref || policy) is the penalty.

    πₐ = weight refₐ / (weight + V - rₐ),    V such that they sum to 1, found by bisection
    """
    high = means.max(-1, keepdims=True)
    low = high - WEIGHT
    for _ in range(60):
        middle = (low + high) / 2.0
        total = (WEIGHT * np.exp(ref) / (WEIGHT + middle - means)).sum(-1, keepdims=True)
        low, high = np.where(total > 1.0, middle, low), np.where(total > 1.0, high, middle)
    log_probs: Floats = np.log(WEIGHT) + ref - np.log(WEIGHT + high - means)
    return log_probs


PENALTIES = {"k1": slot(k1), "k2": slot(k2), "k3": slot(k3), "weighted k3": slot(weighted_k3)}

EXPERIMENT = Experiment(
    name="kl_optimum",
    group="divergence",
    claim="To differentiate an estimate of the KL does not in general enforce the regularization: k1 does"
    " nothing, k3 regularizes by the other direction, and k2 and weighted k3 reach the intended optimum.",
    source="Tang & Munos 2025, On a few pitfalls in KL divergence gradient estimation (arXiv:2506.09477)",
    run=f"On a bandit of {CONTEXTS} contexts and {ARMS} arms with a random reference, RLOO with a penalty of"
    f" weight {WEIGHT} is trained on-policy until it hardly moves. The best policies under the reward minus"
    f" {WEIGHT} KL(policy || ref), and minus {WEIGHT} KL(ref || policy), are known exactly.",
    measured="KL from the final policy to each of the two best policies, and to the reference (nats).",
    arms={"none": arm(regularized, recipe=RLOO)}
    | {
        name: arm(regularized, recipe=replace(RLOO, penalty=penalty, kl_coef=WEIGHT))
        for name, penalty in PENALTIES.items()
    },
    predictions=(
        Prediction("With k1 the policy goes as far as without a penalty", "kl", "k1", "same", "none", 0.05),
        Prediction("k2 reaches the intended optimum", "from the optimum", "k2", "same", 0.0, 0.02),
        Prediction(
            "Weighted k3 reaches the intended optimum", "from the optimum", "weighted k3", "same", 0.0, 0.02
        ),
        Prediction("k3 does not reach the intended optimum", "from the optimum", "k3", "more", 0.0, 0.02),
        Prediction(
            "k3 reaches the optimum of the other direction", "from the other optimum", "k3", "same", 0.0, 0.02
        ),
    ),
    panels=(
        Points("from the optimum", "KL to the best policy under\nKL(policy || ref) (nats)", log="y"),
        Points("from the other optimum", "KL to the best policy under\nKL(ref || policy) (nats)", log="y"),
    ),
    chosen="Training was made longer until the policy hardly moves, because the difference between k1 and no"
    " penalty depends on it.",
)
