"""The keys of ROLL's RLVR pipeline, 8eb27cc2: `RLVRConfig` and the classes below it.

Keys inside the part of a worker, such as `actor_train`, are ignored except for a few that change the
objective. tests/data/record/keys_roll.py compares all.
"""

UNREAD = frozenset(
    """add_len_reward balance_length l2 mask_type minibatch_data_iter_num postive_loss_coef use_policy_loss_type
    use_reward_norm use_reward_scaling use_topr_loss use_topr_neg_loss_coef""".split()
)
"""Fields of `RLVRConfig` that nothing reads."""
DROPPED = frozenset(
    """cispo_epsilon_high cispo_epsilon_low cispo_use_unified_mask kimi15_tau tis_lower_bound tis_upper_bound
    actor_train.cispo_epsilon_high actor_train.cispo_epsilon_low actor_train.cispo_use_unified_mask
    actor_train.kimi15_tau actor_train.tis_lower_bound actor_train.tis_upper_bound pg_variant
    topr_negative_weight topr_positive_weight use_additional_prompts reward_system_config interleave_probs positive_loss_coef token_level_loss div_std_global""".split()
)
"""Keys in ROLL's pages and examples that no class has. ROLL drops them without a message."""
