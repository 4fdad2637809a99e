"""TRL 1.16.0, `GRPOConfig` and `GRPOTrainer`."""

from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import batch_scaled, group_centered, group_normalized, normalized_then_summed
from grpo_ref.kernels.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.kernels.corrections import masked, off_policy_mask, top_entropy, truncated
from grpo_ref.kernels.filters import all_completions, all_groups, ended_completions
from grpo_ref.kernels.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.kernels.penalties import k3, weighted_k3
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import (
    cispo,
    clipped,
    dual_clipped,
    geometric_mean_clipped,
    gspo_token,
    sapo,
    two_sided_clipped,
    vespo,
)
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import DIVISOR, Dialect, one_of

LOSS_TYPES = ("grpo", "bnpo", "dr_grpo", "dapo", "luspo", "cispo", "sapo", "vespo", "gmpo")
LEVELS = {"token": token_level, "sequence": sequence_mean_level, "sequence_token": sequence_mean_level}
MODES = {
    "token_truncate": (truncated, token_level),
    "token_mask": (masked, token_level),
    "sequence_truncate": (truncated, sequence_sum_level),
    "sequence_mask": (masked, sequence_sum_level),
}
SCALES = {True: "group", False: "none", "group": "group", "batch": "batch", "none": "none"}
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
    "mode": "vllm_importance_sampling_mode",
    "clip_max": "vllm_importance_sampling_clip_max",
    "clip_min": "vllm_importance_sampling_clip_min",
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


def recipe(**config: Any) -> Recipe:
    """The recipe that TRL 1.16.0 computes.

    Args:
      config: keys of `GRPOConfig`; arguments of `GRPOTrainer` are accepted and leave the objective alone.

    Raises:
      ValueError: if a key is unknown, or a value is one that TRL would refuse.

    >>> from grpo_ref import GRPO
    >>> recipe(loss_type="dr_grpo", beta=0.0).differences(GRPO)
    {'penalty': 'weighted_k3', 'kl_coef': '0.0', 'aggregate': 'fixed_length'}
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    if s.num_generations < 2:
        raise ValueError(f"num_generations: TRL refuses groups of fewer than 2, got {s.num_generations}")
    loss_type = one_of("loss_type", s.loss_type, dict(zip(LOSS_TYPES, LOSS_TYPES, strict=True)))
    level = one_of("importance_sampling_level", s.importance_sampling_level, LEVELS)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=_advantage(s),
        level=sequence_sum_level if loss_type == "vespo" else level,
        surrogate=_surrogate(s, loss_type),
        penalty=slot(weighted_k3 if s.use_bias_correction_kl else k3),
        kl_coef=s.beta,
        aggregate=_aggregate(s, loss_type),
        source=DIALECT.version,
        admit=slot(ended_completions if s.mask_truncated_completions else all_completions),
        corrections=_corrections(s),
    )


def _advantage(s: SimpleNamespace) -> Slot:
    if s.multi_objective_aggregation == "normalize_then_sum":
        return slot(normalized_then_summed, ddof=1, eps=1e-4)
    one_of("multi_objective_aggregation", s.multi_objective_aggregation, {"sum_then_normalize": 0})
    kernels = {
        "group": slot(group_normalized, ddof=1, eps=1e-4),
        "batch": slot(batch_scaled, ddof=1, eps=1e-4),
        "none": slot(group_centered),
    }
    return kernels[one_of("scale_rewards", s.scale_rewards, SCALES)]


def _surrogate(s: SimpleNamespace, loss_type: str) -> Slot:
    high = s.epsilon if s.epsilon_high is None else s.epsilon_high
    if loss_type == "gmpo":  # experimental.gmpo, a trainer of its own
        return slot(geometric_mean_clipped, clip_low=s.epsilon, clip_high=high)
    if loss_type == "cispo":
        return slot(cispo, max_ratio=high)
    if loss_type == "sapo":
        return slot(sapo, tau_positive=s.sapo_temperature_pos, tau_negative=s.sapo_temperature_neg)
    if loss_type == "vespo":
        return slot(
            vespo,
            k_positive=s.vespo_k_pos,
            lambda_positive=s.vespo_lambda_pos,
            k_negative=s.vespo_k_neg,
            lambda_negative=s.vespo_lambda_neg,
        )
    if s.importance_sampling_level == "sequence_token":
        return slot(gspo_token, clip_low=s.epsilon, clip_high=high)
    if s.delta is not None and s.delta >= 1.0 + high:
        return slot(dual_clipped, clip_low=s.epsilon, clip_high=high, max_ratio=s.delta)
    if s.delta is not None:
        return slot(two_sided_clipped, clip_low=s.epsilon, clip_high=high, max_ratio=s.delta)
    return slot(clipped, clip_low=s.epsilon, clip_high=high)


def _aggregate(s: SimpleNamespace, loss_type: str) -> Slot:
    steps = s.gradient_accumulation_steps if s.steps_per_generation is None else s.steps_per_generation
    scale = steps / s.gradient_accumulation_steps
    generation = slot(token_mean, scale=scale) if scale != 1.0 else slot(token_mean)
    return {
        "grpo": slot(sequence_mean_token_mean),
        "sapo": slot(sequence_mean_token_mean),
        "gmpo": slot(sequence_mean_token_mean),
        "bnpo": slot(token_mean),
        "dr_grpo": slot(fixed_length),
        "luspo": slot(sequence_mean_token_sum),
    }.get(loss_type, generation)


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    parts = []
    if s.use_vllm and s.vllm_importance_sampling_correction:
        kernel, level = one_of("vllm_importance_sampling_mode", s.vllm_importance_sampling_mode, MODES)
        bounds = {
            "min_ratio": s.vllm_importance_sampling_clip_min or 0.0,
            "max_ratio": float("inf")
            if s.vllm_importance_sampling_clip_max is None
            else s.vllm_importance_sampling_clip_max,
        }
        parts.append(slot(kernel, level=level, **bounds))
    if s.off_policy_mask_threshold is not None:
        parts.append(slot(off_policy_mask, threshold=s.off_policy_mask_threshold))
    if s.top_entropy_quantile < 1.0:
        parts.append(slot(top_entropy, share=s.top_entropy_quantile))
    return tuple(parts)


DIALECT = Dialect(
    name="trl",
    version="TRL 1.16.0",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "loss_type": LOSS_TYPES,
        "importance_sampling_level": tuple(LEVELS),
        "scale_rewards": ("group", "batch", "none"),
        "multi_objective_aggregation": ("sum_then_normalize", "normalize_then_sum"),
        "use_bias_correction_kl": (True, False),
        "mask_truncated_completions": (True, False),
        "use_vllm": (True, False),
        "vllm_importance_sampling_mode": tuple(MODES),
    },
    others=OTHERS,
    aliases=ALIASES,
    concepts={
        "completions a prompt": "num_generations",
        "passes over a batch": "num_iterations",
        "weight of the entropy bonus": "entropy_coef",
        DIVISOR: "max_completion_length",
    },
)
