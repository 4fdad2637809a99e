"""The keys of verl 1dda039b (August 2026): actor, algorithm, rollout and reward settings, with their groups."""

from typing import Any

from grpo_ref.trainers.dialect import BONUS, COMPLETIONS, DIVISOR, PASSES

DEFAULTS: dict[str, Any] = {
    "adv_estimator": "grpo",
    "norm_adv_by_std_in_grpo": True,
    "gamma": 1.0,
    "loss_mode": "vanilla",
    "clip_ratio": 0.2,
    "clip_ratio_low": 0.2,
    "clip_ratio_high": 0.2,
    "clip_ratio_c": 3.0,
    "loss_agg_mode": "token-mean",
    "loss_scale_factor": None,
    "use_kl_loss": False,
    "kl_loss_coef": 0.001,
    "kl_loss_type": "low_var_kl",
    "tau_pos": 1.0,
    "tau_neg": 1.05,
    "dro_beta": None,
    "clip_cov_ratio": 0.0002,
    "clip_cov_lb": 1.0,
    "clip_cov_ub": 5.0,
    "kl_cov_ratio": 0.0002,
    "ppo_kl_coef": 0.1,
    "rollout_is": None,
    "rollout_is_threshold": 2.0,
    "filter_groups.enable": False,
    "overlong_buffer_cfg.enable": False,
    "overlong_buffer_cfg.len": 4096,
    "max_response_length": 20480,
    "entropy_coeff": 0.0,
    "rollout.n": 1,
    "ppo_epochs": 1,
}
OTHERS = frozenset(
    """clip_grad entropy_checkpointing entropy_from_logits_with_chunking enable_gradient_checkpointing
    experiment_name freeze_vision_tower gdpo_reward_keys gdpo_reward_weights grad_clip horizon kl_coef
    kl_penalty lam log log_prob_max_token_len_per_gpu log_prob_micro_batch_size
    log_prob_micro_batch_size_per_gpu log_prob_use_dynamic_bsz lr max_num_gen_batches metric
    overlong_buffer_cfg.log pf_ppo ppo_max_token_len_per_gpu ppo_micro_batch_size ppo_micro_batch_size_per_gpu
    ppo_mini_batch_size project_name reward_manager rollout_rs_threshold shuffle strategy target_kl type
    ulysses_sequence_parallel_size use_dynamic_bsz use_fused_kernels use_pf_ppo use_remove_padding
    use_torch_compile""".split()
)
GROUPS = frozenset(
    """actor actor_rollout_ref algorithm filter_groups kl_ctrl overlong_buffer overlong_buffer_cfg policy_loss reward
    reward_kwargs reward_model rollout rollout_correction""".split()
)
IGNORED = frozenset(
    """agent checkpoint critic custom_reward_function data engine_kwargs fsdp_config global_profiler megatron model
    multi_turn optim profiler ray_init ray_kwargs ref sandbox_fusion trace trainer transformer_config
    val_kwargs update_weights_bucket_megabytes""".split()
)
OF_ROLLOUT = frozenset(
    f"rollout.{key}"
    for key in """calculate_log_probs disable_log_stats do_sample dtype enable_chunked_prefill
    enable_prefix_caching enforce_eager free_cache_engine gpu_memory_utilization ignore_eos load_format
    log_prob_max_token_len_per_gpu log_prob_micro_batch_size log_prob_micro_batch_size_per_gpu
    log_prob_use_dynamic_bsz max_model_len max_num_batched_tokens max_num_seqs mode name prompt_length
    response_length skip_tokenizer_init temperature tensor_model_parallel_size top_k top_p""".split()
) | frozenset(
    f"reward_model.{key}" for key in "enable reward_manager launch_reward_fn_async num_workers path".split()
)
BEYOND = {
    "overlong_buffer_cfg.penalty_factor": (1.0, "It scales the punishment, which is 1 at most here."),
    "rollout_rs": (None, "It rejects tokens or completions by thresholds of several estimators."),
    "rollout_is_batch_normalize": (False, "It divides the weights by their mean over the batch."),
    "bypass_mode": (False, "The sampler's log-probabilities take the place of the old policy's."),
    "use_kl_in_reward": (False, "The penalty is subtracted from the reward of every token."),
}
ALIASES = {
    "overlong_buffer.enable": "overlong_buffer_cfg.enable",
    "overlong_buffer.len": "overlong_buffer_cfg.len",
    "overlong_buffer.log": "overlong_buffer_cfg.log",
    "overlong_buffer.penalty_factor": "overlong_buffer_cfg.penalty_factor",
    "reward_kwargs.max_resp_len": "max_response_length",
}
CONCEPTS = {
    COMPLETIONS: "rollout.n",
    PASSES: "ppo_epochs",
    BONUS: "entropy_coeff",
    DIVISOR: "loss_scale_factor",
}
ABOUT = {
    "gamma": "This is the discount of rewards along the tokens.",
    "rollout.temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
}
