"""Kernels of ROLL: rewards that are limited, penalized and whitened per token, filters, weights and levels."""

from grpo_ref.advantages.moments import reward_std, whiten
from grpo_ref.advantages.turn_axis import (
    Scaling,
    discounted_returns,
    normalized_among_equals,
    taken_turns,
    to_tokens,
)
from grpo_ref.arrays import COMPLETIONS, MEMBERS, TOKENS, Array, array_namespace, at_least, is_set, where_mask
from grpo_ref.recipes import Slot

EPS = 1e-6
"""The eps of the standard deviation of the rewards."""
GROUP = -2
"""The axis of a group's completions in arrays that also have a token axis."""


def over_batch(rewards: Array, *, centered: bool = True, divided: bool = True) -> Array:
    """Subtract the mean of the batch from the rewards, or divide by its standard deviation, or both.

        A = (r - mean) / (std + 1e-6),    over all completions of a domain, divisor n - 1

    Args:
      rewards: (P, G), one row per prompt.
      centered: if true, subtract the mean.
      divided: if true, divide by the standard deviation.

    Returns:
      (P, G) advantages.

    ROLL `reward_norm`, norm_mean_type and norm_std_type.
    """
    xp = array_namespace(rewards)
    left = rewards - xp.mean(rewards, axis=COMPLETIONS, keepdims=True) if centered else rewards
    return left / (reward_std(rewards, axis=COMPLETIONS, ddof=1) + EPS) if divided else left


def token_returns(
    rewards: Array,
    mask: Array,
    *,
    scores: Slot,
    limit: float | None = None,
    gamma: float = 1.0,
    whiten_rewards: bool = False,
    whiten_advantages: bool = False,
    clip: float | None = None,
) -> Array:
    """Put the scores at the last token and discount them backwards, then whiten and limit them.

        gₜ = clip(scores(r), ± limit) at the last token, else 0,   Gₜ = Σₛ γ^(s - t) gₛ    over s at t or after
        A = clip((G - mean) / √(var + 1e-8), ± clip)    over the tokens of the batch

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens; a hole counts as a place.
      scores: the part that normalizes the rewards, (P, G) -> (P, G).
      limit: reward_clip; None for no limit.
      gamma: the discount per place.
      whiten_rewards: if true, whiten g over the tokens first.
      whiten_advantages: if true, whiten G over the tokens.
      clip: advantage_clip; None for no limit.

    Returns:
      (P, G, T) advantages, 0 on padding.

    ROLL `reward_postprocess`, `compute_token_reward` and `compute_advantage`.
    """
    gains = _at_last(_limited(scores(rewards=rewards), limit), mask)
    return _returned(gains, mask, gamma, whiten_rewards, whiten_advantages, clip)


def token_returns_with_penalty(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    penalty: Slot,
    kl_coef: float,
    limit: float | None = None,
    gamma: float = 1.0,
    whiten_rewards: bool = False,
    whiten_advantages: bool = False,
    clip: float | None = None,
) -> Array:
    """Compute `token_returns` of rewards minus the KL of each token, which are limited again.

        gₜ = clip(clip(scores(r), ± limit) at the last token - kl_coef penalty(log πold, log πref), ± limit)

    Args:
      rewards, mask, scores, limit, gamma, whiten_rewards, whiten_advantages, clip: as in `token_returns`.
      old_log_probs, ref_log_probs: (P, G, T) in nats.
      penalty: kl_penalty.
      kl_coef: init_kl_coef.

    Returns:
      (P, G, T) advantages, 0 on padding.

    ROLL `compute_token_reward`, add_token_level_kl.
    """
    cost = kl_coef * penalty(log_probs=old_log_probs, ref_log_probs=ref_log_probs).value
    gains = _at_last(_limited(scores(rewards=rewards), limit), mask) - where_mask(mask, cost)
    return _returned(_limited(gains, limit), mask, gamma, whiten_rewards, whiten_advantages, clip)


def _limited(values: Array, limit: float | None) -> Array:
    return array_namespace(values).clip(values, -limit, limit) if limit else values


def _at_last(scores: Array, mask: Array) -> Array:
    """Return the score at the last token of each completion, and 0 elsewhere, (P, G, T)."""
    xp = array_namespace(scores, mask)
    present = xp.astype(is_set(mask), scores.dtype)
    after = xp.flip(xp.cumulative_sum(xp.flip(present, axis=TOKENS), axis=TOKENS), axis=TOKENS)
    return xp.where(is_set(mask) & (after == 1.0), scores[..., None], 0.0)


def _returned(
    gains: Array, mask: Array, gamma: float, whiten_rewards: bool, whiten_advantages: bool, clip: float | None
) -> Array:
    xp = array_namespace(gains, mask)
    if whiten_rewards:
        gains = _whitened(gains, mask)
    places = xp.arange(gains.shape[TOKENS])
    ahead = xp.astype(places[:, None] - places[None, :], gains.dtype)
    discounts = xp.where(ahead >= 0.0, gamma ** at_least(ahead, 0.0), 0.0)
    returns = where_mask(mask, xp.matmul(gains, xp.astype(discounts, gains.dtype)))
    if whiten_advantages:
        returns = _whitened(returns, mask)
    return returns if clip is None else xp.clip(returns, -clip, clip)


def _whitened(values: Array, mask: Array) -> Array:
    """Whiten over all tokens of the batch, unless there is at most one."""
    xp = array_namespace(values, mask)
    several = xp.sum(xp.astype(is_set(mask), values.dtype), axis=(-3, -2, -1), keepdims=True) > 1.0
    return xp.where(several, whiten(values, mask, ddof=1, eps=1e-8), values)


Norms = tuple[str | None, str | None]
"""The sets over which mean and standard deviation are taken: "group", "batch" or None."""


def turn_scores(
    rewards: Array,
    turn_rewards: Array,
    anchor_states: Array,
    turn_ids: Array,
    *,
    episode: Norms,
    step: Norms,
    episode_weight: float = 1.0,
    step_weight: float = 1.0,
    gamma: float = 0.95,
) -> Array:
    """Add the normalized reward of the episode and the normalized return of the turn, each with norms of its own.

        A_ik = v norm_episode(R_i) + w norm_step(R_ik),    R_ik = Σₗ γ^(l - k) r_il    over l = k, k + 1, ...

    Every turn is a training sample, so an episode counts as often as it has turns.

    Args:
      rewards: (P, G) sum of the rewards of each episode.
      turn_rewards, anchor_states: (P, G, K).
      turn_ids: (P, G, T).
      episode: norms of the episode; its group are the turns of the prompt.
      step: norms of the turn; its group are all turns of the batch that began in the same state.
      episode_weight, step_weight: v and w.
      gamma: step_reward_gamma.

    Returns:
      (P, G, T) advantages, 0 where the turn id is -1.

    ROLL `compute_response_level_rewards` and `agentic_reward_norm`, which gives 0 also for a std of at most
    1e-6.
    """
    xp = array_namespace(rewards, turn_rewards, turn_ids)
    taken = taken_turns(turn_ids, turn_rewards.shape[-1])
    prompts = xp.arange(rewards.shape[-2])[:, None, None] + xp.zeros_like(anchor_states)
    every_turn = rewards[..., None] + xp.zeros_like(turn_rewards)
    returns = discounted_returns(turn_rewards, taken, gamma=gamma)
    scores = episode_weight * _in_set(every_turn, prompts, taken, episode)
    scores = scores + step_weight * _in_set(returns, anchor_states, taken, step)
    return to_tokens(scores, turn_ids)


def _in_set(values: Array, ids: Array, taken: Array, norms: Norms) -> Array:
    """Normalize one value per turn (P, G, K) among those with the same id, or over the batch."""
    mean, std = norms
    if mean is None:
        return values
    xp = array_namespace(values, ids, taken)
    *runs, prompts, members, turns = values.shape
    flat = (*runs, prompts * members * turns)
    ids = ids if mean == "group" else xp.zeros_like(ids)
    arrays = [xp.reshape(array, flat) for array in (values, ids, taken)]
    scaling = Scaling(std is not None, 1, EPS)
    return xp.reshape(normalized_among_equals(arrays[0], arrays[1], arrays[2], scaling), values.shape)


def limited_turns(
    rewards: Array,
    turn_rewards: Array,
    anchor_states: Array,
    turn_ids: Array,
    *,
    scores: Slot,
    limit: float | None = None,
    gamma: float = 1.0,
    whiten_rewards: bool = False,
    whiten_advantages: bool = False,
    clip: float | None = None,
) -> Array:
    """Put the score of a turn at its last token and discount it backwards, then whiten and limit.

        gₜ = clip(score of the turn, ± limit) at its last token, else 0
        Aₜ = Σₛ γ^(s - t) gₛ    over the tokens s at t or after in the same turn
        then (A - mean) / √(var + 1e-8) over the tokens of the batch, and clip(A, ± clip)

    Args:
      rewards: (P, G).
      turn_rewards, anchor_states: (P, G, K).
      turn_ids: (P, G, T).
      scores: the part that scores the turns, -> (P, G, T).
      limit: reward_clip; None for no limit.
      gamma: the discount per token.
      whiten_rewards, whiten_advantages: if true, whiten g or A over the tokens.
      clip: advantage_clip; None for no limit.

    Returns:
      (P, G, T) advantages, 0 where the turn id is -1.

    ROLL `compute_response_level_rewards`, `compute_token_reward` and `agentic_compute_advantage`.
    """
    xp = array_namespace(rewards, turn_rewards, turn_ids)
    given = {"turn_rewards": turn_rewards, "anchor_states": anchor_states, "turn_ids": turn_ids}
    of_turn = _limited(scores(rewards=rewards, **given), limit)
    written = turn_ids >= 0
    places = xp.arange(turn_ids.shape[TOKENS])
    ahead = xp.astype(places[None, :] - places[:, None], of_turn.dtype)
    same = (turn_ids[..., :, None] == turn_ids[..., None, :]) & written[..., None, :] & (ahead >= 0.0)
    is_last = written & (xp.sum(xp.astype(same, xp.int64), axis=TOKENS) == 1)
    gains = xp.where(is_last, of_turn, 0.0)
    if whiten_rewards:
        gains = _whitened(gains, written)
    discounts = xp.astype(xp.where(same, gamma ** at_least(ahead, 0.0), 0.0), of_turn.dtype)
    returns = where_mask(written, xp.sum(discounts * gains[..., None, :], axis=TOKENS))
    if whiten_advantages:
        returns = _whitened(returns, written)
    return _limited(returns, clip)


def admitted(
    rewards: Array,
    lengths: Array,
    max_length: int,
    *,
    below_budget: bool = False,
    between: tuple[float, float] | None = None,
    longest_error: float | None = None,
) -> Array:
    """Keep completions below the length budget, of groups that are neither too easy nor too hard.

    Args:
      rewards: (P, G), from the verifier.
      lengths: (P, G) tokens of each completion.
      max_length: the generation budget in tokens.
      below_budget: max_len_mask. A completion that ends with the last token of the budget is excluded too.
      between: the thresholds of difficulty_mask, between which the group's mean reward must be; or None.
      longest_error: with error_max_len_clip, the length below which completions with reward 0 are kept. Those
        with reward 1 are always kept, all others never. None for no such filter.

    Returns:
      (P, G) True for completions that take part.

    ROLL `get_sample_level_mask`.
    """
    xp = array_namespace(rewards, lengths)
    keep = xp.ones(rewards.shape, dtype=xp.bool)
    if below_budget:
        keep = keep & (lengths != max_length)
    if between is not None and rewards.shape[MEMBERS] > 1:
        mean = xp.mean(rewards, axis=MEMBERS, keepdims=True)
        keep = keep & (mean > between[0]) & (mean < between[1])
    if longest_error is not None:
        keep = keep & (((rewards == 0.0) & (lengths < longest_error)) | (rewards == 1.0))
    return keep


def mean_inside(rewards: Array, *, low: float = -1.0, high: float = 1.0) -> Array:
    """Keep the groups whose mean reward is strictly between two thresholds. The others are resampled.

    Args:
      rewards: (P, G), one row per prompt.
      low, high: threshold_down and threshold_up.

    Returns:
      (P,) True for groups that are kept.

    ROLL `query_filter`, "mean_filter".
    """
    mean = array_namespace(rewards).mean(rewards, axis=MEMBERS)
    return (mean > low) & (mean < high)


def spread_above(rewards: Array, *, threshold: float = 0.0) -> Array:
    """Keep the groups whose standard deviation is above a threshold. With threshold 0 this is `mixed_groups`.

    Args:
      rewards: (P, G), one row per prompt; the divisor is G - 1.
      threshold: std_threshold; -1, the default, drops nothing.

    Returns:
      (P,) True for groups that are kept.

    ROLL `query_filter`, "std_filter".
    """
    return reward_std(rewards, axis=MEMBERS, ddof=1)[..., 0] > threshold


def segment_mean_level(log_ratio: Array, mask: Array) -> Array:
    """Share the geometric mean of the ratios among the tokens of each unbroken segment of the mask.

    Args:
      log_ratio: (P, G, T) log πθ - log πold, in nats; padding may hold anything.
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T), exactly 0 on padding.

    ROLL `compute_segment_masked_mean`.
    """
    xp = array_namespace(log_ratio, mask)
    gaps = xp.cumulative_sum(xp.astype(~is_set(mask), log_ratio.dtype), axis=TOKENS)
    together = (
        (gaps[..., :, None] == gaps[..., None, :]) & is_set(mask)[..., None, :] & is_set(mask)[..., None]
    )
    weights = xp.astype(together, log_ratio.dtype)
    sums = xp.sum(weights * where_mask(mask, log_ratio)[..., None, :], axis=TOKENS)
    return sums / at_least(xp.sum(weights, axis=TOKENS), 1.0)


def short_first(mask: Array) -> Array:
    """Give the shortest completion of a micro-batch three times the weight of the longest one.

        w ~ 1.5 - (|o| - shortest) / (longest - shortest),    with a mean of 1 over the completions

    Args:
      mask: (P, G, T) 1 on completion tokens.

    Returns:
      (P, G, T) weights, the same for all tokens of a completion.

    ROLL `compute_sample_weights`, length_loss_weight.
    """
    xp = array_namespace(mask)
    lengths = xp.sum(mask, axis=TOKENS, keepdims=True)
    axes = (-3, GROUP)
    shortest = xp.min(lengths, axis=axes, keepdims=True)
    width = xp.max(lengths, axis=axes, keepdims=True) - shortest
    weights = 1.5 - (lengths - shortest) / (width + 1e-8)
    return weights / xp.mean(weights, axis=axes, keepdims=True) + xp.zeros_like(mask)


def over_width(mask: Array, max_length: int) -> Array:
    """Sum over all tokens of all completions and divide only by the padded width.

        W = m / L,    L the width of the batch, the prompts in it

    A batch with twice as many completions has twice the loss. Dr. GRPO takes a mean instead.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      max_length: L.

    Returns:
      (P, G, T) weights.

    ROLL "seq-mean-token-sum-norm".
    """
    return mask / max_length


def scaled_by(mask: Array, max_length: int, *, aggregate: Slot, factor: float) -> Array:
    """Multiply an average by a constant. Penalty and surrogate share it.

    Args:
      mask: (P, G, T) 1 on completion tokens.
      max_length: passed to the average.
      aggregate: the average.
      factor: rl_loss_coef.

    Returns:
      (P, G, T) weights.
    """
    weights: Array = factor * aggregate(mask=mask, max_length=max_length)
    return weights
