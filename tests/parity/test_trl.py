"""TRL: the calls and metrics of its recorded cases."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref.explain.dialects import trl
from grpo_ref.parity.calls.trl import CALLS
from grpo_ref.parity.calls.trl_scores import scored_normalized, scored_sum
from grpo_ref.parity.measured import Measured
from grpo_ref.parity.metrics.trl import METRICS


def _recorded_as(call, keys, items=None):
    """Rebuild a call on tokens with ratio 1 and advantages 1, 1, 1 | 5, in two completions."""
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


def test_completions_that_cannot_be_cut_are_told():
    with pytest.raises(ValueError, match="2 completions cannot be split into 3 equal micro-batches"):
        _recorded_as("loss of a generation batch", {"steps_per_generation": 3})


def test_completions_without_a_score_are_no_siblings(asarray):
    """Scores 1, none and 0: mean 1/2, sample std √1/2. One score alone has an advantage of 0."""
    nan = float("nan")
    values = scored_normalized(asarray([[1.0, nan, 0.0], [nan, nan, 5.0]]), ddof=1, eps=1e-4)
    half = 0.5 / (0.5**0.5 + 1e-4)
    asarray.check(values, [[half, 0.0, -half], [0.0, 0.0, 0.0]])


def test_a_score_is_the_sum_of_what_the_functions_say(asarray):
    nan = float("nan")
    asarray.check(scored_sum(asarray([[[1.0, 0.5], [nan, 0.5], [nan, nan]]])), [[1.5, 0.5, nan]])


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
    """One function gives 1 and no score, the other 0 and 1. A single score has an advantage of 0."""
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
