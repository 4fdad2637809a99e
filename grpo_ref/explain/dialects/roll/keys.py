"""The keys of ROLL's RLVR pipeline, 8eb27cc2: `RLVRConfig` and the classes below it.

Keys inside the part of a worker, such as `actor_train`, are ignored except for a few that change the
objective. tests/data/record/keys_roll.py compares all.
"""

import math
from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, PASSES

OBJECTIVE: dict[str, Any] = {
    "adv_estimator": "grpo",
    "norm_mean_type": None,
    "norm_std_type": None,
    "reward_clip": None,
    "add_token_level_kl": False,
    "kl_penalty": "kl",
    "init_kl_coef": 0.2,
    "whiten_rewards": False,
    "gamma": 1.0,
    "whiten_advantages": False,
    "advantage_clip": None,
    "importance_sampling": "token",
    "pg_clip": 0.2,
    "use_pg_clip_range": False,
    "pg_clip_low": 0.2,
    "pg_clip_high": 0.2,
    "dual_clip_loss": False,
    "actor_train.worker_cls": None,
    "actor_train.pg_variant": None,
    "train_infer_correction.is_weight.enabled": False,
    "train_infer_correction.is_weight.weight_type": "token",
    "train_infer_correction.is_weight.upper_bound": 1.2,
    "async_generation_ratio": 0.0,
    "actor_infer.generating_args.logprobs": 0,
    "length_loss_weight": False,
    "loss_agg_mode": "seq-mean-token-mean",
    "use_kl_loss": False,
    "kl_loss_coef": 0.0,
    "rl_loss_coef": 1.0,
    "entropy_loss_coef": 0.0,
    "enable_reference": False,
    "max_len_mask": False,
    "difficulty_mask": False,
    "difficulty_low_threshold": 0.0,
    "difficulty_high_threshold": 1.0,
    "error_max_len_clip": False,
    "error_max_len_threshold": 9999999999,
    "query_filter_config.type": "no_filter",
    "query_filter_config.filter_args.threshold_up": math.inf,
    "query_filter_config.filter_args.threshold_down": -1.0,
    "query_filter_config.filter_args.std_threshold": -1.0,
    "num_return_sequences_in_group": 8,
    "ppo_epochs": 1,
    "sequence_length": None,
    "response_length": None,
    "prompt_length": 1024,
}
CHECKED: dict[str, Any] = {
    "force_disable_old_logprobs_recompute": False,
    "generate_opt_level": 1,
    "val_prompt_length": None,
    "val_sequence_length": None,
    "profiler_timeline": False,
    "profiler_memory": False,
}
"""Keys that do not affect the objective, but are refused, or cause a warning, in some combinations."""
DEFAULTS = OBJECTIVE | CHECKED
UNREAD = frozenset(
    """add_len_reward balance_length l2 mask_type minibatch_data_iter_num postive_loss_coef use_policy_loss_type
    use_reward_norm use_reward_scaling use_topr_loss use_topr_neg_loss_coef""".split()
)
"""Fields of `RLVRConfig` that nothing reads."""
DROPPED = frozenset(
    """cispo_epsilon_high cispo_epsilon_low cispo_use_unified_mask kimi15_tau tis_lower_bound tis_upper_bound
    actor_train.cispo_epsilon_high actor_train.cispo_epsilon_low actor_train.cispo_use_unified_mask
    actor_train.kimi15_tau actor_train.tis_lower_bound actor_train.tis_upper_bound pg_variant
    topr_negative_weight topr_positive_weight use_additional_prompts reward_norm reward_scale reward_shift
    reward_system_config interleave_probs positive_loss_coef token_level_loss div_std_global""".split()
)
"""Keys in ROLL's pages and examples that no class has. ROLL drops them without a message."""
OTHERS = (
    frozenset(
        """base_dir checkpoint_config critic_warmup dataset_filter defaults enable_old_logprobs_recompute
        eval_steps exp_name global_template hydra is_num_return_sequences_expand
        is_offload_optimizer_states_in_train_step is_offload_states is_use_additional_prompts kl_horizon lambd
        length_profiler_dir local_rank logging_dir logging_steps lora_alpha lora_rank lora_target
        max_additional_running_prompts max_ckpt_to_keep max_grad_norm max_running_requests max_steps
        model_download_type model_update_buffer_size_mb num_gpus_per_node num_nodes offload_nccl
        otlp_output_dir output_dir pretrain profiler_output_dir pure_opd_pipeline_type
        report_length_and_rewards resume_from_checkpoint reward_pretrain rollout_batch_size rollout_dump_dir
        rollout_mock router_args rpc_timeout save_logging_board_dir save_steps seed student_infer
        student_train system_envs tag_to_template teacher track_with tracker_kwargs transfer_backend
        user_defined_rollout_loop_cls val_batch_size val_greedy val_n_sample value_clip actor_train
        actor_infer critic reference reward reward_model rewards validation train_infer_correction
        train_infer_correction.is_weight train_infer_correction.is_weight.detach query_filter_config
        query_filter_config.filter_args""".split()
    )
    | UNREAD
    | DROPPED
)
_TEACHER = "A teacher's log-probabilities would take part, which is another objective."
BEYOND: dict[str, tuple[Any, str]] = {
    "target_kl": (None, "The weight of the KL in the reward would follow the KL; here it is a constant."),
    "difficulty_loss_weight": (False, "A column of the data would weigh each completion."),
    "is_pure_opd": (False, _TEACHER),
    "use_opd": (False, _TEACHER),
    "train_infer_correction.filters": (
        [],
        "They take tokens out of the masks, of which the denominator and the sum do not always read the same one.",
    ),
    "actor_train.apply_loss_scale": (
        True,
        "Without it the loss is divided by the number of micro-batches and of processes.",
    ),
}
DOMAINS = frozenset(
    """code_sandbox crossthinkqa cv_detection detection ifeval llm_judge math math_rule multi_choice_boxed
    text_detection video_r1""".split()
)
"""Names of domains in ROLL's examples whose filters are read. Names of domains are arbitrary."""
GROUPS = frozenset({"train_infer_correction", "is_weight", "query_filter_config", "filter_args"}) | DOMAINS
IGNORED = frozenset(
    """actor_infer actor_train checkpoint_config critic dataset_filter generating_args hydra model_args
    reference reward reward_model reward_system_config rewards rollout_mock router_args strategy_args student_infer student_train
    system_envs tag_to_template teacher tracker_kwargs training_args transfer_backend validation""".split()
)
CONCEPTS = {
    COMPLETIONS: "num_return_sequences_in_group",
    PASSES: "ppo_epochs",
    BONUS: "entropy_loss_coef",
}
ABOUT = {
    **dict.fromkeys(CHECKED, "This does not touch the objective; ROLL refuses some combinations."),
    **dict.fromkeys(UNREAD, "Nothing in ROLL reads this."),
    **dict.fromkeys(DROPPED, "No class of ROLL has this key, so it is dropped without a word."),
    "adv_estimator": "This is the baseline; ROLL's own default is gae, which needs a critic.",
    "num_return_sequences_in_group": "This is the number of completions per prompt; ROLL's own default is 1, with"
    " which grpo is 0/0.",
    "norm_mean_type": "This is what is taken off the reward; grpo takes the group's mean whatever it is.",
    "norm_std_type": "This is what the reward is divided by; grpo takes the group's std whatever it is.",
    "init_kl_coef": "This is the weight of the KL in the reward; it counts with add_token_level_kl alone, and loads"
    " the reference all the same.",
    "kl_loss_coef": "This is the weight of the KL in the loss; it counts with use_kl_loss alone.",
    "enable_reference": "This loads the reference; use_kl_loss and init_kl_coef > 0 do so too.",
    "enable_old_logprobs_recompute": "This computes the old log-probabilities in a pass of their own; else they are"
    " those of the first forward pass.",
    "force_disable_old_logprobs_recompute": "The old log-probabilities are those of the first forward pass, so in a"
    " first pass over a batch every ratio is 1.",
    "lambd": "This is of gae alone, which needs a critic.",
    "value_clip": "This is of the critic alone.",
    "critic_warmup": "This is how many steps the policy waits for the critic.",
    "async_generation_ratio": "Above 0 the batches are drawn ahead, and the sampler's log-probabilities are kept.",
    "actor_infer.generating_args.logprobs": "With this the sampler's log-probabilities are kept.",
    "sequence_length": "This is the budget of prompt and completion; seq-mean-token-sum-norm divides by it, less 1.",
    "response_length": "This is the budget of the completion; sequence_length is that and prompt_length, if not set.",
    "prompt_length": "This is the budget of the prompt.",
    "actor_train.worker_cls": "This is the class that trains: ActorWorker, or ActorPGWorker, which reads pg_variant.",
    "query_filter_config.type": "This is the filter of the groups of a domain.",
}
