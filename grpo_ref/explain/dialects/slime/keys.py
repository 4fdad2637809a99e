"""The flags of `train.py` at slime 624b824a: its own, those of Megatron and of SGLang that its scripts give."""

from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS

OBJECTIVE: dict[str, Any] = {
    "advantage_estimator": "grpo",
    "eps_clip": 0.2,
    "eps_clip_high": None,
    "eps_clip_c": None,
    "use_kl_loss": False,
    "kl_loss_coef": 0.0,
    "kl_loss_type": "k1",
    "use_unbiased_kl": False,
    "kl_coef": 0.0,
    "entropy_coef": 0.0,
    "gamma": 1.0,
    "normalize_advantages": False,
    "disable_grpo_std_normalization": False,
    "grpo_std_normalization": True,
    "disable_rewards_normalization": False,
    "rewards_normalization": True,
    "use_rollout_logprobs": False,
    "use_tis": False,
    "tis_clip": 2.0,
    "tis_clip_low": 0.0,
    "custom_tis_function_path": None,
    "get_mismatch_metrics": False,
    "use_opsm": False,
    "opsm_delta": 1e-4,
    "calculate_per_token_loss": False,
    "dynamic_sampling_filter_path": None,
    "n_samples_per_prompt": 8,
}
MISMATCH: dict[str, Any] = {
    "use_rs": True,
    "tis_level": "token",
    "rs_level": "token",
    "tis_mode": "truncate",
    "tis_lower_bound": 0.5,
    "tis_upper_bound": 2.0,
    "rs_lower_bound": None,
    "rs_upper_bound": None,
    "rs_veto_threshold": 1e-4,
    "tis_batch_normalize": True,
}
"""Keys of `examples/train_infer_mismatch_helper/mis.yaml`, which is given as custom_config_path.

They are not flags.
"""
CHECKED: dict[str, Any] = {
    "rollout_batch_size": None,
    "global_batch_size": None,
    "num_steps_per_rollout": None,
    "over_sampling_batch_size": None,
    "rollout_temperature": 1.0,
}
"""Keys that do not affect the objective, but have values or combinations that are refused."""
DEFAULTS = OBJECTIVE | MISMATCH | CHECKED
OTHERS = frozenset(
    """['httpx', 'megatron', 'requests', 'sglang', 'sglang_router', 'wandb']
    accumulate_allreduce_grads_in_fp32 actor_num_gpus_per_node actor_num_nodes adam_beta1 adam_beta2
    add_qkv_bias allgather_cp apply_chat_template apply_chat_template_kwargs apply_layernorm_1p
    async_save attention_backend attention_dropout attention_output_gate attention_softmax_in_fp32
    balance_by_flops balance_data bf16 buffer_filter_path check_weight_update_equal
    ci_disable_kl_checker ci_load_grad_norm ci_save_grad_norm ci_test
    ci_train_rollout_logprob_abs_diff_threshold clip_grad colocate context_parallel_size
    custom_eval_rollout_log_function_path custom_generate_function_path
    custom_megatron_before_log_prob_hook_path custom_megatron_before_train_step_hook_path
    custom_megatron_init_path custom_model_provider_path custom_rm_path custom_rollout_log_function_path
    custom_update_weight_post_write_path data_pad_size_multiplier data_source_path debug_rollout_only
    debug_train_only decoder_first_pipeline_num_layers decoder_last_pipeline_num_layers
    deterministic_mode disable_bias_linear disable_rollout_global_dataset disable_wandb_random_suffix
    distributed_backend distributed_timeout_minutes dump_details enable_experimental eval_config
    eval_function_path eval_input_key eval_interval eval_label_key eval_max_context_len
    eval_max_prompt_len eval_max_response_len eval_min_new_tokens eval_prompt_data eval_reward_key
    eval_temperature eval_tool_key eval_top_k eval_top_p expert_model_parallel_size
    expert_tensor_parallel_size fetch_trajectory_retry_times ffn_hidden_size fp8_format fp8_param_gather
    fp8_recipe freeze_indexer freeze_params_name_list group_query_attention group_rm hf_checkpoint
    hidden_dropout hidden_size http_proxy input_key keep_old_actor kv_channels kv_lora_rank label_key
    lambd load load_debug_rollout_data load_debug_rollout_data_subsample load_forge_rollout_data
    log_correct_samples log_multi_turn log_passrate log_probs_chunk_size log_probs_max_tokens_per_gpu
    log_reward_category loss_mask_type lr lr_decay_style lr_warmup_fraction make_vocab_size_divisible_by
    mask_offpolicy_in_partial_rollout max_position_embeddings max_tokens_per_gpu
    megatron_deepgemm_forward_layers megatron_deepgemm_forward_modules
    megatron_deepgemm_moe_forward_layers megatron_deepgemm_moe_forward_modules memory_recorder
    memory_snapshot_dir memory_snapshot_num_steps metadata_key micro_batch_size
    min_batch_collection_ratio min_lr model_name moe_enable_deepep moe_ffn_hidden_size moe_grouped_gemm
    moe_layer_freq moe_permute_fusion moe_router_bias_update_rate moe_router_dtype
    moe_router_enable_expert_bias moe_router_group_topk moe_router_load_balancing_type
    moe_router_num_groups moe_router_pre_softmax moe_router_score_function moe_router_topk
    moe_router_topk_scaling_factor moe_shared_expert_gate moe_shared_expert_intermediate_size
    moe_token_dispatcher_type moe_token_drop_policy mscale mscale_all_dim mtp_loss_scaling_factor
    mtp_num_layers multi_latent_attention multimodal_keys n_samples_per_eval_prompt
    no_check_for_nan_in_loss_and_grad no_gradient_accumulation_fusion no_masked_softmax_fusion
    no_offload_rollout no_offload_train no_position_embedding no_rope_fusion no_save_optim norm_epsilon
    normalization num_attention_heads num_critic_only_steps num_epoch num_experts num_gpus_per_node
    num_layers num_query_groups num_rollout offload offload_rollout offload_train
    only_train_params_name_list opd_kl_coef opd_teacher_ckpt_step opd_teacher_load opd_type optimizer
    optimizer_cpu_offload overlap_cpu_optimizer_d2h_h2d padded_vocab_size partial_rollout
    pipeline_model_parallel_size position_embedding_type post_mlp_layernorm post_self_attn_layernorm
    prefill_num_servers profile_target prompt_data q_lora_rank qk_head_dim qk_layernorm
    qk_pos_emb_head_dim qwen_gdn_backend recompute_granularity recompute_loss_function recompute_method
    recompute_num_layers record_memory_history ref_ckpt_step ref_load ref_update_interval release_train
    reset_optimizer_states reward_key rm_type rm_url rollout_all_samples_process_path rollout_buffer_url
    rollout_data_transport rollout_external_engine_addrs rollout_function_path
    rollout_health_check_first_wait rollout_health_check_interval rollout_health_check_timeout
    rollout_max_context_len rollout_max_prompt_len rollout_max_response_len rollout_num_gpus
    rollout_num_gpus_per_engine rollout_sample_hook_path rollout_seed rollout_shuffle
    rollout_skip_special_tokens rollout_stop rollout_stop_token_ids rollout_task_type rollout_top_k
    rollout_top_p rotary_base rotary_interleaved rotary_percent rotary_scaling_factor save
    save_debug_rollout_data save_debug_train_data save_hf save_interval seed seq_length
    sequence_parallel sglang_attention_backend sglang_chunked_prefill_size sglang_config
    sglang_cuda_graph_bs sglang_cuda_graph_max_bs sglang_deepep_mode sglang_disable_overlap_schedule
    sglang_disable_radix_cache sglang_disaggregation_ib_device sglang_disaggregation_transfer_backend
    sglang_dp_size sglang_enable_deepep_moe sglang_enable_deterministic_inference
    sglang_enable_dp_attention sglang_enable_dp_lm_head sglang_ep_size sglang_expert_parallel_size
    sglang_kv_cache_dtype sglang_mamba_scheduler_strategy sglang_max_running_requests
    sglang_mem_fraction_static sglang_moe_a2a_backend sglang_moe_dense_tp_size sglang_nsa_decode_backend
    sglang_nsa_prefill_backend sglang_page_size sglang_reasoning_parser sglang_server_concurrency
    sglang_speculative_algorithm sglang_speculative_draft_attention_backend
    sglang_speculative_eagle_topk sglang_speculative_num_draft_tokens sglang_speculative_num_steps
    sglang_tool_call_parser sglang_watchdog_timeout skip_eval_before_train spec start_rollout_id swiglu
    tb_experiment_name tb_project_name tensor_model_parallel_size tool_key train_backend train_env_vars
    transformer_impl untie_embeddings_and_output_weights update_weight_buffer_size
    update_weight_delta_checksum update_weight_delta_encoding update_weight_disk_dir
    update_weight_disk_keep_files update_weight_local_checkpoint_dir update_weight_mode
    update_weight_transport update_weights_interval use_distributed_optimizer use_distributed_post
    use_dynamic_batch_size use_fault_tolerance use_gated_attention use_precision_aware_optimizer
    use_rollout_entropy use_rollout_routing_replay use_rope_scaling use_rotary_position_embeddings
    use_routing_replay use_stateless_adam use_tensorboard use_wandb v_head_dim value_clip vocab_size
    wandb_always_use_train_step wandb_dir wandb_group wandb_host wandb_key wandb_mode wandb_project
    wandb_run_id wandb_team weight_decay""".split()
)
_OWN = "A function of your own does this; what it computes nothing here can know."
BEYOND = {
    "loss_type": ("policy_loss", "Another loss than that of the policy is trained."),
    "custom_loss_function_path": (None, _OWN),
    "custom_advantage_function_path": (None, _OWN),
    "custom_pg_loss_reducer_function_path": (None, _OWN),
    "custom_reward_post_process_path": (None, _OWN),
    "custom_convert_samples_to_train_data_path": (None, _OWN),
    "rollout_data_postprocess_path": (None, _OWN),
    "rollout_sample_filter_path": (None, _OWN),
    "custom_config_path": (
        None,
        "What this file says goes before every flag; give its keys here instead.",
    ),
    "megatron_config_path": (
        None,
        "What this file says of the actor goes before every flag; give its keys here.",
    ),
    "use_opd": (False, "The distance to a teacher is taken off the advantages."),
    "disable_compute_advantages_and_returns": (False, "There are no advantages, as in supervised training."),
    "enable_mtp_training": (
        False,
        "A loss of further heads, which predict several tokens at once, is added.",
    ),
    "moe_aux_loss_coeff": (
        0,
        "A loss that balances the experts of the model is added; it is not of the tokens.",
    ),
}
REPLACED = {
    "custom_advantage_function_path": ("advantage",),
    "custom_config_path": (),
    "custom_pg_loss_reducer_function_path": ("aggregate",),
    "custom_reward_post_process_path": ("advantage",),
    "rollout_data_postprocess_path": ("advantage", "admit"),
    "rollout_sample_filter_path": ("admit",),
}
"""Parts of the objective that a custom function replaces, if it does not replace the whole loss.

A file that may set anything, and mostly sets sampling options, replaces no part, but the report mentions it.
"""
ALIASES = {name.replace("_", "-"): name for name in [*DEFAULTS, *OTHERS, *BEYOND] if "_" in name}
"""Other names of flags: each may be written with hyphens."""
CONCEPTS = {COMPLETIONS: "n_samples_per_prompt", BONUS: "entropy_coef"}
_CHECKED = "This does not touch the objective; slime refuses some values and combinations."
ABOUT = {
    **dict.fromkeys(CHECKED, _CHECKED),
    **dict.fromkeys(
        MISMATCH, "Only compute_mis_weights_with_cp reads this, from the file of custom_config_path."
    ),
    "tis_batch_normalize": "The weights are divided by their mean over a micro-batch; here one holds the whole step.",
    "n_samples_per_prompt": "This is the number of completions per prompt. slime's own default is 1, which leaves every"
    " completion of grpo, gspo and cispo an advantage of 0; here it is 8.",
    "global_batch_size": "The loss is averaged over this many completions, on all ranks together; with fewer than a"
    " rollout has, there are ratios to clip.",
    "num_steps_per_rollout": "This is into how many steps a rollout is divided; from the second on there are ratios to"
    " clip.",
    "use_rollout_logprobs": "The ratio is taken against what the sampler reported: that is what is called the old policy"
    " then.",
    "keep_old_actor": "The ratio is taken against an older policy than that of the last weights.",
    "gamma": "This is the discount along the tokens; only reinforce_plus_plus has one.",
    "kl_coef": "This weighs a KL in the reward; grpo, gspo and cispo compute it and do not use it.",
    "ref_update_interval": "The reference is replaced by the policy now and then.",
    "rollout_temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "rollout_top_p": "The log-probabilities of the policy are those of the tokens that the sampler kept.",
    "partial_rollout": "Completions that were not finished are continued by the next policy.",
    "mask_offpolicy_in_partial_rollout": "The mask leaves out the tokens of an earlier policy.",
    "over_sampling_batch_size": "This is how many prompts are drawn at once; what is not needed is left.",
    "calculate_per_token_loss": "The loss is averaged over the tokens of all completions of a step.",
    "get_mismatch_metrics": "The function of custom_tis_function_path is called, and what it does to the loss counts.",
    "grpo_std_normalization": "The flag disable_grpo_std_normalization turns this off; it is not a flag itself.",
    "rewards_normalization": "The flag disable_rewards_normalization turns this off; it is not a flag itself.",
    "value_clip": "This is of the critic alone.",
    "lambd": "This is of ppo alone, which needs a critic.",
}
