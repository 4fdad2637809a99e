"""Open Instruct month by month, as of the end of each month. It has no releases that scripts ask for.

Until February 2025, the script is `grpo_vllm_thread_ray_gtrl.py`, which was removed in November 2025 and did
not change until then. From March on it is `grpo_fast.py`, with the files that its configuration was moved to,
`data_loader.py` and `grpo_utils.py`.
"""

import math
from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import Version, numbered
from grpo_ref.explain.dialects.open_instruct.keys import DEFAULTS
from grpo_ref.explain.versions import History, Without, versions


def _new(month: str, default: Any) -> Mapping[str, Any]:
    """Return the history of a key that was added in a month and does nothing at its default."""
    return {"2025.1": Without(default), month: default}


HISTORY: History = {
    "cliprange": {"2025.1": 0.2, "2025.6": Without(None)},
    "clip_lower": _new("2025.6", 0.2),
    "clip_higher": {"2025.1": Without(0.2), "2025.6": 0.2, "2026.3": 0.272},
    "loss_fn": _new("2025.12", "dapo"),
    "load_ref_policy": _new("2025.11", True),
    "advantage_normalization_type": {
        "2025.1": Without("standard"),
        "2025.4": "standard",
        "2026.3": "centered",
    },
    "ddof": {"2025.1": Without(1), "2025.3": Without(0)},
    "filter_zero_std_samples": {"2025.1": Without(False), "2025.4": Without(True), "2025.11": True},
    "mask_truncated_completions": _new("2025.5", False),
    "masked_mean_axis": {"2025.1": Without(None), "2025.3": None, "2025.12": Without(None)},
    "masked_mean_denominator": {"2025.1": Without(None), "2025.10": None, "2025.12": Without(None)},
    "loss_denominator": _new("2025.12", "token"),
    "truncated_importance_sampling_ratio_cap": {
        "2025.1": Without(0.0),
        "2025.10": 0.0,
        "2026.3": 2.0,
        "2026.5": Without(0.0),
    },
    "use_rho_correction": {"2025.1": Without(False), "2026.5": True},
    **{key: _new("2026.5", default) for key, default in DEFAULTS.items() if key.startswith("rho_")},
    "use_vllm_logprobs": _new("2025.10", False),
    "active_sampling": _new("2025.11", False),
    "async_steps": {"2025.1": Without(1), "2025.5": 1, "2026.3": 8},
    "num_samples_per_prompt_rollout": {"2025.1": 1, "2025.3": 4},
    "num_epochs": {"2025.1": 4, "2025.3": 1},
    "response_length": {"2025.1": 53, "2025.3": 256},
    "pack_length": {"2025.1": Without(math.inf), "2025.3": 512},
    "sequence_parallel_size": _new("2026.1", 1),
    "apply_evolving_rubric_reward": _new("2026.2", False),
}
"""The history of each key.

`ddof` is not a key: the standard deviation of a group was PyTorch's, and later NumPy's.
"""
GTRL = {
    "number_samples_per_prompt": "num_samples_per_prompt_rollout",
    "add_r1_style_format_reward": "apply_r1_style_format_reward",
}
"""Names of keys in the script before `grpo_fast.py`."""
_WENT = """dataset_mixer=2025.2 dataset_train_splits=2025.2 dataset_eval_mixer=2025.2 dataset_eval_splits=2025.2
dataset_mixer_dict=2025.2 dataset_eval_mixer_dict=2025.2 answer_extraction_model=2025.2 num_train_epochs=2025.2
eps=2025.3 per_device_eval_batch_size=2025.3 micro_batch_size=2025.3
local_rollout_batch_size=2025.3 rollout_batch_size=2025.3 local_dataloader_batch_size=2025.3
local_mini_batch_size=2025.3 mini_batch_size=2025.3 local_rollout_forward_batch_size=2025.3
reward_model_path=2025.3 reward_model_revision=2025.3 stop_token=2025.3 stop_token_id=2025.3
min_response_length=2025.3 penalty_reward_value=2025.3 whiten_rewards=2025.3 gamma=2025.3
reward_model_multiplier=2025.3 actor_num_gpus_per_node=2025.3 enable_prefix_caching=2025.3
checkpoint_output_dir=2025.3 try_launch_beaker_eval_jobs=2025.3 hf_metadata_dataset=2025.3
local_total_prompts=2025.3 eval_max_length=2025.3 apply_arithmetic_reward=2025.4 arithmetic_reward=2025.4
eval_freq=2025.7 async_mode=2025.7 num_evals=2025.8 local_eval_freq=2025.8 max_token_length=2025.10
fill_completions=2025.11 inference_batch_size=2025.11 use_fp8_kv_cache=2025.11 allow_world_padding=2025.12
update_progress_every=2025.12 max_tool_calls=2026.1 number_documents_to_search=2026.1 search_api_endpoint=2026.1
code_tool_api_endpoint=2026.1 shuffle_eval_dataset=2026.2 warm_up_steps=2026.4 wandb_project_name=2026.4"""
WENT = dict(pair.split("=") for pair in _WENT.split())
"""Removed keys that did not affect the objective, each with the first month without it."""
MEANS = {
    "2025.1": "each micro-batch of each rank, and then over these",
    "2025.3": "the packs of each micro-batch of each rank, and then over these",
    "2025.12": "",
}
"""The first month of each way to average; "" is the present way."""


def _completed(name: str, version: Version) -> Version:
    begun = [mean for first, mean in MEANS.items() if numbered(first) <= numbered(name)]
    is_gtrl = numbered(name) < (2025, 3)
    return version._replace(
        others=frozenset(key for key, after in WENT.items() if numbered(name) < numbered(after)),
        aliases=GTRL if is_gtrl else {},
        foreign=frozenset(GTRL.values()) if is_gtrl else frozenset(),
        mean=begun[-1],
    )


VERSIONS = {
    name: _completed(name, version)
    for name, version in versions("Open Instruct", HISTORY, WENT.values()).items()
}
