"""From logits: equal to the readable form, for every recipe, any finite logits, in place and with threads."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import GRPO, RECIPES, policy_loss, policy_loss_from_logits, token_log_probs
from grpo_ref import logits as module
from grpo_ref.policy import log_softmax

SHAPE, V = (2, 3, 5), 7
GENERATOR = np.random.default_rng(11)
TOKENS = GENERATOR.integers(0, V, SHAPE)
MASK = np.broadcast_to(np.arange(5) < np.array([[5, 2, 0], [1, 4, 3]])[..., None], SHAPE)
ADVANTAGES = GENERATOR.normal(size=SHAPE[:-1])
LOGITS = GENERATOR.normal(size=(*SHAPE, V))


def chosen(logits, tokens, temperature=1.0):
    """The readable form of the log-probabilities."""
    return np.take_along_axis(log_softmax(logits, temperature=temperature), tokens[..., None], -1)[..., 0]


OTHERS = {
    name: chosen(LOGITS, TOKENS) + GENERATOR.normal(size=SHAPE) * 0.3
    for name in ("old_log_probs", "ref_log_probs", "rollout_log_probs")
} | {
    "entropies": GENERATOR.uniform(size=SHAPE),
    "noise": GENERATOR.random(SHAPE),
    "top_log_probs": np.log(GENERATOR.dirichlet(np.ones(4), SHAPE)[..., :3]),
    "top_old_log_probs": np.log(GENERATOR.dirichlet(np.ones(4), SHAPE)[..., :3]),
}


def readable(logits, tokens, advantages, mask, temperature=1.0, **settings):
    """policy_loss, and the softmax's gradient written out."""
    result = policy_loss(chosen(logits, tokens, temperature), advantages, mask, **settings)
    one_hot = np.eye(logits.shape[-1])[tokens]
    probs = np.exp(log_softmax(logits, temperature=temperature))
    return result.loss, result.gradient[..., None] * (one_hot - probs) / temperature


@pytest.fixture(params=["one pass", "two passes"])
def passes(request, monkeypatch):
    """Small vocabularies take two passes; make them take one as well."""
    if request.param == "one pass":
        monkeypatch.setattr(module, "SHORT", 0)
    monkeypatch.setattr(module, "STEP_BYTES", 3 * V * 8)
    monkeypatch.setattr(module, "BLOCK_BYTES", 7 * V * 8)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_recipe_equals_the_readable_form(recipe, dtype, passes):
    recipe = replace(recipe, kl_coef=0.1)
    loss, gradient = readable(LOGITS, TOKENS, ADVANTAGES, MASK, 0.7, recipe=recipe, max_length=9, **OTHERS)
    ours = policy_loss_from_logits(
        LOGITS.astype(dtype), TOKENS, ADVANTAGES, MASK, recipe=recipe, max_length=9, temperature=0.7, **OTHERS
    )
    rtol = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(ours.loss, loss, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours.gradient, gradient, rtol=0, atol=rtol * np.abs(gradient).max())
    assert ours.gradient.dtype == dtype
    assert (ours.gradient[~MASK] == 0.0).all()


def test_completions_without_groups_and_advantages_for_each_token(passes):
    grouped = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=replace(GRPO, kl_coef=0.0))
    flat = policy_loss_from_logits(
        LOGITS.reshape(6, 5, V),
        TOKENS.reshape(6, 5),
        np.repeat(ADVANTAGES.reshape(6, 1), 5, axis=1),
        MASK.reshape(6, 5),
        recipe=replace(GRPO, kl_coef=0.0),
    )
    assert flat.loss == grouped.loss
    np.testing.assert_array_equal(flat.gradient.reshape(LOGITS.shape), grouped.gradient)
    assert flat.metrics.keys() == grouped.metrics.keys()


ROWS = {
    "ten thousand": np.array([1e4, 0.0, -1e4, 3.0, 2.0, 1.0, 0.0]),
    "minus ten thousand": np.full(7, -1e4) + np.arange(7.0),
    "all equal": np.full(7, 88.0),
    "banned tokens": np.array([-np.inf, 0.0, 1.0, -np.inf, -np.inf, 2.0, 0.5]),
    "all but one banned": np.array([-np.inf] * 6 + [3.0]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_any_row_is_right(row, in_place, dtype, passes):
    logits = np.stack([LOGITS[0, 0, 0], row]).reshape(1, 2, V).astype(dtype)
    tokens, mask, advantages = np.array([[1, 6]]), np.ones((1, 2)), np.array([1.5])
    with np.errstate(divide="ignore"):
        exact = logits.astype(np.float64) - logits.astype(np.float64).max(-1, keepdims=True)
        exact = exact - np.log(np.exp(exact).sum(-1, keepdims=True))
    expected = -0.75 * (np.eye(V)[tokens] - np.exp(exact))
    out = logits if in_place else None
    given = logits.copy()
    ours = policy_loss_from_logits(
        logits,
        tokens,
        advantages,
        mask,
        recipe=replace(RECIPES["reinforce"], aggregate=GRPO.aggregate),
        out=out,
    )
    np.testing.assert_allclose(ours.gradient, expected, atol=1e-12 if dtype == "float64" else 1e-6)
    log_probs = np.take_along_axis(exact, tokens[..., None], -1)[..., 0]
    assert ours.loss == pytest.approx(-0.75 * log_probs.sum(), rel=1e-12 if dtype == "float64" else 1e-6)
    np.testing.assert_allclose(
        token_log_probs(given, tokens), log_probs, rtol=1e-12 if dtype == "float64" else 1e-6, atol=1e-7
    )
    if in_place:
        assert np.shares_memory(ours.gradient, logits)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("in_place", [False, True])
def test_a_row_that_is_no_distribution_is_named(bad, in_place, passes):
    logits, out = LOGITS.copy(), np.zeros_like(LOGITS)
    logits[0, 1, 1, 3] = bad
    before = logits.copy()
    out = logits if in_place else out
    with pytest.raises(ValueError, match=r"logits: row 6 holds NaN or \+inf, or nothing but -inf"):
        policy_loss_from_logits(logits, TOKENS, ADVANTAGES, MASK, recipe=replace(GRPO, kl_coef=0.0), out=out)
    assert np.isnan(out).all()
    if not in_place:
        np.testing.assert_array_equal(logits, before)
    with pytest.raises(ValueError, match="row 6 holds"):
        token_log_probs(before, TOKENS)


def test_what_masked_rows_hold_does_not_matter(passes):
    dirty = np.where(MASK[..., None], LOGITS, np.nan)
    recipe = replace(GRPO, kl_coef=0.0)
    clean = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=recipe)
    ours = policy_loss_from_logits(dirty, TOKENS, ADVANTAGES, MASK, recipe=recipe)
    assert ours.loss == clean.loss
    np.testing.assert_array_equal(ours.gradient, clean.gradient)
    nothing = policy_loss_from_logits(dirty, TOKENS, ADVANTAGES, np.zeros(SHAPE), recipe=recipe)
    assert nothing.loss == 0.0
    assert (nothing.gradient == 0.0).all()


@pytest.mark.parametrize("recipe", [GRPO, RECIPES["gspo"]], ids=["token", "sequence"])
def test_threads_change_no_bit(recipe):
    rng = np.random.default_rng(0)
    shape, vocabulary = (40, 17), 2000
    logits, tokens = (
        rng.normal(size=(*shape, vocabulary)).astype("float32"),
        rng.integers(0, vocabulary, shape),
    )
    mask = np.arange(17) < rng.integers(0, 18, (40, 1))
    arguments = {
        "recipe": replace(recipe, kl_coef=0.0),
        "old_log_probs": token_log_probs(logits, tokens) + 0.01,
    }
    one, two, three = (
        policy_loss_from_logits(logits, tokens, rng.normal(size=40) * 0 + 1.0, mask, threads=n, **arguments)
        for n in (1, 2, 3)
    )
    for other in (two, three):
        assert other.loss == one.loss
        np.testing.assert_array_equal(other.gradient, one.gradient)
    np.testing.assert_array_equal(token_log_probs(logits, tokens, threads=1), token_log_probs(logits, tokens))


WRONG = {
    "temperature": ({"temperature": 0.0}, "temperature: expected a number > 0, got 0.0"),
    "integers": ({"logits": LOGITS.astype(int)}, "logits: expected float32 or float64, got int64"),
    "another shape": ({"mask": MASK[..., :4]}, r"mask \(2, 3, 4\)"),
    "a token out of range": ({"tokens": TOKENS + V}, r"tokens: expected 0 to 6, got 7 to"),
    "out of another precision": (
        {"out": LOGITS.astype("float32")},
        "out: expected a contiguous float64 array",
    ),
    "advantages of another shape": (
        {"advantages": ADVANTAGES[:1]},
        r"advantages: expected shape \(2, 3, 5\)",
    ),
    "no threads": ({"threads": 0}, "threads: expected at least 1, got 0"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_mistakes_are_named(change, message):
    arguments = {"logits": LOGITS, "tokens": TOKENS, "advantages": ADVANTAGES, "mask": MASK}
    with pytest.raises(ValueError, match=message):
        policy_loss_from_logits(**arguments | change, recipe=replace(GRPO, kl_coef=0.0))
