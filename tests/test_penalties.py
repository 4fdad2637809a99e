"""KL penalties: values and slopes by hand, and by exact enumeration which gradient is unbiased."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.penalties import (
    absolute,
    exact_kl,
    k1,
    k2,
    k3,
    mse,
    no_penalty,
    straight_through,
    weighted_k1,
    weighted_k3,
)

LOG2 = np.log(2.0)

# v = log π - log ref -> value, slope; at v = log 2, e^-v is 1/2, at v = -log 2 it is 2
ESTIMATES = {
    "k1, the policy likes it twice as much": (k1, LOG2, LOG2, 1.0),
    "k1, half as much": (k1, -LOG2, -LOG2, 1.0),
    "k2, twice": (k2, LOG2, LOG2**2 / 2, LOG2),
    "k2, half": (k2, -LOG2, LOG2**2 / 2, -LOG2),
    "k3, twice: 1/2 - 1 + log 2": (k3, LOG2, LOG2 - 0.5, 0.5),
    "k3, half: 2 - 1 - log 2": (k3, -LOG2, 1 - LOG2, -1.0),
    "k3, equal": (k3, 0.0, 0.0, 0.0),
    "absolute, twice": (absolute, LOG2, LOG2, 1.0),
    "absolute, half": (absolute, -LOG2, LOG2, -1.0),
    "absolute, at the kink": (absolute, 0.0, 0.0, 0.0),
    "straight through: k3's value, k2's slope": (straight_through, LOG2, LOG2 - 0.5, LOG2),
    "straight through k1": (partial(straight_through, estimator=k1), -LOG2, -LOG2, -LOG2),
    "straight through absolute": (partial(straight_through, estimator=absolute), -LOG2, LOG2, -LOG2),
}


@pytest.mark.parametrize(("kernel", "v", "value", "slope"), ESTIMATES.values(), ids=ESTIMATES)
def test_estimate(kernel, v, value, slope, asarray):
    term = kernel(asarray([-1.0]), asarray([-1.0 - v]))
    asarray.check(term.value, [value])
    asarray.check(term.direct, [slope])
    assert term.slope == 0.0


@pytest.mark.parametrize("v", [3e-2, 1.001e-3, 0.999e-3, -0.999e-3, 1e-5, 1e-8, -1e-8, 1e-12])
def test_k3_keeps_its_digits_near_zero(v):
    """Its series in exact fractions: Σ (-v)ⁿ/n! from n = 2."""
    exact = sum(Fraction(-v) ** n / math.factorial(n) for n in range(2, 20))
    value = k3(np.array([v]), np.zeros(1)).value
    np.testing.assert_allclose(value, [float(exact)], rtol=1e-12)


def test_mse_is_k2():
    assert mse is k2


# with ratio r = 3 and v = log 2
WEIGHTED = {
    "weighted k1: r v, and r through each of its two ways": (weighted_k1, 3 * LOG2, 3 * LOG2, 3.0),
    "weighted k3: r (log 2 - 1/2); directly r/2": (weighted_k3, 3 * (LOG2 - 0.5), 3 * (LOG2 - 0.5), 1.5),
}


@pytest.mark.parametrize(("kernel", "value", "slope", "direct"), WEIGHTED.values(), ids=WEIGHTED)
def test_weighted(kernel, value, slope, direct, asarray):
    term = kernel(asarray([-1.0]), asarray([-1.0 - LOG2]), asarray([np.log(3.0)]))
    for got, expected in zip(term, (value, slope, direct), strict=True):
        asarray.check(got, [expected])


def test_no_penalty(asarray):
    value, slope, direct = no_penalty(asarray([-1.0, -2.0]))
    asarray.check(value, [0, 0])
    assert slope == direct == 0.0


# ---- clamps --------------------------------------------------------------------------------------

OI0, OI1, OI2, OI3 = (partial(kernel, max_log_ratio=40) for kernel in (k1, k2, k3, weighted_k1))
VERL = partial(k3, max_log_ratio=20, max_value=10)

# kernel, v -> value, slope (through the ratio, which is 3), direct
CLAMPS = {
    "Open Instruct 0 beyond 40": (OI0, 50.0, 40.0, 0.0, 0.0),
    "Open Instruct 0 at 40 itself the slope passes": (OI0, 40.0, 40.0, 0.0, 1.0),
    "Open Instruct 1 beyond -40: 40²/2": (OI1, -50.0, 800.0, 0.0, 0.0),
    "Open Instruct 1 at -40 itself": (OI1, -40.0, 800.0, 0.0, -40.0),
    "Open Instruct 2 beyond 40": (OI2, 50.0, np.exp(-40) + 39, 0.0, 0.0),
    "Open Instruct 2 beyond -40": (OI2, -50.0, np.exp(40) - 41, 0.0, 0.0),
    "Open Instruct 3 within: r v, r": (OI3, LOG2, 3 * LOG2, 3 * LOG2, 3.0),
    "Open Instruct 3 beyond 40: 3 times 40, and no direct part": (OI3, 50.0, 120.0, 120.0, 0.0),
    "verl's k3 beyond 20: 19 is limited to 10": (VERL, 25.0, 10.0, 0.0, 0.0),
    "verl's k3 beyond -20": (VERL, -25.0, 10.0, 0.0, 0.0),
    "verl's k3 at 12: 11 is limited to 10": (VERL, 12.0, 10.0, 0.0, 0.0),
    "verl's k3 at 5": (VERL, 5.0, np.exp(-5) + 4, 0.0, 1 - np.exp(-5)),
    "verl's k3 at -2: e² - 3": (VERL, -2.0, np.exp(2) - 3, 0.0, 1 - np.exp(2)),
    "k3 at the limit of v": (partial(k3, max_log_ratio=2), 2.0, np.exp(-2) + 1, 0.0, 1 - np.exp(-2)),
    "absolute beyond -2": (partial(absolute, max_log_ratio=2), -3.0, 2.0, 0.0, 0.0),
    "absolute at -2 itself": (partial(absolute, max_log_ratio=2), -2.0, 2.0, 0.0, -1.0),
}


@pytest.mark.parametrize(("kernel", "v", "value", "slope", "direct"), CLAMPS.values(), ids=CLAMPS)
def test_clamps_stop_value_and_slope(kernel, v, value, slope, direct, asarray):
    ratio = [asarray([np.log(3.0)])] if getattr(kernel, "func", kernel) is weighted_k1 else []
    term = kernel(asarray([0.0]), asarray([-v]), *ratio)
    asarray.check(term.value, [value])
    asarray.check(term.slope + 0.0 * term.value, [slope])
    asarray.check(term.direct, [direct])


# ---- which gradient is unbiased? Summed over a whole vocabulary, nothing is sampled ----------------

GENERATOR = np.random.default_rng(3)
POLICY, REFERENCE, SAMPLER = (log_softmax(GENERATOR.normal(size=5)) for _ in range(3))
PROBS = np.exp(POLICY)


def expected(kernel, sampler):
    """Σₐ sampler(a) value(a), and Σₐ sampler(a) slope(a) ∂ log π(a)/∂ logits, with ∂ = onehot(a) - π."""
    log_ratio = (POLICY - sampler,) if kernel in (weighted_k1, weighted_k3) else ()
    term = kernel(POLICY, REFERENCE, *log_ratio)
    weighted = np.exp(sampler) * (term.slope + term.direct + np.zeros(5))
    return np.exp(sampler) @ term.value, weighted @ (np.eye(5) - PROBS)


TRUTH = exact_kl(POLICY, REFERENCE)
UNBIASED = {
    "k2": k2,
    "straight through k3": straight_through,
    "straight through k1": partial(straight_through, estimator=k1),
    "weighted k1": weighted_k1,
    "weighted k3": weighted_k3,
}


@pytest.mark.parametrize("kernel", UNBIASED.values(), ids=UNBIASED)
def test_unbiased_gradients_on_policy(kernel):
    np.testing.assert_allclose(expected(kernel, POLICY)[1], TRUTH.slope, rtol=1e-12, atol=1e-15)


def test_k1_has_no_gradient_at_all_on_policy():
    np.testing.assert_allclose(expected(k1, POLICY)[1], 0.0, atol=1e-15)


def test_k3_has_the_gradient_of_the_other_direction():
    """∂ KL(ref ‖ π)/∂ logits = π - ref."""
    np.testing.assert_allclose(expected(k3, POLICY)[1], PROBS - np.exp(REFERENCE), rtol=1e-12, atol=1e-15)
    assert not np.allclose(expected(k3, POLICY)[1], TRUTH.slope, rtol=0.1)


def test_absolute_has_twice_the_gradient_of_the_total_variation():
    """TV = Σ |π - ref| / 2, by central differences in the logits."""
    step = 1e-6 * np.eye(5)
    up, down = (
        np.abs(np.exp(log_softmax(POLICY + way)) - np.exp(REFERENCE)).sum(-1) / 2 for way in (step, -step)
    )
    gradient = expected(absolute, POLICY)[1]
    np.testing.assert_allclose(gradient, 2 * (up - down) / 2e-6, rtol=1e-7, atol=1e-9)
    assert not np.allclose(gradient, TRUTH.slope, rtol=0.1)


@pytest.mark.parametrize("kernel", [weighted_k1, weighted_k3])
def test_weighted_estimates_stay_unbiased_off_policy(kernel):
    value, gradient = expected(kernel, SAMPLER)
    assert value == pytest.approx(TRUTH.value, rel=1e-12)
    np.testing.assert_allclose(gradient, TRUTH.slope, rtol=1e-12, atol=1e-15)


def test_k2_does_not():
    assert not np.allclose(expected(k2, SAMPLER)[1], TRUTH.slope, rtol=0.1)


@pytest.mark.parametrize("kernel", [k1, k3, weighted_k1, weighted_k3])
def test_unbiased_values_on_policy(kernel):
    assert expected(kernel, POLICY)[0] == pytest.approx(TRUTH.value, rel=1e-12)


@pytest.mark.parametrize("kernel", [k2, absolute])
def test_biased_values_on_policy(kernel):
    assert expected(kernel, POLICY)[0] != pytest.approx(TRUTH.value, rel=0.01)


# ---- the exact divergence ------------------------------------------------------------------------

EXACT = {
    "equal": ([0.5, 0.5], [0.5, 0.5], 0.0, [0, 0]),
    "a fair coin against 3:1: log 2 - log(3)/2": (
        [0.5, 0.5],
        [0.75, 0.25],
        LOG2 - np.log(3) / 2,
        [-np.log(3) / 4, np.log(3) / 4],
    ),
    "a banned token costs nothing": ([1.0, 0.0], [0.5, 0.5], LOG2, [0, 0]),
    "nor one that both ban": ([0.5, 0.5, 0.0], [0.5, 0.5, 0.0], 0.0, [0, 0, 0]),
    "a ban of the policy alone: log-ratios log 2 and 2 log 2, KL 3/2 log 2": (
        [0.5, 0.5, 0.0],
        [0.25, 0.125, 0.625],
        1.5 * LOG2,
        [-LOG2 / 4, LOG2 / 4, 0],
    ),
}


@pytest.mark.parametrize(("policy", "reference", "value", "slope"), EXACT.values(), ids=EXACT)
def test_exact_kl(policy, reference, value, slope, asarray):
    with np.errstate(divide="ignore"):
        term = exact_kl(asarray(np.log(policy)), asarray(np.log(reference)))
    asarray.check(term.value, value)
    asarray.check(term.slope, slope)


def test_exact_kl_is_infinite_where_the_reference_bans_what_the_policy_does():
    with np.errstate(divide="ignore", invalid="ignore"):
        assert exact_kl(np.log([0.5, 0.5]), np.log([1.0, 0.0])).value == np.inf


# ---- slopes are central differences ----------------------------------------------------------------


def difference(function, x, h=1e-5):
    return (function(x + h) - function(x - h)) / (2 * h)


def test_the_slope_of_exact_kl_is_with_respect_to_the_logits():
    logits, reference = POLICY + 0.7, REFERENCE
    numerical = [
        difference(lambda x, a=a: exact_kl(log_softmax(logits + x * np.eye(5)[a]), reference).value, 0.0)
        for a in range(5)
    ]
    np.testing.assert_allclose(
        exact_kl(log_softmax(logits), reference).slope, numerical, rtol=1e-8, atol=1e-9
    )


V = np.array([-3.0, -1.0, -0.3, 0.4, 1.2, 2.5])
OTHERS = np.linspace(-1.0, 1.0, 6)
DIFFERENTIABLE = {
    **{kernel.__name__: kernel for kernel in (k1, k2, k3, absolute, weighted_k1, weighted_k3)},
    **{f"Open Instruct {number}": kernel for number, kernel in enumerate((OI0, OI1, OI2, OI3))},
    "absolute, limited": partial(absolute, max_log_ratio=2),
    "weighted k1, limited": partial(weighted_k1, max_log_ratio=2),
    "k3, limited twice": partial(k3, max_log_ratio=2, max_value=1),
}


@pytest.mark.parametrize("kernel", DIFFERENTIABLE.values(), ids=DIFFERENTIABLE)
def test_each_part_of_the_slope_is_the_central_difference_with_the_other_input_held(kernel):
    """No limit of 2 on v, or of 1 on k3 (at v = -1.15 and 1.84), is near any of these v."""
    weighted = getattr(kernel, "func", kernel) in (weighted_k1, weighted_k3)

    def term(log_probs, log_ratio):
        return kernel(log_probs, np.zeros(6), *([log_ratio] if weighted else []))

    direct = difference(lambda x: term(x, OTHERS).value, V)
    slope = difference(lambda x: term(V, x).value, OTHERS)
    np.testing.assert_allclose(term(V, OTHERS).direct, direct, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(term(V, OTHERS).slope, slope, rtol=1e-8, atol=1e-9)
