"""Gradients: every recipe's manual gradient against central differences of its loss, to 1e-8 relative."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from differences import central_differences
from every_kernel import USED, as_slot, kernels_of

from grpo_ref import GRPO, RECIPES, aggregation, penalties, policy_loss, slot, surrogates
from grpo_ref.aggregation import sequence_mean_token_sum
from grpo_ref.arrays import Array
from grpo_ref.corrections import early_stop, masked, off_policy_mask, top_entropy
from grpo_ref.learning.policies.table import entropy_gradient, gather, log_softmax, policy_of, pull_back
from grpo_ref.levels import sequence_mean_level, sequence_sum_level
from grpo_ref.metrics import entropy
from grpo_ref.parity.calls.open_instruct import open_instruct_kl
from grpo_ref.penalties import exact_kl, k2, k3, weighted_k1, weighted_k3
from grpo_ref.surrogates import (
    cispo,
    clip_cov,
    clipped,
    dual_clipped,
    geometric_mean_clipped,
    importance_weighted,
    kl_cov,
    sapo,
    squared_ratio,
    top_movers,
    two_sided_clipped,
)
from grpo_ref.types import Term

GENERATOR = np.random.default_rng(49)
SHAPE = (2, 2, 3, 4)  # runs, prompts, group, tokens
OLD = np.log(GENERATOR.uniform(0.2, 0.9, SHAPE))
NEW = OLD + GENERATOR.uniform(-0.5, 0.5, SHAPE)
REF = OLD + GENERATOR.uniform(-0.5, 0.5, SHAPE)
ROLLOUT = OLD + GENERATOR.uniform(-0.5, 0.5, SHAPE)
ADVANTAGES = GENERATOR.normal(size=SHAPE[:-1])
OTHERS = {
    "entropies": GENERATOR.uniform(0.1, 2.0, SHAPE),
    "noise": GENERATOR.random(SHAPE),
    "top_log_probs": np.log(GENERATOR.dirichlet(np.ones(4), SHAPE)[..., :3]),
    "top_rollout_log_probs": np.log(GENERATOR.dirichlet(np.ones(4), SHAPE)[..., :3]),
    "teacher_log_probs": OLD + np.random.default_rng(50).uniform(-0.5, 0.5, SHAPE),
}
INPUTS = {"old_log_probs": OLD, "ref_log_probs": REF, "rollout_log_probs": ROLLOUT, "max_length": 6, **OTHERS}
MASK = np.arange(4) < np.array([[4, 2, 1], [3, 0, 4]])[..., None]
MASK = np.broadcast_to(MASK, SHAPE)

DETACHED = ("grpo_ref.surrogates.detached", "grpo_ref.surrogates.divergence")
"""Surrogates whose ratio is a constant of differentiation: the gradient is not the derivative of the loss."""
ATTACHED = {
    name: recipe
    for name, recipe in RECIPES.items()
    if recipe.surrogate.kernel.__module__ not in DETACHED and name != "fipo"
}
"""The recipes whose gradient is the derivative of their loss. FIPO's constant weights follow the policy."""
OTHERWISE = {"exact_kl", "straight_through", "open_instruct_kl", "token_sum_over"}
"""About logits, the slope of another estimator, tried number by number below, no default."""


def in_no_recipe(package, kind):
    """The kernels of a package that return such a thing and are in no recipe yet, with their defaults."""
    for name, kernel in kernels_of(package).items():
        returns = inspect.signature(kernel).return_annotation
        if returns is kind and kernel not in USED and name not in OTHERWISE:
            yield as_slot(kernel)


WITH_EACH_KERNEL = {
    **{str(part): replace(GRPO, surrogate=part) for part in in_no_recipe(surrogates, Term)},
    **{str(part): replace(GRPO, penalty=part, kl_coef=0.5) for part in in_no_recipe(penalties, Term)},
    **{str(part): replace(GRPO, aggregate=part) for part in in_no_recipe(aggregation, Array)},
}
SETTINGS = {
    "gspo with room": replace(RECIPES["gspo"], surrogate=slot(clipped)),
    "two-sided, a low cap": replace(GRPO, surrogate=slot(two_sided_clipped, max_ratio=1.1)),
    "gmpo with a narrow clip": replace(RECIPES["gmpo"], surrogate=slot(geometric_mean_clipped, clip_low=0.1)),
    "clip-cov": replace(RECIPES["clip_cov"], surrogate=slot(clip_cov, share=0.3, cov_low=-1.0)),
    "top movers": replace(GRPO, surrogate=slot(top_movers, k=2)),
    "dro with a strong square": replace(RECIPES["dro"], surrogate=slot(squared_ratio, beta=2.0)),
    "limited log-ratio": replace(GRPO, log_ratio_limits=(-0.3, 0.25), surrogate=slot(importance_weighted)),
    "limited sequence log-ratio": replace(
        GRPO, level=sequence_mean_level, log_ratio_limits=(-0.1, 0.05), surrogate=slot(importance_weighted)
    ),
    "a penalty with an average of its own": replace(
        GRPO,
        level=sequence_mean_level,
        penalty=slot(weighted_k3),
        kl_coef=0.5,
        penalty_aggregate=slot(aggregation.token_mean),
    ),
    "corrections leave the penalty alone": replace(
        GRPO,
        penalty=slot(weighted_k3),
        kl_coef=0.5,
        corrections=(
            slot(masked, max_ratio=1.1),
            slot(top_entropy, share=0.5),
            slot(off_policy_mask, threshold=0.05),
            slot(early_stop, max_ratio=1.5),
        ),
    ),
    "sequence mean": replace(GRPO, level=sequence_mean_level),
    "sequence sum": replace(GRPO, level=sequence_sum_level),
    "dual clip": replace(GRPO, surrogate=slot(dual_clipped, max_ratio=1.3)),
    "kl-cov": replace(GRPO, surrogate=slot(kl_cov, share=0.3)),
    "sapo under a sequence ratio": replace(GRPO, surrogate=slot(sapo), level=sequence_mean_level),
    "k3": replace(GRPO, penalty=slot(k3), kl_coef=0.5),
    "k3 of negative weight": replace(GRPO, penalty=slot(k3), kl_coef=-0.5),
    "k3 with clamps": replace(GRPO, penalty=slot(k3, max_log_ratio=0.2, max_value=0.01), kl_coef=0.5),
    "weighted k3 under a sequence ratio": replace(
        GRPO, penalty=slot(weighted_k3), kl_coef=0.5, level=sequence_mean_level
    ),
    **{
        f"Open Instruct {number}": replace(
            GRPO, penalty=slot(open_instruct_kl, estimator=number), kl_coef=0.5
        )
        for number in range(4)
    },
    "mean of sums": replace(GRPO, aggregate=slot(sequence_mean_token_sum, count_empty=False)),
}
"""Settings and combinations that no recipe and no default has."""
VARIANTS = ATTACHED | WITH_EACH_KERNEL | SETTINGS


CISPO = replace(GRPO, surrogate=slot(cispo, max_ratio=1.3), kl_coef=0.0)


def assert_same_gradient(ours, numerical):
    np.testing.assert_allclose(ours, numerical, rtol=1e-8, atol=1e-8 * np.abs(numerical).max())


def total_loss(log_probs, recipe):
    """All runs together: runs are independent, so each entry's derivative is its own run's."""
    return policy_loss(log_probs, ADVANTAGES, MASK, recipe=recipe, **INPUTS).loss.sum()


def test_the_batch_stays_away_from_every_kink():
    """Central differences across a kink mean nothing, so none of the ratios is within two steps of one."""
    for level in {recipe.level for recipe in VARIANTS.values()}:
        ratio = np.exp(level(NEW - OLD, MASK))[MASK]
        for bound in (0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.28, 1.3, np.exp(-0.3), np.exp(0.25), np.exp(0.4)):
            assert np.abs(ratio - bound).min() > 2e-3
    for bound in (0.0, 0.2):
        assert np.abs(np.abs(NEW - REF)[MASK] - bound).min() > 2e-3
    assert np.abs(k3(NEW, REF).value[MASK] - 0.01).min() > 5e-4


@pytest.mark.parametrize("recipe", VARIANTS.values(), ids=VARIANTS)
def test_gradient_with_respect_to_log_probs(recipe):
    ours = policy_loss(NEW, ADVANTAGES, MASK, recipe=recipe, **INPUTS)
    assert_same_gradient(ours.gradient, central_differences(lambda x: total_loss(x, recipe), NEW))


ALL = VARIANTS | RECIPES


@pytest.mark.parametrize("recipe", ALL.values(), ids=ALL)
def test_padding_gets_exactly_zero_whatever_it_holds(recipe):
    garbage = np.where(MASK, NEW, np.where(np.arange(4) % 2, np.nan, np.inf))
    others = {"old_log_probs": np.where(MASK, OLD, np.nan), "ref_log_probs": np.where(MASK, REF, -np.inf)}
    others |= {
        name: np.where(MASK, INPUTS[name], np.nan)
        for name in ("rollout_log_probs", "entropies", "noise", "teacher_log_probs")
    }
    clean = policy_loss(NEW, ADVANTAGES, MASK, recipe=recipe, **INPUTS)
    dirty = policy_loss(garbage, ADVANTAGES, MASK, recipe=recipe, **(INPUTS | others))
    np.testing.assert_array_equal(dirty.gradient[~MASK], 0.0)
    np.testing.assert_array_equal(dirty.gradient, clean.gradient)
    np.testing.assert_array_equal(dirty.loss, clean.loss)
    for name, value in clean.metrics.items():
        np.testing.assert_array_equal(dirty.metrics[name], value, err_msg=name)


def test_a_detached_weight_is_the_gradient_of_weighted_log_probs():
    """With the capped ratio held as a number, the value is linear in log πθ, and W times it is its slope."""
    held = np.minimum(np.exp(NEW - OLD), 1.3) * ADVANTAGES[..., None]
    weights = GRPO.weights(MASK)

    def loss(log_probs):
        return -(weights * held * log_probs)[MASK].sum()

    ours = policy_loss(NEW, ADVANTAGES, MASK, recipe=CISPO, old_log_probs=OLD)
    assert_same_gradient(ours.gradient, central_differences(loss, NEW))
    assert ours.loss.sum() == pytest.approx(loss(NEW), rel=1e-13)


# ---- down to the logits --------------------------------------------------------------------------

LOGITS = GENERATOR.normal(size=(2, 5, 6))  # runs, states, vocabulary
STATES = GENERATOR.integers(0, 5, SHAPE)
TOKENS = GENERATOR.integers(0, 6, SHAPE)
TEMPERATURE = 0.7
START = gather(log_softmax(LOGITS, temperature=TEMPERATURE), STATES, TOKENS)
OLD_THERE = START - (NEW - OLD)
REF_THERE = START - (NEW - REF)


def loss_of_logits(logits, recipe):
    log_probs = gather(log_softmax(logits, temperature=TEMPERATURE), STATES, TOKENS)
    others = INPUTS | {"old_log_probs": OLD_THERE, "ref_log_probs": REF_THERE}
    return policy_loss(log_probs, ADVANTAGES, MASK, recipe=recipe, **others)


@pytest.mark.parametrize("recipe", VARIANTS.values(), ids=VARIANTS)
def test_gradient_with_respect_to_the_logits(recipe):
    """States repeat within a batch, so the scatter must add; the temperature divides."""
    probs = policy_of(LOGITS, temperature=TEMPERATURE).probs
    token_gradient = loss_of_logits(LOGITS, recipe).gradient
    ours = pull_back(token_gradient, STATES, TOKENS, probs, temperature=TEMPERATURE)
    numerical = central_differences(lambda x: loss_of_logits(x, recipe).loss.sum(), LOGITS, step=5e-4)
    assert_same_gradient(ours, numerical)
    np.testing.assert_allclose(ours.sum(-1), 0.0, atol=1e-15)


def test_entropy_gradient():
    weights = np.where(MASK, GENERATOR.uniform(size=SHAPE), 0.0)

    def weighted_entropy(logits):
        entropies = entropy(log_softmax(logits, temperature=TEMPERATURE))
        run = np.arange(2)[:, None, None, None]
        return (weights * entropies[run, STATES]).sum()

    policy = policy_of(LOGITS, temperature=TEMPERATURE)
    ours = entropy_gradient(weights, STATES, policy, temperature=TEMPERATURE)
    assert_same_gradient(ours, central_differences(weighted_entropy, LOGITS))


def test_exact_kl_slope_is_with_respect_to_the_logits():
    reference = log_softmax(GENERATOR.normal(size=(5, 6)))
    ours = exact_kl(log_softmax(LOGITS[0]), reference).slope
    numerical = central_differences(lambda x: exact_kl(log_softmax(x), reference).value.sum(), LOGITS[0])
    assert_same_gradient(ours, numerical)


# ---- complex step: no subtraction, so no rounding --------------------------------------------------


SMOOTH = {
    "importance weighted": lambda x, old, ref: np.exp(x - old) * 1.7,
    "k2": lambda x, old, ref: 0.5 * (x - ref) ** 2,
    "k3": lambda x, old, ref: np.exp(ref - x) - 1 + x - ref,
    "weighted k1": lambda x, old, ref: np.exp(x - old) * (x - ref),
    "weighted k3": lambda x, old, ref: np.exp(x - old) * (np.exp(ref - x) - 1 + x - ref),
}
KERNELS = {
    "importance weighted": lambda x, old, ref: importance_weighted(x - old, np.full_like(x, 1.7)),
    "k2": lambda x, old, ref: k2(x, ref),
    "k3": lambda x, old, ref: k3(x, ref),
    "weighted k1": lambda x, old, ref: weighted_k1(x, ref, x - old),
    "weighted k3": lambda x, old, ref: weighted_k3(x, ref, x - old),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_kernels_by_complex_step(name):
    """f'(x) = Im f(x + ih)/h, exact to rounding; the formula is written out anew, without branches."""
    term = KERNELS[name](NEW, OLD, REF)
    formula = SMOOTH[name](NEW + 1e-30j, OLD, REF)
    np.testing.assert_allclose(term.value, formula.real, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(term.slope + term.direct, formula.imag / 1e-30, rtol=1e-13, atol=1e-15)
