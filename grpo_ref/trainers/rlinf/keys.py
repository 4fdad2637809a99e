"""The keys of the group `algorithm`, RLinf a3816b59 (August 2026), and the groups beside it."""

from typing import Any

from grpo_ref.trainers.dialect import BONUS, COMPLETIONS

DEFAULTS: dict[str, Any] = {
    "adv_type": "grpo",
    "loss_type": "actor",
    "loss_agg_func": "token-mean",
    "group_size": 16,
    "kl_beta": 0.0,
    "kl_penalty_type": "low_var_kl",
    "ratio_clip_eps": 0.2,
    "clip_ratio_low": None,
    "clip_ratio_high": None,
    "clip_ratio_c": None,
    "clip_log_ratio_min": None,
    "clip_log_ratio_max": None,
    "normalize_advantages": False,
    "early_stop_imp_ratio": None,
    "use_valid_token_scale": False,
    "importance_sampling_fix": False,
    "importance_sampling_clip": 10.0,
    "behave_weight_threshold": None,
    "calculate_entropy": False,
    "entropy_bonus": 0.0,
}
OTHERS = frozenset(
    """gamma gae_lambda lambda logprob_forward_micro_batch_size logprob_type n_minibatches recompute_logprobs
    reward_type reward_coef rollout_epoch shuffle_rollout training_batch_size_per_gpu update_epoch
    filter_rewards""".split()
)
IGNORED = frozenset(
    """actor cluster critic data env hydra inference reward rollout runner sampling_params length_params""".split()
)
CONCEPTS = {COMPLETIONS: "group_size", BONUS: "entropy_bonus"}
ABOUT = {
    "gamma": "This is the discount of rewards along the tokens.",
    "use_valid_token_scale": "This turns averages over micro-batches into the average over all tokens.",
}
