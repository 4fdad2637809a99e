"""The checks of EasyR1, at the start or in the first step."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.dialects.common.refusals import expect

AVERAGES = ("token", "seq")
KL_TYPES = ("fixed", "adaptive")
IN_GROUPS = ("grpo", "rloo", "grpo_passk")
"""Estimators that compare the completions of a group, which must have at least two."""
BEYOND_ESTIMATORS = {
    "gae": "it needs a critic's values",
}
"""Values of `adv_estimator` that EasyR1 has and that cannot be expressed here, with the reason."""


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that EasyR1 refuses, or that no recipe can express.

    Args:
      settings: every key with its value.

    EasyR1 `RayPPOTrainer.__init__`, `FSDPWorker._init_dist_mesh` and `core_algos.py`.
    """
    one_of("loss_avg_mode", settings["loss_avg_mode"], dict.fromkeys(AVERAGES))
    _check_estimator(settings)
    _check_clips(settings)
    if not settings["disable_kl"]:
        _check_kl(settings)


def check_run(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of EasyR1 but do not change the objective.

    Args:
      settings: every key with its value.
    """
    _check_batches(settings)
    _check_workers(settings)


def _check_estimator(settings: Mapping[str, Any]) -> None:
    estimator = settings["adv_estimator"]
    told = BEYOND_ESTIMATORS.get(estimator, "")
    expect(not told, f"adv_estimator: {estimator} cannot be expressed here, {told}")
    for key in ("adv_estimator", "loss_type"):
        is_early = settings[key] in settings["not_yet"]
        expect(not is_early, f"{key}: this version of EasyR1 has no {settings[key]} that works")
    expect(
        estimator not in IN_GROUPS or settings["rollout.n"] > 1,
        f"rollout.n: EasyR1 refuses groups of fewer than 2 for {estimator}, got {settings['rollout.n']}",
    )


def _check_clips(settings: Mapping[str, Any]) -> None:
    """Check that each bound of the ratio is above 0, because its logarithm is used. sapo has no bound."""
    if settings["loss_type"] == "sapo":
        return
    low, high, dual = (settings[f"clip_ratio_{name}"] for name in ("low", "high", "dual"))
    expect(
        0.0 <= low <= 1.0,
        f"clip_ratio_low: the loss takes the logarithm of 1 - clip_ratio_low; expected 0 to 1, got {low}",
    )
    expect(high >= 0.0, f"clip_ratio_high: expected a number >= 0, got {high}")
    expect(
        dual is None or dual > 1.0 or settings["loss_type"] == "cispo",
        "clip_ratio_dual: a bound of 1 or less cannot be expressed here; it would hold every bad token. Got"
        f" {dual}",
    )


def _check_kl(settings: Mapping[str, Any]) -> None:
    one_of("kl_type", settings["kl_type"], dict.fromkeys(KL_TYPES))
    if settings["kl_type"] == "fixed":
        return
    horizon = settings["kl_horizon"]
    expect(horizon > 0, f"kl_horizon: expected a number > 0, got {horizon}")
    expect(
        settings["use_kl_loss"] or settings["kl_coef"] == 0.0,
        "kl_type: adaptive cannot be expressed here. The weight of the penalty in the reward would follow"
        " the KL while the policy trains; here it is a constant.",
    )


def _check_batches(settings: Mapping[str, Any]) -> None:
    prompts, update = settings["data.rollout_batch_size"], settings["global_batch_size"]
    expect(
        prompts % update == 0,
        f"data.rollout_batch_size: expected a multiple of global_batch_size {update}, got {prompts}",
    )
    completions = prompts * settings["rollout.n"]
    size = settings["micro_batch_size_per_device_for_experience"]
    expect(
        completions % size == 0,
        f"micro_batch_size_per_device_for_experience: {completions} completions are not a multiple of {size}",
    )


def _check_workers(settings: Mapping[str, Any]) -> None:
    """Check settings that do not affect the objective but would stop a run."""
    expect(settings["worker.hybrid_engine"], "worker.hybrid_engine: EasyR1 has no other engine")
    gpus = settings["trainer.nnodes"] * settings["trainer.n_gpus_per_node"]
    share = gpus // settings["ulysses_size"]
    expect(share > 0, f"ulysses_size: expected at most the number of GPUs, {gpus}")
    each = settings["global_batch_size"] * settings["rollout.n"] // share
    expect(each > 0, f"global_batch_size: an update has fewer completions than there are GPUs, {gpus}")
    size = settings["micro_batch_size_per_device_for_update"]
    expect(
        each % size == 0,
        f"micro_batch_size_per_device_for_update: {each} completions per device are not a multiple of {size}",
    )
    expect(
        not settings["actor.fsdp.enable_cpu_offload"] or each == size,
        "actor.fsdp.enable_cpu_offload: not with more than one micro-batch per update",
    )
    parallel = settings["rollout.tensor_parallel_size"]
    expect(
        gpus % parallel == 0, f"rollout.tensor_parallel_size: {gpus} GPUs are not a multiple of {parallel}"
    )
