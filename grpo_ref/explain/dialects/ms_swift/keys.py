"""The arguments of `swift rlhf --rlhf_type grpo`, ms-swift 3602360a5: `RLHFArguments` and the classes below it.

Those of `transformers.Seq2SeqTrainingArguments` are among them. tests/data/record/keys_ms_swift.py compares all.
"""

from typing import Any, NamedTuple

from grpo_ref.explain.dialect import COMPLETIONS, DIVISOR, PASSES


class Behaviour(NamedTuple):
    """Behaviour that no argument sets and that differs between versions.

    Attributes:
      loss_types: the existing loss types that can be expressed here.
      levels: the values of importance_sampling_level.
      scales: the values of scale_rewards.
      is_limited: true if the penalty's log-ratio and its value have limits.
      checks_sampler: true if some combinations of the sampler's arguments are refused.
    """

    loss_types: tuple[str, ...] = ("grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "real", "fipo")
    levels: tuple[str, ...] = ("token", "sequence", "sequence_token")
    scales: tuple[str | bool, ...] = ("group", "batch", "none", "gdpo")
    is_limited: bool = True
    checks_sampler: bool = True


BEHAVIOUR = "behaviour"
"""Name of `Behaviour` among the arguments. It is not an argument and cannot be given."""
OBJECTIVE: dict[str, Any] = {
    BEHAVIOUR: Behaviour(),
    "rlhf_type": "grpo",
    "loss_type": "grpo",
    "epsilon": 0.2,
    "epsilon_high": None,
    "delta": None,
    "beta": 0.04,
    "kl_in_reward": False,
    "importance_sampling_level": "token",
    "advantage_estimator": "grpo",
    "scale_rewards": "group",
    "tau_pos": 1.0,
    "tau_neg": 1.05,
    "real_tau": 0.5,
    "fipo_decay_rate": 32.0,
    "fipo_clip_range": 0.2,
    "fipo_clip_high_only": True,
    "fipo_safety_threshold": 4.0,
    "top_entropy_quantile": 1.0,
    "overlong_filter": False,
    "dynamic_sample": False,
    "off_policy_sequence_mask_delta": None,
    "use_vllm": False,
    "rollout_importance_sampling_mode": None,
    "rollout_importance_sampling_threshold": 2.0,
    "max_completion_length": 512,
    "num_generations": 8,
    "num_iterations": 1,
    "gradient_accumulation_steps": 1,
    "steps_per_generation": None,
    "generation_batch_size": None,
    "per_device_train_batch_size": None,
    "sequence_parallel_size": 1,
    "reward_funcs": None,
    "reward_weights": None,
    "soft_max_length": None,
    "soft_cache_length": None,
}
"""Arguments that change the objective, with the defaults for grpo.

ms-swift's own default is None for beta, loss_type and others. For per_device_train_batch_size it is 1; here
it is None, so that the fit of groups into batches is not checked.
"""
CHECKED: dict[str, Any] = {
    "vllm_mode": None,
    "vllm_server_host": None,
    "vllm_server_base_url": None,
    "vllm_reasoning_parser": None,
    "async_generate": False,
    "multi_turn_scheduler": None,
    "truncation_strategy": None,
    "cached_dataset": None,
    "cached_val_dataset": None,
}
"""Keys that do not affect the objective, but have values or combinations that are refused."""
DEFAULTS = OBJECTIVE | CHECKED
VARIANTS = {
    ("advantage_estimator", "rloo"): {"scale_rewards": "none", "kl_in_reward": True},
    ("advantage_estimator", "reinforce_plus_plus"): {"scale_rewards": "batch", "kl_in_reward": True},
}
"""Defaults that change with the estimator, unless the key is given too."""
OTHERS = frozenset(
    """acc_strategy accelerator_config activation_checkpointing activation_checkpointing_kwargs adalora_beta1
    adalora_beta2 adalora_deltaT adalora_init_r adalora_orth_reg_weight adalora_target_r adalora_tfinal
    adalora_tinit adam_beta1 adam_beta2 adam_epsilon adapter_act adapter_length adapters
    add_non_thinking_prefix add_version agent_template aligner_lr attn_impl auto_find_batch_size
    average_tokens_across_devices batch_eval_metrics bf16 bf16_full_eval bnb_4bit_compute_dtype
    bnb_4bit_quant_storage bnb_4bit_quant_type bnb_4bit_use_double_quant boft_block_num boft_block_size
    boft_dropout boft_n_butterfly_factor callbacks center_rewards_coefficient check_model
    chord_enable_phi_function chord_mu_decay_steps chord_mu_peak chord_mu_valley chord_mu_warmup_steps
    chord_sft_per_device_train_batch_size cliprange cliprange_value columns completion_length_limit_scope
    cosine_max_len cosine_max_len_value_correct cosine_max_len_value_wrong cosine_min_len_value_correct
    cosine_min_len_value_wrong cpo_alpha create_checkpoint_symlink custom_dataset_info
    custom_register_path data_seed dataloader_drop_last dataloader_in_order
    dataloader_multiprocessing_context dataloader_num_workers dataloader_persistent_workers
    dataloader_pin_memory dataloader_prefetch_factor dataset dataset_num_proc dataset_shuffle ddp_backend
    ddp_broadcast_buffers ddp_bucket_cap_mb ddp_find_unused_parameters ddp_static_graph ddp_timeout debug
    deepspeed deepspeed_autotp_size desirable_weight device_groups device_map disable_auto_column_mapping
    disable_ignore_empty_think disable_tqdm discopop_tau do_eval do_predict do_train download_mode
    ds3_gather_for_generation early_stop_interval enable_channel_loss enable_dft_loss
    enable_flattened_weight_sync enable_jit_checkpoint enable_npu_model_patch enable_thinking
    eval_accumulation_steps eval_dataset eval_dataset_args eval_delay eval_do_concat_batches
    eval_generation_config eval_limit eval_metric eval_on_start eval_steps eval_strategy
    eval_use_evalscope eval_use_gather_object experts_impl external_plugins extra_eval_args
    fourier_n_frequency fourier_scaling fp16 fp16_full_eval freeze_aligner freeze_llm freeze_parameters
    freeze_parameters_ratio freeze_parameters_regex freeze_vit fsdp fsdp_config full_determinism
    galore_cos_threshold galore_gamma_proj galore_optim_per_parameter galore_proj_bits
    galore_proj_group_size galore_proj_quant galore_proj_type galore_quantization galore_queue_size
    galore_rank galore_scale galore_target_modules galore_update_proj_gap galore_with_embedding gamma
    generation_config generation_max_length generation_num_beams gkd_logits_topk gradient_checkpointing
    gradient_checkpointing_kwargs greater_is_better group_by_length gym_env hqq_axis hub_always_push
    hub_model_id hub_private_repo hub_revision hub_strategy hub_token ignore_args_error ignore_data_skip
    include_for_metrics include_num_input_tokens_seen init_strategy init_weights interleave_prob
    is_binary_loss_scale kl_coef label_names label_smoothing label_smoothing_factor lam lazy_tokenize
    ld_alpha learning_rate length_column_name liger_kernel_config lisa_activated_layers lisa_step_interval
    llamapro_num_groups llamapro_num_new_blocks lmbda load_args load_best_model_at_end load_data_args
    load_from_cache_file local_rank local_repo_path local_rollout_forward_batch_size log_completions
    log_entropy log_level log_level_replica log_on_each_node log_rollout_offpolicy_metrics logging_dir
    logging_first_step logging_nan_inf_filter logging_steps logging_strategy logprobs lora_alpha lora_bias
    lora_dropout lora_dtype lora_ga_batch_size lora_ga_direction lora_ga_iters lora_ga_max_length
    lora_ga_scale lora_ga_stable_gamma lora_rank lorap_lr_ratio loss_scale loss_weights
    lr_scheduler_kwargs lr_scheduler_type max_epochs max_grad_norm max_length max_memory max_model_len
    max_pixels max_resample_times max_shard_size max_steps max_turns metric_for_best_model min_p
    missing_eos_penalty model model_author model_kwargs model_name model_revision model_type
    modules_to_save move_model_batches mrl_dims neftune_noise_alpha new_special_tokens norm_bbox num_beams
    num_generations_eval num_labels num_mini_batches num_ppo_epochs num_sample_generations
    num_train_epochs offload_model offload_optimizer offload_teacher_model optim optim_args
    optim_target_modules optimizer output_dir packing packing_length packing_num_proc packing_strategy
    padding_free padding_side parallelism_config per_device_eval_batch_size predict_with_generate
    prediction_loss_only preserve_thinking problem_type project push_to_hub quant_bits quant_method
    ray_exp_name ref_adapters ref_model ref_model_mixup_alpha ref_model_revision ref_model_sync_steps
    ref_model_type reft_args reft_intervention_type reft_layer_key reft_layers reft_rank
    remove_unused_columns repetition_max_penalty repetition_n_grams repetition_penalty report_to
    response_prefix restore_callback_states_from_checkpoint resume_from_checkpoint resume_only_model
    reward_adapters reward_model reward_model_plugin reward_model_revision reward_model_type
    reward_template rlsd_lambda rlsd_lambda_decay_steps rlsd_lambda_warmup_steps rlsd_negative_only
    rlsd_reweight_clip_range rope_scaling router_aux_loss_coef rpo_alpha run_name safe_serialization
    save_on_each_node save_only_model save_steps save_strategy save_total_limit sdar_gate_beta seed seq_kd
    sft_alpha shuffle_buffer_size simpo_gamma skip_memory_metrics sleep_level sortish_sampler
    split_dataset_ratio stop_words stopping_strategy stream streaming strict structured_outputs_regex
    swanlab_email_language swanlab_exp_name swanlab_mode swanlab_notification_method swanlab_project
    swanlab_receiver_email swanlab_secret swanlab_sender_email swanlab_smtp_port swanlab_smtp_server
    swanlab_token swanlab_webhook_url swanlab_workspace sync_ref_model system target_modules
    target_parameters target_regex task_type teacher_adapters teacher_deepspeed teacher_kl_coef
    teacher_model_revision teacher_model_type teacher_tag_key temperature template template_backend tf32
    top_k top_logprobs top_p torch_compile torch_compile_backend torch_compile_mode torch_dtype
    torch_empty_cache_steps trackio_bucket_id trackio_space_id trackio_static_space_id
    train_dataloader_shuffle train_sampling_strategy trainable_parameters trainable_parameters_regex
    tuner_backend tuner_type undesirable_weight use_cache use_chat_template use_cpu use_dora
    use_flash_ckpt use_galore use_gym_env use_hf use_logits_to_keep use_ray use_rslora use_swift_lora
    val_dataset val_dataset_shuffle vera_d_initial vera_dropout vera_projection_prng_key vera_rank vf_coef
    vit_gradient_checkpointing vit_lr vllm_data_parallel_size vllm_disable_cascade_attn
    vllm_disable_custom_all_reduce vllm_enable_expert_parallel vllm_enable_lora vllm_enable_prefix_caching
    vllm_enforce_eager vllm_engine_kwargs vllm_gpu_memory_utilization vllm_limit_mm_per_prompt
    vllm_max_lora_rank vllm_max_model_len vllm_max_num_seqs vllm_mm_processor_cache_gb
    vllm_pipeline_parallel_size vllm_quantization vllm_server_group_port vllm_server_pass_dataset
    vllm_server_port vllm_server_timeout vllm_speculative_config vllm_tensor_parallel_size
    vllm_use_async_engine wandb_log_unique_prompts warmup_ratio warmup_steps weight_decay whiten_rewards
    zero_hpz_partition_size""".split()
)
BEFORE = frozenset(
    """ckpt_dir gc_collect_after_offload lmdeploy_device lmdeploy_session_len multi_turn_func num_infer_workers
    tensor_parallel_size train_type trust_remote_code use_lmdeploy vllm_device""".split()
)
"""Arguments that only earlier versions have. None of them affects the objective."""
_TEACHER = "A teacher's log-probabilities take part, which is another objective: its gap to the policy is"
BEYOND: dict[str, tuple[Any, str]] = {
    "use_liger_kernel": (
        False,
        "The loss is computed by a kernel of another library, which limits the penalty in other ways.",
    ),
    "teacher_model": (None, f"{_TEACHER} added to the advantage of each token."),
    "teacher_model_server": (None, f"{_TEACHER} added to the advantage of each token."),
    "advantage_reweight": (None, f"{_TEACHER} a factor of the advantage of each token."),
    "sdar_loss_coef": (0.0, f"{_TEACHER} a loss of its own."),
    "chord_sft_dataset": (
        [],
        "A loss on other data is mixed in, with a weight that moves from step to step.",
    ),
}
ALIASES = {
    **{name.replace("_", "-"): name for name in [*DEFAULTS, *OTHERS, *BEFORE, *BEYOND] if "_" in name},
    **dict.fromkeys(("micro_batch_size", "micro-batch-size"), "per_device_train_batch_size"),
    "max_new_tokens": "max_completion_length",
    "max-new-tokens": "max_completion_length",
    "response_length": "max_completion_length",
    "response-length": "max_completion_length",
}
"""Other names of flags: each may be written with hyphens."""
CONCEPTS = {COMPLETIONS: "num_generations", PASSES: "num_iterations", DIVISOR: "max_completion_length"}
ABOUT = {
    **dict.fromkeys(BEFORE, "This is of a version before this one, and does not touch the objective."),
    **dict.fromkeys(CHECKED, "This does not touch the objective; some values and combinations are refused."),
    "rlhf_type": "This is the algorithm; ms-swift's own default is dpo.",
    "beta": "This is the weight of the KL penalty. ms-swift's default for grpo is 0.04.",
    "kl_in_reward": "This puts the KL into the reward instead of the loss; rloo and reinforce_plus_plus do so unless it"
    " is given.",
    "scale_rewards": "This is the divisor of the advantages. The default depends on advantage_estimator.",
    "gradient_accumulation_steps": "This is how many micro-batches make a step; dapo, cispo and fipo are divided by it"
    " once too often.",
    "steps_per_generation": "This is into how many micro-batches a generation batch is cut; where they are more than"
    " gradient_accumulation_steps, the later ones are off-policy.",
    "generation_batch_size": "This is how many completions are drawn at once; it sets steps_per_generation.",
    "per_device_train_batch_size": "This is how many completions are in a micro-batch; loss_type=real needs whole"
    " groups in it.",
    "sequence_parallel_size": "This cuts completions in parts; dapo, cispo and fipo are divided by it once too often.",
    "max_completion_length": "This is the generation budget. loss_type=dr_grpo divides by it; it is `max_length`"
    " elsewhere here.",
    "max_new_tokens": "This is an old name of max_completion_length.",
    "response_length": "This is an old name of max_completion_length.",
    "reward_funcs": "These are the reward functions, which are summed; soft_overlong is a length penalty.",
    "reward_weights": "These are the weights of the reward functions.",
    "soft_max_length": "This is the length at which soft_overlong takes 1 off the reward; max_completion_length where it"
    " is not set.",
    "soft_cache_length": "This is the number of tokens over which soft_overlong grows to that.",
    "use_vllm": "This lets vLLM sample; without it there is nothing to correct.",
    "rollout_importance_sampling_threshold": "This is the largest weight for the sampler's mismatch.",
    "max_resample_times": "This is how often dynamic_sample resamples before it keeps the batch as it is.",
    "router_aux_loss_coef": "The loss of grpo does not read this.",
    "temperature": "This is the temperature of the policy, for both sampling and log-probabilities. The default is 0.9.",
    "sync_ref_model": "This lets the reference follow the policy.",
    "ref_model_mixup_alpha": "This is how fast the reference follows the policy.",
    "ref_model_sync_steps": "This is how often the reference follows the policy.",
    "teacher_kl_coef": "This is of a teacher alone.",
    "log_rollout_offpolicy_metrics": "This logs the sampler's mismatch and does not correct it.",
    "epsilon_high": "This is the upper half-width of the clip, and with loss_type=cispo the cap of the weight itself.",
}
