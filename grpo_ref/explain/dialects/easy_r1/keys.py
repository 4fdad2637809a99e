"""The keys of EasyR1 b44b311b (July 2026): the fields of `PPOConfig`, with their groups."""

from typing import Any

ACTOR = "worker.actor"
BY_PLACE: dict[str, dict[str, Any]] = {
    "algorithm": {
        "adv_estimator": "grpo",
        "gamma": 1.0,
        "disable_kl": False,
        "use_kl_loss": False,
        "kl_penalty": "kl",
        "kl_coef": 1e-3,
        "kl_type": "fixed",
        "kl_horizon": 10000.0,
        "online_filtering": False,
        "filter_key": "overall",
        "filter_low": 0.01,
        "filter_high": 0.99,
    },
    ACTOR: {
        "loss_type": "default",
        "loss_avg_mode": "token",
        "actor.use_kl_loss": False,
        "clip_ratio_low": 0.2,
        "clip_ratio_high": 0.3,
        "clip_ratio_dual": 3.0,
        "tau_positive": 1.0,
        "tau_negative": 1.05,
        "ppo_epochs": 1,
        "global_batch_size": 256,
        "micro_batch_size_per_device_for_update": 4,
        "micro_batch_size_per_device_for_experience": 16,
        "ulysses_size": 1,
    },
    f"{ACTOR}.fsdp": {"actor.fsdp.enable_cpu_offload": False},
    "worker.rollout": {"rollout.n": 5, "rollout.tensor_parallel_size": 2},
    "worker": {"worker.hybrid_engine": True},
    "data": {"data.rollout_batch_size": 512},
    "trainer": {"trainer.nnodes": 1, "trainer.n_gpus_per_node": 8},
}
"""For each group path, its keys that change the objective or are checked. The default of rollout.n is 1."""
GONE: dict[str, Any] = {
    "clip_ratio": None,
    "entropy_coeff": 0.0,
    "kl_loss_coef": None,
    "kl_loss_type": None,
    "max_log_ratio": 20.0,
    "not_yet": (),
}
"""Keys and behaviour of other versions, with the value that is equivalent today.

The last two are not keys.
"""
DEFAULTS = {key: value for group in BY_PLACE.values() for key, value in group.items()} | GONE
SET_BY_ALGORITHM = ("disable_kl", "use_kl_loss", "kl_penalty", "kl_coef")
"""The actor's fields that `PPOConfig.post_init` overwrites with those of algorithm."""
