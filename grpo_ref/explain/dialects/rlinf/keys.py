"""The keys of the group `algorithm`, RLinf a3816b59 (August 2026), and the groups beside it.

RLinf has no default for most of its keys and refuses a file without them. The values here are those of most
of its files for language models. If an actor reads a key with a default, that default is used; for
`clip_ratio_c` it is FSDP's, because Megatron's default ends in an error.
"""

from typing import Any

from grpo_ref.explain.dialect import BONUS, COMPLETIONS

DEFAULTS: dict[str, Any] = {
    "actor.training_backend": "megatron",
    "runner.task_type": "reasoning",
    "critic.use_critic_model": False,
    "adv_type": "grpo",
    "loss_type": "actor",
    "loss_agg_func": "token-mean",
    "group_size": 16,
    "kl_beta": 0.0,
    "kl_penalty_type": "low_var_kl",
    "reinpp_kl_beta": 0.0,
    "use_reinpp_baseline": False,
    "ratio_clip_eps": 0.2,
    "clip_ratio_low": None,
    "clip_ratio_high": None,
    "clip_ratio_c": 3.0,
    "clip_log_ratio_min": None,
    "clip_log_ratio_max": None,
    "normalize_advantages": True,
    "early_stop_imp_ratio": None,
    "use_valid_token_scale": False,
    "training_batch_size_per_gpu": 1,
    "importance_sampling_fix": False,
    "importance_sampling_clip": 10.0,
    "behave_weight_threshold": None,
    "calculate_entropy": False,
    "entropy_bonus": 0.0,
}
ALIASES = {"training_backend": "actor.training_backend", "task_type": "runner.task_type"}
SWITCHES = {"entropy_bonus": "calculate_entropy"}
RULES = (
    "other rules than those for language models: log-probabilities of actions or of chunks of them, advantages per"
    " chunk, averages over episodes, and groups that are excluded by their mean reward."
)
EMBODIED = f"Only the actors of embodied tasks read it, which follow {RULES}"
OTHER_TASKS = {"embodied": f"Its actors follow {RULES}"}
NO_OBJECTIVE = "It is not reinforcement learning of a language model."
OF_OTHER_ACTORS = {
    "actor_critic": "it trains a critic as well",
    "opd": "it follows the log-probabilities of a teacher",
    "grpo_dynamic": "it compares the turns of several agents",
    "grpo_video": "it compares the frames of videos",
}
"""Losses and advantages of other actors, each with the feature that no recipe has."""
BEYOND: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("logprob_type", "reward_type", "entropy_type"), (None, EMBODIED)),
    "filter_rewards": (False, EMBODIED),
    "loss_scales": (None, "It weighs the turns of several agents, which share a reward."),
    "down_sampling.do_down_sampling": (
        False,
        "It draws some of the completions by their answers and errors.",
    ),
    "critic_warmup_steps": (0, "Until then the policy is not trained at all."),
}
OF_EMBODIED = frozenset(
    """advantage_mode bootstrap_type eval_rollout_epoch kl_penalty rewards_lower_bound rewards_upper_bound
    reward_coef rollout_epoch update_epoch recompute_v use_critic use_fixed_reset_state_ids
    use_value_loss""".split()
)
"""Keys read only by actors that `BEYOND` and the checks of loss and advantage refuse, or by no actor."""
OF_A_CRITIC = frozenset("gae_lambda lambda gamma huber_delta value_clip value_cliprange".split())
OF_OTHER_LOSSES = frozenset(
    """actor_agg_q actor_update_action_noise adv_clip_max agg_q backup_entropy bc_weight critic_actor_ratio
    critic_subsample_size dpo_beta dropout_rate enable_drq expectile hidden_dims nft_beta nft_clip_ratio
    nft_energy_reduction nft_gather_type nft_loss_form nft_target_space nft_tau nft_weight_mode nft_weight_scale
    nft_xcur_source num_updates_per_step q_head_type q_weight reference_dropout_prob target_entropy
    target_update_freq target_update_type tau temperature train_actor_steps""".split()
)
"""Keys of SAC, TD3, IQL, NFT and DAgger, whose loss types are refused."""
OF_THE_RUN = frozenset(
    """defaults eval logprob_forward_micro_batch_size n_minibatches recompute_logprobs shuffle_rollout
    max_num_gen_batches rollout_batch_size_per_gpu val_rollout_batch_size_per_gpu rollout_store_size_per_rank
    staleness_threshold entropy_op_type reward_fillna_value on_policy_min_ratio""".split()
)
OTHERS = OF_EMBODIED | OF_A_CRITIC | OF_OTHER_LOSSES | OF_THE_RUN
GROUPS = frozenset({"algorithm", "down_sampling"})
IGNORED = frozenset(
    """actor agentlightning agentloop cluster critic data env eval hydra inference reward rollout
    rollout_fixed_worker rollout_judge rollout_server router_server_args runner tools weight_syncer
    sampling_params length_params down_sampling_config replay_buffer demo_buffer entropy_tuning dagger
    rlt_schedule actor_weight_schedule""".split()
)
CONCEPTS = {COMPLETIONS: "group_size", BONUS: "entropy_bonus"}
ABOUT = {
    "gamma": "This is the discount of rewards along the tokens, which only a critic's advantages read.",
    "use_valid_token_scale": "This turns the mean over micro-batches into the mean over all tokens of the batch; only"
    " the Megatron actor reads it.",
    "n_minibatches": "This is the number of updates per batch, each with a part of it.",
    "actor.training_backend": "The two actors differ in their penalty, in what normalize_advantages does, and in the"
    " keys that they read.",
    "runner.task_type": "The decoupled loss is of embodied tasks, all the rest here of language models.",
    "calculate_entropy": "Without it there is no entropy and so no bonus for it.",
}
