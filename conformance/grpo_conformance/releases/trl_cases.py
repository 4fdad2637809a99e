"""Configurations of TRL: name -> keys of GRPOConfig.

A case sets the keys that its name says. All other keys have the values of `PINS`, so a changed default is not
seen as a changed behaviour. The cases named `as_is` set nothing else, and see the defaults. Keys with an
underscore are for the runner.
"""

from typing import Any

Keys = dict[str, Any]

PINS: Keys = {
    "beta": 0.0,
    "epsilon": 0.2,
    "epsilon_high": None,
    "delta": None,
    "num_iterations": 1,
    "temperature": 1.0,
    "scale_rewards": True,
    "mask_truncated_completions": False,
    "importance_sampling_level": "token",
    "vllm_importance_sampling_correction": False,
    "vllm_importance_sampling_mode": "token_truncate",
    "vllm_importance_sampling_cap": 2.0,
    "vllm_importance_sampling_clip_max": 2.0,
    "shuffle_dataset": False,
    "max_prompt_length": None,
    "top_entropy_quantile": 1.0,
    "use_liger_loss": False,
    "use_liger_kernel": False,
    "off_policy_mask_threshold": None,
    "use_bias_correction_kl": False,
    "multi_objective_aggregation": "sum_then_normalize",
    "entropy_coef": 0.0,
    "loss_type": "grpo",
    "cast_lm_head_to_fp32": False,
    "sync_ref_model": False,
}
FIXED: Keys = {"num_generations": 4, "max_completion_length": 8}
LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "cispo", "luspo", "sapo", "vespo")

# How one batch of 12 completions becomes optimizer steps.
ONE_STEP = {"per_device_train_batch_size": 12, "gradient_accumulation_steps": 1}
ACCUMULATE = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 3}
THREE_STEPS = {**ACCUMULATE, "gradient_accumulation_steps": 1, "steps_per_generation": 3}
THREE_OF_TWO = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, "steps_per_generation": 6}
TWO_GENERATIONS = {**ACCUMULATE, "gradient_accumulation_steps": 6, "steps_per_generation": 3, "_prompts": 6}
# With a second iteration a release computes the old log-probabilities, so the ratio is not 1.
TWICE = {"num_iterations": 2, **ONE_STEP}
VLLM = {"_vllm": True, "vllm_importance_sampling_correction": True}
MODES = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
AS_IS = {"_pins": False}


def make_cases() -> dict[str, Keys]:
    """Return all cases."""
    cases: dict[str, Keys] = {
        "as_is": {**AS_IS, **ONE_STEP},
        "as_is_acc": {**AS_IS, **ACCUMULATE},
        "as_is_spg": {**AS_IS, **THREE_STEPS},
        "as_is_off": {**AS_IS, **TWICE},
        "as_is_vllm": {**AS_IS, "_vllm": True, **TWICE},
        "as_is_length": {**AS_IS, "loss_type": "dr_grpo", "_max_completion_length": False, **ONE_STEP},
        "as_is_trunc": {**AS_IS, "mask_truncated_completions": True, **ACCUMULATE},
        "as_is_kl": {**AS_IS, "beta": 0.04, **ONE_STEP},
        "as_is_seq": {**AS_IS, "importance_sampling_level": "sequence", **TWICE},
        "as_is_two_rewards": {**AS_IS, "_functions": 2, **ONE_STEP},
        "plain": {**ONE_STEP},
        "acc": {**ACCUMULATE},
        "off": {**TWICE},
        "kl": {"beta": 0.04, **ONE_STEP},
        "kl_off": {"beta": 0.04, **TWICE},
        # Each of these needs no other key that is new in the same release.
        "temperature_on": {"temperature": 0.7, **ONE_STEP},
        "temperature": {"temperature": 0.7, **TWICE},
        "epsilon_off": {"epsilon": 0.1, **TWICE},
        "epsilon_spg": {"epsilon": 0.1, **THREE_STEPS},
        "iterations_acc": {"num_iterations": 2, **ACCUMULATE},
        "delta_on": {"delta": 0.5, **ONE_STEP},
        "trunc_on": {"mask_truncated_completions": True, **ONE_STEP},
        "biaskl_on": {"use_bias_correction_kl": True, "beta": 0.04, **ONE_STEP},
        "offmask_on": {"off_policy_mask_threshold": 0.05, **ONE_STEP},
        "max_len": {"loss_type": "dr_grpo", "max_completion_length": 16, **ONE_STEP},
    }
    for loss in LOSSES:
        cases[f"as_is_{loss}"] = {**AS_IS, "loss_type": loss, **ONE_STEP}
        of_loss: dict[str, Keys] = {
            "": TWICE,
            "on": ONE_STEP,
            "kl": {"beta": 0.04, **TWICE},
            "acc": ACCUMULATE,
            "spg": THREE_STEPS,
            "spgacc": THREE_OF_TWO,
            "gasbig": TWO_GENERATIONS,
            "trunc": {"mask_truncated_completions": True, **TWICE},
            "truncacc": {"mask_truncated_completions": True, **ACCUMULATE},
            "seq": {"importance_sampling_level": "sequence", **TWICE},
            "seq_on": {"importance_sampling_level": "sequence", **ONE_STEP},
            "seqkl": {"importance_sampling_level": "sequence", "beta": 0.04, **TWICE},
            "high": {"epsilon_high": 0.28, **TWICE},
            "entropy": {"top_entropy_quantile": 0.5, **TWICE},
            "bonus": {"entropy_coef": 0.02, **ONE_STEP},
            "bonus_acc": {"entropy_coef": 0.02, **ACCUMULATE},
            "vllm": {**VLLM, **TWICE},
            "extreme": {"_tables": "extreme", **TWICE},
            "far": {"_tables": "far", **TWICE},
            "holes": {"_holes": True, **TWICE},
            "holes_acc": {"_holes": True, **ACCUMULATE},
        }
        cases |= {f"{loss}_{name}".rstrip("_"): {"loss_type": loss, **keys} for name, keys in of_loss.items()}
    for loss in ("grpo", "dapo"):
        sequence = {"importance_sampling_level": "sequence"}
        entropy = {"top_entropy_quantile": 0.5}
        vllm = {**VLLM, **TWICE}
        of_loss = {
            "delta": {"delta": 1.3, **TWICE},
            "delta_seq": {"delta": 1.3, **sequence, **TWICE},
            "delta_extreme": {"delta": 1.3, "_tables": "extreme", **TWICE},
            "seq_extreme": {**sequence, "_tables": "extreme", **TWICE},
            "kl_extreme": {"beta": 0.04, "_tables": "extreme", **TWICE},
            "holes_seq": {"_holes": True, **sequence, **TWICE},
            "holes_trunc": {"_holes": True, "mask_truncated_completions": True, **TWICE},
            "holes_entropy": {"_holes": True, **entropy, **TWICE},
            "entropy_on": {**entropy, **ONE_STEP},
            "entropy_trunc": {**entropy, "mask_truncated_completions": True, **TWICE},
            "entropy_kl": {**entropy, "beta": 0.04, **TWICE},
            "biaskl": {"use_bias_correction_kl": True, "beta": 0.04, **TWICE},
            "offmask": {"off_policy_mask_threshold": 0.05, **TWICE},
            "liger": {"use_liger_loss": True, **TWICE},
            "vllm_on": {**VLLM, **ONE_STEP},
            "vllm_spg": {**VLLM, **THREE_STEPS},
            "vllm_acc": {**VLLM, **ACCUMULATE},
            "vllm_trunc": {"mask_truncated_completions": True, **vllm},
            "vllm_holes": {"_holes": True, **vllm},
            "vllm_extreme": {"_tables": "extreme", **vllm},
            "vllm_nan": {"_tables": "nan", **vllm},
            "vllm_none": {"_tables": "nan", "_none": True, **vllm},
            "vllm_none_off": {
                "_tables": "nan",
                "_none": True,
                "_vllm": True,
                "vllm_importance_sampling_correction": False,
                **TWICE,
            },
            "vllm_offmask": {"_vllm": True, "off_policy_mask_threshold": 0.05, **TWICE},
            "vllm_nan_offmask": {"_tables": "nan", "_vllm": True, "off_policy_mask_threshold": 0.05, **TWICE},
        }
        for mode in MODES:
            of_mode = {"vllm_importance_sampling_mode": mode, "vllm_importance_sampling_cap": 1.3, **vllm}
            of_loss[f"vllm_{mode}"] = of_mode
        of_loss["vllm_nan_sequence_mask"] = {**of_loss["vllm_sequence_mask"], "_tables": "nan"}
        cases |= {f"{loss}_{name}": {"loss_type": loss, **keys} for name, keys in of_loss.items()}
    cases |= {
        "sapo_temperatures": {
            "loss_type": "sapo",
            "sapo_temperature_pos": 2.0,
            "sapo_temperature_neg": 3.0,
            **TWICE,
        },
        "cispo_high_5": {"loss_type": "cispo", "epsilon_high": 5.0, **TWICE},
        "vespo_k": {"loss_type": "vespo", "vespo_k_pos": 1.0, "vespo_lambda_pos": 2.0, **TWICE},
        "vespo_vllm_nan": {"loss_type": "vespo", "_tables": "nan", **VLLM, **TWICE},
        "vespo_vllm_trunc": {"loss_type": "vespo", "mask_truncated_completions": True, **VLLM, **TWICE},
        "clip_min_vllm": {"vllm_importance_sampling_clip_min": 0.8, **VLLM, **TWICE},
        "adaptive_bonus": {
            "use_adaptive_entropy": True,
            "entropy_coef": 0.02,
            "entropy_target": 100.0,
            **ACCUMULATE,
        },
        "entropy_bonus": {"entropy_coef": 0.02, "top_entropy_quantile": 0.5, **TWICE},
        "dapo_iterations_acc": {"loss_type": "dapo", "num_iterations": 2, **ACCUMULATE},
        "dapo_spg_trunc": {"loss_type": "dapo", "mask_truncated_completions": True, **THREE_STEPS},
    }
    for name, value in {
        "true": True,
        "false": False,
        "group": "group",
        "batch": "batch",
        "none": "none",
    }.items():
        cases[f"scale_{name}"] = {"scale_rewards": value, **ONE_STEP}
        cases[f"scale_{name}_acc"] = {"scale_rewards": value, **ACCUMULATE}
    two = {"_functions": 2, "reward_weights": [1.0, 0.5], **ONE_STEP}
    normalized = {**two, "multi_objective_aggregation": "normalize_then_sum"}
    cases |= {
        "two_rewards": two,
        "two_rewards_none": {**two, "_unscored": True},
        "two_rewards_unweighted": {"_functions": 2, **ONE_STEP},
        "two_rewards_norm": normalized,
        "two_rewards_none_norm": {**normalized, "_unscored": True},
        "two_rewards_batch": {**two, "scale_rewards": "batch"},
        "two_rewards_norm_batch": {**normalized, "scale_rewards": "batch"},
        "two_rewards_norm_false": {**normalized, "scale_rewards": False},
        "two_rewards_none_batch": {**two, "_unscored": True, "scale_rewards": "batch"},
        "group_unscored": {**two, "_unscored": "group"},
    }
    return cases


CASES = make_cases()


def described(name: str) -> dict[str, Any]:
    """Describe a case for the stored file.

    Args:
      name: name of the case.

    Returns:
      "keys" of GRPOConfig, all those that were set; "own", those that the case is about; "scripted", further orders to the runner; "on", the variant of
      the batches; "steps" of the optimizer on one batch, and "micro_batches" of one step.
    """
    case = CASES[name]
    given = {key: value for key, value in case.items() if not key.startswith("_")}
    keys = {**FIXED, **(PINS if case.get("_pins", True) else {}), **given}
    if not case.get("_max_completion_length", True):
        del keys["max_completion_length"]
    accumulated = given["gradient_accumulation_steps"]
    cut = max(1, given.get("steps_per_generation", accumulated) // accumulated)
    return {
        "keys": keys,
        "own": list(given),
        "scripted": {key[1:]: value for key, value in case.items() if key.startswith("_")},
        "on": variant(case),
        "steps": given.get("num_iterations", 1) * cut,
        "micro_batches": accumulated,
    }


def variant(case: Keys) -> str:
    """Return the variant of the batches that a case runs on, as `scripted.variants` names it."""
    if unscored := case.get("_unscored"):
        return "unscored_group" if unscored == "group" else "unscored"
    if case.get("_functions", 1) == 2:
        return "two_rewards"
    tables = case.get("_tables", "")
    return tables or ("holes" if case.get("_holes") else "plain")
