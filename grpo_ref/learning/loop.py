"""The plain training loop: for every task, recipe, kind of policy and device, with all metrics.

This is the loop to read. `_update` is one update of GRPO from top to bottom:

    1. which prompts     2. sample groups     3. filter, reward, advantages
    4. steps             5. gradient of the logits     6. optimizer

There are two other loops. `fast.many_seeds` gives the same curves several times faster, for the usual recipes
and without most metrics; `training.train` chooses between it and this one. The other is the toy loop in
`check.mistakes.toy_loop`. Its stages can be exchanged one by one; the exercises that train use it.

The loop runs where the task's arrays are: on the host or, after `to_device`, on a GPU. On a GPU, an update
moves its random numbers there in one transfer and its metrics back in another. Each round of resampling adds
one transfer in each direction. If the recipe reads noise, each step adds one transfer to the GPU.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, array_namespace, to_device
from grpo_ref.filters import all_groups
from grpo_ref.learning import curves, entropy
from grpo_ref.learning.batches import slices
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import OF_REFERENCE, Metrics, metric_names
from grpo_ref.learning.optim import clip_by_norm
from grpo_ref.learning.policies.policy import Actor, PolicyKind
from grpo_ref.learning.policies.table import TABLE, Visited, gather_states, pull_back
from grpo_ref.learning.prompts import prompt_probs
from grpo_ref.learning.rollout import draw, redraw, with_greedy_rewards, with_steps, with_turns
from grpo_ref.learning.state import (
    TrainState,
    Update,
    check_runs,
    generators_of,
    likely_cause,
    optimizer_of,
    starting_state,
    states_of,
)
from grpo_ref.learning.task import Task
from grpo_ref.loss import LOSS_METRICS, policy_loss
from grpo_ref.recipes import Recipe
from grpo_ref.types import Completions

FINITE = "finite"
"""Key, among the metrics, of the check that a run's parameters are finite.

It is removed before the metrics are yielded.
"""
STEP_METRICS = tuple(name for name in LOSS_METRICS if name != "kl")
"""Metrics of `policy_loss` that the loop records. Its KL is an estimate; the loop computes the exact one."""
TOP_K = 20
"""In each state, a recipe can read this many of the most likely tokens; TRL's divergence_topk."""


GREEDY_TEMPERATURE = 1e-6
"""Temperature of the greedy completions of ReMax: tokens with smaller logits have a probability of 0."""


class Training(NamedTuple):
    """The constant inputs of a training run, its random generators, and the names of metrics to record."""

    task: Task
    recipe: Recipe
    config: TrainConfig
    policy: PolicyKind
    generators: Sequence[np.random.Generator]
    metrics: Sequence[str]
    teacher: Actor | None = None


def plain_loop(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState | None = None,
    policy: PolicyKind = TABLE,
    metrics: Collection[str] | None = None,
    teacher: Actor | None = None,
    *,
    runs_at_once: int | None = None,
    threads: int = 1,
) -> Iterator[Update]:
    """Train until config.updates updates are done, and yield the metrics after each update.

    Args:
      task: the task to learn.
      recipe: the algorithm.
      config: sizes and step sizes.
      state: the state to continue from. It may come from the CPU or a GPU, and from either loop. Default: a
        new run, which starts at the reference policy.
      policy: the kind of policy, which says what the parameters mean.
      metrics: names of the metrics to record. Default: all.
      teacher: the policies to distill from, one for each run; needed if the recipe distills.
      runs_at_once: number of runs that an update computes in one array. Default: all. It changes no number,
        since runs do not depend on one another.
      threads: number of such parts of the runs that are computed at the same time.

    Yields:
      Update(metrics, state): the metrics of `curves.METRICS` and one for each criterion of the task, as NumPy
      arrays (S,); the state is on the task's device.

    Raises:
      ValueError: if the state belongs to another policy, task or optimizer, or cannot be continued.
      FloatingPointError: after an update that leaves parameters which are not finite, or, on the CPU, if a
        network's weights are so large that numbers inside it overflow. This update is not yielded.
    """
    xp = array_namespace(task.ref_logits)
    state = to_device(starting_state(task, config, state, policy), xp)
    names = metric_names(task) if metrics is None else tuple(metrics)
    generators = generators_of(state.generators)
    training = Training(task, recipe, config, policy, generators, names, teacher)

    # For a network, the forward pass of the reference takes a third of an update. It is skipped if neither
    # the loss nor a metric reads the reference.
    parts = (recipe.surrogate, *recipe.corrections)
    loss_reads_reference = recipe.kl_coef != 0.0 or any("ref_log_probs" in part.reads for part in parts)
    needs_reference = loss_reads_reference or not OF_REFERENCE.isdisjoint(names)
    ref = policy.at(state.ref_params, config.temperature)

    runs = len(state.params)
    part_size = min(runs_at_once or runs, -(-runs // threads))
    runs_of_parts = slices(runs, -(-runs // part_size))
    pool = ThreadPoolExecutor(threads)  # it starts no thread before it is used
    each = pool.map if threads > 1 else map

    while state.update < config.updates:
        try:
            measured, after = _update_in_parts(
                training, state, ref if needs_reference else None, runs_of_parts, each
            )
        except FloatingPointError as error:
            raise FloatingPointError(f"update {state.update + 1}: {error}; {likely_cause(config)}") from error

        # A diverged run must not be yielded. The check travels to the host as a number beside the metrics: on
        # a GPU, a test of its own would cost a second transfer.
        finite = xp.all(xp.isfinite(after.params).reshape(len(after.params), -1), axis=-1).astype(xp.float64)
        measured = curves.on_host({name: measured[name] for name in names} | {FINITE: finite})
        check_runs(measured.pop(FINITE), config, after.update)
        state = after

        # Now and then the policy becomes the new reference, so that the penalty allows it to move on.
        if config.ref_refresh > 0 and state.update % config.ref_refresh == 0:
            state = replace(state, ref_params=state.params)
            ref = policy.at(state.params, config.temperature)
        yield Update(measured, state)


def _update_in_parts(
    training: Training,
    state: TrainState,
    ref: Actor | None,
    parts: Sequence[slice],
    each: Callable[..., Iterable[tuple[Metrics, TrainState]]],
) -> tuple[Metrics, TrainState]:
    """Return `_update` of all runs, computed for one part of the runs after another.

    Args:
      training, state, ref: as in `_update`.
      parts: slices of the runs.
      each: `map`, or the `map` of some threads.
    """
    if len(parts) == 1:
        return _update(training, state, ref)
    xp = array_namespace(state.params)

    def update(part: slice) -> tuple[Metrics, TrainState]:
        """Update some of the runs."""
        runs, teacher = xp.arange(part.start, part.stop), training.teacher
        own = training._replace(
            generators=training.generators[part], teacher=None if teacher is None else teacher.only(runs)
        )
        begin = replace(
            state,
            params=state.params[part],
            ref_params=state.ref_params[part],
            optimizer={name: array[part] if array.ndim else array for name, array in state.optimizer.items()},
            entropy_coef=state.entropy_coef[part],
            prompt_probs=state.prompt_probs[part],
            generators=state.generators[part],
        )
        return _update(own, begin, None if ref is None else ref.only(runs))

    metrics, states = zip(*each(update, parts), strict=True)
    after = replace(
        states[0],
        params=xp.concat([one.params for one in states]),
        ref_params=state.ref_params,
        optimizer={
            name: xp.concat([one.optimizer[name] for one in states]) if array.ndim else array
            for name, array in states[0].optimizer.items()
        },
        entropy_coef=xp.concat([one.entropy_coef for one in states]),
        prompt_probs=xp.concat([one.prompt_probs for one in states]),
        generators=states_of(training.generators),
    )
    return {name: xp.concat([one[name] for one in metrics]) for name in metrics[0]}, after


def _update(training: Training, state: TrainState, ref: Actor | None) -> tuple[Metrics, TrainState]:
    """Sample a batch, compute its advantages, take the optimizer's steps; return metrics and next state.

    Shapes: S runs, Q prompts of the task, P prompts of the batch, G completions per prompt, T tokens.
    """
    task, recipe, config, policy, generators, names, teacher = training
    actor = policy.at(state.params, config.temperature)

    # 1. Which prompts? (S, Q) probabilities. They are constant, unless prompts are filtered by pass rate.
    probs = prompt_probs(task, config, state, actor, generators)

    # 2. Sample a group of completions for each prompt, and evaluate their tokens. `old` holds the batch
    # evaluated under the policy that sampled it. Sampler and trainer are one program here, so there is no
    # mismatch between them.
    batch = draw(
        task,
        actor,
        generators,
        prompts=config.prompts,
        group_size=config.group_size,
        prompt_probs=probs,
    )
    old, reference = _evaluate(task, batch, actor, ref)

    # The metrics describe the batch before any filter, so that recipes can be compared. A trainer that logs
    # the filtered batch reports other rewards.
    batch_metric_names = {*names, "entropy"} if config.entropy_target else names
    metrics = curves.of_batch(task, batch, old, reference, batch_metric_names)

    # 3a. Filter. Dynamic sampling (DAPO) resamples rejected groups, with new prompts, for a few rounds.
    # Groups that are still rejected then are masked out below. The filter reads the rewards before shaping.
    first, kept = batch, recipe.keep(batch)
    for _ in range(0 if recipe.keep.kernel is all_groups else config.resamples):
        resampled = redraw(task, actor, generators, batch, replace_groups=~kept, prompt_probs=probs)
        if resampled is batch:  # no group was rejected
            break
        batch, kept = resampled, recipe.keep(resampled)
    if batch is not first:
        del old, reference  # otherwise a network keeps the activations of both batches
        old, reference = _evaluate(task, batch, actor, ref)
    metrics["kept_groups"] = kept.mean(-1)

    # 3b. Reward and advantages. All groups take part here; the mask decides which tokens enter the loss.
    if "greedy_rewards" in recipe.advantage.reads:
        greedy = policy.at(state.params, GREEDY_TEMPERATURE)
        batch = with_greedy_rewards(task, recipe, greedy, batch)
    ready = prepare(task, recipe, batch, kept, old, reference)

    # A teacher evaluates the student's tokens once: its log-probabilities are constant during the steps.
    teacher_log_probs = None
    if teacher is not None and recipe.needs_teacher:
        teacher_log_probs = teacher.visit(task, batch.prompts, batch.states, batch.tokens).log_probs

    # The weight of the entropy bonus is constant, or adapted to the entropy of this batch (TRL).
    bonus = next_bonus = state.entropy_coef
    if config.entropy_target:
        bonus, next_bonus = entropy.adapted(config, state.entropy_coef, metrics["entropy"])

    # 4. Steps. Each epoch visits all minibatches once. A minibatch is a slice of the prompts, so groups stay
    # together. The advantages do not change: they were computed on the whole batch.
    optimizer = optimizer_of(config)
    params, moments = state.params, state.optimizer
    step_metrics: list[Metrics] = []
    for minibatch in slices(config.prompts, config.minibatches) * config.epochs:
        # The current policy. In the first step it is still that of `old`, so every ratio is exactly 1.
        tokens, mask = batch.tokens[:, minibatch], ready.mask[:, minibatch]
        now = old
        is_first_step = not step_metrics
        if not is_first_step:
            actor = policy.at(params, config.temperature)
        if not is_first_step or config.minibatches > 1:
            now = actor.visit(task, batch.prompts[:, minibatch], batch.states[:, minibatch], tokens)

        # 5. The gradient of the logits: first with respect to the log-probability of each sampled token, then
        # with respect to the logits of its state, through d log π(a) / d logits = onehot(a) - π.
        loss, token_gradient, measured = policy_loss(
            now.log_probs,
            ready.advantages[:, minibatch],
            mask,
            recipe=recipe,
            old_log_probs=ready.old_log_probs[:, minibatch],
            ref_log_probs=ready.ref_log_probs[:, minibatch],
            teacher_log_probs=None if teacher_log_probs is None else teacher_log_probs[:, minibatch],
            max_length=task.max_length,
            metrics=[name for name in STEP_METRICS if name in names],
            **_rare_inputs(training, now, old, minibatch),
        )
        gradient = pull_back(
            token_gradient, now.states, tokens, now.policy.probs, temperature=config.temperature
        )
        if config.entropy_coef or config.entropy_target:
            gradient -= entropy.bonus_gradient(
                recipe, config, now.policy, now.states, mask, weight=bonus, max_length=task.max_length
            )

        # 6. From the logits to the parameters: nothing to do for a table, a backward pass for a network. Then
        # clip the gradient of each run by its norm, and take the step.
        gradient = actor.pull_back(now, gradient)
        gradient, norm = clip_by_norm(gradient, config.max_grad_norm)
        params, moments = optimizer.step(params, gradient, moments)
        step_metrics.append(measured | {"loss": loss, "grad_norm": norm})

    after = TrainState(
        update=state.update + 1,
        params=params,
        ref_params=state.ref_params,
        optimizer=moments,
        entropy_coef=next_bonus,
        prompt_probs=probs,
        generators=states_of(generators),
    )
    return metrics | curves.over_steps(step_metrics), after


def _evaluate(task: Task, batch: Completions, actor: Actor, ref: Actor | None) -> tuple[Visited, Visited]:
    """Evaluate policy and reference on a batch. Without a reference, return the policy's result twice."""
    places = task, batch.prompts, batch.states, batch.tokens
    # No gradient flows through the reference. It goes first, and the activations for its backward pass are
    # dropped, so that a network keeps the activations of one forward pass at a time.
    reference = None if ref is None else ref.visit(*places)._replace(kept=None)
    old = actor.visit(*places)
    return old, old if reference is None else reference


class Prepared(NamedTuple):
    """A batch that is ready for the optimizer's steps.

    Attributes:
      completions: (S, P, G, T), rejected groups resampled.
      advantages: (S, P, G) or (S, P, G, T).
      mask: (S, P, G, T) 1.0 on the tokens that take part.
      old_log_probs, ref_log_probs: (S, P, G, T) in nats.
    """

    completions: Completions
    advantages: Floats
    mask: Floats
    old_log_probs: Floats
    ref_log_probs: Floats


def prepare(
    task: Task, recipe: Recipe, batch: Completions, kept: Bools, old: Visited, ref: Visited
) -> Prepared:
    """Shape the rewards of a batch, compute its advantages, and mask out what the filters reject.

    Args:
      task: the task, which may have rewards for steps.
      recipe: its reward, advantage and `admit` are applied.
      batch: (S, P, G, T) completions.
      kept: (S, P) groups that take part.
      old: the batch under the policies that sampled it.
      ref: the batch under the references.
    """
    # Rejected groups and completions (DAPO's overlong filtering, for one) keep their rewards: these may enter
    # the statistics of the advantages. Their tokens enter neither the loss nor its denominator.
    if "turn_ids" in recipe.reads:
        batch = with_turns(batch)
    admitted = recipe.admit(batch)
    if admitted.ndim < batch.mask.ndim:  # per completion
        admitted = admitted[..., None]
    shaped = replace(batch, rewards=recipe.reward(batch))
    if "step_rewards" in recipe.advantage.reads:
        shaped = with_steps(task, shaped)
    if "score_norms" in recipe.advantage.reads:
        # ‖onehot - π‖² = 1 - 2 π(token) + Σₐ πₐ², the squared norm of ∂ log π(token) / ∂ logits.
        squares = gather_states((old.policy.probs**2).sum(-1), old.states)
        norms = 1.0 - 2.0 * array_namespace(squares).exp(old.log_probs) + squares
        shaped = replace(shaped, score_norms=norms)
    return Prepared(
        completions=batch,
        advantages=recipe.advantage(shaped),
        mask=(batch.mask & kept[..., None, None] & admitted).astype(np.float64),
        old_log_probs=old.log_probs,
        ref_log_probs=ref.log_probs,
    )


def _rare_inputs(training: Training, now: Visited, old: Visited, minibatch: slice) -> dict[str, Any]:
    """Return the inputs that few recipes read: token entropies, random numbers and the most likely tokens."""
    reads, states = training.recipe.reads, old.states
    xp = array_namespace(states)
    inputs: dict[str, Floats] = {}
    if "entropies" in reads:
        inputs["entropies"] = gather_states(now.policy.entropies(), now.states)
    if "noise" in reads:
        # In each step the draw has the size of the whole batch, whatever the minibatch. So every step
        # uses the same amount of random numbers.
        noise = np.stack([generator.random(states.shape[1:]) for generator in training.generators])
        inputs["noise"] = to_device(noise, xp)[:, minibatch]
    if "top_log_probs" in reads:
        # The K tokens that are most likely under the sampler (the old policy here), for both policies. The
        # sort is stable, so that tokens with equal probabilities have the same order on every device.
        most_likely = xp.argsort(-old.policy.probs, axis=-1, stable=True)[..., :TOP_K]
        runs = xp.arange(len(most_likely))[:, None, None, None]
        top = most_likely[runs, states[:, minibatch]]
        for name, policy, rows in (
            ("top_log_probs", now.policy, now.states),
            ("top_rollout_log_probs", old.policy, states[:, minibatch]),
        ):
            inputs[name] = xp.take_along_axis(policy.log_probs[runs, rows], top, axis=-1)
    return inputs
