"""OpenRLHF from 0.6 on, the first version with group_norm: the history of each flag, from the tags of its repository.

The flags are those of `cli/train_ppo_ray.py`. Behaviour without a flag is in `models/loss.py`,
`models/utils.py`, `trainer/ppo_utils/experience_maker.py` and `utils/loss_utils.py`. Two differences are not
described: until 0.6.2 the discount of estimators with a group was algo.advantage.gamma, and use_dynamic_batch
has loss scales.
"""

import math
from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import Version, numbered
from grpo_ref.explain.dialects.openrlhf.keys import ALIASES, BEHAVIOUR, DEFAULTS, OTHERS, Behaviour
from grpo_ref.explain.versions import History, Without, versions


def _new(version: str, default: Any) -> Mapping[str, Any]:
    """Return the history of a flag that was added in a version and does nothing at its default."""
    return {"0.6": Without(default), version: default}


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


AT_0_8_10 = Behaviour(max_log_ratio=math.inf)
AT_0_8_9 = AT_0_8_10._replace(gspo_against_sampler=False)
AT_0_8_8 = AT_0_8_9._replace(gspo_by_token=True)
AT_0_8_5 = AT_0_8_8._replace(max_penalty=math.inf)
AT_0_7 = AT_0_8_5._replace(whitened=(*AT_0_8_5.whitened, "rloo"))
AT_0_6_4 = AT_0_7._replace(penalty_by_token=False)
AT_0_6 = AT_0_6_4._replace(estimators=tuple(name for name in AT_0_6_4.estimators if name != "dr_grpo"))
HISTORY: History = {
    BEHAVIOUR: {
        "0.6": Without(AT_0_6),
        "0.6.4": Without(AT_0_6_4),
        "0.7": Without(AT_0_7),
        "0.8.5": Without(AT_0_8_5),
        "0.8.6": Without(AT_0_8_8),
        "0.8.9": Without(AT_0_8_9),
        "0.8.10": Without(AT_0_8_10),
        "0.10.3": Without(Behaviour()),
    },
    "token_level_loss": {"0.6": Without(False), "0.7": True},
    "algo.advantage.no_std_norm": _new("0.6.4", False),
    "actor.entropy_coef": {"0.6": Without(None), "0.7.2": 0, "0.8.3": None},
    "algo.dynamic_filtering_enable": _new("0.8.1", False),
    "algo.dynamic_filtering_range": _new("0.8.1", [0.0, 1.0]),
    "rollout.vllm_generate_batch_size": _new("0.8.1", None),
    "actor.eps_clip_low_high": _new("0.8.2", []),
    "actor.dual_clip": _new("0.8.6", None),
    "reward.overlong_buffer_len": _new("0.8.7", None),
    "reward.overlong_penalty_factor": _new("0.8.7", 1.0),
    "actor.policy_loss_type": _new("0.8.8", "ppo"),
    "algo.advantage.is_correction_enable": _new("0.8.9", False),
    "algo.advantage.is_correction_threshold": {"0.6": Without(2.0), "0.8.9": 2.0, "0.9.1": [0.5, 5.0]},
    "algo.advantage.is_correction_type": {"0.6": Without("tis"), "0.9.1": "tis"},
    "reward.stop_properly_penalty_coef": _new("0.9.2", None),
    "rollout.max_new_tokens": {"0.6": 1024, "0.9.8": None},
    "data.max_len": {"0.6": None, "0.9.8": 2048},
    "rollout.micro_batch_size": {"0.6": 8, "0.10": 1},
    "train.async_enable": _new("0.8", False),
    "train.partial_rollout_enable": _new("0.9.7", False),
    "train.dynamic_batch_enable": _new("0.8.6", False),
    "ds.tensor_parallel_size": _new("0.7.4", 1),
    "data.max_images_per_prompt": _new("0.10", 0),
}
"""The history of each flag.

Until 0.6 every completion was averaged separately. The clip has a lower and an upper width from 0.8.2 on.
"""
_CAME = """deepspeed_enable_sleep=0.6.1 kl_estimator=0.6.1 torch_compile=0.6.2 full_determinism=0.6.2
use_liger_kernel=0.6.2 universal_ckpt=0.6.3 no_advantage_std_norm=0.6.4 use_ds_universal_ckpt=0.6.4
eval_dataset=0.7 eval_n_samples_per_prompt=0.7 eval_temperature=0.7 deepcompile=0.7.1 ema_beta=0.7.1
kl_horizon=0.7.1 entropy_loss_coef=0.7.2 ds_tensor_parallel_size=0.7.4 eval_split=0.7.4 agent_func_path=0.8
async_train=0.8 dynamic_filtering=0.8.1 dynamic_filtering_reward_range=0.8.1 vllm_generate_batch_size=0.8.1
eps_clip_low_high=0.8.2 lr_scheduler=0.8.5 dual_clip=0.8.6 rollout_max_tokens_per_gpu=0.8.6 train_max_tokens_per_gpu=0.8.6
use_dynamic_batch=0.8.6 overlong_buffer_len=0.8.7 overlong_penalty_factor=0.8.7 policy_loss_type=0.8.8
enable_vllm_is_correction=0.8.9 vllm_is_truncated_threshold=0.8.9 attn_implementation=0.8.10
async_queue_size=0.9.1 use_icepop=0.9.1 param_dtype=0.9.2 stop_properly_penalty_coef=0.9.2
vllm_is_correction_type=0.9.3 partial_rollout=0.9.7 max_new_tokens=0.9.8 best_metric_key=0.9.9
dataloader_num_workers=0.9.10 freeze_visual_encoder=0.10 image_key=0.10 max_images_per_prompt=0.10"""
_WENT = """use_kl_estimator_k3=0.6.1 universal_ckpt=0.6.4 torch_compile=0.7.1 pretrain_data=0.7.1
pretrain_data_probs=0.7.1 pretrain_split=0.7.1 flash_attn=0.8.10 bf16=0.9.2 use_icepop=0.9.3
generate_max_len=0.9.8 prompt_max_len=0.9.8"""
_FLAT = """actor_init_on_gpu actor_learning_rate adam_betas critic_learning_rate l2 lr_scheduler lr_warmup_ratio
max_norm perf ptx_coef ref_reward_offload"""
DOTTED = "0.10.2"
"""The first version whose flags have dots."""
CAME = dict.fromkeys((key for key in [*DEFAULTS, *OTHERS] if "." in key), DOTTED) | _pairs(_CAME)
WENT = dict.fromkeys([*ALIASES, *_FLAT.split()], DOTTED) | _pairs(_WENT)
"""For each flag, the first version with it (0.6 if omitted) and the first version after its removal."""
MEANS = {
    "0.6": "each micro-batch of each rank, and then over these",
    "0.10.3": "the micro-batches that the ranks take at once, and then over these",
    "0.10.4": "",
}
"""The first version of each way to average; "" is the present way."""


def foreign(name: str) -> frozenset[str]:
    """Return the flags that a version does not have: not yet, or no longer."""
    at = numbered(name)
    later = {flag for flag, first in CAME.items() if at < numbered(first)}
    return frozenset(later | {flag for flag, after in WENT.items() if numbered(after) <= at})


def _completed(name: str, version: Version) -> Version:
    begun = [mean for first, mean in MEANS.items() if numbered(first) <= numbered(name)]
    return version._replace(mean=begun[-1], foreign=foreign(name))


VERSIONS = {
    name: _completed(name, version)
    for name, version in versions("OpenRLHF", HISTORY, {*CAME.values(), *WENT.values(), *MEANS}).items()
}
