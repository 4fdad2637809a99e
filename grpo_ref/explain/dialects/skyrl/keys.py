"""The keys of SkyRL a9564572 (August 2026): the fields of `SkyRLTrainConfig`, with their groups."""

from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, DIVISOR, PASSES

ALGORITHM = "trainer.algorithm"
BY_PLACE: dict[str, dict[str, Any]] = {
    ALGORITHM: {
        "advantage_estimator": "grpo",
        "grpo_norm_by_std": True,
        "gamma": 1.0,
        "advantage_batch_normalize": False,
        "policy_loss_type": "regular",
        "loss_reduction": "token_mean",
        "max_seq_len": None,
        "eps_clip_low": 0.2,
        "eps_clip_high": 0.2,
        "clip_ratio_c": 3.0,
        "use_kl_loss": True,
        "use_kl_in_reward": False,
        "kl_loss_coef": 0.001,
        "kl_estimator_type": "k3",
        "use_entropy_loss": False,
        "entropy_loss_coef": 0.01,
        "zero_variance_filter": False,
        "zero_variance_filter_tol": 1e-6,
        "use_tis": False,
        "tis_imp_ratio_cap": -1.0,
        "overlong_buffer_len": None,
        "overlong_buffer_penalty_factor": None,
    },
    f"{ALGORITHM}.kl_ctrl": {"kl_ctrl.type": "fixed", "horizon": 10000},
    f"{ALGORITHM}.off_policy_correction": {
        "tis_ratio_type": None,
        "token_tis_ratio_clip_high": 2.0,
        "sequence_tis_ratio_clip_high": 5.0,
        "sequence_mask_metric": None,
        "geo_mask_high": 1.01,
        "geo_mask_low": 0.99,
        "product_mask_high": 2.0,
        "product_mask_low": 0.5,
        "outlier_token_is_threshold_low": None,
        "outlier_token_is_threshold_high": None,
        "token_mask_is_threshold_low": None,
        "token_mask_is_threshold_high": None,
    },
    f"{ALGORITHM}.sapo": {"tau_pos": 1.0, "tau_neg": 1.05},
    f"{ALGORITHM}.dynamic_sampling": {"dynamic_sampling.type": None},
    f"{ALGORITHM}.clip_cov": {"clip_cov.clip_ratio": 0.0002, "clip_cov_lb": 1.0, "clip_cov_ub": 5.0},
    f"{ALGORITHM}.kl_cov": {"kl_cov_frac": 0.2, "ppo_kl_coef": 1.0},
    f"{ALGORITHM}.cispo": {"cispo_eps_clip_low": 1.0, "cispo_eps_clip_high": 4.0, "cispo_anchor": "old"},
    f"{ALGORITHM}.dppo": {"dppo_type": "binary_tv", "delta_low": 0.2, "delta_high": 0.2},
    "generator": {
        "n_samples_per_prompt": 5,
        "zero_reward_on_non_stop": False,
        "apply_overlong_filtering": False,
        "batched": False,
    },
    "generator.sampling_params": {
        "sampling_params.logprobs": 1,
        "sampling_params.max_generate_length": 1024,
    },
    "trainer": {
        "update_epochs_per_batch": 1,
        "train_batch_size": 1024,
        "policy_mini_batch_size": 256,
        "micro_train_batch_size_per_gpu": 1,
        "micro_forward_batch_size_per_gpu": 1,
        "max_tokens_per_microbatch": -1,
        "strategy": "fsdp",
        "sequence_parallel_backend": "ulysses",
        "max_ckpts_to_keep": -1,
    },
    "trainer.fully_async": {
        "fully_async.enabled": False,
        "sample_full_batch": False,
        "max_staleness_steps": 4,
        "num_parallel_generation_workers": 768,
    },
    "trainer.placement": {"colocate_all": True, "policy_num_nodes": 1, "policy_num_gpus_per_node": 1},
    "trainer.policy": {"policy.sequence_parallel_size": 1},
    "trainer.policy.megatron_config": {
        f"policy.megatron_config.{kind}_parallel_size": 1
        for kind in ("tensor_model", "pipeline_model", "context")
    },
    "generator.inference_engine": {
        "inference_engine.num_engines": 1,
        "inference_engine.tensor_parallel_size": 1,
        "inference_engine.pipeline_parallel_size": 1,
        "inference_engine.data_parallel_size": 1,
    },
}
"""For each group path, its keys that change the objective or are checked, with SkyRL's defaults."""
DEFAULTS = {key: value for group in BY_PLACE.values() for key, value in group.items()}
PLACES = {key: place for place, group in BY_PLACE.items() for key in group} | {
    "step_wise_trajectories": "generator",
    "merge_stepwise_output": "generator",
    "policy.megatron_config.moe_aux_loss_coeff": "trainer.policy.megatron_config",
}
CHECKED = frozenset(
    key
    for place in ("trainer", "trainer.placement", "trainer.policy", "trainer.policy.megatron_config")
    for key in BY_PLACE[place]
    if key != "update_epochs_per_batch"
) | {*BY_PLACE["generator.inference_engine"], *BY_PLACE["trainer.fully_async"], "batched"} - {
    "sample_full_batch"
}
"""Keys that do not affect the objective, but are refused in some combinations."""
_OF_ALGORITHM = """kl_target temperature value_head_prefix lambd value_clip max_sample_batches
min_replace_ratio""".split()
_OF_TRAINER = """use_expandable_segments colocate_policy_ref critic_num_nodes critic_num_gpus_per_node
ref_num_nodes ref_num_gpus_per_node clear_kv_cache_on_weight_sync simulate_training
simulate_training_step_seconds simulate_weight_sync_seconds gradient_checkpointing
gradient_checkpointing_use_reentrant seed resume_mode resume_path log_path ckpt_path ckpt_interval
hf_save_interval export_path bf16 epochs max_training_steps critic_mini_batch_size
recompute_old_logprobs_per_minibatch update_ref_every_epoch remove_microbatch_padding use_sample_packing
eval_batch_size eval_before_train eval_interval max_prompt_length flash_attn disable_fast_tokenizer
project_name run_name logger enable_ray_gpu_monitor tags dump_data_batch dump_eval_results
print_example_interval num_logger_eval_samples num_logger_train_samples log_example_interval
logprobs_chunk_size vocab_entropy_chunk_size vocab_entropy_chunk_memory_mb fused_lm_head_logprob
fused_lm_head_logprob_backend use_torch_compile record_memory language_model_only
inference_only_init""".split()
_OF_GENERATOR = """max_turns max_input_length use_conversation_multi_turn chat_template_kwargs
append_eos_token_after_stop_str_in_multi_turn eval_n_samples_per_prompt use_cache_salt
vision_language_generator repetition_penalty top_p min_p top_k stop additional_kwargs eval_sampling_params
model_config_kwargs""".split()
OTHERS = frozenset([*_OF_ALGORITHM, *_OF_TRAINER, *_OF_GENERATOR])
GROUPS = frozenset(part for place in [*BY_PLACE, "trainer.mtp"] for part in place.split("."))
IGNORED = frozenset(
    """additional_kwargs chat_template chat_template_kwargs critic data ddp_config delta_weight_sync
environment eval_sampling_params fsdp_config inference_engine megatron_config model model_config_kwargs mtp
optimizer_config ref torch_profiler_config""".split()
)
"""Groups without keys that affect the objective, except for the keys with a place above."""
BEYOND = {
    "step_wise_trajectories": (
        False,
        "Each turn becomes a sequence of its own, with the advantage of the last one of its trajectory.",
    ),
    "merge_stepwise_output": (False, "Turns that continue each other are merged into one sequence."),
    "policy.megatron_config.moe_aux_loss_coeff": (
        0.0,
        "A loss that balances the experts of the model is added; it is not of the tokens.",
    ),
}
ALIASES = {"max_generate_length": "sampling_params.max_generate_length"}
CONCEPTS = {
    COMPLETIONS: "n_samples_per_prompt",
    PASSES: "update_epochs_per_batch",
    BONUS: "entropy_loss_coef",
    DIVISOR: "max_seq_len",
}
SWITCHES = {"entropy_loss_coef": "use_entropy_loss"}
ABOUT = {
    **dict.fromkeys(sorted(CHECKED), "This does not touch the objective; SkyRL refuses some combinations."),
    "gamma": "This is the discount along the tokens; of the estimators here only reinforce++ reads it.",
    "lambd": "This is of gae alone, which needs a critic.",
    "kl_target": "This is of the adaptive weight alone.",
    "horizon": "This is of the adaptive weight alone.",
    "kl_ctrl.type": "This says whether the weight of a penalty in the reward is constant; in the loss it"
    " always is.",
    "max_seq_len": "This is the length that seq_mean_token_sum_norm divides by; no other average reads it.",
    "micro_train_batch_size_per_gpu": "SkyRL refuses some combinations; token_mean_legacy averages over"
    " this many completions first, and clip_cov and kl_cov choose among their tokens.",
    "policy_mini_batch_size": "This counts prompts: an update sees this number times n_samples_per_prompt"
    " completions.",
    "max_tokens_per_microbatch": "Micro-batches are filled up to this many tokens; on Megatron the penalty"
    " depends on how.",
    "use_entropy_loss": "This says whether the entropy bonus is added.",
    "use_tis": "SkyRL turns this into tis_ratio_type=token, with tis_imp_ratio_cap as its bound.",
    "tis_imp_ratio_cap": "This is the bound where use_tis is set, in place of token_tis_ratio_clip_high.",
    "sample_full_batch": "The asynchronous trainer samples until each group of a mini-batch has different rewards.",
    "sampling_params.logprobs": "Without it the sampler reports no log-probabilities, which every"
    " correction needs.",
    "sampling_params.max_generate_length": "This is the generation budget. The overlong penalty of the"
    " DAPO example depends on it.",
    "overlong_buffer_len": "This is a key of the DAPO example, examples/train/algorithms/dapo; the entry"
    " point of SkyRL itself does not know it.",
    "overlong_buffer_penalty_factor": "This is a key of the DAPO example, examples/train/algorithms/dapo;"
    " the entry point of SkyRL itself does not know it.",
    "min_replace_ratio": "This is of dynamic_sampling.type=replace alone.",
    "update_ref_every_epoch": "This makes the policy of an epoch the reference of the next one.",
    "temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
    "use_sample_packing": "This is the old name of remove_microbatch_padding.",
}
