"""The keys of verl 1dda039b (August 2026): actor, algorithm, rollout and reward settings, with their groups."""

from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, DIVISOR, PASSES

INNER = "policy_loss.rollout_correction"
"""The group of the correction that loss_mode=bypass_mode reads instead of algorithm.rollout_correction.

`rollout_is` is None if another key of this group is given. Without the group it is "sequence" in verl; then
loss_type is ppo_clip, which only logs it.
"""
ACTOR = "actor_rollout_ref.actor"
BY_PLACE: dict[str, dict[str, Any]] = {
    "algorithm": {
        "adv_estimator": "grpo",
        "norm_adv_by_std_in_grpo": True,
        "gamma": 1.0,
        "gdpo_reward_keys": None,
        "gdpo_reward_weights": None,
        "use_kl_in_reward": False,
        "kl_penalty": "kl",
    },
    "algorithm.kl_ctrl": {"kl_ctrl.type": "fixed", "kl_coef": 0.001},
    ACTOR: {
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
        "entropy_coeff": 0.0,
        "ppo_epochs": 1,
    },
    f"{ACTOR}.policy_loss": {
        "loss_mode": "vanilla",
        "dro_beta": None,
        "clip_cov_ratio": 0.0002,
        "clip_cov_lb": 1.0,
        "clip_cov_ub": 5.0,
        "kl_cov_ratio": 0.0002,
        "ppo_kl_coef": 0.1,
    },
    "algorithm.rollout_correction": {
        "rollout_is": None,
        "rollout_is_threshold": 2.0,
        "rollout_is_batch_normalize": False,
        "rollout_rs": None,
        "rollout_rs_threshold": None,
        "bypass_mode": False,
    },
    f"{ACTOR}.{INNER}": {
        f"{INNER}.rollout_is": None,
        f"{INNER}.rollout_is_threshold": 2.0,
        f"{INNER}.rollout_is_batch_normalize": False,
        f"{INNER}.rollout_rs": None,
        f"{INNER}.rollout_rs_threshold": None,
        f"{INNER}.loss_type": "ppo_clip",
    },
    "algorithm.filter_groups": {"filter_groups.enable": False},
    "actor_rollout_ref.rollout": {"rollout.n": 1, "rollout.calculate_log_probs": False},
    "trainer": {"trainer.use_v1": True},
}
"""For each group path, its keys that change the objective, with verl's defaults.

That of adv_estimator is "gae".
"""
REWARD = {
    "reward_manager": "naive",
    "overlong_buffer_cfg.enable": False,
    "overlong_buffer_cfg.len": 4096,
    "overlong_buffer_cfg.penalty_factor": 1.0,
    "max_resp_len": None,
}
"""Keys of the reward manager "dapo", in the group reward or, in earlier versions, reward_model.

verl has no defaults for them.
"""
SUBTRACTED = "kl_loss_is_subtracted"
"""Not a key: true for the first verl with a penalty in the loss, which maximized it; see `versions`."""
DEFAULTS: dict[str, Any] = {
    **{key: value for group in BY_PLACE.values() for key, value in group.items()},
    **REWARD,
    SUBTRACTED: False,
}
PLACES = {key: place for place, group in BY_PLACE.items() for key in group} | {
    "distillation.enabled": "distillation",
}
KWARGS = "+reward.reward_kwargs"
HOMES = {
    "reward_manager": "reward.reward_manager.name",
    "overlong_buffer_cfg.enable": f"{KWARGS}.overlong_buffer_cfg.enable",
    "overlong_buffer_cfg.len": f"{KWARGS}.overlong_buffer_cfg.len",
    "overlong_buffer_cfg.penalty_factor": f"{KWARGS}.overlong_buffer_cfg.penalty_factor",
    "max_resp_len": f"{KWARGS}.max_resp_len",
}
"""Full paths of the keys of the reward. verl's own files have no reward_kwargs."""
OTHERS = frozenset(
    """calculate_entropy calculate_sum_pi_squared clip_grad data_loader_seed entropy_checkpointing
    entropy_from_logits_chunk_size entropy_from_logits_with_chunking enable_gradient_checkpointing experiment_name
    freeze_vision_tower global_batch_info grad_clip engine horizon lam load_weight log
    log_prob_max_token_len_per_gpu log_prob_micro_batch_size log_prob_micro_batch_size_per_gpu
    log_prob_use_dynamic_bsz loss_type lr max_inflight_gen_batches max_num_gen_batches metric model_engine optim
    overlong_buffer_cfg.log pad_to_length pf_ppo ppo_infer_max_token_len_per_gpu
    ppo_infer_micro_batch_size_per_gpu ppo_max_token_len_per_gpu ppo_micro_batch_size
    ppo_micro_batch_size_per_gpu ppo_mini_batch_size project_name reweight_method rollout_n shuffle strategy
    target_kl ulysses_sequence_parallel_size use_dynamic_bsz use_fused_kernels use_pf_ppo
    use_prefix_grouper use_remove_padding use_rollout_log_probs use_torch_compile weight_pow""".split()
)
GROUPS = frozenset(
    """actor actor_rollout_ref algorithm distillation filter_groups kl_ctrl overlong_buffer_cfg pf_ppo
    policy_loss reward reward_kwargs reward_manager reward_model rollout rollout_correction trainer""".split()
)
IGNORED = frozenset(
    """actor@actor_rollout_ref agent async_training automodel checkpoint checkpoint_engine critic custom
    custom_reward_function data disaggregation distillation_loss engine engine_kwargs fsdp_config global_profiler
    hydra megatron model model_config module mtp multi_turn npu_profile optim profile profiler prometheus qat ray_init
    ray_kwargs ref router_replay sandbox_fusion skip teacher_models torchtitan trace trainer transfer_queue
    transformer_config val_kwargs update_weights_bucket_megabytes veomni""".split()
)
"""Groups without keys that affect the objective, except for the keys with a place above."""
OF_GROUPS = (
    frozenset(
        """actor.profile actor_rollout_ref.hybrid_engine actor_rollout_ref.nccl_timeout distillation.n_gpus_per_node
    distillation.nnodes distillation.teacher_key reward.num_workers reward_manager.source""".split()
    )
    | frozenset(
        f"rollout.{key}"
        for key in """cudagraph_capture_sizes data_parallel_size disable_log_stats do_sample dtype
    enable_chunked_prefill enable_prefix_caching enable_rollout_routing_replay enable_sleep_mode enforce_eager
    engine_kwargs expert_parallel_size free_cache_engine full_determinism gpu_memory_utilization ignore_eos
    layered_summon limit_images load_format log_prob_max_token_len_per_gpu log_prob_micro_batch_size
    log_prob_micro_batch_size_per_gpu log_prob_use_dynamic_bsz logprobs_mode max_model_len
    max_num_batched_tokens max_num_seqs mode moe_load_balance_metrics_interval mtp multi_stage_wake_up
    n_gpus_per_node name nnodes over_sample_rate pipeline_model_parallel_size prompt_length qat quantization
    quantization_config_file response_length scheduling_policy seed single_turn_response_length
    skip_tokenizer_init temperature tensor_model_parallel_size top_k top_p total_rollout_steps""".split()
    )
    | frozenset(
        f"reward_model.{key}"
        for key in """enable enable_resource_pool launch_reward_fn_async model_path n_gpus_per_node nnodes num_workers
    path reward_loop_class_name reward_loop_module_path reward_loop_source rollout.n""".split()
    )
)
"""Keys that exist in these groups and do not affect the objective."""
BEYOND = {
    "trainer.val_only": (False, "It only validates, and nothing is trained."),
    "distillation.enabled": (False, "A loss towards a teacher's distribution is added."),
}
BEYOND_ESTIMATORS = {
    "gae": "it needs a critic's values",
    "remax": "it needs the reward of a greedy completion of each prompt",
    "optimal_token_baseline": "it needs the sum of the squared probabilities at each token",
    "tir_optimal_token_baseline": "it needs the sum of the squared probabilities at each token",
}
"""Values of `adv_estimator` that verl has and that cannot be expressed here, with the reason."""
ALIASES = {
    "rollout.n_agent": "rollout.n",
    "reward_kwargs.max_resp_len": "max_resp_len",
    "reward_manager.name": "reward_manager",
}
CONCEPTS = {
    COMPLETIONS: "rollout.n",
    PASSES: "ppo_epochs",
    BONUS: "entropy_coeff",
    DIVISOR: "loss_scale_factor",
}
ABOUT = {
    "gamma": "This is the discount of rewards along the tokens.",
    "kl_penalty": "This is the estimate of the KL in the reward, if use_kl_in_reward puts one there.",
    "kl_coef": "This is the weight of the KL in the reward, if use_kl_in_reward puts one there.",
    "gdpo_reward_keys": "These are the names of the rewards that gdpo normalizes one by one.",
    "gdpo_reward_weights": "These are the weights of the rewards in gdpo, 1 where there are none.",
    "bypass_mode": "With True the sampler's log-probabilities are the old ones: they are to be given as such.",
    "loss_type": "No actor reads it here: it counts in actor.policy_loss.rollout_correction.",
    "trainer.use_v1": "The default trainer counts the tokens of a batch before tokens are rejected.",
    "max_resp_len": "This is the budget of the overlong penalty, whatever data.max_response_length is.",
    "rollout.calculate_log_probs": "The sampler reports its log-probabilities, which every rollout correction needs.",
    "rollout.temperature": "This is the temperature of the policy, for sampling and for the log-probabilities alike.",
}
