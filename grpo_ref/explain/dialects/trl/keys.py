"""The keys of `GRPOConfig`, the arguments of `GRPOTrainer`, TRL 1.16.0, and the keys that its command line reads.

Only `trainer` is not a key of TRL: it names the class that trains. tests/data/record/keys_trl.py compares all
others.
"""

from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, DIVISOR, PASSES

GRPO, GMPO = "GRPOTrainer", "GMPOTrainer"
"""The classes that train. The second one is in `trl.experimental.gmpo`."""
WINDOW_LOSSES = ("dapo", "cispo", "vespo")
"""Loss types that divide by the tokens of the generation batch and compensate for its number of steps."""
DEFAULTS: dict[str, Any] = {
    "trainer": GRPO,
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
    "vllm_importance_sampling_cap": None,
    "num_generations": 8,
    "num_iterations": 1,
    "gradient_accumulation_steps": 1,
    "steps_per_generation": None,
    "reward_weights": None,
    "entropy_coef": 0.0,
    "use_adaptive_entropy": False,
    "entropy_coef_min": 0.0,
    "entropy_coef_max": 1.0,
    "entropy_coef_delta": 0.005,
    "entropy_target": 0.2,
    "router_aux_loss_coef": None,
    "sync_ref_model": False,
    "generation_batch_size": None,
    "auto_find_batch_size": False,
    "log_completions": False,
    "log_completions_hub_repo": None,
}
VARIANTS = {("trainer", GMPO): {"epsilon": 0.4}}
"""Defaults that change with the class. GMPOConfig clips in log space, with a larger width."""
OTHERS = frozenset(
    """accelerator_config activation_checkpointing activation_checkpointing_kwargs adam_beta1 adam_beta2
    adam_epsilon args attn_implementation average_tokens_across_devices batch_eval_metrics bf16
    bf16_full_eval bnb_4bit_quant_storage bnb_4bit_quant_type cache_implementation callbacks
    cast_lm_head_to_fp32 chat_template_kwargs config data_seed dataloader_drop_last dataloader_in_order
    dataloader_multiprocessing_context dataloader_num_workers dataloader_persistent_workers
    dataloader_pin_memory dataloader_prefetch_factor dataset_config dataset_name dataset_streaming
    dataset_test_split dataset_train_split ddp_backend ddp_broadcast_buffers ddp_bucket_cap_mb
    ddp_find_unused_parameters ddp_static_graph ddp_timeout debug deepspeed disable_dropout disable_tqdm
    do_eval do_predict do_train ds3_gather_for_generation dtype enable_jit_checkpoint
    environment_factory eval_accumulation_steps eval_dataset eval_delay eval_do_concat_batches
    eval_on_start eval_steps eval_strategy eval_use_gather_object fp16 fp16_full_eval fsdp fsdp_config
    full_determinism generation_kwargs gradient_checkpointing gradient_checkpointing_kwargs
    greater_is_better hub_always_push hub_model_id hub_private_repo hub_revision hub_strategy hub_token
    ignore_bias_buffers ignore_data_skip include_for_metrics include_num_input_tokens_seen label_names
    label_smoothing_factor learning_rate length_column_name liger_kernel_config load_best_model_at_end
    load_in_4bit load_in_8bit local_rank log_level log_level_replica log_multimodal log_on_each_node
    log_unique_prompts logging_first_step logging_nan_inf_filter logging_steps logging_strategy
    lora_alpha lora_dropout lora_modules_to_save lora_r lora_target_modules lora_target_parameters
    lora_task_type lr_scheduler_kwargs lr_scheduler_type max_grad_norm max_steps
    max_tool_calling_iterations metric_for_best_model min_p model model_init_kwargs model_name_or_path
    model_revision neftune_noise_alpha num_completions_to_print num_generations_eval num_train_epochs
    optim optim_args optim_target_modules optimizers output_dir pad_to_multiple_of parallelism_config
    peft_config per_device_eval_batch_size per_device_train_batch_size prediction_loss_only
    processing_class project push_to_hub quantization_config ref_model ref_model_mixup_alpha
    ref_model_sync_steps remove_unused_columns repetition_penalty report_to
    restore_callback_states_from_checkpoint resume_from_checkpoint reward_funcs
    reward_processing_classes rollout_func run_name save_on_each_node save_only_model save_steps
    save_strategy save_total_limit seed shuffle_dataset skip_memory_metrics temperature tf32 tokenizer
    tools top_k top_p torch_compile torch_compile_backend torch_compile_mode torch_empty_cache_steps
    trackio_bucket_id trackio_space_id trackio_static_space_id train_dataset train_sampling_strategy
    transformers_continuous_batching_config trust_remote_code use_bnb_nested_quant use_cache use_cpu
    use_dora use_liger_kernel use_peft use_rslora use_transformers_continuous_batching
    use_transformers_paged vllm_enable_sleep_mode vllm_gpu_memory_utilization vllm_group_port
    vllm_max_model_length vllm_mode vllm_model_impl vllm_server_base_url vllm_server_host
    vllm_server_port vllm_server_timeout vllm_structured_outputs_regex vllm_tensor_parallel_size
    warmup_steps weight_decay""".split()
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
    "auto_find_batch_size": "TRL refuses this: a smaller batch would cut groups in two.",
    "entropy_coef": "The mean entropy of a token, times this number, is added to what is maximized.",
    "entropy_coef_delta": "This is the step in which use_adaptive_entropy changes entropy_coef.",
    "entropy_coef_max": "This is the highest entropy_coef that use_adaptive_entropy goes to.",
    "entropy_coef_min": "This is the lowest entropy_coef that use_adaptive_entropy goes to.",
    "entropy_target": "This is the entropy in nats per token that use_adaptive_entropy wants to stay above.",
    "generation_batch_size": "This sets steps_per_generation, by way of the number of processes.",
    "log_completions": "This key does not touch the objective.",
    "log_completions_hub_repo": "This key does not touch the objective; TRL refuses it without log_completions.",
    "router_aux_loss_coef": "This is the weight of the load balancing of a mixture of experts, which needs its logits.",
    "gradient_accumulation_steps": "This is how many micro-batches make a step.",
    "max_completion_length": 'This is the generation budget. loss_type="dr_grpo" divides by it; it is `max_length`'
    " elsewhere here.",
    "ref_model": "GRPOTrainer has no such argument; it loads the reference itself if beta > 0.",
    "ref_model_mixup_alpha": "This is how fast the reference follows the policy.",
    "ref_model_sync_steps": "This is how often the reference follows the policy.",
    "reward_weights": "These are the weights of the reward functions, which are summed before or after normalizing.",
    "steps_per_generation": "This is into how many steps a generation batch is cut; the later ones are off-policy.",
    "sync_ref_model": "This lets the reference follow the policy; TRL refuses it where beta is 0.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "tokenizer": "This is an old name of processing_class.",
    "trainer": "This is the class that trains: GRPOTrainer, or GMPOTrainer of trl.experimental.gmpo with its"
    " GMPOConfig.",
    "use_adaptive_entropy": "This steers the weight of the entropy bonus: it grows while the mean entropy of a token is"
    " at or below entropy_target, and falls otherwise. The bonus is added only where the step before was at or below"
    " it, so never in the first step.",
    "vllm_importance_sampling_cap": "This is an old name of vllm_importance_sampling_clip_max, which it overrides.",
}
