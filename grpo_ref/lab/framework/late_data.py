"""Late data: training on batches that an older policy sampled, as if sampler and learner ran separately."""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, masked_mean
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.reused_batches import largest_fall
from grpo_ref.lab.framework.tasks.digit_sums import drawn_sums
from grpo_ref.lab.framework.tasks.exact_sums import exact
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.batches import slices
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.optim import clip_by_norm
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import optimizer_of
from grpo_ref.learning.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

FAMILY = (
    "Sums of digits: all questions a+b with a and b up to a number from 2 to 9, each in several copies that"
    " the policy cannot tell apart. At first 2 to 50 % of the answers are right (log-uniform), and up to 30 %"
    " of the copies have a wrong label. Drawn are also the prompts of a batch (8, 16 or 32), the size of the"
    " groups (4, 8 or 16) and the steps that are taken on a batch (1, or 2 on its halves)."
)
"""Description of how `late` samples its tasks."""
UPDATES = 80
Anchor = Literal["sampler", "learner"]


class Late(NamedTuple):
    """State after an update.

    Attributes:
      params: (S, ...) the learner's logits or weights.
      grad_norm: (S,) largest gradient norm of the update's steps, before the gradient is clipped.
      mean_ratio: (S,) largest importance ratio of the update's steps, each a mean over tokens.
    """

    params: Floats
    grad_norm: Floats
    mean_ratio: Floats


def late_updates(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    *,
    age: int,
    anchor: Anchor,
    policy: PolicyKind = TABLE,
) -> Iterator[Late]:
    """Train on batches that were sampled by the policy of some updates ago.

    Args:
      task: task to learn.
      recipe: recipe whose advantage, surrogate, corrections and aggregation are used.
      config: sizes and step sizes. A batch is divided into minibatches, with one step for each in an epoch.
      age: age of the sampler in updates. During the first `age` updates the sampler is the reference.
      anchor: policy that gives the old log-probabilities of the surrogate's ratio: the sampler, or the
        learner at the time when it gets the batch. Corrections read both.
      policy: the kind of policy: a table, or a pretrained network.
    """
    params = policy.start(task, config.seeds)
    optimizer = optimizer_of(config)
    moments = optimizer.init(params)
    generators = [np.random.default_rng([config.seed, run]) for run in range(config.seeds)]
    past = deque([params], maxlen=age + 1)
    for _ in range(config.updates):
        sampler, learner = (policy.at(one, config.temperature) for one in (past[0], params))
        batch = draw(task, sampler, generators, prompts=config.prompts, group_size=config.group_size)
        said_by_sampler = sampler.visit(task, batch.prompts, batch.states, batch.tokens).log_probs
        said_before = said_by_sampler
        if anchor == "learner":
            said_before = learner.visit(task, batch.prompts, batch.states, batch.tokens).log_probs
        advantages = recipe.advantage(batch)
        norms: list[Floats] = []
        ratios: list[Floats] = []
        for part in slices(config.prompts, config.minibatches) * config.epochs:
            actor = policy.at(params, config.temperature) if norms else learner
            tokens = batch.tokens[:, part]
            now = actor.visit(task, batch.prompts[:, part], batch.states[:, part], tokens)
            mask = batch.mask[:, part]
            ratio = np.exp(now.log_probs - said_before[:, part])
            ratios.append(masked_mean(ratio, mask, axis=(-3, -2, -1)))
            loss = policy_loss(
                now.log_probs,
                advantages[:, part],
                mask,
                recipe=recipe,
                old_log_probs=said_before[:, part],
                rollout_log_probs=said_by_sampler[:, part],
                metrics=(),
            )
            gradient = pull_back(
                loss.gradient, now.states, tokens, now.policy.probs, temperature=config.temperature
            )
            gradient, norm = clip_by_norm(actor.pull_back(now, gradient), config.max_grad_norm)
            params, moments = optimizer.step(params, gradient, moments)
            norms.append(norm)
        past.append(params)
        yield Late(params, np.max(norms, axis=0), np.max(ratios, axis=0))


def late(
    *,
    recipe: Recipe,
    age: int,
    anchor: Anchor = "sampler",
    fixed: Mapping[str, Any] | None = None,
    seeds: int,
    seed: int,
    **config: Any,
) -> Measures:
    """Train on a sampled task with late batches.

    Args:
      recipe, age, anchor: as in `late_updates`.
      fixed: settings of the task that are not sampled.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
      config: fields of `TrainConfig`.

    Returns:
      The measures of `summarized` for the exact "correct" and "entropy" and for "grad_norm"; "largest fall"
      of "correct" below its best value so far; and "longest gradient", as a decimal logarithm.
    """
    generator = np.random.default_rng([seed, 6])
    sizes: dict[str, Any] = {
        "prompts": int(generator.choice([8, 16, 32])),
        "group_size": int(generator.choice([4, 8, 16])),
        "minibatches": int(generator.choice([1, 2])),
    }
    task = drawn_sums(seed, **(fixed or {}))
    settings = config_for(task, updates=UPDATES, **sizes, **config, seeds=seeds, seed=seed)
    measured = exact(task)
    rows = [
        [*(measure(one) for measure in measured.values()), one.grad_norm]
        for one in late_updates(task, recipe, settings, age=age, anchor=anchor)
    ]
    found = dict(zip((*measured, "grad_norm"), np.moveaxis(np.array(rows), 0, -1), strict=True))
    longest = np.log10(np.maximum(found["grad_norm"].max(-1), np.finfo(np.float64).tiny))
    return summarized(found) | {
        "largest fall": largest_fall(found["correct"]),
        "longest gradient": longest,
    }
