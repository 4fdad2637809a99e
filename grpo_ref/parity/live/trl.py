"""Compute what `explain` says of a TRL release: the gradient of one batch of `grpo_conformance.releases`.

A batch is one generation batch. It is cut into micro-batches, which make optimizer steps. The learning rate is 0,
so the gradients of all steps and iterations are those of the scripted policy, and are added up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.advantages import normalized_then_summed
from grpo_ref.arrays import Array, Floats, where_mask
from grpo_ref.explain.dialect import Dialect, numbered
from grpo_ref.explain.dialects.trl.keys import WINDOW_LOSSES
from grpo_ref.explain.dialects.trl.sampler import is_corrected
from grpo_ref.explain.settings import Settings
from grpo_ref.levels import sequence_mean_level
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls import trl as calls
from grpo_ref.parity.calls.trl_scores import scored_normalized_sum
from grpo_ref.parity.live.cases import Absent, Batch, Case, rows_of
from grpo_ref.parity.live.paper import name_of, of_steps, paper_form
from grpo_ref.recipes import Recipe, slot

VOCABULARY = 32
"""Tokens of the scripted model. All tokens but the sampled one share the rest of the probability equally."""
BY_COMPLETIONS = (0, 16)
"""The first release whose per_device_train_batch_size counts completions. Before, it counts prompts."""
WITHOUT_KEY = {"loss_type": "grpo", "num_iterations": 1}
"""Values of keys that a release without the key computes, as the names of the cases use them."""
CAPS = ("vllm_importance_sampling_cap", "vllm_importance_sampling_clip_max")
"""The old and the new name of one bound."""


class Cut(NamedTuple):
    """The division of a generation batch.

    Attributes:
      parts: number of micro-batches.
      accumulated: number of micro-batches that a step averages over.
      times: how often the generation batch is trained on.
      is_off_policy: true if the trainer computes old log-probabilities for the batch.
    """

    parts: int
    accumulated: int
    times: int
    is_off_policy: bool


def configuration(dialect: Dialect, case: Case) -> dict[str, Any]:
    """Return the keys of a case that a release has.

    Raises:
      Absent: if it lacks a key that the case is about.
    """
    keys = dict(case.keys)
    if dialect.has(CAPS[1]) and CAPS[0] in keys:
        old = keys.pop(CAPS[0])
        keys[CAPS[1]] = old if CAPS[0] in case.own else keys.get(CAPS[1], old)
    given = {key: value for key, value in keys.items() if dialect.has(key)}
    renamed = {CAPS[0]: CAPS[1]}
    missing = [
        key
        for key in case.own
        if not dialect.has(key)
        and not dialect.has(renamed.get(key, key))
        and WITHOUT_KEY.get(key) != case.keys[key]
    ]
    if case.scripted.get("holes") and not dialect.has("tools"):
        missing.append("tools")
    if missing:
        raise Absent(", ".join(missing))
    return given | ({"use_vllm": True} if case.scripted.get("vllm") else {})


def gradient(dialect: Dialect, case: Case, batch: Batch) -> Floats:
    """Return the gradient of one batch by the policy's log-probabilities, added up over its optimizer steps.

    Args:
      dialect: TRL at a release.
      case: the configuration.
      batch: the completions.

    Returns:
      (B, T) in the order of the batch.

    Raises:
      Absent: if the release lacks a key.
      ValueError: if the release refuses the configuration.
    """
    config = configuration(dialect, case)
    settings, recipe = dialect.settings(config), dialect.recipe(**config)
    _check_scores(settings, batch)
    cut = cut_of(dialect, settings, case, len(batch.mask))
    given = advantages(dialect, config, batch).reshape(-1)
    record, slope = record_of(settings, recipe, cut, case, batch, given)
    mask = record.mask
    counted = batch.mask if settings.denominator_counts_truncated else mask
    size = len(mask) // cut.parts
    total = np.zeros_like(mask)
    for part in range(cut.parts):
        rows = slice(part * size, (part + 1) * size)
        total[rows] = _of_micro_batch(
            settings, recipe, rows_of(record, rows), cut, counted.sum(), batch, dialect.budget(config)
        )
    summed: Floats = cut.times * total * slope
    return summed


def record_of(
    s: Settings, recipe: Recipe, cut: Cut, case: Case, batch: Batch, given: Floats
) -> tuple[SimpleNamespace, Floats]:
    """Return the (B, ...) arrays that a loss reads, and the derivative of its log-probabilities by the batch's."""
    admitted = recipe.admit(SimpleNamespace(rewards=batch.lengths, ended=batch.ended.astype(bool)))
    temperature = s.temperature if s.logits_are_divided_by_temperature else 1.0
    current, slope = tempered(batch.log_probs, temperature)
    record = SimpleNamespace(
        log_probs=current,
        ref_log_probs=tempered(batch.ref_log_probs, temperature)[0],
        entropies=entropy(current).astype(np.float32),  # a token at the threshold is kept in any precision
        mask=batch.mask * admitted[:, None],
        advantages=given,
    )
    if cut.is_off_policy:
        record.old_log_probs = tempered(batch.old_log_probs, temperature)[0]
    if case.scripted.get("vllm"):
        record.rollout_log_probs = batch.rollout_log_probs
    return record, slope


def paper(
    dialect: Dialect, case: Case, batches: Sequence[Batch]
) -> tuple[str, list[Floats], Mapping[str, str]]:
    """Return the paper's form of a case: its name, its gradients, and the parts in which the trainer differs.

    The name is "" if loss_type is not the name of a recipe.
    """
    config = configuration(dialect, case)
    s, explained = dialect.settings(config), dialect.recipe(**config)
    name = name_of("trl", case, s)
    if not name:
        return "", [], {}
    form, cut = paper_form(name, explained), cut_of(dialect, s, case, len(batches[0].mask))
    step = len(batches[0].mask) // cut.parts * min(cut.accumulated, cut.parts)
    length = next(iter(dialect.budget(config).values()), None)
    gradients = []
    for batch in batches:
        scores = batch.rewards if batch.rewards.ndim > 1 else batch.rewards[:, None]
        weights = np.ones(scores.shape[-1]) if s.reward_weights is None else np.asarray(s.reward_weights)
        rewards = batch.grouped(np.nansum(scores * weights, axis=-1))
        given = np.asarray(form.advantage(SimpleNamespace(rewards=rewards))).reshape(-1)
        record, _ = record_of(
            s.replaced(logits_are_divided_by_temperature=True), form, cut, case, batch, given
        )
        slope = tempered(batch.log_probs, s.temperature)[1]
        gradients.append(cut.times * of_steps(form, record, step, length) * slope)
    return name, gradients, explained.differences(form)


def cut_of(dialect: Dialect, s: Settings, case: Case, completions: int) -> Cut:
    """Return how a release cuts a batch, from the keys of the batch size.

    Old log-probabilities are computed if the policy moves between the steps on a generation batch, or if the weights
    for vLLM need them. Otherwise every ratio is 1.
    """
    accumulated, each = s.gradient_accumulation_steps, case.keys["per_device_train_batch_size"]
    if (
        numbered(dialect.release) < BY_COMPLETIONS
    ):  # these batches of prompts end before a step is accumulated
        return Cut(1, 1, 1, False)
    steps = accumulated if s.steps_per_generation is None else s.steps_per_generation
    moves = s.num_iterations > 1 or steps > accumulated
    times = s.num_iterations * max(1, accumulated // steps)
    return Cut(completions // each, accumulated, times, moves or is_corrected(s))


def advantages(dialect: Dialect, config: Mapping[str, Any], batch: Batch) -> Array:
    """Return the (P, G) advantages. In some releases, a completion without any answer counts as reward 0."""
    s = dialect.settings(config)
    components = batch.rewards if batch.rewards.ndim > 1 else batch.rewards[:, None]
    weights = np.ones(components.shape[-1]) if s.reward_weights is None else np.asarray(s.reward_weights)
    grouped = batch.grouped(components)
    record = SimpleNamespace(components=grouped, weights=weights, mask=batch.grouped(batch.mask))
    if np.isnan(components).any() and s.unscored_completions == "reward 0":
        part = dialect.recipe(**config).advantage
        if part.kernel is normalized_then_summed:
            sums = np.nan_to_num(scored_normalized_sum(grouped, weights, **part.settings))
            return (sums - sums.mean()) / (sums.std(ddof=1) + part.settings["eps"])
        record = SimpleNamespace(rewards=np.nansum(grouped * weights, axis=-1), mask=record.mask)
        config = {key: value for key, value in config.items() if key != "reward_weights"}
    values: Array = calls.advantages(dialect, config, record)["value"]
    return values


def _check_scores(s: Settings, batch: Batch) -> None:
    """Raise a ValueError if the release stops at an answer of None."""
    scores = batch.rewards if batch.rewards.ndim > 1 else batch.rewards[:, None]
    none = np.isnan(scores)
    if none.any() and s.unscored_completions == "refused":
        raise ValueError("reward_funcs: this release does not accept None from a reward function")
    if none.all(-1).any() and s.unscored_completions == "crash":
        raise ValueError("reward_funcs: this release crashes if every function returns None for a completion")


def tempered(log_probs: Floats, temperature: float) -> tuple[Floats, Floats]:
    """Return the log-probabilities after the logits are divided by a temperature, and their slope.

    Args:
      log_probs: (B, T) of the sampled tokens; the other tokens share the rest equally.
      temperature: the divisor.

    Returns:
      (B, T) log-probabilities, and their derivative by the given ones.
    """
    if temperature == 1.0:
        return log_probs, np.ones_like(log_probs)
    rest = np.log1p(-np.exp(log_probs)) - np.log(VOCABULARY - 1)
    gap = (rest - log_probs) / temperature
    after = -np.log1p((VOCABULARY - 1) * np.exp(gap))
    return after, (1.0 - np.exp(after)) / temperature / (1.0 - np.exp(log_probs))


def entropy(log_probs: Floats) -> Floats:
    """Return the entropy of the scripted model at each token, in nats."""
    p = np.exp(log_probs)
    value: Floats = -(p * log_probs + (1.0 - p) * (np.log1p(-p) - np.log(VOCABULARY - 1)))
    return value


def entropy_slope(log_probs: Floats) -> Floats:
    """Return the derivative of `entropy` by the log-probability of the sampled token."""
    p = np.exp(log_probs)
    slope: Floats = p * (np.log1p(-p) - np.log(VOCABULARY - 1) - log_probs)
    return slope


def _unscored(s: Settings, log_probs: Floats, mask: Floats) -> Floats:
    """Return what multiplies the gradient if the sampler could not score tokens: NaN, or 0 for a completion of VESPO.

    One NaN in the loss reaches every log-probability of the micro-batch.
    """
    unknown = np.isnan(log_probs) & (mask > 0.0)
    if s.loss_type == "vespo":
        return np.where(unknown.any(-1, keepdims=True), 0.0, 1.0)
    return np.where(unknown.any(), np.nan, 1.0)


def _of_micro_batch(
    s: Settings,
    recipe: Recipe,
    record: SimpleNamespace,
    cut: Cut,
    items: float,
    batch: Batch,
    budget: Mapping[str, int],
) -> Floats:
    """Return the (n, T) gradient of one micro-batch.

    Until 1.9.0 the losses of `WINDOW_LOSSES` are divided by the tokens of all steps of the generation batch.
    """
    windowed = s.loss_type in WINDOW_LOSSES
    steps = cut.accumulated if s.denominator_counts_all_steps else cut.parts
    share = steps * record.mask.sum() / max(items, 1.0) if windowed else 1.0
    given = {name: value for name, value in vars(record).items() if name not in ("advantages", "mask")}
    log_probs = given.pop("log_probs")
    if s.loss_type == "luspo" and s.luspo_trains_on_padding:
        slopes = _over_padding(recipe, record, batch)
    else:
        slopes = policy_loss(
            log_probs,
            record.advantages,
            record.mask,
            recipe=recipe,
            max_length=next(iter(budget.values()), None),
            metrics=(),
            **given,
        ).gradient
    if is_corrected(s) and s.unscored_tokens_give_nan:
        slopes = slopes * _unscored(s, record.rollout_log_probs, record.mask)
    slopes = share * slopes
    if coefficient := _coefficient(s, batch.number):
        acted_on = calls.acted_on(s, record)
        mean = acted_on / max(acted_on.sum(), 1.0)
        shared = share if windowed and s.bonus_shares_denominator else 1.0
        slopes = slopes - shared * coefficient * mean * entropy_slope(log_probs)
    return np.asarray(slopes[0] / cut.accumulated)


def _coefficient(s: Settings, step: int) -> float:
    """Return the weight of the entropy bonus in a step. The adaptive one of the cases grows from step to step."""
    if not s.use_adaptive_entropy:
        return float(s.entropy_coef)
    return min(s.entropy_coef + step * s.entropy_coef_delta, s.entropy_coef_max) if step else 0.0


def padded_mean(mask: Array, *, lengths: Array) -> Array:
    """Return the weights of LUSPO before PR #6654: the mean over all positions, each times its completion's length."""
    return lengths[..., None] * mask / mask.size


def known(mask: Array, *, weights: Array) -> Array:
    """Return weights that are already known."""
    return where_mask(mask, weights)


def _over_padding(recipe: Recipe, record: SimpleNamespace, batch: Batch) -> Array:
    """Return LUSPO's gradient before PR #6654: padding has a part in every mean that is taken token by token."""
    width = int(batch.lengths.max())
    everywhere = np.zeros_like(record.mask)
    everywhere[..., :width] = 1.0
    lengths = record.mask.sum(-1)
    weights = np.ones_like(record.mask)
    read = {"old_log_probs": record.log_probs, **vars(record)}
    read = {"rollout_log_probs": read["old_log_probs"], **read}
    for part in recipe.corrections:
        own = np.asarray(part(SimpleNamespace(**read)))
        masks = part.kernel.__name__ == "top_entropy_in_float32"
        weights = weights * np.where(record.mask > 0.0, own, 0.0 if masks else 1.0)
    padded = replace(
        recipe, aggregate=slot(padded_mean, lengths=lengths), corrections=(slot(known, weights=weights),)
    )
    given = {name: value for name, value in vars(record).items() if name not in ("advantages", "mask")}
    log_probs = given.pop("log_probs")
    if recipe.level is not sequence_mean_level:
        return policy_loss(
            log_probs, record.advantages, everywhere, recipe=padded, metrics=(), **given
        ).gradient
    alone, nothing = replace(recipe, kl_coef=0.0), np.zeros_like(record.advantages)
    surrogate = policy_loss(log_probs, record.advantages, record.mask, recipe=alone, metrics=(), **given)
    if not recipe.kl_coef:
        return surrogate.gradient
    penalty = policy_loss(log_probs, nothing, everywhere, recipe=padded, metrics=(), **given)
    return surrogate.gradient + penalty.gradient
