"""Claim: a KL penalty does the same in the loss (as k2) and in the reward (as k1)."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered, group_normalized, raw_rewards
from grpo_ref.arrays import Array, Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Measures,
    Points,
    Prediction,
    arm,
)
from grpo_ref.lab.framework.tasks.rewarded_trees import FAMILY, rewarded_trees
from grpo_ref.learning.config import config_for
from grpo_ref.penalties import k2, k3
from grpo_ref.recipes import GRPO, RLOO, Recipe, slot
from grpo_ref.surrogates import reinforce
from grpo_ref.training import iter_train
from grpo_ref.types import Term

STAGES: Mapping[int, float] = {150: 0.1, 250: 0.02, 350: 0.005}
"""Update at which a stage of the training ends -> its learning rate."""
SIZES: Mapping[str, Any] = {"prompts": 16, "group_size": 8}
NATS = 0.02


def penalized_reward(
    log_probs: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    weight: float,
    divide: bool,
) -> Term:
    """REINFORCE with k1 of the whole completion in the reward, before the advantage is computed.

        r' = r - weight Σₜ (log πold - log πref),   A = r' - mean(r'), divided by its deviation or not

    Args:
      log_probs, old_log_probs, ref_log_probs: (..., P, G, T) in nats.
      advantages: (..., P, G, T) the rewards, the same for every token.
      mask: (..., P, G, T).
      weight: of the penalty.
      divide: whether by the standard deviation of the group.
    """
    shaped = advantages[..., 0] - weight * ((old_log_probs - ref_log_probs) * mask).sum(-1)
    return reinforce(log_probs, (group_normalized if divide else group_centered)(shaped)[..., None])


def penalized_completion(
    log_probs: Array, ref_log_probs: Array, advantages: Array, mask: Array, *, weight: float
) -> Term:
    """REINFORCE with k2 of the whole completion, not of each token, in the loss.

    sₜ = A log πθ(t),   and the penalty of a completion is weight (Σₜ (log πθ - log πref))² / 2
    """
    apart = ((log_probs - ref_log_probs) * mask).sum(-1, keepdims=True)
    return reinforce(log_probs, advantages - weight * apart)


def regularized(*, recipe: Recipe, length: int = 0, seeds: int, seed: int) -> Measures:
    """Train on a drawn task, and compare the policy with the exact optimum of the regularized objective.

    Args:
      recipe: whose penalty, in the loss or in a surrogate, gets the weight of the task.
      length: of the completions; 0 to draw it.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    made = rewarded_trees(seed, length=length)
    if "weight" in recipe.surrogate.settings:
        settings = {**recipe.surrogate.settings, "weight": made.weight}
        weighted = replace(recipe, surrogate=slot(recipe.surrogate.kernel, **settings))
    else:
        weighted = replace(recipe, kl_coef=made.weight)
    ref, ends, state = made.log_probs(made.task.ref_logits), [], None
    for updates, rate in STAGES.items():
        config = config_for(made.task, **SIZES, updates=updates, learning_rate=rate, seeds=seeds, seed=seed)
        (last,) = deque(iter_train(made.task, weighted, config, state, metrics=()), maxlen=1)
        state = last.state
        ends.append(made.log_probs(state.params))
    return {
        "reward": (np.exp(ends[-1]) * made.rewards).sum(-1).mean(-1),
        "kl": _divergence(ends[-1], ref),
        "moved": _divergence(ends[-1], ends[-2]),
        "from the optimum": _divergence(ends[-1], made.best()),
        "from the optimum by token": _divergence(ends[-1], made.best_by_token()),
    }


def _divergence(policy: Floats, other: Floats) -> Floats:
    """(...,) KL(policy || other) in nats per completion, mean of the kinds."""
    divergence: Floats = (np.exp(policy) * (policy - other)).sum(-1).mean(-1)
    return divergence


PLAIN = replace(RLOO, advantage=slot(group_centered))
DIVIDED = replace(PLAIN, advantage=GRPO.advantage)


def _in_reward(*, divide: bool = False, **settings: Any) -> Arm:
    surrogate = slot(penalized_reward, weight=0.0, divide=divide)
    recipe = replace(PLAIN, advantage=slot(raw_rewards), surrogate=surrogate)
    return arm(regularized, recipe=recipe, **settings)


def _in_loss(penalty: Any, recipe: Recipe = PLAIN, **settings: Any) -> Arm:
    return arm(regularized, recipe=replace(recipe, penalty=slot(penalty)), **settings)


def _same(says: str, left: str, right: str | float, *, main: bool = False) -> Prediction:
    return Prediction(says, "from the optimum", left, "same", right, NATS, main)


EXPERIMENT = Experiment(
    name="kl_in_reward",
    title="Is k2 in the loss equivalent to k1 in the reward?",
    group="divergence",
    claim="On-policy, k2 as a loss is gradient-equivalent to k1 in the reward, both being sound"
    " implementations of the reverse KL objective.",
    source="Liu et al. 2025, Rethinking KL regularization in RLHF (arXiv:2510.01555, read in its abstract);"
    " DeepSeekMath (arXiv:2402.03300) puts the KL into the loss so as not to complicate the advantage",
    family=FAMILY,
    run=f"REINFORCE with the group's mean as baseline is trained on-policy with Adam, {SIZES['prompts']} x"
    f" {SIZES['group_size']} completions per update: 150 updates at a learning rate of 0.1, 100 at 0.02 and"
    " 100 at 0.005, so that it comes to rest. The KL to the reference is in the reward, as k1 summed over the"
    " completion, or in the loss: as k2 of each token, as trainers have it, or as k2 of the whole completion."
    " The advantage is divided by the group's standard deviation, as in GRPO, or not. Where completions have"
    " one token, token and completion are the same.",
    measured="KL from the final policy to the exact best policy of reward minus weighted KL, to the"
    " reference, to the policy before the last 100 updates, and to the exact policy that is best if every"
    " token pays for its own KL and not for that of later ones (nats per completion); and its exact reward.",
    arms={
        "reward": _in_reward(),
        "loss": _in_loss(k2),
        "loss, whole": arm(
            regularized, recipe=replace(PLAIN, surrogate=slot(penalized_completion, weight=0.0))
        ),
        "reward, divided": _in_reward(divide=True),
        "loss, divided": _in_loss(k2, DIVIDED),
        "k3 loss, divided": _in_loss(k3, DIVIDED),
        "reward, one token": _in_reward(length=1),
        "loss, one token": _in_loss(k2, length=1),
    },
    predictions=(
        _same(
            "In the loss of each token it leads where it leads in the reward",
            "loss",
            "reward",
            main=True,
        ),
        _same(
            "The same where advantages are divided by the group's deviation, as in GRPO",
            "loss, divided",
            "reward, divided",
            main=True,
        ),
        _same("In the reward it leads to the best policy", "reward", 0.0),
        _same("In the reward it does so with division too", "reward, divided", 0.0),
        _same(
            "In the loss of the whole completion it leads to the best policy",
            "loss, whole",
            0.0,
        ),
        Prediction(
            "In the loss of each token it leads to where a token pays for its own KL and no later one",
            "from the optimum by token",
            "loss",
            "same",
            0.0,
            NATS,
        ),
        _same(
            "Control: with completions of one token it is the same in loss and reward",
            "loss, one token",
            "reward, one token",
        ),
        Prediction(
            "Division leaves a penalty in the loss as it is and raises the reward: the policy goes farther",
            "kl",
            "loss, divided",
            "more",
            "loss",
            0.05,
        ),
        Prediction("So does GRPO's k3", "kl", "k3 loss, divided", "more", "loss", 0.05),
        Prediction("In the reward it has come to rest", "moved", "reward", "same", 0.0, 0.01),
        Prediction("In the loss it has come to rest", "moved", "loss", "same", 0.0, 0.01),
    ),
    panels=(
        Points(
            "from the optimum",
            "KL to the best policy\n(nats per completion)",
            arms=("reward", "loss", "loss, whole", "reward, one token", "loss, one token"),
        ),
        Points(
            "from the optimum",
            "KL to the best policy\n(nats per completion)",
            arms=("reward", "loss", "reward, divided", "loss, divided", "k3 loss, divided"),
            log="y",
        ),
    ),
)
