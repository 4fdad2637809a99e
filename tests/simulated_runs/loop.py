"""A training loop that keeps the batches from which a trainer takes its metrics, and that can be faulty.

The stages are those of `grpo_ref.learning.loop`, for one run. Each fault changes one stage.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from simulated_runs.setting import Setting
from simulated_runs.worlds import WORLDS, policy_of

from grpo_ref import RECIPES, group_normalized, policy_loss, slot
from grpo_ref.advantages import batch_normalized
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.entropy import bonus_gradient
from grpo_ref.learning.optim import Adam, clip_by_norm
from grpo_ref.learning.policies.table import gather_states, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.task import Task
from grpo_ref.types import Completions

LARGEST_NORM = 1.0
"""The limit of the gradient norm for networks. A table has none."""
SAMPLER_NOISE = 0.02
"""Standard deviation of the sampler's logits around those of the learner, as of another precision."""


class Step(NamedTuple):
    """The results of an optimizer step on one minibatch.

    Attributes:
      loss, policy_loss: with and without the KL.
      grad_norm: before it is clipped.
      kl: (P, G, T) the estimate of the KL to the reference.
      log_ratio: (P, G, T) log πθ - log πold.
      entropies: (P, G, T) in nats.
      low, high: (P, G, T) true where the clip acts.
      mask: (P, G, T).
    """

    loss: float
    policy_loss: float
    grad_norm: float
    kl: np.ndarray
    log_ratio: np.ndarray
    entropies: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mask: np.ndarray


class Generation(NamedTuple):
    """One generation batch and the steps on it.

    Attributes:
      update: its number, from 1.
      batch: (P, G, T) completions.
      advantages: (P, G) or (P, G, T).
      groups: (P, G) the rewards in the groups that the code believes in.
      gap: (P, G, T) log πlearner - log πsampler.
      criteria: names of the reward functions.
      tokens: number of tokens of all completions so far.
      ended: (P, G) true if the completion has its end-of-sequence token.
      steps: the steps.
    """

    update: int
    batch: Completions
    advantages: np.ndarray
    groups: np.ndarray
    gap: np.ndarray
    criteria: tuple[str, ...]
    tokens: int
    ended: np.ndarray
    steps: list[Step]


def task_of(setting: Setting) -> Task:
    """Return the task of a run, with its weights and the rewards that its faults add."""
    task = WORLDS[setting.world].build(np.random.default_rng([setting.seed, 1]))
    task = replace(task, weights=np.array(setting.weights)) if setting.weights else task
    return a_bonus_for_length(a_proxy(task, setting.faults), setting.faults)


def generations(setting: Setting) -> Iterator[Generation]:
    """Train, and yield each generation batch with its steps."""
    task, faults = task_of(setting), setting.faults
    policy, recipe = policy_of(setting.world, task), RECIPES[setting.loss]
    recipe = replace(recipe, kl_coef=setting.kl_coef)
    trained = replace(recipe, kl_coef=-recipe.kl_coef) if "sign of the KL" in faults else recipe
    trained = replace(recipe, kl_coef=0.0) if "KL not in the loss" in faults else trained
    largest_norm = LARGEST_NORM if WORLDS[setting.world].network else np.inf
    rng, noise = (np.random.default_rng([setting.seed, stream]) for stream in (2, 3))
    params = policy.start(task, 1)
    reference = params
    if "wrong reference" in faults:
        reference = params + noise.normal(0.0, 0.3, params.shape) * np.std(params)
    frozen_sampler, previous = params, params
    optimizer = Adam(setting.learning_rate)
    moments = optimizer.init(params)
    broken = int(setting.updates * noise.uniform(0.3, 0.5))
    spiky = set(noise.choice(np.arange(20, setting.updates), size=5, replace=False).tolist())

    tokens = 0
    for update in range(1, setting.updates + 1):
        # 1. Sample.
        learner = policy.at(params, 1.0)
        if update <= broken:
            frozen_sampler = params
        stale = "sampler not synchronized" in faults
        sampling = frozen_sampler if stale else params
        if setting.logs_sampler and not WORLDS[setting.world].network:
            sampling = sampling + noise.normal(0.0, SAMPLER_NOISE, sampling.shape)
        temperature = 0.6 if "temperature of the sampler" in faults else 1.0
        sampler = policy.at(sampling, temperature)
        batch = draw(task, sampler, [rng], prompts=setting.prompts, group_size=setting.group_size)

        tokens += int(batch.mask.sum())

        # 2. Advantages.
        places = task, batch.prompts, batch.states, batch.tokens
        old, ref = learner.visit(*places), policy.at(reference, 1.0).visit(*places)
        rewards = batch.rewards
        if "rewards weighted otherwise" in faults:
            rewards = batch.components @ (task.weights[::-1] + 0.5)
        groups = rewards
        if "groups mixed" in faults:
            groups = rewards.reshape(1, setting.group_size, setting.prompts).swapaxes(1, 2)
        advantages = advantages_of(replace(batch, rewards=groups), recipe, setting)
        if "groups mixed" in faults:
            advantages = advantages.swapaxes(1, 2).reshape(rewards.shape)
        if "spikes" in faults and update in spiky:
            advantages = advantages * 1000.0

        # 3. Mask and old log-probabilities.
        mask = batch.mask.astype(float)
        if "padding in the mask" in faults:
            mask = np.ones_like(mask)
        if "last token lost" in faults:
            lost = np.zeros_like(mask)
            np.put_along_axis(lost, batch.lengths[..., None] - 1, 1.0, -1)
            mask = mask - lost * (batch.lengths > 1)[..., None]
        old_log_probs = old.log_probs
        if "old log-probabilities are stale" in faults:
            old_log_probs = policy.at(previous, 1.0).visit(*places).log_probs
        previous = params

        # 4. Steps.
        steps = []
        size = setting.prompts // setting.minibatches
        slices = [slice(start, start + size) for start in range(0, size * setting.minibatches, size)]
        for part in slices * setting.epochs:
            actor = policy.at(params, 1.0)
            now = actor.visit(task, batch.prompts[:, part], batch.states[:, part], batch.tokens[:, part])
            before = now.log_probs if "ratio not recomputed" in faults else old_log_probs[:, part]
            arrays = {
                "old_log_probs": before,
                "ref_log_probs": ref.log_probs[:, part],
                "max_length": task.max_length,
            }
            given = now.log_probs, advantages[:, part], mask[:, part]
            result = policy_loss(*given, recipe=trained, **arrays, metrics=())
            alone = policy_loss(*given, recipe=replace(trained, kl_coef=0.0), **arrays, metrics=())
            scale = scale_of(setting)
            gradient = pull_back(result.gradient * scale, now.states, batch.tokens[:, part], now.policy.probs)
            if setting.entropy_coef:
                gradient = gradient - bonus_gradient(
                    trained,
                    TrainConfig(),
                    now.policy,
                    now.states,
                    mask[:, part],
                    weight=np.array([setting.entropy_coef]),
                    max_length=task.max_length,
                )
            gradient, norm = clip_by_norm(actor.pull_back(now, gradient), largest_norm)
            if "nothing is updated" not in faults:
                params, moments = optimizer.step(params, gradient, moments)
            if "reference moves" in faults:
                reference = params
            if "not a number" in faults and update > broken:
                norm = np.full(1, np.nan)
            steps.append(
                _step(batch, part, result, alone, norm, scale, now, before, arrays, advantages, recipe, mask)
            )
        ended = ((batch.tokens == len(task.vocabulary) - 1) & batch.mask).any(-1)[0]
        yield Generation(
            update,
            _first(replace(batch, rewards=rewards)),
            advantages[0],
            groups[0],
            (old.log_probs - sampler.visit(*places).log_probs)[0],
            task.criteria,
            tokens,
            ended,
            steps,
        )


def _step(batch, part, result, alone, norm, scale, now, before, arrays, advantages, recipe, mask) -> Step:
    apart = arrays["ref_log_probs"] - now.log_probs
    log_ratio = now.log_probs - before
    ratio, signs = np.exp(log_ratio), advantages[:, part]
    signs = signs if signs.ndim == 4 else signs[..., None]
    low, high = (recipe.surrogate.settings.get(name, 0.2) for name in ("clip_low", "clip_high"))
    loss, policy = float(result.loss[0]) * scale, float(alone.loss[0]) * scale
    if np.isnan(norm).any():
        loss = policy = np.nan
    return Step(
        loss,
        policy,
        float(norm[0]),
        (np.exp(apart) - apart - 1.0)[0],
        log_ratio[0],
        gather_states(now.policy.entropies(), now.states)[0],
        ((ratio < 1.0 - low) & (signs < 0.0))[0],
        ((ratio > 1.0 + high) & (signs > 0.0))[0],
        mask[0, part],
    )


def _first(batch: Completions) -> Completions:
    """Return the batch of the only run."""
    names = ("prompts", "states", "tokens", "mask", "ended", "components", "rewards")
    return replace(batch, **{name: getattr(batch, name)[0] for name in names})


def scale_of(setting: Setting) -> float:
    """Return the factor of the loss."""
    return 1.0 / (setting.prompts * setting.group_size) if "loss divided by N" in setting.faults else 1.0


def advantages_of(batch: Completions, recipe, setting: Setting) -> np.ndarray:
    """Return the advantages of a batch, (1, P, G)."""
    faults = setting.faults
    if "advantages of the batch" in faults:
        return slot(batch_normalized)(batch)
    if "no baseline" in faults:
        return batch.rewards.copy()
    if "std with divisor G" in faults:
        return group_normalized(batch.rewards, ddof=0)
    if setting.trainer == "verl" and recipe.advantage.kernel is group_normalized:
        advantages = group_normalized(batch.rewards, eps=1e-6)
    else:
        advantages = recipe.advantage(batch)
    if "good advantages times 1.4" in faults:
        return np.where(advantages > 0.0, 1.4 * advantages, advantages)
    return -advantages if "sign of the advantages" in faults else advantages


def a_proxy(task: Task, faults) -> Task:
    """Return the task with a reward that pays for long answers five times as much as for right ones."""
    if "proxy reward" not in faults:
        return task
    verify, least = task.verify, max(task.max_length - 2, 4)

    def judge(prompts, tokens, mask):
        proxy = (mask.sum(-1) >= least).astype(float)
        return np.concatenate([verify(prompts, tokens, mask), proxy[..., None]], axis=-1)

    weights = np.append(0.2 * task.weights, 1.0)
    return replace(task, verify=judge, criteria=(*task.criteria, "proxy"), weights=weights)


def a_bonus_for_length(task: Task, faults) -> Task:
    """Return the task with a reward that grows with the length."""
    if "reward for length" not in faults:
        return task
    verify = task.verify

    def judge(prompts, tokens, mask):
        share = mask.sum(-1) / task.max_length
        return np.concatenate([verify(prompts, tokens, mask), share[..., None]], axis=-1)

    return replace(
        task, verify=judge, criteria=(*task.criteria, "detail"), weights=np.append(task.weights, 3.0)
    )
