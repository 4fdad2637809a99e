"""The flags of `train_ppo_ray`, OpenRLHF 0.11.2 (September 2026), and the flat ones from before April 2026."""

import re
from typing import Any, NamedTuple

from grpo_ref.explain.settings import Settings


class Behaviour(NamedTuple):
    """Behaviour that no flag sets and that differs between versions.

    Attributes:
      estimators: the estimators without a critic.
      whitened: the estimators whose advantages are whitened over the tokens of the batch.
      max_penalty: limit of the penalty's absolute value.
      max_log_ratio: limit of the absolute log-ratio of a token, except for gspo.
      penalty_by_token: true if the penalty in the loss is a mean over tokens, false if over completions.
      gspo_by_token: true if gspo is a mean over tokens.
      gspo_against_sampler: true if the correction for the sampler replaces gspo's ratio, instead of adding
        weights.
    """

    estimators: tuple[str, ...] = (
        *("group_norm", "dr_grpo", "rloo", "reinforce_baseline", "reinforce", "flash_reinforce"),
    )
    whitened: tuple[str, ...] = ("reinforce_baseline", "reinforce")
    max_penalty: float = 10.0
    max_log_ratio: float = 20.0
    penalty_by_token: bool = True
    gspo_by_token: bool = False
    gspo_against_sampler: bool = True


NOT_SET = ""
"""Value instead of None, for which `convert` would try numbers, although no flag sets these keys."""
BEHAVIOUR = "behaviour"
"""Name of `Behaviour` among the keys. It is not a key and cannot be given."""
OBJECTIVE: dict[str, Any] = {
    BEHAVIOUR: Behaviour(),
    "algo.advantage.estimator": "group_norm",
    "algo.advantage.no_std_norm": False,
    "algo.advantage.gamma": 1.0,
    "actor.policy_loss_type": "ppo",
    "actor.eps_clip": 0.2,
    "actor.eps_clip_low_high": [],
    "clip_eps_low": NOT_SET,
    "clip_eps_high": NOT_SET,
    "actor.dual_clip": None,
    "token_level_loss": True,
    "actor.entropy_coef": None,
    "algo.kl.use_loss": False,
    "algo.kl.init_coef": 0.01,
    "algo.kl.estimator": "k1",
    "algo.advantage.is_correction_enable": False,
    "algo.advantage.is_correction_threshold": [0.5, 5.0],
    "algo.advantage.is_correction_type": "tis",
    "algo.dynamic_filtering_enable": False,
    "algo.dynamic_filtering_range": [0.0, 1.0],
    "reward.clip_range": [-10.0, 10.0],
    "reward.overlong_buffer_len": None,
    "reward.overlong_penalty_factor": 1.0,
    "reward.stop_properly_penalty_coef": None,
    "rollout.n_samples_per_prompt": 8,
    "rollout.max_new_tokens": None,
    "data.max_len": 2048,
    "train.max_epochs": 1,
}
CHECKED: dict[str, Any] = {
    "actor.num_nodes": 1,
    "actor.num_gpus_per_node": 8,
    "ds.ring_attn_size": 1,
    "ds.tensor_parallel_size": 1,
    "ds.packing_samples": False,
    "rollout.batch_size": 1024,
    "rollout.micro_batch_size": 1,
    "rollout.vllm_generate_batch_size": None,
    "train.async_enable": False,
    "train.colocate_all": False,
    "train.partial_rollout_enable": False,
    "vllm.enable_sleep": False,
    "train.colocate_actor_ref": False,
    "train.dynamic_batch_enable": False,
    "ref.num_nodes": 1,
    "ref.num_gpus_per_node": 8,
    "vllm.num_engines": None,
    "vllm.tensor_parallel_size": 1,
    "data.max_images_per_prompt": 0,
}
"""Keys that do not affect the objective, but are refused in some combinations."""
DEFAULTS = OBJECTIVE | CHECKED
_RENAMED = """advantage_estimator=algo.advantage.estimator no_advantage_std_norm=algo.advantage.no_std_norm
gamma=algo.advantage.gamma lambd=algo.advantage.lambd entropy_loss_coef=actor.entropy_coef
use_kl_loss=algo.kl.use_loss init_kl_coef=algo.kl.init_coef
enable_vllm_is_correction=algo.advantage.is_correction_enable
vllm_is_truncated_threshold=algo.advantage.is_correction_threshold
vllm_is_correction_type=algo.advantage.is_correction_type dynamic_filtering=algo.dynamic_filtering_enable
dynamic_filtering_reward_range=algo.dynamic_filtering_range async_train=train.async_enable
partial_rollout=train.partial_rollout_enable colocate_all_models=train.colocate_all
rollout_batch_size=rollout.batch_size micro_rollout_batch_size=rollout.micro_batch_size
rollout_max_tokens_per_gpu=rollout.max_tokens_per_gpu train_batch_size=train.batch_size
micro_train_batch_size=train.micro_batch_size train_max_tokens_per_gpu=train.max_tokens_per_gpu
use_dynamic_batch=train.dynamic_batch_enable full_determinism=train.full_determinism_enable
deepspeed_enable_sleep=ds.enable_sleep ds_tensor_parallel_size=ds.tensor_parallel_size
ring_head_stride=ds.ring_attn_head_stride target_modules=ds.lora.target_modules
use_ds_universal_ckpt=ds.use_universal_ckpt enable_prefix_caching=vllm.enable_prefix_caching
enforce_eager=vllm.enforce_eager pretrain=actor.model_name_or_path
critic_pretrain=critic.model_name_or_path reward_pretrain=reward.model_name_or_path
remote_rm_url=reward.remote_url normalize_reward=reward.normalize_enable
freezing_actor_steps=critic.freezing_steps save_value_network=critic.save_value_network
value_clip=critic.value_clip gradient_checkpointing=actor.gradient_checkpointing_enable
gradient_checkpointing_use_reentrant=actor.gradient_checkpointing_reentrant
prompt_data=data.prompt_dataset prompt_data_probs=data.prompt_probs best_metric_key=ckpt.best_metric_key
disable_ds_ckpt=ckpt.disable_ds load_checkpoint=ckpt.load_enable max_ckpt_mem=ckpt.max_mem
max_ckpt_num=ckpt.max_num save_path=ckpt.output_dir save_hf_ckpt=ckpt.save_hf save_steps=ckpt.save_steps
logging_steps=logger.logging_steps use_tensorboard=logger.tensorboard_dir use_wandb=logger.wandb.key"""
_JOINED = """actor.num_gpus_per_node actor.num_nodes critic.num_gpus_per_node critic.num_nodes ckpt.path
eval.dataset eval.n_samples_per_prompt eval.split eval.steps eval.temperature algo.kl.estimator algo.kl.horizon
algo.kl.target ref.num_gpus_per_node ref.num_nodes reward.clip_range reward.num_gpus_per_node reward.num_nodes
ds.lora.alpha ds.lora.dropout ds.lora.rank logger.wandb.group logger.wandb.org logger.wandb.project
logger.wandb.run_name vllm.enable_sleep vllm.gpu_memory_utilization vllm.num_engines vllm.sync_backend
vllm.sync_with_ray vllm.tensor_parallel_size"""
"""Flags whose dot was an underscore, without the part before "kl", "lora" and "wandb"."""
_SHORTER = """actor.aux_loss_coef actor.dual_clip actor.eps_clip actor.eps_clip_low_high actor.freeze_visual_encoder
actor.policy_loss_type data.apply_chat_template data.dataloader_num_workers data.disable_fast_tokenizer
data.image_key data.input_key data.input_template data.label_key data.max_images_per_prompt data.max_len
data.max_samples data.prompt_split ds.adam_offload ds.attn_implementation ds.deepcompile ds.grad_accum_dtype
ds.load_in_4bit ds.overlap_comm ds.packing_samples ds.param_dtype ds.ring_attn_size ds.use_liger_kernel
ds.value_head_prefix ds.zero_stage ds.zpg reward.overlong_buffer_len reward.overlong_penalty_factor
reward.stop_properly_penalty_coef rollout.max_new_tokens rollout.n_samples_per_prompt rollout.temperature
rollout.top_p rollout.vllm_generate_batch_size train.agent_func_path train.async_queue_size
train.colocate_actor_ref train.colocate_critic_reward train.ema_beta train.enable_ema train.max_epochs
train.num_episodes train.seed"""
"""Flags that consisted of only their last word."""
ALIASES = (
    dict(pair.split("=") for pair in _RENAMED.split())
    | {re.sub(r"^(algo|ds|logger)\.", "", key).replace(".", "_"): key for key in _JOINED.split()}
    | {key.rpartition(".")[2]: key for key in _SHORTER.split()}
)
"""Flags from before April 2026, with their present names."""
FORMER: dict[str, dict[Any, str]] = {
    "algo.kl.estimator": {True: "k3", False: "k1"},
    "algo.advantage.is_correction_type": {True: "icepop", False: "tis"},
    "vllm_is_correction_type": {"mis": "seq-mask-tis"},
}


def behaviour_of(settings: Settings) -> Behaviour:
    """Return the behaviour of the release whose settings these are."""
    return Behaviour(*(settings[f"behaviour.{name}"] for name in Behaviour._fields))


class Correction(NamedTuple):
    """The correction for the mismatch between the sampler and the learner.

    Attributes:
      level: "token" or "seq", the unit whose statistic is compared with the window.
      mode: "mask" drops units outside the window, "clip" limits the ratio of a token.
      gating: the statistic: "ratio", "binary_kl" or "tv".
    """

    level: str
    mode: str
    gating: str


SCHEMES = {
    "tis": Correction("token", "clip", "ratio"),
    "icepop": Correction("token", "mask", "ratio"),
    "seq-mask-tis": Correction("seq", "mask", "ratio"),
}
"""The values of is_correction_type, until 0.11.1, in the flags of 0.11.2."""


def correction_of(settings: Settings) -> Correction | None:
    """Return the correction that the flags of any release ask for; None if there is none."""
    if settings["algo.advantage.is_correction_enable"]:
        return SCHEMES[settings["algo.advantage.is_correction_type"]]
    level, mode, gating = (settings[f"algo.advantage.is_correction_{name}"] for name in Correction._fields)
    return None if level == "off" else Correction(level, mode, gating)
