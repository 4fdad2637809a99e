"""The keys of `GRPOExperimentConfig`, Open Instruct e6c3044a (August 2026)."""

from typing import Any

from grpo_ref.trainers.dialect import COMPLETIONS, PASSES

DEFAULTS: dict[str, Any] = {
    "loss_fn": "dapo",
    "clip_lower": 0.2,
    "clip_higher": 0.272,
    "beta": 0.05,
    "kl_estimator": 2,
    "load_ref_policy": True,
    "advantage_normalization_type": "centered",
    "filter_zero_std_samples": True,
    "mask_truncated_completions": False,
    "loss_denominator": "token",
    "use_rho_correction": True,
    "rho_clamp_lower_bound": 0.0,
    "rho_clamp_upper_bound": 2.0,
    "rho_mask_lower_bound": 0.0,
    "rho_mask_upper_bound": 0.0,
    "rho_mask_sequence_level": False,
    "num_samples_per_prompt_rollout": 4,
    "num_mini_batches": 1,
    "num_epochs": 1,
}
OTHERS = frozenset(
    """active_sampling alpha apply_r1_style_format_reward apply_verifiable_reward async_steps attn_implementation
    backend_timeout chat_template_name checkpoint_state_freq dataset_mixer_eval_list
    dataset_mixer_eval_list_splits dataset_mixer_list dataset_mixer_list_splits deepspeed_stage description
    exp_name gather_whole_model gradient_checkpointing inflight_updates keep_last_n_checkpoints learning_rate
    local_eval_every logging_steps lr_scheduler_type max_prompt_token_length max_token_length model_dtype
    model_name_or_path no_resampling_pass_rate non_stop_penalty non_stop_penalty_value num_learners_per_node
    num_unique_prompts_rollout output_dir pack_length per_device_train_batch_size push_to_hub
    r1_style_format_reward record_entropy ref_policy_update_freq response_length save_freq save_traces seed
    single_gpu_mode stop_strings temperature total_episodes try_launch_beaker_eval_jobs use_vllm_logprobs
    verification_reward vllm_enable_prefix_caching vllm_gpu_memory_utilization vllm_num_engines
    vllm_sync_backend vllm_tensor_parallel_size vllm_top_p warm_up_steps wandb_project_name weight_decay
    with_tracking""".split()
)
CONCEPTS = {COMPLETIONS: "num_samples_per_prompt_rollout", PASSES: "num_epochs"}
ABOUT = {
    "alpha": "This is how fast the reference follows the policy.",
    "beta": "This is the weight of the KL penalty.",
    "non_stop_penalty": "This changes the reward, before the objective sees it.",
    "ref_policy_update_freq": "This is how often the reference follows the policy.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "verification_reward": "This changes the reward, before the objective sees it.",
}
