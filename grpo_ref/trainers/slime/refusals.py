"""What slime's parser, `slime_validate_args` and the first steps refuse, and functions that nothing here knows."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.trainers.dialect import one_of

ALLOWED = {
    "advantage_estimator": ("grpo", "gspo", "cispo", "reinforce_plus_plus", "reinforce_plus_plus_baseline"),
    "kl_loss_type": ("k1", "k2", "k3", "low_var_kl"),
}
"""ppo, which needs a critic, is the one value that slime takes and no recipe here can express."""
LOSS = "slime.backends.megatron_utils.loss"
FILTERS = "slime.rollout.filter_hub.dynamic_sampling_filters"
KNOWN = {
    "custom_tis_function_path": (None, f"{LOSS}.vanilla_tis_function", f"{LOSS}.icepop_function"),
    "dynamic_sampling_filter_path": (None, f"{FILTERS}.check_reward_nonzero_std"),
}
"""The functions of slime itself that can be told; None is the first one, or no filter."""


def check(s: Mapping[str, Any]) -> None:
    """Raise a ValueError for what slime refuses, or a function that is not known.

    Args:
      s: every key with its value.
    """
    for key, values in ALLOWED.items():
        one_of(key, s[key], dict.fromkeys(values))
    for key, paths in KNOWN.items():
        if s[key] not in paths:
            raise ValueError(f"slime: {key} = {s[key]!r} cannot be expressed here; known is {paths[1:]}")
    _refuse(s["kl_coef"] != 0 and s["kl_loss_coef"] != 0, "kl_coef", "with kl_loss_coef")
    whitened = s["advantage_estimator"].startswith("reinforce") and not s["normalize_advantages"]
    _refuse(whitened, "advantage_estimator", f"{s['advantage_estimator']} without normalize_advantages")
    _refuse(s["use_rollout_logprobs"] and s["use_tis"], "use_rollout_logprobs", "with use_tis")
    measured = s["get_mismatch_metrics"] and s["custom_tis_function_path"] is None
    _refuse(measured, "get_mismatch_metrics", "without custom_tis_function_path")
    dual = s["eps_clip_c"]
    low = dual is not None and not dual > 1.0 and s["advantage_estimator"] != "cispo"
    _refuse(low, "eps_clip_c", f"of at most 1, got {dual}")
    temperature = s["rollout_temperature"]
    _refuse(temperature <= 0, "rollout_temperature", f"of at most 0, got {temperature}")
    _check_sizes(s)


def _check_sizes(s: Mapping[str, Any]) -> None:
    """How many completions a rollout has, and a step."""
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
