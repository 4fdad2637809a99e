"""The plain loop: for every task, every recipe, every kind of policy and every device, with all metrics.

This is the loop to read. There are two others. `fast.many_seeds` gives the same curves several times faster,
for the usual recipes and without most metrics; `training.train` chooses between it and this one. The toy loop
in `mistakes.toy_loop` is made of exchangeable stages, for the exercises that train.

It runs where the task's arrays are, on the host or, after `to_device`, on a GPU. There an update moves its
random numbers to the GPU in one transfer and its metrics back in another; a round of resampling takes one
more each way, a step of a recipe that reads noise one more to the GPU.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats, array_namespace, to_device
from grpo_ref.learning import curves, entropy
from grpo_ref.learning.batches import Prepared, Training, drawn, prepared, resampled, stretches
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import OF_REFERENCE, Metrics, metric_names
from grpo_ref.learning.optim import State, clip_by_norm
from grpo_ref.learning.policies.policy import Actor, PolicyKind
from grpo_ref.learning.policies.table import TABLE, Visited, gather_states, pull_back
from grpo_ref.learning.prompts import prompt_probs
from grpo_ref.learning.state import (
    TrainState,
    Update,
    check_runs,
    generators_of,
    optimizer_of,
    saved,
    starting_state,
    too_large,
)
from grpo_ref.learning.task import Task
from grpo_ref.loss import LOSS_METRICS, policy_loss
from grpo_ref.recipes import Recipe
from grpo_ref.types import Completions

FINITE = "finite"
"""What the parameters of a run are, told beside the metrics."""
OF_STEPS = tuple(name for name in LOSS_METRICS if name != "kl")
"""Metrics of `policy_loss`; the KL is known better than from its estimate by the penalty."""
TOP = 20
"""How many tokens of a state count as its likeliest ones; TRL's divergence_topk."""


def plain_loop(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState | None = None,
    policy: PolicyKind = TABLE,
    metrics: Collection[str] | None = None,
) -> Iterator[Update]:
    """Train until config.updates updates are done, yielding the metrics after each.

    Args:
      task: what to learn.
      recipe: the algorithm.
      config: sizes and step sizes.
      state: where to continue, from either device and either loop; left out, at the reference policy.
      policy: what the parameters mean.
      metrics: names of those that are wanted; left out, all of them.

    Yields:
      Update(metrics, state): the metrics of `curves.METRICS` and one for each criterion of the task, as NumPy
      arrays (S,); the state where the task is.

    Raises:
      ValueError: if the state is of another policy, task or optimizer, or cannot be continued.
      FloatingPointError: after an update that has left parameters which are not finite, and that is not
        yielded; where the weights have become too large for a network.
    """
    state = to_device(starting_state(task, config, state, policy), array_namespace(task.ref_logits))
    wanted = metric_names(task) if metrics is None else tuple(metrics)
    training = Training(task, recipe, config, policy, generators_of(state.generators), wanted)
    asked = _reads_reference(recipe) or not OF_REFERENCE.isdisjoint(wanted)
    ref = policy.at(state.ref_params, config.temperature)
    while state.update < config.updates:
        try:
            found, following = _update(training, state, ref if asked else None)
        except FloatingPointError as error:
            raise FloatingPointError(f"update {state.update + 1}: {error}; {too_large(config)}") from error
        told = {name: found[name] for name in wanted} | {FINITE: _finite_runs(following.params)}
        told = curves.on_host(told)
        check_runs(told.pop(FINITE), config, following.update)
        state = following
        if config.ref_refresh > 0 and state.update % config.ref_refresh == 0:
            state = replace(state, ref_params=state.params)
            ref = policy.at(state.params, config.temperature)
        yield Update(told, state)


def _finite_runs(params: Floats) -> Floats:
    """(S,) 1 where all parameters of a run are finite, else 0: a number, to travel with the metrics."""
    xp = array_namespace(params)
    finite: Floats = xp.all(xp.isfinite(params).reshape(len(params), -1), axis=-1)
    return finite.astype(xp.float64)


def _reads_reference(recipe: Recipe) -> bool:
    """Whether the loss depends on the reference: for a network, to ask it takes a third of an update."""
    parts = (recipe.surrogate, *recipe.corrections)
    return recipe.kl_coef != 0.0 or any("ref_log_probs" in part.reads for part in parts)


def _update(training: Training, state: TrainState, ref: Actor | None) -> tuple[Metrics, TrainState]:
    """Sample, judge, and take the optimizer's steps; ref are the reference policies, if anybody asks them."""
    task, recipe, config, policy, generators, wanted = training
    actor = policy.at(state.params, config.temperature)
    to_draw = prompt_probs(task, config, state, actor, generators)
    first = drawn(training, actor, to_draw)
    old, ref_says = _said(task, first, actor, ref)
    watched = {*wanted, "entropy"} if config.entropy_target else wanted
    metrics = curves.of_batch(task, first, old, ref_says, watched)
    batch, kept = resampled(training, actor, first, to_draw)
    if batch is not first:
        del old, ref_says  # else a network keeps its way back through both batches
        old, ref_says = _said(task, batch, actor, ref)
    metrics["kept_groups"] = kept.mean(-1)
    bonus = coef = state.entropy_coef
    if config.entropy_target:
        bonus, coef = entropy.adapted(config, state.entropy_coef, metrics["entropy"])
    ready = prepared(task, recipe, batch, kept, old, ref_says)
    steps, params, moments = _steps(training, state, ready, actor, old, bonus)
    following = TrainState(
        update=state.update + 1,
        params=params,
        ref_params=state.ref_params,
        optimizer=moments,
        entropy_coef=coef,
        prompt_probs=to_draw,
        generators=saved(generators),
    )
    return metrics | steps, following


def _said(task: Task, batch: Completions, actor: Actor, ref: Actor | None) -> tuple[Visited, Visited]:
    """What policy and reference say in the places of the batch; without a reference, the policy twice.

    Nothing goes back through the reference. It is asked first and what its way back would need is let go, so
    that a network keeps no more than one way back at a time.
    """
    places = task, batch.prompts, batch.states, batch.tokens
    ref_says = None if ref is None else ref.visit(*places)._replace(kept=None)
    old = actor.visit(*places)
    return old, old if ref_says is None else ref_says


def _steps(
    training: Training, state: TrainState, batch: Prepared, actor: Actor, old: Visited, bonus: Floats
) -> tuple[Metrics, Floats, State]:
    """All optimizer steps on a batch: their metrics, then parameters and optimizer's arrays after them."""
    task, config, policy = training.task, training.config, training.policy
    optimizer = optimizer_of(config)
    log: list[Metrics] = []
    params, moments = state.params, state.optimizer
    for part in stretches(config.prompts, config.minibatches) * config.epochs:
        now = old
        if log:
            actor = policy.at(params, config.temperature)
        if log or config.minibatches > 1:
            now = actor.visit(task, *batch.places(part))
        extras = _extras(training, now, old, part)
        gradient, metrics = _gradient(training, now, batch, part, extras, bonus)
        gradient = actor.pull_back(now, gradient)
        gradient, metrics["grad_norm"] = clip_by_norm(gradient, config.max_grad_norm)
        params, moments = optimizer.step(params, gradient, moments)
        log.append(metrics)
    return curves.over_steps(log), params, moments


def _extras(training: Training, now: Visited, old: Visited, part: slice) -> dict[str, Floats]:
    """What few recipes read: token entropies, random numbers, and the likeliest tokens of each place."""
    reads, states = training.recipe.reads, old.states
    xp = array_namespace(states)
    extras: dict[str, Floats] = {}
    if "entropies" in reads:
        extras["entropies"] = gather_states(now.policy.entropies(), now.states)
    if "noise" in reads:
        noise = np.stack([generator.random(states.shape[1:]) for generator in training.generators])
        extras["noise"] = to_device(noise, xp)[:, part]
    if "top_log_probs" in reads:
        likeliest = xp.argsort(-old.policy.probs, axis=-1, stable=True)[..., :TOP]
        runs = xp.arange(len(likeliest))[:, None, None, None]
        chosen = likeliest[runs, states[:, part]]
        for name, one, rows in (
            ("top_log_probs", now.policy, now.states),
            ("top_old_log_probs", old.policy, states[:, part]),
        ):
            extras[name] = xp.take_along_axis(one.log_probs[runs, rows], chosen, axis=-1)
    return extras


def _gradient(
    training: Training,
    now: Visited,
    batch: Prepared,
    part: slice,
    extras: dict[str, Any],
    bonus: Floats,
) -> tuple[Floats, Metrics]:
    """The gradient with respect to the logits on some of the batch's prompts, and the loss's metrics."""
    task, recipe, config = training.task, training.recipe, training.config
    policy, states, tokens = now.policy, now.states, batch.completions.tokens[:, part]
    mask = batch.mask[:, part]
    loss, token_gradient, metrics = policy_loss(
        now.log_probs,
        batch.advantages[:, part],
        mask,
        recipe=recipe,
        old_log_probs=batch.old_log_probs[:, part],
        ref_log_probs=batch.ref_log_probs[:, part],
        max_length=task.max_length,
        metrics=[name for name in OF_STEPS if name in training.wanted],
        **extras,
    )
    gradient = pull_back(token_gradient, states, tokens, policy.probs, temperature=config.temperature)
    if config.entropy_coef or config.entropy_target:
        gradient -= entropy.bonus_gradient(
            recipe, config, policy, states, mask, weight=bonus, max_length=task.max_length
        )
    return gradient, metrics | {"loss": loss}
