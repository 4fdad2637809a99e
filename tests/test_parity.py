"""Parity: losses, gradients and advantages equal what the production trainers computed, to 1e-6 relative.

Each row of a table rebuilds one recorded case from public parts; data/README.md says how they were recorded.
"""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from grpo_ref import (
    GRPO,
    absolute,
    batch_scaled,
    best_of_group,
    cispo,
    clipped,
    dual_clipped,
    fixed_length,
    group_centred,
    group_normalized,
    k1,
    k2,
    k3,
    kl_cov,
    leave_one_out,
    normalized_then_summed,
    open_instruct_kl,
    policy_loss,
    sapo,
    sequence_mean_level,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    slot,
    straight_through,
    token_mean,
    token_sum,
    weighted_k3,
)

RECORDED = json.loads((Path(__file__).parent / "data" / "trainers.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in RECORDED["cases"]}
INPUTS = {name: np.array(value) for name, value in RECORDED["inputs"].items()}
CLOSE = {"rtol": 1e-6, "atol": 1e-9}
SHAPE = (2, 3, 5)


def tokens(name):
    return INPUTS[name].reshape(SHAPE)


# ---- losses --------------------------------------------------------------------------------------

TRL = replace(GRPO, kl_coef=0.0)
TRL_DAPO = replace(TRL, aggregate=slot(token_mean))
CLIP_HIGHER = slot(clipped, clip_low=0.2, clip_high=0.28)
VERL = replace(TRL, surrogate=slot(dual_clipped, clip_low=0.2, clip_high=0.28), aggregate=slot(token_mean))
OPEN_INSTRUCT = replace(TRL_DAPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.272))


def open_instruct(estimator):
    return replace(OPEN_INSTRUCT, penalty=slot(open_instruct_kl, estimator=estimator), kl_coef=0.05)


RECIPES = {
    "trl_grpo_token": replace(TRL, surrogate=CLIP_HIGHER),
    "trl_bnpo_token": replace(TRL_DAPO, surrogate=CLIP_HIGHER),
    "trl_dapo_token": replace(TRL_DAPO, surrogate=CLIP_HIGHER),
    "trl_dr_grpo_token": replace(TRL, surrogate=CLIP_HIGHER, aggregate=slot(fixed_length)),
    "trl_grpo_sequence(GSPO)": replace(
        TRL, level=sequence_mean_level, surrogate=slot(clipped, clip_low=0.05, clip_high=0.08)
    ),
    "trl_grpo_kl_beta0.1_k3": replace(TRL, kl_coef=0.1),
    "trl_grpo_kl_beta0.1_biascorr": replace(TRL, penalty=slot(weighted_k3), kl_coef=0.1),
    "trl_grpo_emptyrow": TRL,
    "trl_dapo_emptyrow": TRL_DAPO,
    "trl_bnpo_emptyrow": TRL_DAPO,
    "trl_dr_grpo_emptyrow": replace(TRL, aggregate=slot(fixed_length)),
    "trl_grpo_onpolicy": TRL,
    "trl_dapo_onpolicy": TRL_DAPO,
    "trl_grpo_onpolicy_kl0.1": replace(TRL, kl_coef=0.1),
    "trl_grpo_onpolicy_kl0.1_biascorr": replace(TRL, penalty=slot(weighted_k3), kl_coef=0.1),
    "verl_vanilla_token-mean": VERL,
    "verl_vanilla_token-sum": replace(VERL, aggregate=slot(token_sum)),
    "verl_vanilla_seq-mean-token-sum": replace(
        VERL, aggregate=slot(sequence_mean_token_sum, count_empty=False)
    ),
    "verl_vanilla_seq-mean-token-mean": replace(
        VERL, aggregate=slot(sequence_mean_token_mean, count_empty=False)
    ),
    "verl_vanilla_seq-mean-token-sum-norm": replace(VERL, aggregate=slot(fixed_length, count_empty=False)),
    "verl_dual_clip_1.2": replace(
        VERL, surrogate=slot(dual_clipped, clip_low=0.2, clip_high=0.28, max_ratio=1.2)
    ),
    "verl_kl_cov": replace(VERL, surrogate=slot(kl_cov, share=0.2, coef=0.1)),
    "trl_cispo_token": replace(TRL_DAPO, surrogate=slot(cispo)),
    "trl_cispo_onpolicy": replace(TRL_DAPO, surrogate=slot(cispo)),
    "trl_cispo_eps_high_1.1": replace(TRL_DAPO, surrogate=slot(cispo, max_ratio=1.1)),
    "verl_cispo": replace(VERL, surrogate=slot(cispo, min_ratio=0.8, max_ratio=1.28)),
    "oi_cispo_nokl": replace(OPEN_INSTRUCT, surrogate=slot(cispo, max_ratio=1.272)),
    "trl_sapo_token": replace(TRL, surrogate=slot(sapo)),
    "trl_sapo_onpolicy": replace(TRL, surrogate=slot(sapo)),
    "verl_sapo": replace(
        VERL, surrogate=slot(sapo), aggregate=slot(sequence_mean_token_mean, count_empty=False)
    ),
    "oi_dapo_nokl": OPEN_INSTRUCT,
    **{f"oi_dapo_kl{estimator}": open_instruct(estimator) for estimator in range(4)},
}
RECIPES |= {f"{name}_emptyrow": RECIPES[name] for name in RECIPES if name.startswith("verl_vanilla")}
METRICS = {
    "clip_ratio/low_mean": lambda metrics: metrics["clip_low"],
    "clip_ratio/high_mean": lambda metrics: metrics["clip_high"],
    "clip_ratio/region_mean": lambda metrics: metrics["clip_low"] + metrics["clip_high"],
    "kl": lambda metrics: metrics["kl"],
}


def loss_of(case, recipe):
    """Left out where the trainer leaves it out: old log-probs on-policy, the reference without a penalty."""
    return policy_loss(
        tokens("logp"),
        INPUTS["advantages"].reshape(2, 3),
        tokens(case["mask"]),
        recipe=recipe,
        old_log_probs=None if "onpolicy" in case["id"] else tokens("old_logp"),
        ref_log_probs=tokens("ref_logp") if recipe.kl_coef else None,
        max_length=case["params"].get("max_completion_length"),
    )


@pytest.mark.parametrize("name", RECIPES)
def test_loss_and_gradient(name):
    case = CASES[name]
    result = loss_of(case, RECIPES[name])
    np.testing.assert_allclose(result.loss, case["loss"], **CLOSE)
    np.testing.assert_allclose(result.gradient, np.array(case["grad_logp"]).reshape(SHAPE), **CLOSE)


@pytest.mark.parametrize("name", [n for n in RECIPES if "clip_ratio/low_mean" in CASES[n]["metrics"]])
def test_metrics(name):
    """The trainer's own metrics, which it keeps in float32."""
    ours, theirs = loss_of(CASES[name], RECIPES[name]).metrics, CASES[name]["metrics"]
    compared = [key for key in METRICS if key in theirs]
    for key in compared:
        np.testing.assert_allclose(METRICS[key](ours), theirs[key], rtol=1e-6, atol=1e-8, err_msg=key)


# ---- penalties by themselves ---------------------------------------------------------------------

VERL_CLAMPS = {"max_log_ratio": 20.0, "max_value": 10.0}
PENALTIES = {
    "verl_kl_k1_tokenmean": k1,
    "verl_kl_abs_tokenmean": absolute,
    "verl_kl_k2_tokenmean": k2,
    "verl_kl_k3_tokenmean": partial(k3, **VERL_CLAMPS),
    "verl_kl_k1+_tokenmean": partial(straight_through, estimator=k1),
    "verl_kl_k3+_tokenmean": partial(straight_through, estimator=k3),
    "verl_kl_abs+_tokenmean": partial(straight_through, estimator=absolute),
}


@pytest.mark.parametrize("name", PENALTIES)
def test_penalty(name):
    case = CASES[name]
    term = PENALTIES[name](tokens("logp"), tokens("ref_logp"))
    weights = token_mean(tokens(case["mask"]))
    np.testing.assert_allclose((weights * term.value).sum(), case["loss"], **CLOSE)
    np.testing.assert_allclose(weights * term.direct, np.array(case["grad_logp"]).reshape(SHAPE), **CLOSE)


# ---- tensors -------------------------------------------------------------------------------------

GROUPED = INPUTS["rewards"].reshape(2, 3)
SUMMED = INPUTS["rewards_per_func"].sum(-1).reshape(2, 3)


def verl(advantages):
    """verl repeats the advantage on every token and clears the padding."""
    return np.asarray(advantages).reshape(6, 1) * INPUTS["mask"]


def all_open_instruct_estimates():
    log_ratio = INPUTS["logp"] - INPUTS["old_logp"]
    estimate = partial(open_instruct_kl, INPUTS["logp"], INPUTS["ref_logp"], log_ratio)
    return [estimate(estimator=estimator).value for estimator in range(4)]


TENSORS = {
    "trl_adv_group": lambda: group_normalized(SUMMED).reshape(-1),
    "trl_adv_batch": lambda: batch_scaled(SUMMED).reshape(-1),
    "trl_adv_none": lambda: group_centred(SUMMED).reshape(-1),
    "trl_adv_gdpo": lambda: normalized_then_summed(
        INPUTS["rewards_per_func"].reshape(2, 3, 2), np.array([1.0, 0.5])
    ).reshape(-1),
    "trl_adv_zero_std": lambda: group_normalized(np.array([[1.0] * 3, [0.3] * 3])).reshape(-1),
    "verl_adv_grpo": lambda: verl(group_normalized(GROUPED, eps=1e-6)),
    "verl_adv_grpo_vectorized": lambda: verl(group_normalized(GROUPED, eps=1e-6)),
    "verl_adv_grpo_nostd": lambda: verl(group_centred(GROUPED)),
    "verl_adv_grpo_passk": lambda: verl(best_of_group(GROUPED, eps=1e-6)),
    "verl_adv_grpo_singleton": lambda: verl(
        group_normalized(GROUPED.reshape(6, 1), eps=1e-6, keep_singletons=True)
    ),
    "verl_adv_rloo": lambda: verl(leave_one_out(GROUPED)),
    "verl_adv_rloo_vectorized": lambda: verl(leave_one_out(GROUPED)),
    "verl_kl_k3_clamp": lambda: (
        k3(np.array([-25.0, -5.0, -2.0, 0.0, 2.0, 5.0, 25.0]), np.zeros(7), **VERL_CLAMPS).value
    ),
    "oi_estimate_kl": all_open_instruct_estimates,
    "oi_adv_standard": lambda: group_normalized(GROUPED, ddof=0, eps=1e-8).reshape(-1),
    "oi_adv_centered": lambda: group_centred(GROUPED).reshape(-1),
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensor(name):
    np.testing.assert_allclose(TENSORS[name](), np.array(CASES[name]["value"]), **CLOSE)


def test_every_recorded_case_is_reproduced():
    assert set(CASES) == set(RECIPES) | set(PENALTIES) | set(TENSORS)
