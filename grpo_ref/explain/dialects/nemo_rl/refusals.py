"""The checks of NeMo-RL's `setup`, loss and first step, and combinations of keys that no recipe here can express."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import NotExpressed, one_of
from grpo_ref.explain.dialects.nemo_rl.keys import SCORED

ESTIMATORS = ("grpo", "reinforce_plus_plus", "gdpo", "opd")
ALLOWED = {
    "adv_estimator.name": ESTIMATORS,
    "reference_policy_kl_type": ("k1", "k2", "k3"),
    "truncated_importance_sampling_type": (None, "tis", "icepop", "seq-mask-tis"),
}


def check(settings: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that NeMo-RL refuses, or that no recipe can express.

    Args:
      settings: every key with its value.
    """
    for key, values in ALLOWED.items():
        one_of(key, settings[key], dict.fromkeys(values))
    _check_loss(settings)
    _check_correction(settings)
    _check_rewards(settings)
    if settings["adv_estimator.name"] == "opd":
        _check_teacher(settings)
    _check_expressible(settings)


def _check_teacher(s: Mapping[str, Any]) -> None:
    """Refuse what `assert_prev_logprobs_available` refuses, and limits that are not symmetric."""
    if not s[SCORED]:
        one_of("adv_estimator.name", "opd", dict.fromkeys(ESTIMATORS[:-1]))
    placeholder = s["force_on_policy_ratio"] and s["seq_logprob_error_threshold"] is None
    _refuse(
        placeholder,
        "adv_estimator.name",
        "'opd' with force_on_policy_ratio and no seq_logprob_error_threshold",
    )
    low, high = s["advantage_clip_low"], s["advantage_clip_high"]
    if (low, high) != (None, None) and (low is None or high is None or low != -high):
        raise NotExpressed(
            "adv_estimator.name", "opd", "with limits of the advantages that are not symmetric"
        )


def check_run(s: Mapping[str, Any]) -> None:
    """Raise a ValueError for settings that stop a run of NeMo-RL but do not change the objective.

    Args:
      s: every key with its value.
    """
    _check_unread(s)
    _check_batch(s)
    _check_sampler(s)
    if s["async_grpo.enabled"]:
        _check_asynchronous(s)


def _check_loss(s: Mapping[str, Any]) -> None:
    whole, cispo = s["sequence_level_importance_ratios"], s["use_cispo"]
    _refuse(whole and s["token_level_loss"], "sequence_level_importance_ratios", "with token_level_loss")
    _refuse(cispo and s["disable_ppo_ratio"], "use_cispo", "with disable_ppo_ratio")
    _refuse(cispo and s["force_on_policy_ratio"], "use_cispo", "with force_on_policy_ratio")
    _refuse(cispo and whole, "use_cispo", "with sequence_level_importance_ratios")
    _refuse(cispo and s["ratio_clip_c"] is not None, "use_cispo", "with ratio_clip_c")
    _refuse(cispo and not s["token_level_loss"], "use_cispo", "without token_level_loss")
    dual = s["ratio_clip_c"]
    _refuse(dual is not None and not dual > 1.0, "ratio_clip_c", f"of at most 1, got {dual}")


def _check_correction(s: Mapping[str, Any]) -> None:
    """Repeat the checks of `ClippedPGLossFn.__init__`."""
    _cannot(
        s["use_on_policy_kl_approximation"] and not s[SCORED],
        "use_on_policy_kl_approximation",
        "Before 0.7 the penalty alone was weighed by the ratio to the sampler.",
    )
    kind, low = s["truncated_importance_sampling_type"], s["truncated_importance_sampling_ratio_min"]
    high, name = s["truncated_importance_sampling_ratio"], "truncated_importance_sampling_type"
    if not s["use_importance_sampling_correction"]:
        return
    if kind is None:
        _refuse(high is not None, "truncated_importance_sampling_ratio", f"without {name}")
        return
    _refuse(high is None or not high > 0.0, name, "without a positive truncated_importance_sampling_ratio")
    _refuse(low is not None and low > high, "truncated_importance_sampling_ratio_min", f"above {high}")
    _refuse(kind != "tis" and low is None, name, f"{kind!r} without truncated_importance_sampling_ratio_min")
    whole = s["sequence_level_importance_ratios"]
    _refuse(kind == "seq-mask-tis" and whole, name, f"{kind!r} with sequence_level_importance_ratios")


def _check_rewards(s: Mapping[str, Any]) -> None:
    """Repeat the checks of `apply_reward_shaping`."""
    if not s["reward_shaping.enabled"]:
        return
    share = s["reward_shaping.stop_properly_penalty_coef"]
    if share is not None:
        _refuse(not 0 <= share <= 1, "stop_properly_penalty_coef", f"outside 0 to 1, got {share}")
        return
    buffer, penalty = s["reward_shaping.overlong_buffer_length"], s["reward_shaping.overlong_buffer_penalty"]
    _refuse(not buffer, "reward_shaping", "without overlong_buffer_length or stop_properly_penalty_coef")
    _refuse(penalty is None or penalty < 0, "overlong_buffer_penalty", f"below 0, got {penalty}")


def _check_unread(s: Mapping[str, Any]) -> None:
    """Repeat the checks of `ClippedPGLossFn.__init__` for a correction that is off."""
    kind, high = s["truncated_importance_sampling_type"], s["truncated_importance_sampling_ratio"]
    name = "truncated_importance_sampling_type"
    if not s["use_importance_sampling_correction"]:
        _refuse(kind is not None, name, "without use_importance_sampling_correction")
        _refuse(high is not None, "truncated_importance_sampling_ratio", f"without {name}")


def _check_batch(s: Mapping[str, Any]) -> None:
    """Repeat the checks of `setup`, `run_grpo.py` and `dynamic_sampling`."""
    step = s["num_prompts_per_step"] * s["num_generations_per_prompt"]
    batch = s["policy.train_global_batch_size"]
    _refuse(
        s["force_on_policy_ratio"] and batch != step,
        "force_on_policy_ratio",
        f"unless policy.train_global_batch_size is the {step} completions of a step, got {batch}",
    )
    _refuse(
        s["batch_multiplier"] != 1 and not s["use_dynamic_sampling"],
        "batch_multiplier",
        "other than 1 without use_dynamic_sampling",
    )
    most = s["dynamic_sampling_max_gen_batches"]
    _refuse(s["use_dynamic_sampling"] and not most > 0, "dynamic_sampling_max_gen_batches", f"of {most}")
    coef = s["reference_policy_kl_penalty"]
    skips = s["skip_reference_policy_logprobs_calculation"]
    _refuse(skips and coef != 0, "skip_reference_policy_logprobs_calculation", "with a KL penalty")
    placeholder = s["force_on_policy_ratio"] and s["seq_logprob_error_threshold"] is None
    _refuse(
        s["use_kl_in_reward"] and coef != 0 and placeholder,
        "use_kl_in_reward",
        "with force_on_policy_ratio, which computes no old log-probabilities",
    )


def _check_sampler(s: Mapping[str, Any]) -> None:
    """Check the sampler's needs. With top_p or top_k, the ratio is of another distribution than the KL."""
    eight = s["policy.generation.vllm_cfg.precision"] == "fp8"
    corrects = s["use_importance_sampling_correction"]
    _refuse(eight and not corrects, "precision", '"fp8" without use_importance_sampling_correction')
    narrowed = s["policy.generation.top_p"] not in (None, 1) or s["policy.generation.top_k"] not in (None, -1)
    in_loss = s["reference_policy_kl_penalty"] != 0 and not s["use_kl_in_reward"]
    _cannot(
        narrowed and in_loss,
        "policy.generation.top_p and top_k with a KL penalty",
        "The ratio is taken of the narrowed distribution and the KL of the whole one.",
    )


def _check_asynchronous(s: Mapping[str, Any]) -> None:
    """Repeat the checks of `async_grpo_train`."""
    corrects = s["use_importance_sampling_correction"]
    _refuse(not corrects, "async_grpo", "without use_importance_sampling_correction")
    for key in ("use_dynamic_sampling", "reward_scaling.enabled", "reward_shaping.enabled"):
        _refuse(s[key], key, "with async_grpo")
    _refuse(s["data.use_multiple_dataloader"], "use_multiple_dataloader", "with async_grpo")


def _check_expressible(s: Mapping[str, Any]) -> None:
    """Refuse pairs of keys that no recipe can express together, although it can express each alone."""
    filters = s["use_dynamic_sampling"]
    _cannot(
        filters and (s["data_plane.enabled"] or s["filters_shaped_rewards"]) and s["reward_shaping.enabled"],
        "use_dynamic_sampling with reward_shaping, before 0.7 or with data_plane.enabled,",
        "The filter asks for the spread of the shaped rewards, and a filter here sees the verifier's.",
    )
    by_others = filters and s["use_leave_one_out_baseline"]
    penalized = s["adv_estimator.name"] == "reinforce_plus_plus" and s["use_kl_in_reward"]
    _cannot(
        by_others and penalized,
        "use_dynamic_sampling by the spread of the others with use_kl_in_reward",
        "The tokens would be compared only among the remaining completions.",
    )
    _cannot(
        by_others and s["seq_logprob_error_threshold"] is not None,
        "use_dynamic_sampling by the spread of the others with seq_logprob_error_threshold",
        "Completions would be excluded for two reasons, one of them before the advantages.",
    )
    _check_model(s)


def _check_model(s: Mapping[str, Any]) -> None:
    """Refuse losses that the model itself adds on Megatron."""
    if not s["policy.megatron_cfg.enabled"]:
        return
    balancing = s["policy.megatron_cfg.moe_router_load_balancing_type"]
    _cannot(
        balancing not in (None, "none"),
        f"policy.megatron_cfg.moe_router_load_balancing_type = {balancing!r}",
        "A loss that balances the experts of the model is added; it is not of the tokens.",
    )
    heads, weight = s["policy.megatron_cfg.mtp_num_layers"], s["policy.megatron_cfg.mtp_loss_scaling_factor"]
    _cannot(
        bool(heads) and bool(weight) and not s["policy.megatron_cfg.mtp_detach_heads"],
        "policy.megatron_cfg.mtp_loss_scaling_factor",
        "A loss of further heads, which predict several tokens at once, is added and trains the model too.",
    )


def _refuse(is_refused: bool, key: str, when: str) -> None:
    if is_refused:
        raise ValueError(f"{key}: NeMo-RL refuses this {when}")


def _cannot(is_so: bool, keys: str, why: str) -> None:
    if is_so:
        raise ValueError(f"nemo_rl: {keys} cannot be expressed here. {why}")
