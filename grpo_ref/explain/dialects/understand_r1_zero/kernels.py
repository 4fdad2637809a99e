"""Kernels of understand-r1-zero: a reward of 0 for truncated completions, and a KL in the completion's reward."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import TOKENS, Array, Floats, array_namespace, is_set, masked_sum
from grpo_ref.explain.calls import loss
from grpo_ref.explain.dialect import Call, Dialect
from grpo_ref.recipes import Recipe, Slot


def zero_if_cut_off(rewards: Array, ended: Array, *, scale: float = 1.0) -> Array:
    """Scale the rewards, and set those of truncated completions to 0.

        scale r where the completion ended, 0 elsewhere

    Args:
      rewards: (P, G).
      ended: (P, G) True where the completion ended by itself.
      scale: reward_scale.

    Returns:
      (P, G) rewards.

    understand-r1-zero `ZeroMathActor.step`, then oat `PPOLearner.learning_step`.
    """
    return array_namespace(rewards, ended).where(is_set(ended), scale * rewards, 0.0)


def penalized(
    rewards: Array,
    mask: Array,
    old_log_probs: Array,
    ref_log_probs: Array,
    *,
    scores: Slot,
    kl_coef: float,
) -> Array:
    """Subtract the summed log-ratio to the reference from a completion's reward, before the rewards are compared.

        A = scores(r - kl_coef Σₜ (log πold - log πref))

    Args:
      rewards: (P, G), one row per prompt.
      mask: (P, G, T) 1 on completion tokens.
      old_log_probs, ref_log_probs: (P, G, T) in nats, of the learner when the batch was sampled and of the
        reference.
      scores: the part that compares the rewards of a group, (P, G) -> (P, G).
      kl_coef: kl_penalty_coef.

    Returns:
      (P, G) advantages.

    oat `PPOLearner.learning_step`.
    """
    apart = masked_sum(old_log_probs - ref_log_probs, mask, axis=TOKENS)
    return scores(rewards=rewards - kl_coef * apart)


def admitted(record: SimpleNamespace, recipe: Recipe) -> Floats:
    """Return the mask without the excluded completions, (P, G, T)."""
    if not hasattr(record, "ended"):
        mask: Floats = record.mask
        return mask
    fields = {"rewards": record.ended} | vars(record)
    left: Floats = record.mask * recipe.admit(SimpleNamespace(**fields))[..., None]
    return left


def _loss_of_admitted(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss over the completions that the recipe admits, if some were truncated."""
    mask = admitted(record, dialect.recipe(**config))
    return loss(dialect, config, SimpleNamespace(**vars(record) | {"mask": mask}))


def _shaped_advantages(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the advantages computed from the verifier's rewards, which are shaped first."""
    recipe = dialect.recipe(**config)
    fields = vars(record) | {"rewards": recipe.reward(record)}
    return {"value": recipe.advantage(SimpleNamespace(**fields))}


CALLS: dict[str, Call] = {
    "loss of what is admitted": _loss_of_admitted,
    "advantages of shaped rewards": _shaped_advantages,
}
"""Calls that only understand-r1-zero's recorded cases have."""
