"""Arguments of the loss are checked: types and shapes always, values with validate=True."""

from dataclasses import replace

import array_api_strict
import numpy as np
import pytest

from grpo_ref import DR_GRPO, policy_loss, slot
from grpo_ref.validation import largest_rounding

SHAPE = (1, 2, 3)
LOGS = np.full(SHAPE, -1.0)
MASK = np.array([[[1, 1, 1], [1, 1, 0]]])
GOOD = {"log_probs": LOGS, "advantages": np.ones((1, 2)), "mask": MASK, "recipe": DR_GRPO}


def bare(log_ratio, advantages):
    return log_ratio * advantages


def pair(log_ratio, advantages):
    return log_ratio, advantages


WITH_BARE, WITH_PAIR = (replace(DR_GRPO, surrogate=slot(kernel)) for kernel in (bare, pair))
KINDS = {
    "a misspelt argument": ({"entropy": LOGS}, "unexpected keyword argument 'entropy'"),
    "a field that the loss fills in": ({"correction": LOGS}, "unexpected keyword argument 'correction'"),
    "a list": (
        {"log_probs": LOGS.tolist()},
        "log_probs: expected an array, got a list; use numpy.asarray(log_probs)",
    ),
    "a number": ({"advantages": 1.0}, "advantages: expected an array, got a float"),
    "nothing": ({"mask": None}, "mask: expected an array, got None"),
    "a list among the extras": ({"noise": [0.5]}, "noise: expected an array, got a list"),
    "two libraries": (
        {"mask": array_api_strict.asarray(MASK), "old_log_probs": array_api_strict.asarray(LOGS)},
        "expected arrays of one library, got numpy (log_probs, advantages, ref_log_probs) and"
        " array_api_strict (mask, old_log_probs, rollout_log_probs)",
    ),
    "a recipe as a dict": (
        {"recipe": {"kl_coef": 0.0}},
        "recipe: expected a Recipe or a name, got a dict; use RECIPES['grpo']",
    ),
    "a surrogate that returns an array": (
        {"recipe": WITH_BARE},
        "surrogate bare: expected a Term, got an array of shape (1, 2, 3); return Term(value, slope=...) with"
        " the derivative with respect to log_ratio, or Term(value, direct=...) with respect to log_probs",
    ),
    "a surrogate that returns a pair": (
        {"recipe": WITH_PAIR},
        "surrogate pair: expected a Term, got a tuple",
    ),
    "a penalty that returns an array": (
        {"recipe": replace(DR_GRPO, penalty=slot(bare), kl_coef=0.1), "ref_log_probs": LOGS},
        "penalty bare: expected a Term, got an array of shape (1, 2, 3)",
    ),
}


@pytest.mark.parametrize(("change", "message"), KINDS.values(), ids=KINDS)
def test_kinds_are_checked(change, message):
    with pytest.raises(TypeError) as error:
        policy_loss(**GOOD | change)
    assert message in str(error.value)


TOPS = np.full((*SHAPE, 4), -2.0)
SHAPES = {
    "entropies": ({"entropies": LOGS[..., 0]}, "entropies: expected shape (1, 2, 3), got (1, 2)"),
    "noise": ({"noise": LOGS[0]}, "noise: expected shape (1, 2, 3), got (2, 3)"),
    "tops of another batch": (
        {"top_log_probs": TOPS[:, :1]},
        "top_log_probs: expected shape (1, 2, 3, K), got (1, 1, 3, 4)",
    ),
    "tops without their own axis": (
        {"top_log_probs": LOGS},
        "top_log_probs: expected shape (1, 2, 3, K), got",
    ),
    "tops of different number": (
        {"top_log_probs": TOPS, "top_rollout_log_probs": TOPS[..., :2]},
        "expected one common shape, got top_log_probs (1, 2, 3, 4), top_rollout_log_probs (1, 2, 3, 2)",
    ),
}


@pytest.mark.parametrize(("change", "message"), SHAPES.values(), ids=SHAPES)
def test_shapes_of_the_extras_are_checked(change, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        policy_loss(**GOOD | change)
    assert message in str(error.value)


def test_the_extras_may_be_none():
    optional = ("entropies", "noise", "top_log_probs", "top_rollout_log_probs")
    assert policy_loss(**GOOD, **dict.fromkeys(optional)).loss == policy_loss(**GOOD).loss


def test_an_unknown_recipe_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="recipe: no recipe 'dap'; did you mean 'dapo'"):
        policy_loss(**GOOD | {"recipe": "dap"})


def changed(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


LIVE, PADDING = (0, 1, 1), (0, 1, 2)
VALUES = {
    "a NaN": (
        {"log_probs": changed(LOGS, LIVE, np.nan)},
        "log_probs: expected numbers, got nan at (0, 1, 1)",
    ),
    "a NaN in the old ones": (
        {"old_log_probs": changed(LOGS, LIVE, np.nan)},
        "old_log_probs: expected numbers, got nan at (0, 1, 1)",
    ),
    "a positive logarithm": (
        {"ref_log_probs": changed(LOGS, LIVE, 0.01)},
        "ref_log_probs: expected log-probabilities, which are not above 0, got 0.01 at (0, 1, 1)",
    ),
    "probabilities": (
        {"log_probs": np.exp(changed(LOGS, LIVE, -2.0))},
        "log_probs: expected log-probabilities, which are not above 0, got values from 0.135335 to 0.367879;"
        " these look like probabilities; pass numpy.log(log_probs)",
    ),
    "losses": (
        {"rollout_log_probs": -2 * LOGS},
        "rollout_log_probs: expected log-probabilities, which are not above 0, got values from 2 to 2; did"
        " you pass negative log-probabilities?",
    ),
    "half a token": ({"mask": changed(MASK, LIVE, 0.5)}, "mask: expected 0 and 1, got 0.5 at (0, 1, 1)"),
    "two tokens": ({"mask": changed(MASK, PADDING, 2)}, "mask: expected 0 and 1, got 2 at (0, 1, 2)"),
    "an advantage of a group that is NaN": (
        {"advantages": np.array([[1.0, np.nan]])},
        "advantages: expected finite numbers, got nan at (0, 1, 0)",
    ),
    "an infinite entropy": (
        {"entropies": changed(-LOGS, LIVE, np.inf)},
        "entropies: expected finite numbers, got inf at (0, 1, 1)",
    ),
    "a NaN in the most likely tokens": (
        {"top_log_probs": changed(TOPS, LIVE, np.nan)},
        "top_log_probs: expected numbers, got nan at (0, 1, 1, 0)",
    ),
    "probabilities of the most likely tokens": (
        {"top_rollout_log_probs": np.exp(TOPS)},
        "top_rollout_log_probs: expected log-probabilities, which are not above 0, got values from 0.1353",
    ),
}


@pytest.mark.parametrize(("change", "message"), VALUES.values(), ids=VALUES)
def test_values_are_checked_if_asked_for(change, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        policy_loss(**GOOD | change, validate=True)
    assert message in str(error.value)
    policy_loss(**GOOD | change)


ALLOWED = {
    "as it is": {},
    "NaN in the padding": {"log_probs": changed(LOGS, PADDING, np.nan)},
    "anything in the padding": {
        "log_probs": changed(LOGS, PADDING, 7.0),
        "noise": changed(LOGS, PADDING, np.nan),
    },
    "NaN in the padding of the most likely tokens": {
        "top_log_probs": changed(TOPS, PADDING, np.nan),
        "top_rollout_log_probs": changed(TOPS, PADDING, -np.inf),
    },
    "a certain token": {"log_probs": 0.0 * LOGS},
    "a sampler that reports nothing": {"rollout_log_probs": np.nan * LOGS},
    "no token at all": {"mask": 0 * MASK},
    "truth values": {"mask": MASK == 1},
    "rounding of a softmax in float32": {"log_probs": changed(LOGS, LIVE, 1e-5)},
    "a probability of 0 under the reference": {"ref_log_probs": changed(LOGS, LIVE, -np.inf)},
}


@pytest.mark.parametrize("change", ALLOWED.values(), ids=ALLOWED)
def test_what_is_meant_is_allowed(change):
    assert policy_loss(**GOOD | change, validate=True).gradient.shape == LOGS.shape


def test_values_are_checked_in_every_library(asarray):
    good = {name: asarray(GOOD[name]) for name in ("log_probs", "advantages", "mask")}
    policy_loss(**good, recipe=DR_GRPO, validate=True)
    bad = good | {"log_probs": asarray(changed(LOGS, LIVE, np.nan))}
    with pytest.raises(ValueError, match=r"log_probs: expected numbers, got nan at \(0, 1, 1\)"):
        policy_loss(**bad, recipe=DR_GRPO, validate=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_of_a_log_softmax_stays_within_the_tolerance(dtype):
    """Logits up to 100, one so large that its token is all but certain: log π is 0 but for rounding."""
    generator = np.random.default_rng(0)
    logits = generator.uniform(-100.0, 60.0, (1000, 50)).astype(dtype)
    logits[:, 0] = generator.uniform(90.0, 100.0, 1000)
    normalizer = np.log(np.exp(logits - logits[:, :1]).sum(-1)) + logits[:, 0]
    rounded = (logits[:, 0] - normalizer.astype(dtype)).max()
    assert rounded <= largest_rounding(np.zeros(1, dtype=dtype)) == pytest.approx(2.4e-5, rel=0.01)
