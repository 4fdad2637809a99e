"""TRL from 0.14 to today: the history of each key, from `GRPOConfig` and `_compute_loss` of the released versions.

Each number is the first version of a series in which something was so. A patch version counts with its
series.
"""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import Version, numbered
from grpo_ref.explain.versions import History, Without, versions


def _new(version: str, before: Any, default: Any, **later: Any) -> Mapping[str, Any]:
    """Return the history of a key added in a version: the equivalent value before, and its default from then on."""
    return {"0.14": Without(before), version: default} | later


HISTORY: History = {
    "loss_type": {"0.14": Without("grpo"), "0.16": Without("bnpo"), "0.17": "bnpo", "0.22": "dapo"},
    "epsilon": _new("0.16", None, 0.2),
    "epsilon_high": _new("0.16", None, None),
    "num_iterations": _new("0.16", 1, 1),
    "delta": _new("0.18", None, None),
    "beta": {"0.14": 0.04, "0.19": 0.0},
    "use_bias_correction_kl": {"0.14": Without(False), "0.26": False, "1.10": True},
    "importance_sampling_level": _new("0.20", "token", "token"),
    "top_entropy_quantile": _new("0.20", 1.0, 1.0),
    "scale_rewards": {"0.14": Without("group"), "0.16": True, "0.22": "group"},
    "multi_objective_aggregation": _new("0.27", "sum_then_normalize", "sum_then_normalize"),
    "max_completion_length": {"0.14": 256, "1.10": 512},
    "mask_truncated_completions": _new("0.17", False, False),
    "off_policy_mask_threshold": _new("0.27", None, None),
    "sapo_temperature_pos": _new("0.26", 1.0, 1.0),
    "sapo_temperature_neg": _new("0.26", 1.05, 1.05),
    "vespo_k_pos": _new("1.0", 2.0, 2.0),
    "vespo_lambda_pos": _new("1.0", 3.0, 3.0),
    "vespo_k_neg": _new("1.0", 3.0, 3.0),
    "vespo_lambda_neg": _new("1.0", 2.0, 2.0),
    "vllm_importance_sampling_correction": _new("0.23", False, True),
    "vllm_importance_sampling_mode": {
        "0.14": Without("token_truncate"),
        "0.26": "sequence_mask",
    },
    "vllm_importance_sampling_clip_max": {"0.14": Without(2.0), "0.26": Without(3.0), "1.8": 3.0},
    "vllm_importance_sampling_clip_min": _new("1.8", None, None),
    "vllm_importance_sampling_cap": _new("0.23", None, None),
    "steps_per_generation": _new("0.18", None, None),
    "generation_batch_size": _new("0.18", None, None),
    "reward_weights": _new("0.15", None, None),
    "sync_ref_model": _new("0.15", False, False),
    "log_completions": _new("0.15", False, False),
    "log_completions_hub_repo": _new("0.28", None, None),
    "entropy_coef": _new("1.8", 0.0, 0.0),
    "use_adaptive_entropy": _new("1.8", False, False),
    "entropy_coef_min": _new("1.8", 0.0, 0.0),
    "entropy_coef_max": _new("1.8", 1.0, 1.0),
    "entropy_coef_delta": _new("1.8", 0.005, 0.005),
    "entropy_target": _new("1.8", 0.2, 0.2),
    "router_aux_loss_coef": _new("1.8", None, None),
}
"""The history of each key.

Before 0.16 there was no clip at all: each batch served one update, so that every ratio was 1. From 1.8 to
1.13 router_aux_loss_coef was 0.001, which counts only for a mixture of experts.
"""
GONE = {
    **dict.fromkeys("vllm_device vllm_dtype vllm_enable_prefix_caching vllm_max_model_len".split(), "0.17"),
    **dict.fromkeys("max_prompt_length use_liger_loss vllm_guided_decoding_regex".split(), "0.29"),
    "wandb_log_unique_prompts": "0.29",
}
"""Removed keys, each with the last series that had it. None of them affected the objective."""
UNSLOTH = Version(
    "TRL with the defaults of Unsloth (August 2026)",
    defaults={
        "beta": 0.001,
        "loss_type": "bnpo",
        "vllm_importance_sampling_correction": False,
        "use_bias_correction_kl": False,
        "router_aux_loss_coef": None,
    },
    others=frozenset(GONE)
    | {"max_seq_length", "unsloth_num_chunks", "unsloth_logit_chunk_multiplier", "unsloth_grpo_mini_batch"},
)
"""The arguments of GRPOConfig that `unsloth/models/rl.py` overwrites."""
VERSIONS = {
    **{
        name: version._replace(others=frozenset(key for key in GONE if numbered(name) <= numbered(GONE[key])))
        for name, version in versions("TRL", HISTORY).items()
    },
    "unsloth": UNSLOTH,
}
