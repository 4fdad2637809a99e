"""The checks of slime's parser, `slime_validate_args` and first steps, and functions that are unknown here."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import NotExpressed, one_of

KL_TYPES = ("k1", "k2", "k3", "low_var_kl")
LOSS = "slime.backends.megatron_utils.loss"
FILTERS = "slime.rollout.filter_hub.dynamic_sampling_filters"
MISMATCH = "examples.train_infer_mismatch_helper.mis.compute_mis_weights_with_cp"
KNOWN = {
    "custom_tis_function_path": (
        None,
        f"{LOSS}.vanilla_tis_function",
        f"{LOSS}.icepop_function",
        MISMATCH,
    ),
    "dynamic_sampling_filter_path": (None, f"{FILTERS}.check_reward_nonzero_std"),
}
"""Functions of slime that can be explained. None stands for the first one, or for no filter."""


def check(s: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that slime refuses, or for an unknown function.

    Args:
      s: every key with its value. slime's estimator "ppo" needs a critic, so no recipe here can express it.
    """
    one_of("advantage_estimator", s["advantage_estimator"], dict.fromkeys(s["estimators"]))
    for key, values in {"kl_loss_type": KL_TYPES, **KNOWN}.items():
        one_of(key, s[key], dict.fromkeys(values))
    _refuse(s["kl_coef"] != 0 and s["kl_loss_coef"] != 0, "kl_coef", "with kl_loss_coef")
    whitened = s["advantage_estimator"].startswith("reinforce") and not s["normalize_advantages"]
    _refuse(whitened, "advantage_estimator", f"{s['advantage_estimator']} without normalize_advantages")
    _refuse(s["use_rollout_logprobs"] and s["use_tis"], "use_rollout_logprobs", "with use_tis")
    if s["use_opd"] and (s["advantage_estimator"].startswith("reinforce") and s["kl_coef"] != 0):
        raise NotExpressed("use_opd", True, "with a KL in the advantages, which are standardized afterwards")
    if s["use_opd"] and s["advantage_estimator"] == "reinforce_plus_plus":
        raise NotExpressed(
            "use_opd", True, "with returns of reinforce_plus_plus, which are standardized afterwards"
        )
    dual = s["eps_clip_c"]
    low = dual is not None and not dual > 1.0 and s["advantage_estimator"] != "cispo"
    _refuse(low, "eps_clip_c", f"of at most 1, got {dual}")
    temperature = s["rollout_temperature"]
    _refuse(temperature <= 0, "rollout_temperature", f"of at most 0, got {temperature}")
    if s["custom_tis_function_path"] == MISMATCH and s["use_tis"]:
        _check_mismatch(s)


def bounds_of(s: Mapping[str, Any]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the windows of the weight and of the rejection. An omitted bound equals another one."""
    high, low = s["tis_upper_bound"], s["tis_lower_bound"]
    low = 1.0 / high if low is None else low
    reject = s["rs_lower_bound"], s["rs_upper_bound"]
    return (low, high), (low if reject[0] is None else reject[0], high if reject[1] is None else reject[1])


def _check_mismatch(s: Mapping[str, Any]) -> None:
    """Repeat the checks of `compute_mis_weights`."""
    levels = dict.fromkeys(("token", "sequence", "geometric"))
    one_of("tis_level", s["tis_level"], levels)
    one_of("rs_level", s["rs_level"], levels)
    one_of("tis_mode", s["tis_mode"], dict.fromkeys(("truncate", "clip", "mask")))
    window, rejection = bounds_of(s)
    _refuse(
        s["tis_mode"] != "truncate" and not window[0] < window[1], "tis_lower_bound", f"not below {window[1]}"
    )
    _refuse(s["use_rs"] and not rejection[0] < rejection[1], "rs_lower_bound", f"not below {rejection[1]}")
    normalized = s["tis_batch_normalize"] and s["tis_level"] == "geometric"
    _refuse(normalized, "tis_batch_normalize", "with tis_level geometric")
    if s["use_opsm"]:
        raise ValueError(
            "slime: use_opsm with compute_mis_weights_with_cp cannot be expressed here. One leaves tokens out of the"
            " surrogate alone, the other out of the penalty too."
        )


def check_run(s: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of slime but do not change the objective.

    Args:
      s: every key with its value.
    """
    measured = s["get_mismatch_metrics"] and s["custom_tis_function_path"] is None
    _refuse(measured, "get_mismatch_metrics", "without custom_tis_function_path")
    prompts, drawn = s["rollout_batch_size"], s["over_sampling_batch_size"]
    if prompts is None:
        return
    _refuse(drawn is not None and drawn < prompts, "over_sampling_batch_size", f"below {prompts}")
    steps, batch = s["num_steps_per_rollout"], s["global_batch_size"]
    if steps is not None and batch is not None:
        each = prompts * s["n_samples_per_prompt"] // steps
        _refuse(
            batch != each, "global_batch_size", f"unless it is {each}, a rollout by its steps; got {batch}"
        )


def _refuse(is_refused: bool, key: str, when: str) -> None:
    if is_refused:
        raise ValueError(f"{key}: slime refuses this {when}")
