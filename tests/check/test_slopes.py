"""A wrong slope is reported with its place and both numbers; the slopes of the library pass."""

from inspect import Parameter, isfunction, signature

import numpy as np
import pytest

from grpo_ref import GRPO, penalties, slot, surrogates
from grpo_ref.check import check_slope
from grpo_ref.check.slopes import DERIVATIVE, RATIO_CONSTANT, RATIO_MOVING, _batches
from grpo_ref.penalties import k2, k3, straight_through
from grpo_ref.surrogates import cispo, clipped, gspo_token
from grpo_ref.types import Batch, Term


def parts_in(*modules):
    """Every kernel that returns a term and reads nothing but a batch, 0.1 for settings without default."""
    for module in modules:
        for name, kernel in vars(module).items():
            if not isfunction(kernel) or signature(kernel).return_annotation is not Term:
                continue
            parameters = signature(kernel).parameters.values()
            needed = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is Parameter.empty]
            part = slot(kernel, **dict.fromkeys(needed, 0.1))
            if not name.startswith("_") and set(part.reads) <= set(Batch.__dataclass_fields__):
                yield name, part


TOKENS = np.array([int(batch.mask.sum()) for batch in _batches(0)])
PARTS = dict(parts_in(surrogates, penalties))
BORROWED = {"straight_through": k2}
"""Parts whose slope belongs to another part's value, on purpose."""
OF_GROUPS = {"real", "gvpo"}
"""Parts with one value per completion, which competes with the others.

Only their mean over completions has this slope; `tests/test_gradients.py` differentiates it.
"""


def _from_the_ratio(kernel):
    """A kernel that reads the sampler, as a function of the ratio, which a detached slope holds constant."""

    def binary(log_ratio, log_probs, advantages):
        return kernel(log_probs, log_probs - log_ratio, advantages)

    def top(log_ratio, log_probs, top_log_probs, top_rollout_log_probs, advantages):
        return kernel(log_probs, log_probs - log_ratio, top_log_probs, top_rollout_log_probs, advantages)

    return slot(top if "top_log_probs" in slot(kernel).reads else binary)


PARTS |= {
    name: _from_the_ratio(part.kernel)
    for name, part in PARTS.items()
    if name.startswith("dppo_") or name == "rollout_is"
}


@pytest.mark.parametrize("name", [name for name in PARTS if name not in {*BORROWED, *OF_GROUPS}])
def test_every_part_of_the_library_has_the_slope_that_it_says(name):
    result = check_slope(PARTS[name])
    assert result.agrees or check_slope(PARTS[name], detached=True).agrees, str(result)
    assert result.entries >= 0.95 * 2 * TOKENS.sum()


@pytest.mark.parametrize("name", BORROWED)
def test_a_borrowed_slope_is_that_of_the_other_part(name):
    assert not check_slope(PARTS[name]).agrees
    assert check_slope(BORROWED[name]).agrees
    for batch in _batches(0):
        np.testing.assert_array_equal(PARTS[name](batch).direct, slot(BORROWED[name])(batch).direct)


MEANINGS = {
    "a plain one": (clipped, False, DERIVATIVE),
    "the weight held": (cispo, True, RATIO_CONSTANT),
    "the ratio the token's own": (gspo_token, True, RATIO_MOVING),
}


@pytest.mark.parametrize(("part", "detached", "meaning"), MEANINGS.values(), ids=MEANINGS)
def test_what_the_slope_is_is_said(part, detached, meaning):
    result = check_slope(part, detached=detached)
    assert result.meaning == meaning
    assert str(result).endswith(f"derivatives agree; {meaning}")


def twice(log_ratio, advantages):
    term = clipped(log_ratio, advantages)
    return Term(term.value, 2.0 * term.slope)


def unclipped_slope(log_ratio, advantages):
    return Term(clipped(log_ratio, advantages).value, np.exp(log_ratio) * advantages)


def forgotten(log_ratio, advantages):
    return Term(clipped(log_ratio, advantages).value)


def exchanged(log_probs, ref_log_probs):
    term = k3(log_probs, ref_log_probs)
    return Term(term.value, slope=term.direct)


def not_a_number(log_ratio, advantages):
    return Term(clipped(log_ratio, advantages).value, np.full_like(log_ratio, np.nan))


WRONG = {
    "twice as steep": (twice, r"slope at \[0, 0, 0\] of batch 1: expected .*, got "),
    "the slope of what is not clipped": (unclipped_slope, r"slope at \[.*\] of batch \d: expected 0, got "),
    "no slope": (forgotten, r"got 0; if its ratio is meant to be held constant, pass detached=True"),
    "in the wrong place": (
        exchanged,
        r"slope is with respect to log_ratio and direct to log_probs: here they",
    ),
    "not a number": (not_a_number, r"got nan"),
}


@pytest.mark.parametrize(("part", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_slope_is_reported_with_place_expected_and_received(part, message):
    result = check_slope(part)
    assert not result.agrees
    assert result.meaning == ""
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(str(result))


def test_the_reported_numbers_are_the_derivative_and_the_returned_slope():
    first = next(iter(_batches(0)))
    slope = clipped(first.log_ratio, first.advantages).slope[0, 0, 0]
    assert f"expected {slope:.6g}, got {2 * slope:.6g}" in check_slope(twice).first


def test_a_detached_part_that_is_wrong_is_noticed_too():
    def wrong(log_ratio, log_probs, advantages):
        term = cispo(log_ratio, log_probs, advantages)
        return Term(term.value, direct=term.direct * 1.01)

    assert "direct at [" in check_slope(wrong, detached=True).first
    assert "slope at [" in check_slope(clipped, detached=True).first


def test_kinks_are_excluded():
    """The part has a kink exactly at the log-ratios of the first batch, so these are excluded."""
    kink = next(iter(_batches(0))).log_ratio

    def kinked(log_ratio):
        return Term(np.abs(log_ratio - kink), np.sign(log_ratio - kink))

    result = check_slope(kinked)
    assert result.agrees
    assert result.entries == 2 * TOKENS.sum() - TOKENS[0]


def bare(log_ratio, advantages):
    return np.exp(log_ratio) * advantages


def nothing(log_ratio):
    return None


def a_mean(log_ratio, advantages):
    return Term((log_ratio * advantages).mean())


def a_row(log_ratio, advantages):
    return Term(log_ratio * advantages, slope=np.ones(5))


def unknown(logits):
    return Term(logits)


def lacking(log_ratio, *, width):
    return Term(log_ratio * width, slope=width)


UNUSABLE = {
    "a bare array": (
        bare,
        TypeError,
        r"bare: expected Term\(value, slope=.*got an array of shape \(2, 3, 5\)",
    ),
    "nothing": (nothing, TypeError, "got NoneType"),
    "a mean": (a_mean, ValueError, r"expected a value per token, of shape \(2, 3, 5\), got \(\)"),
    "a slope of another shape": (
        a_row,
        ValueError,
        r"expected slope of shape \(2, 3, 5\) or a number, got \(5,\)",
    ),
    "an input that no batch has": (
        unknown,
        ValueError,
        "unknown reads logits, but a batch has only log_probs",
    ),
    "a setting left out": (lacking, ValueError, r"lacking needs a setting: pass slot\(lacking, width=...\)"),
    "a recipe": (GRPO, TypeError, r"got a recipe; pass recipe\.surrogate"),
    "a name": ("clipped", TypeError, "expected a kernel or a slot, got str"),
}


@pytest.mark.parametrize(("part", "error", "message"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_checked_is_said_in_words(part, error, message):
    with pytest.raises(error, match=message):
        check_slope(part)


def test_settings_are_checked_as_they_are():
    assert check_slope(slot(clipped, clip_low=0.1, clip_high=0.5)).agrees
    assert check_slope(slot(lacking, width=2.0)).agrees
    assert check_slope(GRPO.surrogate).agrees
    assert check_slope(slot(straight_through, estimator=k2)).agrees
