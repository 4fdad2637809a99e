"""The training loop: the only one, for every task, every recipe and any number of seeds at once.

It runs where the task's arrays are, on the host or, after `to_device`, on a GPU. There an update moves its
random numbers to the GPU in one transfer and its metrics back in another; a round of resampling takes one
more each way, a step of a recipe that reads noise one more to the GPU.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, array_namespace, keep_freed_memory, to_device, to_host
from grpo_ref.kernels.filters import all_groups, pass_rate_between
from grpo_ref.kernels.metrics import (
    dead_group_fraction,
    distinct_ngrams,
    mean_entropy,
    mean_length,
    reward_width,
)
from grpo_ref.learning.optim import OPTIMIZERS, Optimizer, State, clip_by_norm
from grpo_ref.learning.policies.table import (
    Policy,
    entropy_gradient,
    gather,
    gather_states,
    log_softmax,
    policy_of,
    pull_back,
)
from grpo_ref.learning.rollout import draw, redraw, rollout
from grpo_ref.learning.tasks.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe
from grpo_ref.types import Completions

Metrics = dict[str, Floats]
TOP = 20
"""How many tokens of a state count as its likeliest ones; TRL's divergence_topk."""


@dataclass(frozen=True)
class TrainConfig:
    """How to train; what to optimise is the recipe's business.

    Attributes:
      updates: number of sampled batches.
      seeds: number of independent runs, trained as one array; the result of a run does not depend on the
        others.
      seed: the base seed; run i draws from `numpy.random.default_rng([seed, i])`.
      prompts: P, prompts a batch.
      group_size: G, completions a prompt.
      temperature: of the policy, for sampling and for the gradient alike.
      epochs: passes over each batch.
      minibatches: into how many parts, by prompts, each pass is cut; one optimizer step each.
      optimizer: "adam" or "sgd".
      learning_rate: step size.
      max_grad_norm: longest gradient of a run, in Euclidean norm.
      entropy_coef: weight of the entropy bonus, weighted like the tokens of the loss.
      entropy_target: if not 0, the weight goes up by entropy_delta after a batch whose entropy, in nats a
        token, is at most this, and down otherwise, and it is applied while the entropy is; TRL's
        use_adaptive_entropy.
      entropy_delta, entropy_max: step and upper bound of the weight; 0.005 and 1 in TRL.
      refilter_every: admit anew every so many updates the prompts whose pass rate is inside the bounds; 0
        never.
      pass_low, pass_high: the bounds, both included; if no prompt is inside, all are admitted.
      pass_reward: a reward above it is a pass.
      ref_refresh: copy the policy to the reference every so many updates; 0 keeps the reference frozen.
      resamples: how often groups that the recipe's filter rejects are drawn anew before they are left out.
    """

    updates: int = 200
    seeds: int = 1
    seed: int = 0
    prompts: int = 16
    group_size: int = 8
    temperature: float = 1.0
    epochs: int = 1
    minibatches: int = 1
    optimizer: str = "adam"
    learning_rate: float = 0.1
    max_grad_norm: float = math.inf
    entropy_coef: float = 0.0
    entropy_target: float = 0.0
    entropy_delta: float = 0.005
    entropy_max: float = 1.0
    refilter_every: int = 0
    pass_low: float = 0.2
    pass_high: float = 0.8
    pass_reward: float = 0.5
    ref_refresh: int = 0
    resamples: int = 3

    def __post_init__(self) -> None:
        for name in ("updates", "seeds", "prompts", "group_size", "epochs", "minibatches"):
            _require(getattr(self, name) >= 1, name, "a whole number >= 1", getattr(self, name))
        for name in ("seed", "ref_refresh", "resamples", "refilter_every"):
            _require(getattr(self, name) >= 0, name, "a number >= 0", getattr(self, name))
        for name in ("entropy_coef", "entropy_target", "entropy_delta", "entropy_max"):
            _require(getattr(self, name) >= 0, name, "a number >= 0", getattr(self, name))
        for name in ("temperature", "learning_rate", "max_grad_norm"):
            _require(getattr(self, name) > 0, name, "a number > 0", getattr(self, name))
        _require(
            self.minibatches <= self.prompts,
            "minibatches",
            f"at most prompts={self.prompts}",
            self.minibatches,
        )
        _require(self.optimizer in OPTIMIZERS, "optimizer", f"one of {', '.join(OPTIMIZERS)}", self.optimizer)


def _require(holds: bool, name: str, expected: str, got: object) -> None:
    if not holds:
        raise ValueError(f"{name}: expected {expected}, got {got!r}")


def config_for(task: Task, **settings: Any) -> TrainConfig:
    """The settings that suit the task, changed where told otherwise.

    Args:
      task: whose settings to start from.
      settings: fields of `TrainConfig`; one that is None is ignored.
    """
    return TrainConfig(
        **(dict(task.settings) | {name: value for name, value in settings.items() if value is not None})
    )


@dataclass(frozen=True)
class TrainState:
    """All that the next update depends on: save it, and training continues to the bit.

    Attributes:
      update: how many updates are done.
      logits: (S, N, V) the policies.
      ref_logits: (S, N, V) the references.
      optimizer: the optimizer's arrays by name.
      entropy_coef: (S,) weight of each run's entropy bonus.
      prompt_probs: (S, Q) how often each run draws each prompt.
      generators: the state of each run's random numbers.
    """

    update: int
    logits: Floats
    ref_logits: Floats
    optimizer: State
    entropy_coef: Floats
    prompt_probs: Floats
    generators: tuple[Mapping[str, Any], ...]


class Update(NamedTuple):
    """What `train` yields after each update.

    Attributes:
      metrics: name -> (S,), one number a run.
      state: to continue from.
    """

    metrics: Metrics
    state: TrainState


def initial_state(task: Task, config: TrainConfig) -> TrainState:
    """The task's reference policy, S times, before any update, where the task's arrays are."""
    xp = array_namespace(task.ref_logits)
    logits = xp.repeat(task.ref_logits[None], config.seeds, axis=0)
    generators = [np.random.default_rng([config.seed, run]) for run in range(config.seeds)]
    return TrainState(
        update=0,
        logits=logits,
        ref_logits=logits.copy(),
        optimizer=_optimizer(config).init(logits),
        entropy_coef=xp.full(config.seeds, config.entropy_coef),
        prompt_probs=xp.repeat(task.prompt_probs[None], config.seeds, axis=0),
        generators=tuple(generator.bit_generator.state for generator in generators),
    )


def train(
    task: Task, recipe: Recipe, config: TrainConfig, state: TrainState | None = None
) -> Iterator[Update]:
    """Train until config.updates updates are done, yielding after each.

    Args:
      task: what to learn.
      recipe: the algorithm.
      config: sizes and step sizes.
      state: where to continue, from either device; left out, at the task's reference policy.

    Yields:
      Update(metrics, state), the metrics as NumPy arrays, the state where the task is. Metrics, one number a
      run. Of the batch as drawn, before any filter: reward (as
      the verifier gave it) and one entry a criterion; kl (to the reference, nats a completion, exact in
      every visited state), entropy (nats a token), length (tokens), truncated (share of completions without
      an end), dead_groups (share), reward_width (std of all rewards), distinct_bigrams (share), ref_log_prob
      (of a completion under the reference, nats).
      kept_groups is the share that the recipe's filter let pass after resampling. Means over the optimizer's
      steps: loss (without the entropy bonus), grad_norm (before clipping), and the metrics of `policy_loss`;
      approx_kl, clip_low and clip_high are 0 in the first step of a batch.

    Raises:
      ValueError: if the state was made with another optimizer.

    >>> from grpo_ref import GRPO, TASKS, config_for, train
    >>> task = TASKS["bandit"]()
    >>> for last in train(task, GRPO, config_for(task, seeds=4, updates=50)):
    ...     pass    # a list of all updates would keep every policy in memory
    >>> last.metrics["reward"].shape
    (4,)
    """
    state = starting_state(task, config, state)
    state = to_device(state, array_namespace(task.ref_logits))
    keep_freed_memory()
    generators = [_generator(saved) for saved in state.generators]
    ref = log_softmax(state.ref_logits, temperature=config.temperature)
    while state.update < config.updates:
        state = _refiltered(task, config, state, generators)
        metrics, logits, moments = _update(task, recipe, config, state, ref, generators)
        done = state.update + 1
        refresh = config.ref_refresh > 0 and done % config.ref_refresh == 0
        ref = log_softmax(logits, temperature=config.temperature) if refresh else ref
        state = TrainState(
            update=done,
            logits=logits,
            ref_logits=logits if refresh else state.ref_logits,
            optimizer=moments,
            entropy_coef=_next_entropy_coef(config, state.entropy_coef, metrics["entropy"]),
            prompt_probs=state.prompt_probs,
            generators=tuple(generator.bit_generator.state for generator in generators),
        )
        yield Update(_fetched(metrics), state)


def starting_state(task: Task, config: TrainConfig, state: TrainState | None) -> TrainState:
    """The state to continue from, or a new one.

    Raises:
      ValueError: if the state was made with another optimizer.
    """
    if state is None:
        return initial_state(task, config)
    expected = _optimizer(config).init(state.logits[:0]).keys()
    if state.optimizer.keys() != expected:
        needed, got = (", ".join(names) or "nothing" for names in (expected, state.optimizer))
        raise ValueError(f"state: expected what {config.optimizer} keeps ({needed}), got {got}")
    return state


def _optimizer(config: TrainConfig) -> Optimizer:
    return OPTIMIZERS[config.optimizer](learning_rate=config.learning_rate)


def _generator(saved: Mapping[str, Any]) -> np.random.Generator:
    generator = np.random.Generator(np.random.PCG64(0))
    generator.bit_generator.state = saved
    return generator


def _fetched(metrics: Metrics) -> Metrics:
    """On the host, all in one transfer."""
    together = array_namespace(*metrics.values()).stack(list(metrics.values()))
    return dict(zip(metrics, to_host(together), strict=True))


class _Steps(NamedTuple):
    """A batch made ready for the optimizer's steps."""

    completions: Completions
    advantages: Floats
    mask: Floats
    old_log_probs: Floats
    ref_log_probs: Floats


def _update(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState,
    ref: Floats,
    generators: list[np.random.Generator],
) -> tuple[Metrics, Floats, State]:
    """Sample, judge, and take config.epochs x config.minibatches optimizer steps."""
    old = policy_of(state.logits, temperature=config.temperature)
    first = draw(
        task,
        old.probs,
        generators,
        prompts=config.prompts,
        group_size=config.group_size,
        prompt_probs=state.prompt_probs,
    )
    batch, kept = _resampled(task, recipe, config, old.probs, first, generators, state.prompt_probs)
    described = _describe(task, first, old, ref) | {"kept_groups": kept.mean(-1)}
    entropy_coef = _applied_entropy_coef(config, state.entropy_coef, described["entropy"])
    steps = _Steps(
        completions=batch,
        advantages=recipe.advantage(replace(batch, rewards=recipe.reward(batch))),
        mask=(batch.mask & (kept[..., None] & recipe.admit(batch))[..., None]).astype(np.float64),
        old_log_probs=gather(old.log_probs, batch.states, batch.tokens),
        ref_log_probs=gather(ref, batch.states, batch.tokens),
    )
    log: list[Metrics] = []
    logits, policy, moments = state.logits, old, state.optimizer
    for part in _parts(config.prompts, config.minibatches) * config.epochs:
        if log:
            policy = policy_of(logits, temperature=config.temperature)
        extras = _extras(recipe, policy, old, batch, generators)
        gradient, metrics = _gradient(task, recipe, config, policy, steps, part, extras, entropy_coef)
        gradient, metrics["grad_norm"] = clip_by_norm(gradient, config.max_grad_norm)
        logits, moments = _optimizer(config).step(logits, gradient, moments)
        log.append(metrics)
    return described | _means(log), logits, moments


def _means(log: list[Metrics]) -> Metrics:
    """Over the steps; the KL is known better than from the penalty's estimate."""
    xp = array_namespace(*log[0].values())
    steps = {name: [metrics[name] for metrics in log] for name in log[0] if name != "kl"}
    return {name: xp.mean(xp.stack(of), axis=0) if len(of) > 1 else of[0] for name, of in steps.items()}


def _parts(prompts: int, minibatches: int) -> list[slice]:
    """Nearly equal stretches of the prompts, as slices, which copy nothing."""
    edges = [prompts * part // minibatches for part in range(minibatches + 1)]
    return [slice(begin, end) for begin, end in pairwise(edges)]


def _resampled(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    probs: Floats,
    batch: Completions,
    generators: list[np.random.Generator],
    prompt_probs: Floats,
) -> tuple[Completions, Bools]:
    """The batch with the groups that the recipe rejects drawn anew, and which groups it keeps in the end."""
    kept: Bools = recipe.keep(batch)
    for _ in range(0 if recipe.keep.kernel is all_groups else config.resamples):
        redrawn = redraw(task, probs, generators, batch, replace_groups=~kept, prompt_probs=prompt_probs)
        if redrawn is batch:
            break
        batch, kept = redrawn, recipe.keep(redrawn)
    return batch, kept


def _extras(
    recipe: Recipe,
    policy: Policy,
    old: Policy,
    batch: Completions,
    generators: list[np.random.Generator],
) -> dict[str, Floats]:
    """What few recipes read: token entropies, random numbers, and the likeliest tokens of each state."""
    xp = array_namespace(batch.tokens)
    extras: dict[str, Floats] = {}
    if "entropies" in recipe.reads:
        extras["entropies"] = gather_states(policy.entropies(), batch.states)
    if "noise" in recipe.reads:
        noise = np.stack([generator.random(batch.tokens.shape[1:]) for generator in generators])
        extras["noise"] = to_device(noise, xp)
    if "top_log_probs" in recipe.reads:
        likeliest = xp.argsort(-old.probs, axis=-1, stable=True)[..., :TOP]
        runs = xp.arange(len(likeliest))[:, None, None, None]
        for name, one in (("top_log_probs", policy), ("top_old_log_probs", old)):
            extras[name] = xp.take_along_axis(one.log_probs, likeliest, axis=-1)[runs, batch.states]
    return extras


def _gradient(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    policy: Policy,
    steps: _Steps,
    part: slice,
    extras: dict[str, Floats],
    entropy_coef: Floats,
) -> tuple[Floats, Metrics]:
    """The gradient with respect to the logits on some of the batch's prompts, and the loss's metrics."""
    states, tokens = steps.completions.states[:, part], steps.completions.tokens[:, part]
    mask = steps.mask[:, part]
    loss, token_gradient, metrics = policy_loss(
        gather(policy.log_probs, states, tokens),
        steps.advantages[:, part],
        mask,
        recipe=recipe,
        old_log_probs=steps.old_log_probs[:, part],
        ref_log_probs=steps.ref_log_probs[:, part],
        max_length=task.max_length,
        **{name: array[:, part] for name, array in extras.items()},
    )
    gradient = pull_back(token_gradient, states, tokens, policy.probs, temperature=config.temperature)
    if config.entropy_coef or config.entropy_target:
        ones = array_namespace(mask).ones_like(mask)
        everything = SimpleNamespace(mask=mask, max_length=task.max_length, correction=ones)
        weights = entropy_coef[:, None, None, None] * recipe.aggregate(everything)
        gradient -= entropy_gradient(weights, states, policy, temperature=config.temperature)
    return gradient, metrics | {"loss": loss}


def _refiltered(
    task: Task, config: TrainConfig, state: TrainState, generators: list[np.random.Generator]
) -> TrainState:
    """Now and then, the prompts whose pass rate is neither too low nor too high, from one group for each."""
    if config.refilter_every == 0 or state.update % config.refilter_every:
        return state
    count = len(task.prompts)
    probs = policy_of(state.logits, temperature=config.temperature).probs
    xp = array_namespace(probs)
    every = xp.broadcast_to(xp.arange(count), (len(probs), count))
    shape = (count, config.group_size, task.max_length)
    numbers = to_device(np.stack([generator.random(shape) for generator in generators]), xp)
    bounds = {"low": config.pass_low, "high": config.pass_high, "pass_reward": config.pass_reward}
    admitted = pass_rate_between(rollout(task, probs, every, numbers).rewards, **bounds)
    admitted |= ~(admitted & (task.prompt_probs > 0.0)).any(-1, keepdims=True)
    chosen = xp.where(admitted, task.prompt_probs, 0.0)
    return replace(state, prompt_probs=chosen / chosen.sum(-1, keepdims=True))


def _applied_entropy_coef(config: TrainConfig, coef: Floats, entropy: Floats) -> Floats:
    """With a target, the bonus is given only while the entropy is not above it."""
    if config.entropy_target == 0.0:
        return coef
    applied: Floats = array_namespace(coef).where(entropy <= config.entropy_target, coef, 0.0)
    return applied


def _next_entropy_coef(config: TrainConfig, coef: Floats, entropy: Floats) -> Floats:
    """With a target, a step up where the entropy is not above it and down where it is."""
    if config.entropy_target == 0.0:
        return coef
    up = entropy <= config.entropy_target
    stepped = array_namespace(coef).where(up, coef + config.entropy_delta, coef - config.entropy_delta)
    bounded: Floats = array_namespace(coef).clip(stepped, 0.0, config.entropy_max)
    return bounded


def _describe(task: Task, batch: Completions, old: Policy, ref: Floats) -> Metrics:
    """What the policy does before anything is learned: of the batch as drawn, before any filter."""
    mask = batch.mask
    ref_log_probs = gather(ref, batch.states, batch.tokens)
    divergence = gather_states(old.divergences(ref), batch.states)
    criteria = {name: batch.components[..., k].mean((-2, -1)) for k, name in enumerate(task.criteria)}
    return criteria | {
        "reward": batch.rewards.mean((-2, -1)),
        "kl": (divergence * mask).sum(-1).mean((-2, -1)),
        "entropy": mean_entropy(gather_states(old.entropies(), batch.states), mask),
        "length": mean_length(mask),
        "truncated": 1.0 - batch.ended.mean((-2, -1)),
        "dead_groups": dead_group_fraction(batch.rewards),
        "reward_width": reward_width(batch.rewards),
        "distinct_bigrams": distinct_ngrams(batch.tokens, mask, n=2, vocabulary=len(task.vocabulary)),
        "ref_log_prob": (ref_log_probs * mask).sum(-1).mean((-2, -1)),
    }
