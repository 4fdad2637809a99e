"""The plain loop: for every task, every recipe and every device, with all metrics.

This is the loop to read. There are two others. `fast.many_seeds` gives the same curves several times faster,
for the usual recipes and without most metrics; `training.train` chooses between it and this one. The toy loop
in `mistakes.toy_loop` is made of exchangeable stages, for the exercises that train.

It runs where the task's arrays are, on the host or, after `to_device`, on a GPU. There an update moves its
random numbers to the GPU in one transfer and its metrics back in another; a round of resampling takes one
more each way, a step of a recipe that reads noise one more to the GPU.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats, array_namespace, keep_freed_memory, to_device
from grpo_ref.learning import curves, entropy
from grpo_ref.learning.batches import Prepared, Training, drawn, prepared, resampled, stretches
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.optim import State, clip_by_norm
from grpo_ref.learning.policies.table import (
    Policy,
    gather,
    gather_states,
    log_softmax,
    policy_of,
    pull_back,
)
from grpo_ref.learning.prompts import prompt_probs
from grpo_ref.learning.state import (
    Metrics,
    TrainState,
    Update,
    generators_of,
    optimizer_of,
    saved,
    starting_state,
)
from grpo_ref.learning.tasks.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

TOP = 20
"""How many tokens of a state count as its likeliest ones; TRL's divergence_topk."""


def plain_loop(
    task: Task, recipe: Recipe, config: TrainConfig, state: TrainState | None = None
) -> Iterator[Update]:
    """Train until config.updates updates are done, yielding all metrics after each.

    Args:
      task: what to learn.
      recipe: the algorithm.
      config: sizes and step sizes.
      state: where to continue, from either device and either loop; left out, at the task's reference policy.

    Yields:
      Update(metrics, state): the metrics of `curves.METRICS` and one for each criterion of the task, as NumPy
      arrays (S,); the state where the task is.

    Raises:
      ValueError: if the state was made with another optimizer.
    """
    state = to_device(starting_state(task, config, state), array_namespace(task.ref_logits))
    keep_freed_memory()
    training = Training(task, recipe, config, generators_of(state.generators))
    ref = log_softmax(state.ref_logits, temperature=config.temperature)
    while state.update < config.updates:
        metrics, state = _update(training, state, ref)
        if config.ref_refresh > 0 and state.update % config.ref_refresh == 0:
            state = replace(state, ref_logits=state.logits)
            ref = log_softmax(state.logits, temperature=config.temperature)
        yield Update(curves.on_host(metrics), state)


def _update(training: Training, state: TrainState, ref: Floats) -> tuple[Metrics, TrainState]:
    """Sample, judge, and take the optimizer's steps; ref are the references' log-probabilities (S, N, V)."""
    task, recipe, config, generators = training
    to_draw = prompt_probs(task, config, state, generators)
    old = policy_of(state.logits, temperature=config.temperature)
    first = drawn(training, old.probs, to_draw)
    batch, kept = resampled(training, old.probs, first, to_draw)
    metrics = curves.of_batch(task, first, old, ref) | {"kept_groups": kept.mean(-1)}
    bonus = entropy.applied_weight(config, state.entropy_coef, metrics["entropy"])
    ready = prepared(task, recipe, batch, kept, old, ref)
    steps, logits, moments = _steps(training, state, ready, old, bonus)
    following = TrainState(
        update=state.update + 1,
        logits=logits,
        ref_logits=state.ref_logits,
        optimizer=moments,
        entropy_coef=entropy.next_weight(config, state.entropy_coef, metrics["entropy"]),
        prompt_probs=to_draw,
        generators=saved(generators),
    )
    return metrics | steps, following


def _steps(
    training: Training, state: TrainState, batch: Prepared, old: Policy, bonus: Floats
) -> tuple[Metrics, Floats, State]:
    """All optimizer steps on a batch: their metrics, and the logits and the optimizer's arrays after them."""
    config = training.config
    optimizer = optimizer_of(config)
    log: list[Metrics] = []
    logits, policy, moments = state.logits, old, state.optimizer
    for part in stretches(config.prompts, config.minibatches) * config.epochs:
        if log:
            policy = policy_of(logits, temperature=config.temperature)
        extras = _extras(training, policy, old, batch)
        gradient, metrics = _gradient(training, policy, batch, part, extras, bonus)
        gradient, metrics["grad_norm"] = clip_by_norm(gradient, config.max_grad_norm)
        logits, moments = optimizer.step(logits, gradient, moments)
        log.append(metrics)
    return curves.over_steps(log), logits, moments


def _extras(training: Training, policy: Policy, old: Policy, batch: Prepared) -> dict[str, Floats]:
    """What few recipes read: token entropies, random numbers, and the likeliest tokens of each state."""
    states, reads = batch.completions.states, training.recipe.reads
    xp = array_namespace(states)
    extras: dict[str, Floats] = {}
    if "entropies" in reads:
        extras["entropies"] = gather_states(policy.entropies(), states)
    if "noise" in reads:
        noise = np.stack([generator.random(states.shape[1:]) for generator in training.generators])
        extras["noise"] = to_device(noise, xp)
    if "top_log_probs" in reads:
        likeliest = xp.argsort(-old.probs, axis=-1, stable=True)[..., :TOP]
        runs = xp.arange(len(likeliest))[:, None, None, None]
        for name, one in (("top_log_probs", policy), ("top_old_log_probs", old)):
            extras[name] = xp.take_along_axis(one.log_probs, likeliest, axis=-1)[runs, states]
    return extras


def _gradient(
    training: Training,
    policy: Policy,
    batch: Prepared,
    part: slice,
    extras: dict[str, Any],
    bonus: Floats,
) -> tuple[Floats, Metrics]:
    """The gradient with respect to the logits on some of the batch's prompts, and the loss's metrics."""
    task, recipe, config, _ = training
    states, tokens = batch.completions.states[:, part], batch.completions.tokens[:, part]
    mask = batch.mask[:, part]
    loss, token_gradient, metrics = policy_loss(
        gather(policy.log_probs, states, tokens),
        batch.advantages[:, part],
        mask,
        recipe=recipe,
        old_log_probs=batch.old_log_probs[:, part],
        ref_log_probs=batch.ref_log_probs[:, part],
        max_length=task.max_length,
        **{name: array[:, part] for name, array in extras.items()},
    )
    gradient = pull_back(token_gradient, states, tokens, policy.probs, temperature=config.temperature)
    if config.entropy_coef or config.entropy_target:
        gradient -= entropy.bonus_gradient(
            recipe, config, policy, states, mask, weight=bonus, max_length=task.max_length
        )
    return gradient, metrics | {"loss": loss}
