"""What TRL alone does: a scale for gradient accumulation, rewards of None, DPPO's mask, and two mended bugs."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import MEMBERS, Array, array_namespace, masked_sum, where_mask
from grpo_ref.kernels.advantages.moments import divisor, masked_moments
from grpo_ref.kernels.aggregation import token_mean
from grpo_ref.kernels.surrogates import dppo_kl, dppo_top_kl, dppo_top_tv, dppo_tv
from grpo_ref.mistakes.released import luspo_before_6654
from grpo_ref.trainers.calls import loss
from grpo_ref.trainers.dialect import Call, Dialect
from grpo_ref.types import Term


def generation_mean(mask: Array, *, scale: float) -> Array:
    """`token_mean` that makes up for gradient accumulation: a generation batch is trained in several steps.

        W = scale m / Σ m,    the sum over all tokens of the batch

    Args:
      mask: (P, G, T) 1 on completion tokens.
      scale: steps_per_generation over gradient_accumulation_steps.

    Returns:
      (P, G, T) weights that sum to the scale, or to 0 if no token is left.

    TRL "dapo", since huggingface/trl PR #6024.
    """
    return scale * token_mean(mask)


def scored_normalized(rewards: Array, *, ddof: int = 1, eps: float = 1e-4) -> Array:
    """`group_normalized` for groups of which some completions could not be scored: NaN marks those.

        Aᵢ = (rᵢ - mean(r)) / (std(r) + eps)    over the scored completions of the group, 0 for the others

    Args:
      rewards: (P, G), one row per prompt; NaN where no reward function had anything to say.
      ddof, eps: as in `group_normalized`.

    Returns:
      (P, G); a group of which fewer than two are scored gets 0.

    TRL `GRPOTrainer._generate_and_score_completions`, rewards of None.
    """
    xp = array_namespace(rewards)
    scored = ~xp.isnan(rewards)
    mean, variance = masked_moments(rewards, scored, axis=MEMBERS, ddof=ddof)
    enough = xp.count_nonzero(scored, axis=MEMBERS, keepdims=True) > 1
    return where_mask(scored & enough, (rewards - mean) / divisor(xp.sqrt(variance), eps))


def scored_sum(components: Array) -> Array:
    """The sum of what the reward functions say, without those that have nothing to say.

    Args:
      components: (P, G, K) one reward per function, NaN for None.

    Returns:
      (P, G), NaN where no function has anything to say.
    """
    xp = array_namespace(components)
    scored = ~xp.isnan(components)
    total = masked_sum(components, scored, axis=-1)
    return xp.where(xp.any(scored, axis=-1), total, xp.nan)


def _advantages_of_some(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    settings = dialect.recipe(**config).advantage.settings
    return {"value": scored_normalized(scored_sum(record.components * record.weights), **settings)}


DIVERGENCES: dict[str, Callable[..., Term]] = {
    "binary_tv": dppo_tv,
    "binary_kl": dppo_kl,
    "topk_tv": dppo_top_tv,
    "topk_kl": dppo_top_kl,
}
"""The values of `divergence_type` in TRL's experimental DPPO trainer."""


def _divergence_mask(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """1 where DPPO keeps a token; the configuration is that of the experimental DPPO trainer."""
    kernel = DIVERGENCES[config["divergence_type"]]
    tops = (record.top_log_probs, record.top_old_log_probs) if "topk" in config["divergence_type"] else ()
    arrays = (record.log_probs - record.old_log_probs, record.log_probs, *tops, record.advantages[..., None])
    kept = kernel(*arrays, low=config["epsilon_low"], high=config["epsilon_high"]).direct != 0.0
    return {"value": kept * record.mask}


def _luspo_before_6654(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    clips = dialect.recipe(**config).surrogate.settings
    arrays = (record.log_probs, record.old_log_probs, record.advantages[..., None], record.mask)
    return dict(zip(("loss", "grad_logp"), luspo_before_6654(*arrays, **clips), strict=True))


def _loss_before_6024(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Gradient accumulation was not made up for."""
    forgotten = ("gradient_accumulation_steps", "steps_per_generation")
    return loss(dialect, {key: value for key, value in config.items() if key not in forgotten}, record)


CALLS: dict[str, Call] = {
    "advantages of partly scored groups": _advantages_of_some,
    "divergence mask": _divergence_mask,
    "loss before PR #6024": _loss_before_6024,
    "loss before PR #6654": _luspo_before_6654,
}
"""What only TRL's recorded cases hold."""
