"""The keys of `GRPOConfig` and the arguments of `GRPOTrainer`, TRL 1.16.0."""

from typing import Any

from grpo_ref.trainers.dialect import BONUS, COMPLETIONS, DIVISOR, PASSES

DEFAULTS: dict[str, Any] = {
    "loss_type": "dapo",
    "epsilon": 0.2,
    "epsilon_high": None,
    "delta": None,
    "beta": 0.0,
    "use_bias_correction_kl": True,
    "importance_sampling_level": "token",
    "scale_rewards": "group",
    "multi_objective_aggregation": "sum_then_normalize",
    "max_completion_length": 512,
    "mask_truncated_completions": False,
    "top_entropy_quantile": 1.0,
    "off_policy_mask_threshold": None,
    "sapo_temperature_pos": 1.0,
    "sapo_temperature_neg": 1.05,
    "vespo_k_pos": 2.0,
    "vespo_lambda_pos": 3.0,
    "vespo_k_neg": 3.0,
    "vespo_lambda_neg": 2.0,
    "use_vllm": False,
    "vllm_importance_sampling_correction": True,
    "vllm_importance_sampling_mode": "sequence_mask",
    "vllm_importance_sampling_clip_max": 3.0,
    "vllm_importance_sampling_clip_min": None,
    "num_generations": 8,
    "num_iterations": 1,
    "gradient_accumulation_steps": 1,
    "steps_per_generation": None,
    "reward_weights": None,
    "entropy_coef": 0.0,
}
ALIASES = {
    "epsilon_low": "epsilon",
    "vllm_importance_sampling_cap": "vllm_importance_sampling_clip_max",
}
OTHERS = frozenset(
    """accelerator_config adam_beta1 adam_beta2 adam_epsilon adapter_name args attn_implementation auto_find_batch_size
    average_tokens_across_devices bf16 bf16_full_eval bnb_4bit_quant_type cache_implementation
    cast_lm_head_to_fp32 chat_template_kwargs chat_template_path config dataloader_drop_last
    dataloader_num_workers dataloader_pin_memory dataloader_prefetch_factor dataset_config dataset_name
    dataset_test_split dataset_train_split dataset_prompt_column ddp_find_unused_parameters ddp_timeout
    deepspeed disable_dropout disable_tqdm do_eval do_train ds3_gather_for_generation dtype entropy_delta
    entropy_max entropy_min entropy_target eval_dataset eval_on_start eval_steps eval_strategy fp16 fsdp
    fsdp_config full_determinism generation_batch_size generation_kwargs gradient_checkpointing
    gradient_checkpointing_kwargs greater_is_better group_by_length hub_model_id hub_strategy
    include_tokens_per_second learning_rate load_best_model_at_end load_in_4bit load_in_8bit log_completions
    log_level log_on_each_node log_unique_prompts logging_dir logging_first_step logging_steps
    logging_strategy lora_alpha lora_dropout lora_modules_to_save lora_r lora_target_modules lora_task_type
    lr_scheduler_kwargs lr_scheduler_type max_grad_norm max_prompt_length max_steps
    max_tool_calling_iterations metric_for_best_model min_p model model_init_kwargs model_name_or_path
    model_revision num_completions_to_print num_generations_eval num_train_epochs optim optim_args
    optim_target_modules output_dir overwrite_output_dir pad_to_multiple_of peft_config
    per_device_eval_batch_size per_device_train_batch_size processing_class project push_to_hub
    quantization_config ref_model ref_model_mixup_alpha ref_model_sync_steps remove_unused_columns
    repetition_penalty report_to resume_from_checkpoint reward_funcs reward_processing_classes rollout_func
    run_name save_only_model save_safetensors save_steps save_strategy save_total_limit seed shuffle_dataset
    sync_ref_model system_prompt temperature tf32 tokenizer top_k top_p torch_compile torch_dtype
    torch_empty_cache_steps trackio_space_id train_dataset trust_remote_code use_adaptive_entropy
    use_liger_kernel use_liger_loss use_peft use_transformers_paged vllm_enable_sleep_mode
    vllm_gpu_memory_utilization vllm_group_port vllm_guided_decoding_regex vllm_max_model_length vllm_mode
    vllm_model_impl vllm_server_base_url vllm_server_host vllm_server_port vllm_server_timeout
    vllm_tensor_parallel_size wandb_log_unique_prompts wandb_project warmup_ratio warmup_steps
    weight_decay""".split()
)
CONCEPTS = {
    COMPLETIONS: "num_generations",
    PASSES: "num_iterations",
    BONUS: "entropy_coef",
    DIVISOR: "max_completion_length",
}
ABOUT = {
    "args": "This is the configuration itself.",
    "beta": "This is the weight of the KL penalty.",
    "gradient_accumulation_steps": "This is how many micro-batches make a step.",
    "max_completion_length": 'This is the generation budget. loss_type="dr_grpo" divides by it; it is `max_length`'
    " elsewhere here.",
    "ref_model": "GRPOTrainer has no such argument; it loads the reference itself if beta > 0.",
    "ref_model_mixup_alpha": "This is how fast the reference follows the policy.",
    "ref_model_sync_steps": "This is how often the reference follows the policy.",
    "reward_weights": "These are the weights of the reward functions, which are summed before or after normalizing.",
    "steps_per_generation": "This is into how many steps a generation batch is cut; the later ones are off-policy.",
    "sync_ref_model": "This lets the reference follow the policy.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "tokenizer": "This is an old name of processing_class.",
    "use_adaptive_entropy": "This steers the weight of the entropy bonus toward a target.",
    "vllm_importance_sampling_cap": "This is an old name of vllm_importance_sampling_clip_max.",
}
