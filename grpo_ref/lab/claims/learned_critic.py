"""Claim: the group mean replaces a learned critic, and is more accurate than one that is still learning."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.advantages import group_centered, raw_rewards
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
from grpo_ref.lab.framework.tasks.lucky_trees import FAMILY, lucky_trees
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import gather, gather_states, policy_of, pull_back, scatter_add
from grpo_ref.learning.rollout import draw
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import REINFORCE
from grpo_ref.types import Completions

COMPLETIONS, GROUP, UPDATES = 128, 8, 80
"""Completions for each update, and for each group; and updates."""
SMALL: Mapping[str, Any] = {"completions": COMPLETIONS // 4, "updates": 2 * UPDATES}
"""Batches in which luck has more say."""
LAMBDA = 0.95
"""λ of the generalized advantage estimate; PPO's value for language models."""
MARGIN = 0.02


class Judged(NamedTuple):
    """Advantages and errors of one baseline on a batch.

    Attributes:
      advantages: (S, P, G) or (S, P, G, T).
      baseline: (S, P, G) what it expected of each completion before its first token.
      critic: (S, N or Q) the table after it has learned from the batch.
    """

    advantages: Floats
    baseline: Floats
    critic: Floats


Baseline = Callable[[Completions, Floats, Floats, float], Judged]
"""(batch, critic, (S, P) exact values of its prompts, step of the critic) -> Judged"""


def group_mean(batch: Completions, critic: Floats, exact: Floats, step: float) -> Judged:
    """GRPO's: no critic; the accuracy is that of the mean of the other completions."""
    others = batch.rewards.sum(-1, keepdims=True) - batch.rewards
    return Judged(group_centered(batch.rewards), others / (batch.rewards.shape[-1] - 1), critic)


def nothing(batch: Completions, critic: Floats, exact: Floats, step: float) -> Judged:
    """No baseline at all."""
    return Judged(raw_rewards(batch.rewards), np.zeros_like(batch.rewards), critic)


def exact_value(batch: Completions, critic: Floats, exact: Floats, step: float) -> Judged:
    """The expected reward of the prompt, as the best critic of prompts would know it."""
    baseline = np.broadcast_to(exact[..., None], batch.rewards.shape)
    return Judged(batch.rewards - baseline, baseline, critic)


def prompt_critic(batch: Completions, critic: Floats, exact: Floats, step: float) -> Judged:
    """A value for each prompt, moved towards the mean reward of its completions."""
    runs = np.arange(len(critic))[:, None]
    baseline = np.broadcast_to(critic[runs, batch.prompts][..., None], batch.rewards.shape)
    errors = batch.rewards - baseline
    places = np.broadcast_to(batch.prompts[..., None, None], (*batch.rewards.shape, 1))
    return Judged(errors, baseline, _moved(critic, places, errors[..., None], step))


def state_critic(batch: Completions, critic: Floats, exact: Floats, step: float) -> Judged:
    """PPO's: a value for each state, generalized advantages, and regression on advantage plus value."""
    values = gather_states(critic, batch.states)
    following = np.concatenate([values[..., 1:], np.zeros_like(values[..., :1])], axis=-1)
    surprises = following - values
    surprises[..., -1] += batch.rewards
    advantages = surprises.copy()
    for t in range(advantages.shape[-1] - 2, -1, -1):
        advantages[..., t] += LAMBDA * advantages[..., t + 1]
    return Judged(advantages, values[..., 0], _moved(critic, batch.states, advantages, step))


def _moved(critic: Floats, places: Any, errors: Floats, step: float) -> Floats:
    """Every entry that was visited moves by a share of the mean error of its visits."""
    shape, first = (*critic.shape, 1), np.zeros_like(places)
    total, visits = (
        scatter_add(one, places, first, shape)[..., 0] for one in (errors, np.ones(errors.shape))
    )
    moved: Floats = critic + step * total / np.maximum(visits, 1.0)
    return moved


def learned(
    *,
    baseline: Baseline,
    learning_rate: float,
    seeds: int,
    seed: int,
    group_size: int = 1,
    step: float = 0.3,
    completions: int = COMPLETIONS,
    updates: int = UPDATES,
) -> Measures:
    """Train on a task of the family with a baseline; one step of Adam for each batch.

    Args:
      baseline: gives the advantages.
      learning_rate: of the policy.
      seeds, seed: number of independent runs, and the base of their random numbers and of the task.
      group_size: completions for each prompt.
      step: share of its error by which the critic moves, for each update.
      completions, updates: completions for each update, and how many updates.
    """
    made, optimizer = lucky_trees(seed), Adam(learning_rate)
    task = made.task
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    params = np.repeat(task.ref_logits[None], seeds, axis=0)
    rows = len(task.prompts) if baseline is prompt_critic else len(task.transitions)
    critic, moments = np.zeros((seeds, rows)), optimizer.init(params)
    log: list[tuple[Floats, Floats]] = []
    for _ in range(updates):
        policy, values = policy_of(params), made.values(params)
        batch = draw(task, policy, generators, prompts=completions // group_size, group_size=group_size)
        exact = values[np.arange(seeds)[:, None], batch.prompts]
        judged = baseline(batch, critic, exact, step)
        critic = judged.critic
        error = ((judged.baseline - exact[..., None]) ** 2).mean((-2, -1))
        log_probs = gather(policy.log_probs, batch.states, batch.tokens)
        loss = policy_loss(log_probs, judged.advantages, batch.mask, recipe=REINFORCE, metrics=())
        gradient = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
        params, moments = optimizer.step(params, gradient, moments)
        log.append((values.mean(-1), error))
    reward, errors = (np.stack(one, axis=-1) for one in zip(*log, strict=True))
    return summarized({"reward": reward, "error": np.sqrt(errors)})


RATES = (0.03, 0.1, 0.3, 1.0, 3.0)
AT = ", at 0.3"
"""Ending of the arms with a learning rate of 0.3, whose baselines' errors are compared."""


def _arm(baseline: Baseline, **settings: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by="mean reward"), baseline=baseline, **settings)


def _same(says: str, left: str, right: str) -> Prediction:
    return Prediction(says, "mean reward", left, "same", right, MARGIN)


EXPERIMENT = Experiment(
    name="learned_critic",
    title="Does the group's mean learn more than a critic?",
    group="advantages",
    claim="The group's mean reward takes the place of a learned critic, and often outperforms PPO because"
    " empirical baselines are more accurate than a poorly trained value function.",
    source="Shao et al. 2024, DeepSeekMath, sec. 4.1.1 (arXiv:2402.03300; read in summaries), which claims"
    " less: that no critic is needed; a book chapter on GRPO (2026, not public), introduction and sec."
    " 7.1",
    family=FAMILY,
    run=f"Each of {UPDATES} updates has {COMPLETIONS} completions and one step of Adam, on-policy, without"
    f" dividing the advantages by anything. Either there are groups of {GROUP}, with the group's mean as the"
    " baseline. Or there is one completion for each prompt, and a critic: a table of values that starts at 0"
    " and moves by 30 % of its mean error in each update. It has one value for each prompt, or for each state"
    f" with generalized advantages (GAE, λ = {LAMBDA}) as in PPO. Other arms have no baseline, the exact"
    " values of the prompts, groups for the critic too, and critics that move by 10 % (slow) or all (fast) of"
    " their error. Small batches have a quarter of the completions, and there are twice the updates.",
    measured="The expected reward over all prompts, computed from the policy at temperature 1, as a mean over"
    " all updates, by which the learning rate is chosen. The error of the baseline is the root mean square of"
    " its distance from the expected reward of the prompt, as a mean over all updates, at a learning rate of"
    " 0.3 in all arms. For the group's mean, the baseline of a completion is the mean of the other"
    " completions.",
    arms={
        "group mean": _arm(group_mean, group_size=GROUP),
        "critic of prompts": _arm(prompt_critic),
        "critic of states, GAE": _arm(state_critic),
        "critic of prompts, groups": _arm(prompt_critic, group_size=GROUP),
        "critic of prompts, slow": _arm(prompt_critic, step=0.1),
        "critic of prompts, fast": _arm(prompt_critic, step=1.0),
        "no baseline": _arm(nothing),
        "exact values": _arm(exact_value),
        "group mean, small batches": _arm(group_mean, group_size=GROUP, **SMALL),
        "critic of prompts, small batches": _arm(prompt_critic, **SMALL),
        "critic of states, small batches": _arm(state_critic, **SMALL),
        "no baseline, small batches": _arm(nothing, **SMALL),
        f"group mean{AT}": arm(learned, baseline=group_mean, group_size=GROUP, learning_rate=0.3),
        f"critic of prompts{AT}": arm(learned, baseline=prompt_critic, learning_rate=0.3),
        f"critic of states, GAE{AT}": arm(learned, baseline=state_critic, learning_rate=0.3),
        f"no baseline{AT}": arm(learned, baseline=nothing, learning_rate=0.3),
    },
    predictions=(
        Prediction(
            "The group's mean is nearer to the exact value than a critic of states",
            "mean error",
            f"group mean{AT}",
            "less",
            f"critic of states, GAE{AT}",
            0.01,
            main=True,
        ),
        Prediction(
            "With as many completions, the group's mean learns more than PPO's critic of states",
            "mean reward",
            "group mean",
            "more",
            "critic of states, GAE",
            MARGIN,
            main=True,
        ),
        Prediction(
            "The group's mean is nearer to the exact value than a critic of prompts",
            "mean error",
            f"group mean{AT}",
            "less",
            f"critic of prompts{AT}",
            0.01,
        ),
        _same(
            "No critic of prompts is needed: the group's mean learns as much",
            "group mean",
            "critic of prompts",
        ),
        _same("The same where the critic has groups too", "group mean", "critic of prompts, groups"),
        _same("The same with a slow critic", "group mean", "critic of prompts, slow"),
        _same("The same with a fast critic", "group mean", "critic of prompts, fast"),
        Prediction(
            "Control: without any baseline less is learned",
            "mean reward",
            "no baseline",
            "less",
            "group mean",
            MARGIN,
        ),
        _same("Control: exact values bring no more than the group's mean", "exact values", "group mean"),
        *(
            Prediction(
                f"In small batches the group's mean learns more than {name}",
                "mean reward",
                "group mean, small batches",
                "more",
                f"{label}, small batches",
                MARGIN,
            )
            for name, label in (
                ("a critic of states", "critic of states"),
                ("a critic of prompts", "critic of prompts"),
                ("no baseline", "no baseline"),
            )
        ),
    ),
    panels=(
        Curves(
            "reward",
            "expected reward",
            arms=("group mean", "critic of prompts", "critic of states, GAE", "no baseline", "exact values"),
        ),
        Points(
            "mean error",
            "error of the baseline\n(root mean square, reward)",
            arms=tuple(
                f"{label}{AT}"
                for label in ("group mean", "critic of prompts", "critic of states, GAE", "no baseline")
            ),
        ),
        Grid(
            "expected reward (mean over updates)",
            arms=("group mean", "critic of prompts", "critic of states, GAE", "no baseline", "exact values"),
        ),
    ),
)
