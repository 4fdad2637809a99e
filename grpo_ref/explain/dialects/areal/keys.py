"""The configuration of AReaL cbff54d64 (August 2026), `PPOConfig`: the YAML of a run and its overrides."""

from collections.abc import Mapping
from typing import Any

NOT_SET = ""
"""Mark for a key of a group that may be absent. None is not the mark because it is a value of some keys."""
NORM = {
    "mean_level": "batch",
    "mean_leave1out": False,
    "std_level": "batch",
    "std_unbiased": True,
    "eps": 1e-5,
    "group_size": 1,
}
"""Defaults of the keys of a normalization that is given."""
REJECTION = {
    "level": "token",
    "action": "mask",
    "metric": "ratio",
    "agg": "mean",
    "upper": 5.0,
    "lower": None,
}
"""Defaults of the keys of rejection_sampling, if it is given."""
BUDGET = 1024
"""Default of the actor's max_new_tokens."""
OBJECTIVE: dict[str, Any] = {
    "eps_clip": 0.2,
    "eps_clip_higher": None,
    "c_clip": None,
    "m2_threshold": None,
    "importance_sampling_level": "token",
    "use_sapo_loss": False,
    "use_cispo_loss": False,
    "sapo_tau_pos": 1.0,
    "sapo_tau_neg": 1.05,
    "use_decoupled_loss": False,
    "prox_logp_method": "recompute",
    "kl_ctl": 0.1,
    "kl_estimator": "k1",
    "discount": 1.0,
    "gae_lambda": 1.0,
    "reward_bias": 0.0,
    "reward_scaling": 1.0,
    "reward_clip": 20.0,
    "overlong_reward_penalty": False,
    "overlong_tokens": None,
    "overlong_penalty_factor": None,
    "actor.max_new_tokens": None,
    "gconfig.max_new_tokens": 16384,
    "gconfig.n_samples": 1,
    "ref.backend": None,
    **{f"reward_norm.{name}": NOT_SET for name in NORM},
    **{f"adv_norm.{name}": NOT_SET for name in NORM},
    **{f"rejection_sampling.{name}": NOT_SET for name in REJECTION},
}
CHECKED: dict[str, Any] = {
    "recompute_logprob": False,
    "ppo_n_minibatches": 4,
    "enable_delta_weight_update": False,
    "log_agent_stats": False,
    "log_agent_stats_keys": [],
    "total_train_epochs": 1,
}
"""Keys that do not affect the objective, but are refused in some combinations."""
DEFAULTS = OBJECTIVE | CHECKED
TEACHER = ("rl_loss_weight", "distill_loss_weight", "engine_type", "path", "rollout.backend", "train.backend")
"""Keys of the section teacher. If one of them is given, there is a teacher."""


def weights_of_teacher(settings: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the weights of the rewards' loss and of the teacher's, or None if there is no teacher.

    Args:
      settings: every key with its value.
    """
    if all(settings[f"teacher.{key}"] is None for key in TEACHER):
        return None
    rewards, teacher = settings["teacher.rl_loss_weight"], settings["teacher.distill_loss_weight"]
    return 1.0 if rewards is None else rewards, 0.005 if teacher is None else teacher
