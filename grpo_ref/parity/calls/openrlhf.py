"""Compute the recorded cases of OpenRLHF that other trainers' cases do not have."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from grpo_ref.arrays import TOKENS, Array, array_namespace, at_least, is_set
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects.openrlhf.kernels import Scores
from grpo_ref.parity.calls.common import advantages, kept_groups
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import Slot


def scores_of(advantage: Slot) -> Scores:
    """Return the part that subtracts the baseline, without the steps after it."""
    alone: Slot = advantage.settings.get("alone", advantage)
    scores: Scores = alone.settings.get("scores", alone)
    return scores


def spans(mask: Array) -> Array:
    """Return OpenRLHF's length of each completion: from its first token to its last, including holes.

        last - first + 1,   0 without a token

    Args:
      mask: (P, G, T) 1 on completion tokens; 0 on tokens that a tool wrote.

    Returns:
      (P, G) lengths in tokens.

    OpenRLHF `SamplesGenerator._process_response_into_experience`.

    >>> import numpy as np
    >>> spans(np.array([[[0, 1, 0, 1, 0], [0, 0, 0, 0, 0]]]))
    array([[3, 0]])
    """
    xp, present = array_namespace(mask), is_set(mask)
    places = xp.arange(mask.shape[TOKENS])
    after = xp.max(xp.where(present, places + 1, 0), axis=TOKENS)
    first = xp.min(xp.where(present, places, mask.shape[TOKENS]), axis=TOKENS)
    return at_least(after - first, 0)


def _shaped_rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after the length penalties."""
    settings = dialect.settings(config)
    budget = settings["rollout.max_new_tokens"] or settings["data.max_len"]
    fields = {"lengths": spans(record.mask), "max_length": budget}
    return {"value": dialect.recipe(**config).reward(SimpleNamespace(**vars(record) | fields))}


def _advantages_of_shaped(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the advantages from the verifier's rewards, after the length penalties.

    The rewards are logged after them.
    """
    shaped = _shaped_rewards(dialect, config, record)["value"]
    punished = SimpleNamespace(**vars(record) | {"rewards": shaped})
    numbers = advantages(dialect, config, punished)
    return numbers | {"parts": [(punished, numbers)]}


CALLS: dict[str, Call] = {
    "shaped rewards": _shaped_rewards,
    "advantages of shaped rewards": _advantages_of_shaped,
    "kept groups": kept_groups,
}
"""Calls that only OpenRLHF's recorded cases have."""
