"""TRL: what its keys compute, and what it alone does."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from conformance.calls.trl import CALLS
from conformance.calls.trl_scores import scored_normalized, scored_sum
from conformance.metrics.trl import METRICS
from conformance.types import Measured
from grpo_ref import policy_loss, slot
from grpo_ref.aggregation import token_mean
from grpo_ref.corrections import truncated
from grpo_ref.explain.dialects import trl
from grpo_ref.explain.dialects.trl.kernels import (
    geometric_mean_of_kept,
    top_entropy_in_float32,
    vespo_in_limits,
    weighted_k3_beside,
)
from grpo_ref.explain.trap import sprung
from grpo_ref.levels import sequence_mean_level, sequence_sum_level

# configuration -> parts of the recipe, as text
PARTS = {
    "defaults": (
        {},
        {
            "advantage": "group_normalized(ddof=1, eps=0.0001)",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "kl_coef": "0.0",
            "aggregate": "token_mean",
        },
    ),
    "one epsilon for both sides": ({"epsilon": 0.1}, {"surrogate": "clipped(clip_low=0.1, clip_high=0.1)"}),
    "dr_grpo changes the denominator alone": (
        {"loss_type": "dr_grpo"},
        {"aggregate": "fixed_length", "advantage": "group_normalized(ddof=1, eps=0.0001)"},
    ),
    "cispo's cap falls back to epsilon": ({"loss_type": "cispo"}, {"surrogate": "cispo(max_ratio=0.2)"}),
    "vespo takes the sequence's sum": ({"loss_type": "vespo"}, {"level": "sequence_sum_level"}),
    "False is an old name of none": ({"scale_rewards": False}, {"advantage": "group_centered"}),
    "an old name of the cap": (
        {"use_vllm": True, "vllm_importance_sampling_cap": 5.0},
        {"corrections": "(masked(level=sequence_sum_level, min_ratio=0.0, max_ratio=5.0))"},
    ),
    "an old name that is not set": (
        {"use_vllm": True, "vllm_importance_sampling_cap": None},
        {"corrections": "(masked(level=sequence_sum_level, min_ratio=0.0, max_ratio=3.0))"},
    ),
    "an old name goes before the new one": (
        {"use_vllm": True, "vllm_importance_sampling_cap": 5.0, "vllm_importance_sampling_clip_max": 2.0},
        {"corrections": "(masked(level=sequence_sum_level, min_ratio=0.0, max_ratio=5.0))"},
    ),
    "no correction without vLLM": ({"vllm_importance_sampling_correction": True}, {"corrections": "()"}),
    "an epsilon from which on nothing is too low": (
        {"epsilon": 10.0, "loss_type": "grpo"},
        {"surrogate": "clipped(clip_low=0.9999999999999999, clip_high=10.0)"},
    ),
    "GMPO has a loss and a default of its own": (
        {"trainer": "GMPOTrainer", "beta": 0.04, "use_vllm": True, "loss_type": "dapo"},
        {
            "surrogate": "geometric_mean_clipped(clip_low=0.4, clip_high=0.4)",
            "penalty": "k3",
            "aggregate": "sequence_mean_token_mean",
            "corrections": "()",
        },
    ),
    "GMPO with an epsilon": (
        {"trainer": "GMPOTrainer", "epsilon": 0.3},
        {"surrogate": "geometric_mean_clipped(clip_low=0.3, clip_high=0.3)"},
    ),
    "vespo's KL has a ratio of its own": (
        {"loss_type": "vespo", "beta": 0.04},
        {"penalty": "weighted_k3_beside(level=token)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | trl.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_levels():
    assert trl.recipe(importance_sampling_level="sequence").level is sequence_mean_level
    assert trl.recipe(loss_type="vespo").level is sequence_sum_level


CHAPTER = {
    "grpo": {"loss_type": "grpo", "num_generations": 2, "epsilon": 0.2, "per_device_train_batch_size": 2},
    "dapo": {
        "epsilon": 0.2,
        "epsilon_high": 0.28,
        "loss_type": "dapo",
        "mask_truncated_completions": True,
        "max_completion_length": 1024,
        "num_generations": 8,
    },
    "gspo": {
        "importance_sampling_level": "sequence",
        "steps_per_generation": 4,
        "num_generations": 8,
        "epsilon": 0.2,
    },
    "dr_grpo": {"loss_type": "dr_grpo", "num_generations": 8, "beta": 0.04, "ref_model": "ref_model"},
    "sapo": {
        "loss_type": "sapo",
        "sapo_temperature_pos": 1.0,
        "sapo_temperature_neg": 1.05,
        "num_generations": 8,
    },
    "tis": {
        "use_vllm": True,
        "vllm_importance_sampling_correction": True,
        "vllm_importance_sampling_mode": "sequence_truncate",
        "vllm_importance_sampling_cap": 5.0,
    },
    "vespo": {"loss_type": "vespo"},
    "dppo": {"num_generations": 8, "beta": 0.04},
    "cispo": {
        "loss_type": "cispo",
        "scale_rewards": "batch",
        "mask_truncated_completions": True,
        "epsilon": 0.2,
        "epsilon_high": 5.0,
        "num_generations": 8,
    },
    "gdpo": {
        "multi_objective_aggregation": "normalize_then_sum",
        "reward_weights": [1.0, 0.5],
        "num_generations": 8,
    },
}
TRAINER = {"model": "m", "args": "c", "reward_funcs": ["r"], "train_dataset": "d", "tokenizer": "t"}


@pytest.mark.parametrize("config", CHAPTER.values(), ids=CHAPTER)
def test_the_snippets_of_a_textbook_are_accepted_as_they_stand(config):
    assert trl.recipe(**config, **TRAINER).source == "TRL 1.16.0"


REFUSED = {
    "GMPO as a loss type": ({"loss_type": "gmpo"}, "trl.experimental.gmpo.GMPOTrainer with its GMPOConfig"),
    "a level of an older version": (
        {"importance_sampling_level": "sequence_token"},
        "importance_sampling_level: expected one of 'token', 'sequence'",
    ),
    "a key of no version": ({"entropy_min": 0.1}, "trl has no key 'entropy_min'"),
    "a synchronized reference without weight": ({"sync_ref_model": True}, "sync_ref_model: TRL refuses it"),
    "VESPO in vLLM's default mode": (
        {"loss_type": "vespo", "use_vllm": True},
        "vllm_importance_sampling_mode: TRL refuses 'sequence_mask'",
    ),
    "an upside-down window, whether read or not": (
        {"vllm_importance_sampling_clip_min": 4.0},
        "vllm_importance_sampling_clip_min: TRL refuses a window of 4.0 to 3.0",
    ),
    "a truncation without bounds": (
        {"vllm_importance_sampling_mode": "token_truncate", "vllm_importance_sampling_clip_max": None},
        "TRL refuses 'token_truncate' with neither",
    ),
    "two sizes of the generation batch": (
        {"generation_batch_size": 16, "steps_per_generation": 2},
        "generation_batch_size: TRL refuses it together with steps_per_generation",
    ),
    "a generation batch that cuts a group in two": (
        {"generation_batch_size": 12},
        "generation_batch_size: TRL refuses 12, which is not a whole number of groups of 8",
    ),
    "a size that needs the number of processes": (
        {"generation_batch_size": 16},
        "give steps_per_generation = generation_batch_size / (per_device_train_batch_size * processes)",
    ),
    "experts": ({"router_aux_loss_coef": 0.01}, "router_aux_loss_coef: the load balancing"),
    "a batch that shrinks": ({"auto_find_batch_size": True}, "auto_find_batch_size: TRL refuses it"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_trl_refuses_is_refused(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        trl.recipe(**config)


def test_what_has_no_effect_is_no_reason_to_refuse():
    assert trl.recipe(generation_batch_size=16, loss_type="grpo") == trl.recipe(loss_type="grpo")
    assert trl.recipe(router_aux_loss_coef=0.0) == trl.recipe()


def test_gmpo_does_not_fall_into_the_traps_of_another_loss():
    config = {"trainer": "GMPOTrainer", "use_vllm": True, "beta": 0.04, "loss_type": "dr_grpo"}
    settings, given = trl.DIALECT.settings(config), trl.DIALECT.given(config)
    told = [trap.name for trap in sprung(trl.DIALECT.traps, settings, given)]
    assert told == ["trainer=GMPOTrainer does not read all keys of the loss"]


# ---- kernels ---------------------------------------------------------------------------------------


def _recorded_as(call, keys, items=None):
    """Of tokens with ratio 1 and advantages 1, 1, 1 and 5, the last in a completion of its own."""
    mask = np.array([[[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]])
    record = SimpleNamespace(log_probs=np.zeros(mask.shape), mask=mask, advantages=np.array([[1.0, 5.0]]))
    if items:
        record.num_items_in_batch = items
    return CALLS[call](trl.DIALECT, {"epsilon_high": 9.0, **keys}, record)


WINDOW = {"gradient_accumulation_steps": 1, "steps_per_generation": 2}
ACCUMULATED = {"gradient_accumulation_steps": 4, "steps_per_generation": 2}
PIECES = {
    "a step of all tokens": ("loss", {"loss_type": "dapo"}, None, -8 / 4),
    "two steps that divide by half the tokens": ("loss", {"loss_type": "dapo"} | WINDOW, None, -2 * 8 / 4),
    "two steps of one completion each": ("loss", {"loss_type": "grpo"} | WINDOW, None, -(1 + 5)),
    "half of a step": ("loss", {"loss_type": "grpo"} | ACCUMULATED, None, -(1 + 5) / 4),
    "means over tokens, in one piece": ("loss", {"loss_type": "bnpo"} | WINDOW, None, -2 * 8 / 4),
    "means over tokens, cut": ("loss of a generation batch", {"loss_type": "bnpo"} | WINDOW, None, -(1 + 5)),
    "cut, by the tokens of both": (
        "loss of a generation batch",
        {"loss_type": "dapo"} | WINDOW,
        None,
        -2 * 8 / 4,
    ),
    "one of four": ("loss of a micro-batch", {"loss_type": "grpo"} | ACCUMULATED, None, -3 / 4),
    "4 of 16 tokens in a step of two": (
        "loss of a micro-batch",
        {"loss_type": "dapo"} | WINDOW,
        16,
        -8 / 16 * 2,
    ),
    "all tokens": ("loss of a micro-batch", {"loss_type": "dapo"} | ACCUMULATED, None, -8 / 4 * 2 / 4),
    "nothing is accumulated": ("loss in evaluation", {"loss_type": "grpo"} | ACCUMULATED, None, -3),
    "nothing is cut": ("loss in evaluation", {"loss_type": "dapo"} | WINDOW, None, -8 / 4),
}


@pytest.mark.parametrize(("call", "keys", "items", "loss"), PIECES.values(), ids=PIECES)
def test_pieces_of_a_generation_batch(call, keys, items, loss):
    assert _recorded_as(call, keys, items)["loss"] == pytest.approx(loss, rel=1e-14)


def test_a_recipe_is_that_of_a_step():
    assert trl.recipe(**WINDOW).aggregate == trl.recipe().aggregate == slot(token_mean)


def test_completions_that_cannot_be_cut_are_told():
    with pytest.raises(ValueError, match="2 completions cannot be split into 3 equal micro-batches"):
        _recorded_as("loss of a generation batch", {"steps_per_generation": 3})


# keys, ratio, advantage -> value, slope
ODD = {
    "fresh and good, above delta": ({"delta": 0.9}, 1.0, 2.0, 1.8, 0.0),
    "fresh and bad, above delta: the other branch is smaller": ({"delta": 0.9}, 1.0, -2.0, -2.0, -2.0),
    "bad and far, above delta: the upper bound": ({"delta": 0.9}, 3.0, -2.0, -2.4, 0.0),
    "fresh, on a delta of 1": ({"delta": 1.0}, 1.0, 2.0, 2.0, 2.0),
    "a delta of 0 leaves nothing of good tokens": ({"delta": 0.0}, 3.0, 2.0, 0.0, 0.0),
    "fresh and good, above a bound of 0.9": ({"epsilon_high": -0.1}, 1.0, 2.0, 1.8, 0.0),
    "fresh and bad, above a bound of 0.9": ({"epsilon_high": -0.1}, 1.0, -2.0, -2.0, -2.0),
    "bounds that change places are the upper one": ({"epsilon": -0.1}, 1.0, 2.0, 1.8, 0.0),
    "fresh and bad, below a bound of 1.1": ({"epsilon": -0.1, "epsilon_high": 0.3}, 1.0, -2.0, -2.2, 0.0),
    "half of both where two branches meet": ({"epsilon": -0.1, "epsilon_high": 0.0}, 1.0, 2.0, 2.0, 1.0),
    "weights of -0.1": ({"loss_type": "cispo", "epsilon_high": -0.1}, 1.0, 2.0, 0.0, -0.2),
    "a gate that is turned round": ({"loss_type": "sapo", "sapo_temperature_pos": -2.0}, 1.0, 2.0, -2.0, 2.0),
}


@pytest.mark.parametrize(("keys", "ratio", "advantage", "value", "slope"), ODD.values(), ids=ODD)
def test_bounds_that_trl_takes_as_they_are(keys, ratio, advantage, value, slope, asarray):
    """At log πθ = 0, so that CISPO's value is 0."""
    part = trl.recipe(**{"loss_type": "grpo", **keys}).surrogate
    arrays = {"log_ratio": asarray([np.log(ratio)]), "log_probs": asarray([0.0])}
    arrays["advantages"] = asarray([advantage])
    term = part(**{name: arrays[name] for name in part.reads})
    asarray.check(term.value, [value])
    asarray.check(term.direct if keys.get("loss_type") == "cispo" else term.slope, [slope])


@pytest.mark.parametrize(
    ("mode", "weight"),
    [("token_truncate", -1.0), ("sequence_truncate", -1.0), ("token_mask", 0.0), ("sequence_mask", 0.0)],
)
def test_a_cap_below_0_is_below_every_ratio(mode, weight, asarray):
    keys = {"vllm_importance_sampling_mode": mode, "vllm_importance_sampling_clip_max": -1.0}
    (part,) = trl.recipe(loss_type="grpo", use_vllm=True, **keys).corrections
    ones = asarray([[[1.0, 1.0]]])
    weights = part(old_log_probs=-ones, rollout_log_probs=-2.0 * ones, mask=ones)
    asarray.check(weights, [[[weight, weight]]])


@pytest.mark.parametrize("delta", [4.0, 1.1, 0.9])
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_delta_limits_a_ratio_that_overflows(delta):
    """TRL multiplies delta, not the infinite ratio, by an advantage of 0."""
    part = trl.recipe(loss_type="grpo", delta=delta).surrogate
    term = part(log_ratio=np.array([800.0]), advantages=np.array([0.0]))
    assert (term.value[0], term.slope[0]) == (0.0, 0.0)


def test_completions_without_a_score_are_no_siblings(asarray):
    """Of 1, nothing and 0 the mean is 1/2 and the sample std √1/2; one scored completion has no contrast."""
    nan = float("nan")
    values = scored_normalized(asarray([[1.0, nan, 0.0], [nan, nan, 5.0]]), ddof=1, eps=1e-4)
    half = 0.5 / (0.5**0.5 + 1e-4)
    asarray.check(values, [[half, 0.0, -half], [0.0, 0.0, 0.0]])


def test_a_score_is_the_sum_of_what_the_functions_say(asarray):
    nan = float("nan")
    asarray.check(scored_sum(asarray([[[1.0, 0.5], [nan, 0.5], [nan, nan]]])), [[1.5, 0.5, nan]])


def test_an_entropy_threshold_is_rounded_to_float32(asarray):
    """The median of 0.2, 0.1 and 0.3 is 0.2, or 0.200000003 in float32: in float64 that token is dropped."""
    entropies, mask = asarray([[[0.2, 0.1, 0.3]]]), asarray([[[1, 1, 1]]])
    drops = float(asarray([0.2])[0]) == 0.2
    asarray.check(top_entropy_in_float32(entropies, mask, share=0.5), [[[0 if drops else 1, 0, 1]]])
    with pytest.raises(ValueError, match="TRL refuses a share below 0"):
        top_entropy_in_float32(entropies, mask, share=-0.1)


def test_a_share_of_0_leaves_the_highest_entropy(asarray):
    entropies, mask = asarray([[[0.25, 0.5, 0.5]]]), asarray([[[1, 1, 1]]])
    asarray.check(top_entropy_in_float32(entropies, mask, share=0.0), [[[0, 1, 1]]])


def test_no_token_has_no_entropy_mask(asarray):
    entropies, mask = asarray([[[0.2, 0.1]]]), asarray(np.zeros((1, 1, 2)))
    asarray.check(top_entropy_in_float32(entropies, mask, share=0.5), [[[0, 0]]])


LOG2 = math.log(2.0)
HALF = slot(truncated, max_ratio=0.5)


def test_vespo_has_its_sampler_inside_and_its_limits_on_each_token(asarray):
    """A ratio of 2, and 1/2 for token and padding: w = 2/4, and φ = w² e^(3 (1 - w)) = e^1.5/4."""
    old, log_probs = asarray([[[-1.0, -1.0]]]), asarray([[[-1.0 + LOG2, -5.0]]])
    good, mask = asarray([[[1.0, 1.0]]]), asarray([[[1, 0]]])
    term = vespo_in_limits(log_probs, old, old, good, mask, sampler=(HALF,))
    asarray.check(term.direct[..., :1], [[[math.exp(1.5) / 4]]])
    plain = vespo_in_limits(log_probs, old, old, good, mask)
    asarray.check(plain.direct[..., :1], [[[4 * math.exp(-3.0)]]])


def test_a_single_token_moves_vespo_by_twenty_nats_at_most(asarray):
    """100 nats count as 20, which two others of -10 take back: w = 1 and φ = 1."""
    log_probs, old = asarray([[[100.0, -10.0, -10.0]]]), asarray([[[0.0, 0.0, 0.0]]])
    good = asarray([[[1.0, 1.0, 1.0]]])
    asarray.check(vespo_in_limits(log_probs, old, old, good, good).direct, [[[1, 1, 1]]])


def test_vespo_is_left_out_by_a_mask_and_not_by_its_weight(asarray):
    """An entropy mask multiplies the loss: of two tokens one is left, with the weight that both make."""
    recipe = trl.recipe(loss_type="vespo", top_entropy_quantile=0.5)
    log_probs, mask = asarray([[[-1.0 + LOG2, -1.0]]]), asarray([[[1, 1]]])
    result = policy_loss(
        log_probs,
        asarray([[1.0]]),
        mask,
        recipe=recipe,
        old_log_probs=asarray([[[-1.0, -1.0]]]),
        entropies=asarray([[[2.0, 1.0]]]),
    )
    asarray.check(result.gradient, [[[-0.5 * 4 * math.exp(-3.0), 0]]])


def test_a_kl_beside_vespo_has_the_ratio_of_its_level(asarray):
    """v = log 2 and a ratio of 2: k3 is log 2 - 1/2 and its slope 1/2; r v at the level of the token."""
    log_probs, ref, old = asarray([[[-1.0]]]), asarray([[[-1.0 - LOG2]]]), asarray([[[-1.0 - LOG2]]])
    for level in ("token", "sequence"):
        term = weighted_k3_beside(log_probs, ref, old, asarray([[[1]]]), level=level)
        asarray.check(term.value, [[[2 * LOG2 - 1]]])
        asarray.check(term.direct, [[[2 * LOG2]]])
    two = [asarray([[[x, x]]]) for x in (-1.0, -1.0 - LOG2)]
    old = asarray([[[-1.0 - 2 * LOG2, -1.0]]])
    term = weighted_k3_beside(two[0], two[1], old, asarray([[[1, 1]]]), level="sequence")
    asarray.check(term.value, [[[2 * LOG2 - 1, 2 * LOG2 - 1]]])


def test_gmpo_leaves_tokens_out_of_its_mean(asarray):
    """Log-ratios 0.1 and 0.3, the second one kept: e^0.3, with a slope that weights of 1/2 do not halve."""
    log_ratio, mask = asarray([[[0.1, 0.3]]]), asarray([[[1, 1]]])
    term = geometric_mean_of_kept(log_ratio, asarray([[[2.0, 2.0]]]), mask, asarray([[[0, 1]]]))
    asarray.check(term.value, [[[2 * math.exp(0.3), 2 * math.exp(0.3)]]])
    asarray.check(term.slope, [[[0, 4 * math.exp(0.3)]]])


# ---- what only recorded cases hold ------------------------------------------------------------------

RECORD = SimpleNamespace(
    log_probs=np.full((1, 2, 2), -1.0),
    old_log_probs=np.full((1, 2, 2), -1.0),
    advantages=np.array([[1.0, -0.5]]),
    mask=np.array([[[1.0, 1.0], [0.0, 0.0]]]),
    entropies=np.array([[[1.0, 3.0], [9.0, 9.0]]]),
)
"""Two completions, the second one without a token; the entropy is 2 nats per token."""


def test_gmpo_counts_an_empty_completion_at_ratio_one():
    """-(1 - 1/2)/2, though nothing moves the second half of it."""
    found = CALLS["loss"](trl.DIALECT, {"trainer": "GMPOTrainer"}, RECORD)
    assert found["loss"] == pytest.approx(-0.25)
    np.testing.assert_allclose(found["grad_logp"], [[[-0.25, -0.25], [0, 0]]])


# target, limits -> coefficients after the first and the second step, and the bonus of the second
ADAPTIVE = {
    "below the target it grows": ({"entropy_target": 2.0}, (0.015, 0.02), 0.015 * 2),
    "above the target it falls": ({"entropy_target": 1.9}, (0.005, 0.0), 0.0),
    "it has an upper limit": ({"entropy_target": 2.0, "entropy_coef_max": 0.012}, (0.012, 0.012), 0.012 * 2),
    "it has a lower limit": ({"entropy_target": 1.9, "entropy_coef_min": 0.009}, (0.009, 0.009), 0.0),
}


@pytest.mark.parametrize(("keys", "coefficients", "bonus"), ADAPTIVE.values(), ids=ADAPTIVE)
def test_an_adaptive_bonus(keys, coefficients, bonus):
    config = {"use_adaptive_entropy": True, "entropy_coef": 0.01, "loss_type": "grpo", **keys}
    first, second = (CALLS[call](trl.DIALECT, config, RECORD) for call in ("loss", "loss of the next step"))
    assert (first["entropy_coef"], second["entropy_coef"]) == pytest.approx(coefficients)
    assert first["loss"] == first["policy_loss"] == pytest.approx(-0.5)
    assert second["loss"] == pytest.approx(-0.5 - bonus)


def test_functions_without_a_score_are_left_out_of_every_mean():
    """Of one function 1 and nothing, of the other 0 and 1; one score of a function has no contrast."""
    nan = float("nan")
    record = SimpleNamespace(
        components=np.array([[[1.0, 0.0], [nan, 1.0], [nan, nan]]]),
        weights=np.ones(2),
        mask=np.ones((1, 3, 1)),
    )
    half = {"scale_rewards": "none", "num_generations": 3}
    found = CALLS["advantages"](trl.DIALECT, half, record)
    np.testing.assert_allclose(found["value"], [[0.0, 0.0, 0.0]])
    record.components[0, 1, 1] = 3.0
    found = CALLS["advantages"](trl.DIALECT, half, record)
    np.testing.assert_allclose(found["value"], [[-1.0, 1.0, 0.0]])
    scaled = CALLS["advantages"](trl.DIALECT, {"num_generations": 3}, record)
    np.testing.assert_allclose(scaled["value"], np.array([[-1.0, 1.0, 0.0]]) / (2**0.5 + 1e-4))


# ---- what is logged ---------------------------------------------------------------------------------

LOGGED = SimpleNamespace(
    log_probs=np.log([[[0.6, 0.6, 0.6], [0.2, 0.8, 0.5], [0.9, 0.5, 0.5]]]),
    old_log_probs=np.log([[[0.4, 0.4, 0.4], [0.4, 0.4, 0.5], [0.5, 0.5, 0.5]]]),
    advantages=np.array([[1.0, -1.0, 1.0]]),
    mask=np.array([[[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]]),
    entropies=np.array([[[1.0, 2.0, 3.0], [0.0, 4.0, 9.0], [9.0, 9.0, 9.0]]]),
)
"""Ratios 3/2 three times, then 1/2 and 2, then a completion without tokens; the means are 3/2, 1 and 1."""
# keys, metric -> value
METRIC_ROWS = {
    "of five tokens three are too high": ({}, "clip_ratio/high_mean", 0.6),
    "one is too low": ({}, "clip_ratio/low_mean", 0.2),
    "four are clipped at all": ({}, "clip_ratio/region_mean", 0.8),
    "the completion with most of them": ({}, "clip_ratio/high_max", 1.0),
    "the completion with the fewest": ({}, "clip_ratio/low_min", 0.0),
    "of three completions one is too high, and the empty one counts": (
        {"importance_sampling_level": "sequence"},
        "clip_ratio/high_mean",
        1 / 3,
    ),
    "delta comes first, and 1.1 is not too high": ({"delta": 1.1}, "clip_ratio/high_mean", 0.0),
    "delta is not CISPO's": (
        {"loss_type": "cispo", "epsilon_high": 1.4, "delta": 1.1},
        "cispo_clip_ratio",
        0.6,
    ),
    "GMPO's bounds are in log space": ({"trainer": "GMPOTrainer"}, "clip_ratio/high_mean", 0.6),
    "GMPO's lower bound": ({"trainer": "GMPOTrainer", "epsilon": 0.7}, "clip_ratio/low_mean", 0.0),
    "the entropy of all tokens": ({"top_entropy_quantile": 0.2}, "entropy", 2.0),
    "the coefficient as it is": ({"entropy_coef": 0.25}, "entropy_coef", 0.25),
    "VESPO's weight of each completion": (
        {"loss_type": "vespo"},
        "vespo/phi_seq_mean",
        (3.375**2 * math.exp(3 * (1 - 3.375)) + 1 + 1) / 3,
    ),
}


@pytest.mark.parametrize(("keys", "metric", "value"), METRIC_ROWS.values(), ids=METRIC_ROWS)
def test_what_is_logged(keys, metric, value):
    config = {"loss_type": "grpo", **keys}
    settings, recipe = trl.DIALECT.settings(config), trl.recipe(**config)
    numbers = CALLS["loss"](trl.DIALECT, config, LOGGED)
    measured = Measured(settings, recipe, LOGGED, numbers)
    assert METRICS[metric](measured) == pytest.approx(value)


# rewards, keys -> share
ZERO_STD = {
    "one group of two agrees": ([[1, 1], [0, 1]], {}, 0.5),
    "within 1e-8": ([[1, 1 + 1e-9], [0, 1]], {}, 0.5),
    "the batch does not": ([[1, 1], [0, 1]], {"scale_rewards": "batch"}, 0.0),
    "the batch agrees": ([[1, 1], [1, 1]], {"scale_rewards": "batch"}, 1.0),
    "of one score nothing is known": ([[1, float("nan")], [1, 1]], {}, 0.5),
}


@pytest.mark.parametrize(("rewards", "keys", "share"), ZERO_STD.values(), ids=ZERO_STD)
def test_completions_without_contrast_are_counted(rewards, keys, share):
    record = SimpleNamespace(rewards=np.array(rewards, dtype=float), mask=np.ones((2, 2, 1)))
    measured = Measured(trl.DIALECT.settings(keys), trl.recipe(**keys), record, {})
    assert METRICS["frac_reward_zero_std"](measured) == share


def test_dr_grpo_needs_the_length_that_it_divides_by():
    with pytest.raises(ValueError, match="max_completion_length: TRL divides by it"):
        trl.recipe(loss_type="dr_grpo", max_completion_length=None)
    assert trl.recipe(max_completion_length=None)
