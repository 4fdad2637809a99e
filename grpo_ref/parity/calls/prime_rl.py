"""Compute the recorded cases of prime-rl that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import Array
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects.prime_rl.kernels import length_weights, penalized_by_shares, shares_of_largest
from grpo_ref.parity.calls.common import loss
from grpo_ref.parity.measured import Call


def length_penalized_turns(
    rewards: Array,
    lengths: Array,
    inputs: Array,
    turns: Array,
    *,
    output: float = 0.25,
    given: float = 0.1,
    turn: float = 0.1,
) -> Array:
    """Apply `length_penalized` to conversations, whose completions differ in tokens read and in turns.

        r' = r - mean(r) (output |o|/max |o| + given |i|/max |i| + turn n/max n)

    Args:
      rewards: (P, G), one row per prompt.
      lengths, inputs, turns: (P, G) tokens that were sampled, those that were only read, and turns.
      output, given, turn: the weights num_output_tokens_weight, num_input_tokens_weight, num_turns_weight.

    Returns:
      (P, G) advantages; each row sums to zero.
    """
    parts = ((output, lengths), (given, inputs), (turn, turns))
    shares = [weight * shares_of_largest(rewards, counts) for weight, counts in parts]
    return penalized_by_shares(rewards, shares[0] + shares[1] + shares[2])


def _loss_of_a_batch(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss computed from rewards: advantages first, then the loss of the remaining completions."""
    recipe = dialect.recipe(**config)
    fields = SimpleNamespace(**vars(record) | {"lengths": record.mask.sum(-1)})
    kept = recipe.keep(fields)[..., None] & recipe.admit(fields)
    batch = {"advantages": recipe.advantage(fields), "mask": record.mask * kept[..., None]}
    return loss(dialect, config, SimpleNamespace(**vars(record) | batch))


def _kept_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return 1 for each group that the gates admit, and 0 for the others."""
    fields = SimpleNamespace(**vars(record) | {"lengths": record.mask.sum(-1)})
    return {"value": dialect.recipe(**config).keep(fields).astype(float)}


def _advantages_of_turns(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the advantages with a length penalty if the completions differ in tokens read and in turns."""
    weights = length_weights(dialect.settings(config))
    numbers = length_penalized_turns(
        record.rewards, record.mask.sum(-1), record.input_lengths, record.turns, **weights
    )
    return {"value": numbers}


CALLS: dict[str, Call] = {
    "loss of a batch": _loss_of_a_batch,
    "kept groups": _kept_groups,
    "advantages of several turns": _advantages_of_turns,
}
"""Calls that only prime-rl's recorded cases have."""
