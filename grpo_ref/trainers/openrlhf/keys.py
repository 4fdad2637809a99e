"""The arguments of `PolicyLoss` and of the experience maker, OpenRLHF 3c3be623 (August 2026)."""

from typing import Any

from grpo_ref.trainers.dialect import COMPLETIONS

DEFAULTS: dict[str, Any] = {
    "advantage_estimator": "group_norm",
    "policy_loss_type": "ppo",
    "eps_clip": 0.2,
    "eps_clip_low_high": None,
    "clip_eps_low": None,
    "clip_eps_high": None,
    "dual_clip": None,
    "token_level_loss": True,
    "use_kl_loss": False,
    "init_kl_coef": 0.01,
    "kl_estimator": "k1",
    "enable_vllm_is_correction": False,
    "vllm_is_truncated_threshold": [0.5, 5.0],
    "vllm_is_correction_type": "tis",
    "dynamic_filtering": False,
    "n_samples_per_prompt": 1,
}
OTHERS = frozenset(
    """actor_learning_rate actor_num_gpus_per_node actor_num_nodes adam_offload apply_chat_template async_train
    attn_implementation bf16 ckpt_path colocate_all_models critic_learning_rate critic_num_gpus_per_node
    dynamic_filtering_reward_range enable_prefix_caching entropy_loss_coef eval_steps flash_attn
    freezing_actor_steps gamma generate_max_len gradient_checkpointing input_key l2 label_key lambd
    load_checkpoint logging_steps lr_warmup_ratio max_ckpt_num max_epochs max_len max_norm max_samples
    micro_rollout_batch_size micro_train_batch_size normalize_reward num_episodes packing_samples param_dtype
    pretrain prompt_data prompt_max_len reward_pretrain ref_num_gpus_per_node ref_num_nodes remote_rm_url
    ring_attn_size rollout_batch_size save_hf_ckpt save_path save_steps seed temperature top_p
    train_batch_size use_wandb value_clip vllm_enable_sleep vllm_gpu_memory_utilization vllm_num_engines
    vllm_sync_backend vllm_tensor_parallel_size wandb_project zero_stage""".split()
)
CONCEPTS = {COMPLETIONS: "n_samples_per_prompt"}
ABOUT = {
    "entropy_loss_coef": "The entropy of the policy, times this number, is added to what is maximized.",
    "gamma": "This is the discount of rewards along the tokens.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
}
