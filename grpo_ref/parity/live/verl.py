"""Compute what `explain` says of a verl release: the gradient of one batch of `grpo_conformance.releases`.

A case calls one function of `core_algos`, or it updates the policy as a worker does. `update` is the legacy worker,
`engine` the newer one, and `step` the one that a launch file gets by default.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_sum,
)
from grpo_ref.arrays import Array, Floats
from grpo_ref.explain.dialect import BONUS, Dialect, flat
from grpo_ref.explain.dialects.verl.kernels import geometric_mean_weight
from grpo_ref.explain.settings import Settings
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls import verl as calls
from grpo_ref.parity.live.cases import Absent, Batch, Case, rows_of
from grpo_ref.parity.live.paper import name_of, of_steps, paper_form
from grpo_ref.recipes import Recipe, slot
from grpo_ref.surrogates import clip_cov, kl_cov

WITHOUT_KEY = {"loss_agg_mode": "token-mean", "policy_loss.loss_mode": "vanilla", "clip_ratio_c": 3.0}
"""Values of keys that a release without the key computes, as the cases are named."""
WORKER = "trainer.use_legacy_worker_impl"
WORKERS = ("update", "engine", "step")
CHOICES = {"update": "enable", "engine": "disable"}
"""The value of `WORKER` that chooses a worker."""
TIE = 1e-12
"""Difference in nats that decides which of two equal tokens is chosen."""
OVER_ROWS = (fixed_length, sequence_mean_token_mean, sequence_mean_token_sum)
"""Averages that end with a mean over completions."""
NOT_OF_LOSS = (
    *("norm_adv_by_std_in_grpo", "rollout_weights"),
    *("ppo_mini_batch_size", "ppo_micro_batch_size_per_gpu"),
)
"""Keys of the cases that every release has, or that are not keys of the actor."""


def configuration(dialect: Dialect, case: Case) -> dict[str, Any]:
    """Return the keys of a case that a release has.

    Raises:
      Absent: if it lacks a key that the case is about, or the worker.
    """
    keys = flat(case.keys)
    own = [key for key in keys if key.split(".")[0] in case.own]
    if case.call == "policy_loss":  # a loss reads only the keys of its own mode
        own = [key for key in own if key in WITHOUT_KEY]
    missing = [
        key
        for key in own
        if key not in NOT_OF_LOSS and not dialect.has(key) and WITHOUT_KEY.get(key) != keys[key]
    ]
    if missing:
        raise Absent(", ".join(missing))
    given = {key: value for key, value in keys.items() if dialect.has(key) and key in READ}
    if case.call in CHOICES:
        given |= _worker(dialect, CHOICES[case.call])
    return given | _function(dialect, case)


READ = frozenset(
    """clip_ratio clip_ratio_low clip_ratio_high clip_ratio_c entropy_coeff use_kl_loss kl_loss_coef kl_loss_type
    loss_agg_mode ppo_epochs policy_loss.loss_mode policy_loss.clip_cov_ratio policy_loss.clip_cov_lb
    policy_loss.clip_cov_ub policy_loss.kl_cov_ratio policy_loss.ppo_kl_coef loss_scale_factor tau_pos tau_neg
    norm_adv_by_std_in_grpo gamma""".split()
)
"""Keys that a worker or a function reads here."""


def _worker(dialect: Dialect, worker: str) -> dict[str, Any]:
    """Return the key that chooses a worker, if the release has both.

    Raises:
      Absent: if it does not have this one.
    """
    if dialect.has(WORKER):
        return {WORKER: worker}
    only = "disable" if dialect.keys.table[WORKER].default == "disable" else "enable"
    if worker != only:
        raise Absent(WORKER)
    return {}


def _function(dialect: Dialect, case: Case) -> dict[str, Any]:
    """Return the keys that choose the function of a case."""
    if case.call == "kl_penalty":
        return {"use_kl_loss": True, "kl_loss_type": case.function, "kl_loss_coef": 1.0}
    if case.call != "advantage":
        return {}
    # Where no key tells, a penalty in the loss means that none is in the rewards.
    alone = (
        {"use_kl_loss": True} if dialect.has("use_kl_loss") and not dialect.has("use_kl_in_reward") else {}
    )
    return {"adv_estimator": case.function, **alone}


def gradient(dialect: Dialect, case: Case, batch: Batch) -> Floats:
    """Return the gradient of one batch by the policy's log-probabilities; of an estimator, the advantages.

    Args:
      dialect: verl at a release.
      case: the configuration.
      batch: the completions.

    Returns:
      (B, T) in the order of the batch.

    Raises:
      Absent: if the release lacks a key or the worker.
      ValueError: if the release refuses the configuration, or does not have a value.
    """
    config = configuration(dialect, case)
    settings, recipe = dialect.settings(config), dialect.recipe(**config)
    if case.call == "advantage":
        return _advantages(dialect, config, batch)
    if case.call == "kl_penalty":
        alone = replace(recipe, aggregate=slot(token_sum), penalty_aggregate=None)
        record = _record(batch)
        record.advantages = np.zeros_like(record.advantages)
        return _of_rows(alone, record, slice(None), None)
    if case.call == "agg_loss":
        return (
            2.0 * batch.log_probs * _of_function(settings, recipe, batch) * weights(recipe, batch.mask, None)
        )
    if case.call == "policy_loss":
        return _of_policy_loss(settings, recipe, case, batch)
    return _of_worker(dialect, config, case, batch)


def paper(
    dialect: Dialect, case: Case, batches: Sequence[Batch]
) -> tuple[str, list[Floats], Mapping[str, str]]:
    """Return the paper's form of a case: its name, its gradients, and the parts in which the trainer differs.

    The name is "" if the case does not name a recipe.
    """
    config = configuration(dialect, case)
    s, explained = dialect.settings(config), dialect.recipe(**config)
    name = name_of("verl", case, s)
    if not name:
        return "", [], {}
    form = paper_form(name, explained)
    if case.call == "advantage":
        form = replace(form, advantage=slot(group_centered)) if _is_unscaled(case) else form
        papers = [_of_estimator(form, batch) for batch in batches]
        return name, papers, explained.differences(replace(explained, advantage=form.advantage))
    step = case.keys["ppo_mini_batch_size"] if case.call in WORKERS else len(batches[0].mask)
    times = s.ppo_epochs if case.call in WORKERS else 1
    length = next(iter(dialect.budget(config).values()), None)
    papers = []
    for batch in batches:
        record = _record(batch)
        if form.surrogate.kernel is clip_cov:
            fields = {name: array[None] for name, array in vars(record).items()}
            noise = calls.torch_noise(form, SimpleNamespace(**fields, seed=batch.number))
            record.noise = np.asarray(noise)[0]
        papers.append(times * of_steps(form, record, step, length))
    parts = explained.differences(replace(form, advantage=explained.advantage))
    return name, papers, parts


def _is_unscaled(case: Case) -> bool:
    return case.function.startswith("grpo") and not case.keys["norm_adv_by_std_in_grpo"]


def _of_estimator(form: Recipe, batch: Batch) -> Floats:
    mask = batch.grouped(batch.mask)
    fields = {"rewards": batch.grouped(batch.rewards), "mask": mask, "lengths": mask.sum(-1)}
    values = np.asarray(form.advantage(SimpleNamespace(**fields)))
    by_token = values if values.ndim == mask.ndim else values[..., None] * mask
    advantages: Floats = (by_token * mask).reshape(batch.mask.shape)
    return advantages


def weights(recipe: Recipe, mask: Floats, length: int | None) -> Floats:
    """Return the (B, T) weights of the penalty: the average that loss_agg_mode selects."""
    by_mode = replace(recipe, aggregate=recipe.penalty_aggregate or recipe.aggregate)
    values: Floats = by_mode.weights(mask[None], max_length=length)[0]
    return values


def _record(batch: Batch) -> SimpleNamespace:
    """Return the (B, ...) arrays of a batch."""
    assert batch.advantages is not None
    return SimpleNamespace(
        log_probs=batch.log_probs,
        old_log_probs=batch.old_log_probs,
        ref_log_probs=batch.ref_log_probs,
        mask=batch.mask,
        advantages=batch.advantages,
    )


def _of_rows(
    recipe: Recipe, record: SimpleNamespace, rows: slice, length: int | None, number: int = 0
) -> Floats:
    """Return the gradient of a loss over some completions. The number of the batch is the seed of PyTorch."""
    given = vars(rows_of(record, rows))
    arrays = [given.pop(name) for name in ("log_probs", "advantages", "mask")]
    if recipe.surrogate.kernel is clip_cov:
        seeded = vars(rows_of(record, rows)) | {"seed": number}
        given["noise"] = calls.torch_noise(recipe, SimpleNamespace(**seeded))
    if recipe.surrogate.kernel is kl_cov:  # of equal covariances, torch.topk takes the last one here
        arrays[0] = arrays[0] + TIE * np.arange(arrays[0].size).reshape(arrays[0].shape) * np.sign(
            arrays[1] - arrays[1].mean()
        ).reshape(*arrays[1].shape, 1)
    values = policy_loss(*arrays, recipe=recipe, max_length=length, metrics=(), **given)
    gradient: Floats = values.gradient[0]
    return gradient


def _of_function(s: Settings, recipe: Recipe, batch: Batch) -> float:
    """Return what a function called alone multiplies the worker's average by.

    Without the number of rows of a mini-batch, rows without a token are excluded from a mean over rows. GMPO takes its
    own mean over all rows.
    """
    over_rows = recipe.aggregate.kernel in OVER_ROWS and s.loss_mode != "geo_mean"
    counts_all = recipe.aggregate.settings.get("count_empty", True) and s.rows_without_tokens != "0/0"
    return float(len(batch.mask) / (batch.mask.sum(-1) > 0).sum()) if over_rows and counts_all else 1.0


def _of_policy_loss(s: Settings, recipe: Recipe, case: Case, batch: Batch) -> Floats:
    if s.loss_mode == "geo_mean":  # its mean counts rows without a token in every release
        recipe = replace(recipe, aggregate=slot(recipe.aggregate.kernel))
    if "rollout_weights" in case.keys:
        weighing = np.minimum(np.exp(batch.old_log_probs - batch.rollout_log_probs), 2.0)
        part = slot(calls.known, weights=weighing[None])
        part = slot(geometric_mean_weight, weights=part) if s.loss_mode == "geo_mean" else part
        recipe = replace(recipe, corrections=(part,))
    return _of_function(s, recipe, batch) * _of_rows(recipe, _record(batch), slice(None), None, batch.number)


def _advantages(dialect: Dialect, config: Mapping[str, Any], batch: Batch) -> Floats:
    """Return the (B, T) advantages, 0 outside of the mask."""
    mask = batch.grouped(batch.mask)
    record = SimpleNamespace(rewards=batch.grouped(batch.rewards), mask=mask)
    s = dialect.settings(config)
    if (
        config["adv_estimator"] == "grpo_vectorized"
    ):  # the function reads the key, though verl does not pass it
        config = {**config, "adv_estimator": "grpo"}
    if config["adv_estimator"] == "reinforce_plus_plus" and s.return_stops_at_gaps:
        return _cut_returns(s.gamma, batch)
    values: Array = calls.CALLS["advantages"](dialect, config, record)["value"]
    by_token = values if values.ndim == mask.ndim else values[..., None] * mask
    return np.asarray(by_token * mask).reshape(batch.mask.shape)


def _cut_returns(gamma: float, batch: Batch) -> Floats:
    """Return the advantages of REINFORCE++ before verl #7300: a token that is not the policy's sets the return to 0."""
    rewards, returns = np.zeros_like(batch.mask), np.zeros_like(batch.mask)
    rewards[np.arange(len(rewards)), batch.lengths.astype(int) - 1] = batch.rewards
    running = np.zeros(len(rewards))
    for token in reversed(range(rewards.shape[1])):
        running = rewards[:, token] + gamma * running
        returns[:, token] = running
        running = running * batch.mask[:, token]
    kept = returns[batch.mask > 0.0]
    advantages: Floats = (returns - kept.mean()) / np.sqrt(kept.var(ddof=1) + 1e-8) * batch.mask
    return advantages


def _of_worker(dialect: Dialect, config: Mapping[str, Any], case: Case, batch: Batch) -> Floats:
    """Return the gradient of all updates on one batch: mini-batches in order, each in micro-batches.

    The legacy worker averages over each micro-batch, and then over the micro-batches. The engine averages over the
    mini-batch. With one mini-batch and one epoch, some releases take the policy's own log-probabilities as old ones.
    """
    s, recipe = dialect.settings(config), dialect.recipe(**config)
    is_engine = s[WORKER] == "disable"
    rows, mini = len(batch.mask), case.keys["ppo_mini_batch_size"]
    each = mini if is_engine else case.keys["ppo_micro_batch_size_per_gpu"]
    record = _record(batch)
    if s.on_policy_takes_own_log_probs and not is_engine and mini == rows and s.ppo_epochs == 1:
        record.old_log_probs = record.log_probs
    length = next(iter(dialect.budget(config).values()), None)
    if not (is_engine or s.loss_scale_factor_is_read):
        length = None
    bonus, p = dialect.concept(BONUS, config, 0.0), np.exp(batch.log_probs)
    total = np.zeros_like(batch.mask)
    for start in range(0, rows, each):
        part = slice(start, start + each)
        values = _of_rows(recipe, record, part, length)
        if bonus:  # the scripted "entropy" is -p log p
            slope = -p[part] * (1.0 + batch.log_probs[part])
            values = values - bonus * weights(recipe, batch.mask[part], length) * slope
        total[part] = values / (mini // each)
    return (s.ppo_epochs if s.ppo_epochs_is_read else 1) * total
