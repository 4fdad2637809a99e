"""TRL: what its keys compute, and what it alone does."""

import math
import re

import numpy as np
import pytest

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


WINDOW = {"gradient_accumulation_steps": 1, "steps_per_generation": 2}


def test_a_recipe_is_that_of_a_step():
    assert trl.recipe(**WINDOW).aggregate == trl.recipe().aggregate == slot(token_mean)


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


# ---- what is logged ---------------------------------------------------------------------------------


def test_dr_grpo_needs_the_length_that_it_divides_by():
    with pytest.raises(ValueError, match="max_completion_length: TRL divides by it"):
        trl.recipe(loss_type="dr_grpo", max_completion_length=None)
    assert trl.recipe(max_completion_length=None)
