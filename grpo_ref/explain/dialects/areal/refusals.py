"""The checks of AReaL's configuration classes and first steps, and settings that cannot be expressed here."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import NotExpressed, one_of
from grpo_ref.explain.dialects.areal.keys import NORM, NOT_SET, REJECTION, weights_of_teacher
from grpo_ref.explain.dialects.common.refusals import expect

LEVELS = ("batch", "group", None)
METRICS = ("ratio", "kl_k1", "kl_k2", "kl_k3")
"""Metrics that the class accepts.

The loss also knows binary_kl, which gsm8k_kpop.yaml uses, but the class refuses it.
"""
HERE = "${gconfig.n_samples}"
"""The value that the YAML files give for a group's size."""


def group(settings: Mapping[str, Any], name: str, defaults: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the keys of a group with their defaults, or None if none is given.

    Args:
      settings: every key with its value.
      name: name of the group, "reward_norm", "adv_norm" or "rejection_sampling".
      defaults: default of each of its keys if the group is given.
    """
    told = {key: settings[f"{name}.{key}"] for key in defaults}
    if all(value == NOT_SET for value in told.values()):
        return None
    count = settings["gconfig.n_samples"]
    told = {key: count if value == HERE else value for key, value in told.items()}
    return {key: default if told[key] == NOT_SET else told[key] for key, default in defaults.items()}


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that AReaL refuses.

    Args:
      settings: every key with its value.

    AReaL `PPOActorConfig`, `NormConfig`, `RejectionSamplingConfig`, `PPOActor` and `grpo_loss_fn`.
    """
    one_of("kl_estimator", settings["kl_estimator"], dict.fromkeys(("k1", "k2", "k3")))
    one_of("importance_sampling_level", settings["importance_sampling_level"], {"token": 0, "sequence": 0})
    methods = dict.fromkeys(("recompute", "loglinear", "metrics", "reuse_train_logp"))
    one_of("prox_logp_method", settings["prox_logp_method"], methods)
    for name in ("reward_norm", "adv_norm"):
        _check_norm(name, group(settings, name, NORM))
    _check_rejection(group(settings, "rejection_sampling", REJECTION))
    _check_loss(settings)
    _check_length(settings)
    _check_teacher(settings)


def _check_teacher(settings: Mapping[str, Any]) -> None:
    """Refuse the mixtures of both losses that no recipe can express."""
    weights = weights_of_teacher(settings)
    if weights is None:
        return
    name, rewards = "teacher.rl_loss_weight", weights[0]
    if rewards not in (0.0, 1.0):
        raise NotExpressed(name, rewards, "the loss of a recipe has a weight of 1")
    if settings["m2_threshold"] is not None:
        raise NotExpressed(name, rewards, "with m2_threshold, which changes the tokens that a teacher judges")
    if rewards == 0.0 and settings["use_decoupled_loss"]:
        raise NotExpressed(name, rewards, "with use_decoupled_loss, whose ratio is to another policy")


def check_run(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of AReaL but do not change the objective.

    Args:
      settings: every key with its value.
    """
    single = settings["ppo_n_minibatches"] == 1 or settings["prox_logp_method"] == "reuse_train_logp"
    expect(
        single or not settings["enable_delta_weight_update"],
        "enable_delta_weight_update: AReaL refuses it with more than one mini-batch",
    )
    expect(settings["total_train_epochs"] > 0, "total_train_epochs: expected a number > 0")
    expect(
        not settings["log_agent_stats"] or bool(settings["log_agent_stats_keys"]),
        "log_agent_stats: only with log_agent_stats_keys",
    )


def _check_norm(name: str, norm: Mapping[str, Any] | None) -> None:
    if norm is None:
        return
    for key in ("mean_level", "std_level"):
        one_of(f"{name}.{key}", norm[key], dict.fromkeys(LEVELS))
    for key in ("mean_leave1out", "std_unbiased"):
        expect(isinstance(norm[key], bool), f"{name}.{key}: expected True or False, got {norm[key]!r}")
    by_group = "group" in (norm["mean_level"], norm["std_level"])
    size = norm["group_size"]
    expect(isinstance(size, int), f"{name}.group_size: expected a number, got {size!r}")
    expect(not by_group or size >= 1, f"{name}.group_size: expected at least 1, got {size}")


def _check_rejection(rejection: Mapping[str, Any] | None) -> None:
    if rejection is None:
        return
    name, told = "rejection_sampling", rejection
    one_of(f"{name}.level", told["level"], {"token": 0, "sequence": 0})
    one_of(f"{name}.action", told["action"], {"mask": 0, "clamp": 0})
    one_of(f"{name}.metric", told["metric"], dict.fromkeys(METRICS))
    one_of(f"{name}.agg", told["agg"], dict.fromkeys(("sum", "mean", "max")))
    lower, upper, is_ratio = told["lower"], told["upper"], told["metric"] == "ratio"
    expect(lower is None or lower <= upper, f"{name}.lower: expected at most upper, got {lower}")
    expect(not is_ratio or upper > 1.0, f"{name}.upper: AReaL refuses a ratio of at most 1, got {upper}")
    expect(
        not is_ratio or lower is None or lower > 0.0, f"{name}.lower: AReaL refuses a ratio of 0, got {lower}"
    )
    expect(
        upper > 0.0 or told["metric"] not in ("kl_k2", "kl_k3"),
        f"{name}.upper: AReaL refuses a KL of at most 0, got {upper}",
    )
    expect(
        is_ratio or told["action"] == "mask",
        f"{name}.action: AReaL refuses to clamp by {told['metric']}",
    )


def _check_loss(settings: Mapping[str, Any]) -> None:
    soft, apart = settings["use_sapo_loss"], settings["use_decoupled_loss"]
    expect(not (soft and apart), "use_sapo_loss: AReaL refuses it with use_decoupled_loss")
    taus = (settings["sapo_tau_pos"], settings["sapo_tau_neg"])
    expect(not soft or min(taus) > 0.0, f"sapo_tau_pos, sapo_tau_neg: expected numbers > 0, got {taus}")
    cap, moment = settings["c_clip"], settings["m2_threshold"]
    expect(cap is None or soft or cap > 1.0, f"c_clip: expected a number > 1, got {cap}")
    _check_cispo(settings)
    if moment is not None and moment <= 0.0:
        raise ValueError(
            f"m2_threshold = {moment} cannot be expressed here. All tokens but one are excluded, and the order"
            " of equal numbers may decide which one stays."
        )
    if apart and settings["prox_logp_method"] == "loglinear":
        raise ValueError(
            "prox_logp_method = 'loglinear' cannot be expressed here. The ratio is taken to a guess between the"
            " sampler and the learner, which depends on how many steps ago each token was sampled."
        )


def _check_cispo(settings: Mapping[str, Any]) -> None:
    if not settings["use_cispo_loss"]:
        return
    high = settings["eps_clip_higher"]
    expect(not settings["use_sapo_loss"], "use_cispo_loss: AReaL refuses it with use_sapo_loss")
    expect(
        settings["importance_sampling_level"] == "token",
        "use_cispo_loss: AReaL refuses it with importance_sampling_level='sequence'",
    )
    expect(high is not None and high > 0.0, f"eps_clip_higher: AReaL refuses CISPO with {high}")


def _check_length(settings: Mapping[str, Any]) -> None:
    if settings["overlong_reward_penalty"]:
        tail, factor = settings["overlong_tokens"], settings["overlong_penalty_factor"]
        expect(tail is not None and tail > 0, f"overlong_tokens: expected a number > 0, got {tail}")
        expect(factor is not None, "overlong_penalty_factor: expected a number, got None")
