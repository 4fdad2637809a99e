"""The keys of `GRPOExperimentConfig`, Open Instruct e6c3044a (August 2026)."""

from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS, PASSES

OBJECTIVE: dict[str, Any] = {
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
    "rho_mask_tv_divergence": False,
    "use_vllm_logprobs": False,
    "active_sampling": False,
    "num_samples_per_prompt_rollout": 4,
    "num_mini_batches": 1,
    "num_epochs": 1,
    "per_device_train_batch_size": 1,
}
CHECKED: dict[str, Any] = {
    "apply_verifiable_reward": True,
    "apply_r1_style_format_reward": False,
    "non_stop_penalty": False,
    "apply_evolving_rubric_reward": False,
    "async_steps": 8,
    "max_prompt_token_length": 256,
    "response_length": 256,
    "pack_length": 512,
    "sequence_parallel_size": 1,
    "deepspeed_stage": 0,
}
"""Keys that are not part of the objective, but are refused in some combinations."""
GONE: dict[str, Any] = {
    "cliprange": None,
    "ddof": 0,
    "masked_mean_axis": None,
    "masked_mean_denominator": None,
    "truncated_importance_sampling_ratio_cap": 0.0,
}
"""Keys of other versions, with the value that is equivalent to the present behaviour."""
DEFAULTS = OBJECTIVE | CHECKED | GONE
OTHERS = frozenset(
    """activation_checkpointing_mode activation_checkpointing_modules activation_memory_budget add_bos
    additive_format_reward alpha attn_implementation backend_timeout bnb_4bit_quant_type
    cache_dataset_only cache_evolving_rubric_data_dir chat_template_name checkpoint_state_dir
    checkpoint_state_freq checkpointing_steps code_api_url code_apply_perf_penalty
    code_max_execution_time code_pass_rate_reward_threshold compile_model cp_degree cp_strategy
    data_loader_seed dataset_cache_mode dataset_config_eval_hash dataset_config_hash
    dataset_local_cache_dir dataset_mixer_eval_list dataset_mixer_eval_list_splits dataset_mixer_list
    dataset_mixer_list_splits dataset_skip_cache dataset_transform_fn deepspeed_checkpoint_load_universal
    deepspeed_offload_optimizer deepspeed_offload_param deepspeed_zpg dtype enable_queue_dashboard
    ephemeral_save_interval eval_on_step_0 eval_pass_at_k eval_priority eval_response_length eval_top_p
    eval_workspace exp_name fsdp_num_replicas fsdp_shard_degree fused_optimizer gather_whole_model
    get_tokenizer_fn gradient_accumulation_steps gradient_checkpointing ground_truths_key gs_bucket_path
    gs_checkpoint_state_dir hf_entity hf_repo_id hf_repo_revision hf_repo_url inflight_updates
    keep_last_n_checkpoints learning_rate llm_judge_max_context_length llm_judge_max_tokens
    llm_judge_model llm_judge_temperature llm_judge_timeout load_in_4bit load_in_8bit local_eval_every
    logging_steps lora_alpha lora_dropout lora_modules_to_save lora_r lora_target_modules lora_task_type
    lr_scheduler_type mask_tool_use max_active_rubrics max_grad_norm max_length_verifier_max_length
    max_possible_score max_seq_length max_steps max_train_steps model_dtype model_name_or_path
    model_revision no_resampling_pass_rate non_stop_penalty_value num_learners_per_node num_nodes
    num_training_steps num_unique_prompts_rollout oe_eval_beaker_image oe_eval_gpu_multiplier
    oe_eval_max_length oe_eval_tasks only_reward_good_outputs output_dir pass_tools_to_chat_template
    per_turn_max_tokens pool_size push_to_hub queue_dashboard_port r1_style_format_reward record_entropy
    ref_policy_update_freq remap_verifier report_to resume_from_checkpoint reward_aggregator
    rollouts_save_path run_name save_freq save_traces seed send_slack_alerts
    set_weight_decay_on_bias_and_norm sft_messages_key single_gpu_mode stop_strings
    system_prompt_override_file temperature tokenizer_files_hash tokenizer_name tokenizer_name_or_path
    tokenizer_revision tool_call_names tool_configs tool_parser_type tools total_episodes
    trust_remote_code try_auto_save_to_beaker try_launch_beaker_eval_jobs_on_weka use_bnb_nested_quant
    use_cache use_fast use_peft use_slow_tokenizer verbose verification_reward vllm_attention_backend
    vllm_enable_prefix_caching vllm_enforce_eager vllm_gpu_memory_utilization vllm_num_engines
    vllm_sync_backend vllm_tensor_parallel_size vllm_top_p wandb_entity wandb_group_name wandb_project
    warmup_ratio weight_decay with_tracking world_size""".split()
)
CONCEPTS = {COMPLETIONS: "num_samples_per_prompt_rollout", PASSES: "num_epochs"}
_REWARD = "This changes the reward, before the objective sees it."
ABOUT = {
    **dict.fromkeys(
        """additive_format_reward apply_evolving_rubric_reward apply_r1_style_format_reward apply_verifiable_reward
        code_apply_perf_penalty code_pass_rate_reward_threshold non_stop_penalty non_stop_penalty_value
        only_reward_good_outputs r1_style_format_reward reward_aggregator verification_reward""".split(),
        _REWARD,
    ),
    "active_sampling": "Groups that are dropped are replaced by new ones; off, the batch is that much smaller.",
    "alpha": "This is how fast the reference follows the policy.",
    "async_steps": "This is how many steps the sampler's policy may lie behind.",
    "beta": "This is the weight of the KL penalty.",
    "inflight_updates": "With this, one completion may be sampled from more than one policy.",
    "load_ref_policy": "Without a reference there is no penalty, and beta has to be 0.",
    "masked_mean_axis": "This is the axis of the mean; of a micro-batch of one pack, 1 is the mean over all tokens.",
    "mask_tool_use": "This leaves what tools have written out of the mask.",
    "no_resampling_pass_rate": "Prompts that are solved this often are not drawn again.",
    "num_mini_batches": "Into so many updates a batch is cut. From the second one on there are ratios to clip.",
    "per_device_train_batch_size": "This is the number of packs in a micro-batch. It changes what is logged, not"
    " the gradient.",
    "ref_policy_update_freq": "This is how often the reference follows the policy.",
    "sequence_parallel_size": "Above 1 a rank holds a part of each pack, and a mean over a sequence is over that part.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "use_vllm_logprobs": "The sampler's log-probabilities are the old ones: pass them as old_log_probs.",
    "vllm_top_p": "Below 1, tokens are drawn from another distribution than the log-probabilities are of.",
}
