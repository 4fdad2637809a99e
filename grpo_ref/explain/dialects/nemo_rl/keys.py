"""The keys of `run_grpo.py` at NeMo-RL 7ea279ab: its classes, and `examples/configs/grpo_math_1B.yaml`, which others start from."""

from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS

LOSS: dict[str, Any] = {
    "disable_ppo_ratio": False,
    "token_level_loss": True,
    "sequence_level_importance_ratios": False,
    "ratio_clip_min": 0.2,
    "ratio_clip_max": 0.2,
    "ratio_clip_c": None,
    "reference_policy_kl_penalty": 0.01,
    "reference_policy_kl_type": "k3",
    "kl_input_clamp_value": 20.0,
    "kl_output_clamp_value": 10.0,
    "use_kl_in_reward": False,
    "use_importance_sampling_correction": False,
    "truncated_importance_sampling_type": None,
    "truncated_importance_sampling_ratio": None,
    "truncated_importance_sampling_ratio_min": None,
    "use_on_policy_kl_approximation": False,
    "force_on_policy_ratio": False,
    "use_cispo": False,
    "positive_example_nll_weight": 0.0,
}
GRPO: dict[str, Any] = {
    "num_prompts_per_step": 32,
    "num_generations_per_prompt": 16,
    "normalize_rewards": True,
    "use_leave_one_out_baseline": True,
    "advantage_clip_low": None,
    "advantage_clip_high": None,
    "overlong_filtering": False,
    "use_dynamic_sampling": False,
    "dynamic_sampling_max_gen_batches": 10,
    "batch_multiplier": 1.0,
    "skip_reference_policy_logprobs_calculation": False,
    "seq_logprob_error_threshold": None,
}
NESTED: dict[str, Any] = {
    "adv_estimator.name": "grpo",
    "adv_estimator.normalize_rewards": None,
    "adv_estimator.use_leave_one_out_baseline": None,
    "adv_estimator.reward_weights": None,
    "adv_estimator.minus_baseline": True,
    "reward_scaling.enabled": False,
    "reward_scaling.source_min": 0.0,
    "reward_scaling.source_max": 1.0,
    "reward_scaling.target_min": 0.0,
    "reward_scaling.target_max": 1.0,
    "reward_shaping.enabled": False,
    "reward_shaping.overlong_buffer_length": 128,
    "reward_shaping.overlong_buffer_penalty": 1,
    "reward_shaping.max_response_length": None,
    "reward_shaping.stop_properly_penalty_coef": None,
    "async_grpo.enabled": False,
    "policy.train_global_batch_size": 512,
    "policy.max_total_sequence_length": 512,
    "policy.generation.top_p": 1.0,
    "policy.generation.top_k": None,
    "policy.generation.vllm_cfg.precision": "",
    "policy.megatron_cfg.enabled": False,
    "policy.megatron_cfg.mtp_num_layers": 0,
    "policy.megatron_cfg.mtp_loss_scaling_factor": 0.0,
    "policy.megatron_cfg.mtp_detach_heads": False,
    "policy.megatron_cfg.moe_router_load_balancing_type": "none",
    "data.use_multiple_dataloader": False,
    "data_plane.enabled": False,
}
"""Defaults of the nested keys.

As in the released configurations, None stands for the key of the same name in grpo (second and third key),
and for policy.max_total_sequence_length (longest response).
"""
SCORED = "is_scored"
"""Not a key: true if the penalty's slope includes the score of the sampled tokens, as from 0.7 on."""
DEFAULTS = LOSS | GRPO | NESTED | {SCORED: True}
OTHERS = frozenset(
    """defaults max_num_epochs max_num_steps max_rollout_turns val_period val_start_at val_batch_size val_at_start
    val_at_end max_val_samples val_num_generations_per_prompt stop_at_validation_metric
    stop_at_validation_threshold seed calculate_advantages_on_gpu deduplicate_multimodal_data
    debug_payload_metrics async_grpo data_plane zero_variance_prompt_filtering num_val_generations_per_prompt
    async_grpo.max_trajectory_age_steps async_grpo.max_generation_failures async_grpo.in_flight_weight_updates
    async_grpo.recompute_kv_cache_after_weight_updates reward_penalties.token_ids
    token_ids.unwanted token_ids.think_open token_ids.think_close policy.generation.temperature""".split()
)
_ZEROED = "The environment sets the reward of such completions to 0; rewards are what comes of it here."
_OVERWRITTEN = (
    "The advantages of flagged messages are overwritten; which ones these are only the environment knows."
)
BEYOND = {
    "invalid_tool_call_advantage": (None, _OVERWRITTEN),
    "malformed_thinking_advantage": (None, _OVERWRITTEN),
    "reward_penalties.penalize_duplicated_reasoning": (False, _ZEROED),
    "reward_penalties.penalize_empty_final_answer": (False, _ZEROED),
    "reward_penalties.penalize_unwanted_tokens": (False, _ZEROED),
    "reward_penalties.penalize_malformed_think_tag": (False, _ZEROED),
    "on_policy_distillation": (None, "The advantages come from a teacher, not from rewards."),
}
ALIASES: dict[str, str] = {}
GROUPS = frozenset(
    "loss_fn grpo adv_estimator reward_scaling reward_shaping async_grpo reward_penalties token_ids".split()
)
IGNORED = frozenset(
    "policy data env logger cluster checkpointing data_plane on_policy_distillation async_rl".split()
)
PLACES = dict.fromkeys(LOSS, "loss_fn") | dict.fromkeys(GRPO, "grpo")
CONCEPTS = {COMPLETIONS: "num_generations_per_prompt"}
_FOLLOWED = "The released configurations give this to adv_estimator, which is what is read."
_CHECKED = "This does not touch the objective; NeMo-RL refuses some combinations."
_OF_OTHERS = "This makes dynamic sampling judge each completion by the spread of the others."
ABOUT = {
    "defaults": "This is the configuration that the rest is put on top of; here it is grpo_math_1B.yaml.",
    "num_prompts_per_step": _CHECKED,
    "policy.train_global_batch_size": "The loss is averaged over this many completions, on all ranks together; with"
    " fewer than a step has, there are ratios to clip.",
    "policy.max_total_sequence_length": "This is the longest response where reward_shaping.max_response_length is not set.",
    "normalize_rewards": _FOLLOWED,
    "use_leave_one_out_baseline": f"{_FOLLOWED} {_OF_OTHERS}",
    "adv_estimator.normalize_rewards": "This decides whether advantages are divided by the spread. The default is"
    " normalize_rewards of grpo.",
    "adv_estimator.use_leave_one_out_baseline": "This decides whether a completion is compared with the others alone."
    " The default is use_leave_one_out_baseline of grpo.",
    "batch_multiplier": "This is how many more prompts dynamic sampling draws at once.",
    "dynamic_sampling_max_gen_batches": "This is how often dynamic sampling draws before it gives up.",
    "skip_reference_policy_logprobs_calculation": _CHECKED,
    "async_grpo.enabled": _CHECKED,
    "data.use_multiple_dataloader": _CHECKED,
    "policy.generation.vllm_cfg.precision": _CHECKED,
    "data_plane.enabled": "Another loop runs, in which dynamic sampling asks for the spread of the shaped rewards.",
    "positive_example_nll_weight": "The loss asks the batch for rewards, which GRPO does not put there; PPO does.",
    "policy.generation.top_p": "The log-probabilities of the policy are those of the narrowed distribution.",
    "policy.generation.top_k": "The log-probabilities of the policy are those of the narrowed distribution.",
    "policy.generation.temperature": "This is the temperature of the policy, for sampling and for the"
    " log-probabilities alike.",
    "truncated_importance_sampling_ratio": "This is the upper bound of the ratio of learner to sampler.",
    "truncated_importance_sampling_ratio_min": "This is the lower bound of the ratio of learner to sampler.",
    "zero_variance_prompt_filtering": "No code of NeMo-RL reads this, and nothing says so.",
    "num_val_generations_per_prompt": "No code of NeMo-RL reads this, and nothing says so.",
}
