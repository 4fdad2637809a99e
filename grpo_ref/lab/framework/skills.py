"""A network with two skills, of which rewards train one: right answers of both, computed exactly."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.low_rank import low_rank
from grpo_ref.lab.framework.network import TRANSFORMER, imitator
from grpo_ref.lab.framework.tasks.two_skills import FAMILY, right_answers, two_skills
from grpo_ref.lab.framework.training import along, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.table import pull_back
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe
from grpo_ref.training import iter_train

EXAMPLES, STEPS = 16384, 400
"""Number of completions of both skills to imitate, and of optimizer steps on them."""
UPDATES, PROMPTS, GROUP, EVERY = 60, 16, 8, 5
"""Batches, prompts of each, completions per prompt, and updates between two measurements."""
GAIN = 1 / 3
"""Share of the possible gain of the rewarded skill at which arms are compared."""
SKILLS = (
    f"{FAMILY} A small transformer (one layer, width 32, two heads) first imitates {EXAMPLES} answers to both"
    " kinds, so that both skills share its weights."
)
"""Description of the tasks and of the network that `skilled` pretrains."""
MEASURED = (
    "The share of right answers to all questions of the rewarded kind, and of the other kind, at temperature"
    " 1, computed exactly; at the end as a mean over the last fifth of the updates. The loss is the share of"
    " the other kind at the start minus that at the end. An equal gain means: when the rewarded kind first"
    " has a third of the right answers that it lacked (or at the end, if it never does)."
)
"""Description of the measures of `measures_of`."""


class Skilled(NamedTuple):
    """A task, the questions (Q,) that are rewarded, and a network that knows something of both skills."""

    task: Task
    rewarded: Bools
    policy: NeuralPolicy


@cache
def skilled(seed: int) -> Skilled:
    """Sample a task and pretrain its network on both skills, once for all arms of a process."""
    task, rewarded = two_skills(seed)
    assert task.prompt_tokens is not None
    both = replace(task, prompt_probs=np.full(len(rewarded), 1.0 / len(rewarded)))
    started, policy = imitator(both, task.prompt_tokens, seed=seed, steps=STEPS, examples=EXAMPLES)
    return Skilled(replace(started, prompt_probs=task.prompt_probs), rewarded, policy)


def right(known: Skilled, weights: Floats) -> Floats:
    """Return (2, S) the exact share of right answers to rewarded and to other questions, at temperature 1."""
    task, rewarded, policy = known
    answers, mask = right_answers(task)
    prompts = np.broadcast_to(np.arange(len(rewarded)), (len(weights), len(rewarded)))
    tokens = np.broadcast_to(answers[:, None], (*prompts.shape, 1, task.max_length))
    log_probs = policy.at(weights, 1.0).visit(task, prompts, tokens, tokens).log_probs
    chances = np.exp((log_probs * mask[:, None]).sum(-1))[..., 0]
    return np.stack([chances[:, rewarded].mean(-1), chances[:, ~rewarded].mean(-1)])


def one_skill_trained(
    *, recipe: Recipe, learning_rate: float, rank: int = 0, alpha: float = 1.0, seeds: int, seed: int
) -> Measures:
    """Train one of the skills, and measure both after every few updates.

    Args:
      recipe: the recipe.
      learning_rate: step size.
      rank: rank of the adaptation; 0 trains all weights.
      alpha: numerator of the factor of the adaptation.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
    """
    known = skilled(seed)
    if rank:
        known = known._replace(policy=low_rank(known.policy, rank, alpha, seed=seed))
    task, _, policy = known
    sizes = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    config = config_for(task, TRANSFORMER, **sizes, learning_rate=learning_rate, seeds=seeds, seed=seed)
    states = (update.state for update in iter_train(task, recipe, config, metrics=(), policy=policy))
    shares = [right(known, one.params) for one in states if one.update % EVERY == 0]
    return measures_of(np.stack([right(known, policy.start(task, seeds)), *shares], axis=-1), 1)


def one_skill_imitated(*, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Fine-tune one of the skills on right answers, with as many examples as GRPO has completions.

    Args:
      learning_rate: step size.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
    """
    task, rewarded, policy = known = skilled(seed)
    answers, mask = right_answers(task)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    params, optimizer = policy.start(task, seeds), Adam(learning_rate)
    state, shares = optimizer.init(params), [right(known, params)]
    for _ in range(UPDATES):
        prompts = np.stack([one.choice(np.flatnonzero(rewarded), PROMPTS * GROUP) for one in generators])
        tokens, written = answers[prompts][:, :, None], mask[prompts][:, :, None]
        actor = policy.at(params, 1.0)
        visited = actor.visit(task, prompts, tokens, tokens)
        weights = written / written.sum((1, 2, 3), keepdims=True)
        gradient = pull_back(-weights, visited.states, tokens, visited.policy.probs)
        params, state = optimizer.step(params, actor.pull_back(visited, gradient), state)
        shares.append(right(known, params))
    return measures_of(np.stack(shares, axis=-1), EVERY)


def measures_of(shares: Floats, every: int) -> Measures:
    """Return the measures of a run from its right answers.

    Args:
      shares: (2, S, U + 1) right answers of the rewarded and of the other skill, from the start on.
      every: the curves keep one of this many values.
    """
    rewarded, other = shares[..., every::every]
    measures = summarized({"rewarded": rewarded, "other": other})
    return measures | {
        "lost": shares[1, :, 0] - measures["final other"],
        "other at equal gain": at_equal_gain(shares),
    }


def at_equal_gain(shares: Floats) -> Floats:
    """Return (S,) the other skill when the rewarded skill first has a third of all that it can gain.

    If the rewarded skill never has as much, it is the other skill at the end.

    Args:
      shares: (2, S, U) right answers of the rewarded and of the other skill, from the start on.

    >>> at_equal_gain(np.array([[[0.1, 0.3, 0.5]], [[0.9, 0.8, 0.6]]])).round(2).tolist()
    [0.7]
    """
    gained = (shares[0] - shares[0, :, :1]) / (1.0 - shares[0, :, :1])
    others = [
        along(path[None], other[None], (GAIN,))[0, 0] for path, other in zip(gained, shares[1], strict=True)
    ]
    return np.where(np.isnan(others), shares[1, :, -1], others)
