"""NeMo-RL from 0.4 on (November 2025): the history of each key, from the tags of its repository.

The keys are those of `examples/configs/grpo_math_1B.yaml` and of the loss. Before 0.4 advantages were divided
by a spread with divisor G, and the clip's widths had other names.
"""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialects.nemo_rl.keys import DEFAULTS, SCORED
from grpo_ref.explain.versions import History, Without, versions


def _new(version: str, default: Any) -> Mapping[str, Any]:
    """Return the history of a key that was added in a version and does nothing at its default."""
    return {"0.4": Without(default), version: default}


HISTORY: History = {
    SCORED: {"0.4": Without(False), "0.7": Without(True)},
    "reference_policy_kl_type": _new("0.5", "k3"),
    "kl_input_clamp_value": _new("0.5", 20.0),
    "kl_output_clamp_value": {"0.4": Without(None), "0.5": 10.0},
    "force_on_policy_ratio": _new("0.5", False),
    **{key: _new("0.6", default) for key, default in DEFAULTS.items() if key.startswith("adv_estimator.")},
    "adv_estimator.reward_weights": _new("0.7", None),
    "skip_reference_policy_logprobs_calculation": _new("0.6", False),
    "reward_shaping.stop_properly_penalty_coef": _new("0.6", None),
    "seq_logprob_error_threshold": _new("0.6", None),
    "use_kl_in_reward": _new("0.6", False),
    "truncated_importance_sampling_type": {"0.4": Without("tis"), "0.6": "tis", "0.7": None},
    "truncated_importance_sampling_ratio_min": _new("0.6", None),
    "advantage_clip_low": _new("0.7", None),
    "advantage_clip_high": _new("0.7", None),
    "use_cispo": _new("0.7", False),
    "positive_example_nll_weight": _new("0.7", 0.0),
}
VERSIONS = versions("NeMo-RL", HISTORY)
