"""From logits: equal to the readable form, for every recipe, any finite logits, in place and with threads."""

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import GRPO, RECIPES, policy_loss, policy_loss_from_logits, slot, token_log_probs
from grpo_ref.aggregation import kept_token_mean
from grpo_ref.fast import logits_rows as module
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.types import Term

SHAPE, V, PATIENCE = (2, 3, 5), 7, 10.0
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
    for name in ("old_log_probs", "ref_log_probs", "rollout_log_probs", "teacher_log_probs")
} | {
    "entropies": GENERATOR.uniform(size=SHAPE),
    "noise": GENERATOR.random(SHAPE),
    "top_log_probs": np.log(GENERATOR.dirichlet(np.ones(4), SHAPE)[..., :3]),
    "top_rollout_log_probs": np.log(GENERATOR.dirichlet(np.ones(4), SHAPE)[..., :3]),
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
    "a sum that float32 holds, but hardly its inverse": np.full(7, 84.0) + np.arange(7.0) / 4,
    "a sum that float32 holds, but with few digits": np.full(7, -95.0) + np.arange(7.0) / 4,
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
    small = policy_loss_from_logits(
        given,
        tokens,
        advantages * 1e-6,
        mask,
        recipe=replace(RECIPES["reinforce"], aggregate=GRPO.aggregate),
    )
    np.testing.assert_allclose(small.gradient * 1e6, expected, atol=1e-12 if dtype == "float64" else 1e-6)
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


@pytest.mark.parametrize("held", [np.nan, np.inf, -np.inf, 1e4])
def test_what_masked_rows_hold_does_not_matter(held, passes):
    dirty = np.where(MASK[..., None], LOGITS, held)
    recipe = replace(GRPO, kl_coef=0.0)
    clean = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=recipe)
    ours = policy_loss_from_logits(dirty, TOKENS, ADVANTAGES, MASK, recipe=recipe)
    assert ours.loss == clean.loss
    np.testing.assert_array_equal(ours.gradient, clean.gradient)
    nothing = policy_loss_from_logits(dirty, TOKENS, ADVANTAGES, np.zeros(SHAPE), recipe=recipe)
    assert nothing.loss == 0.0
    assert (nothing.gradient == 0.0).all()


@pytest.mark.parametrize("mask", [MASK * 2, MASK * -1.0, MASK.astype("float16"), MASK.astype(int)])
def test_any_mask_that_is_not_zero_counts_as_set(mask, passes):
    recipe = replace(RECIPES["dr_grpo"], kl_coef=0.0)
    expected = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=recipe)
    ours = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, mask, recipe=recipe)
    np.testing.assert_array_equal(ours.gradient, expected.gradient)
    assert ours.loss == expected.loss


@pytest.mark.parametrize("recipe", [GRPO, RECIPES["gspo"]], ids=["token", "sequence"])
@pytest.mark.parametrize("masked", ["ends", "every other token"])
def test_blocks_and_threads_change_no_bit(recipe, masked, monkeypatch):
    rng, threads, several = np.random.default_rng(0), set(), threading.Event()
    monkeypatch.setattr(module.Rows, "alone", 0)
    monkeypatch.setattr(module, "STEP_BYTES", 3 * 1100 * 4)
    exponentials = module.Rows.exponentials

    def noted(self, rows, target):
        threads.add(threading.get_ident())
        if len(threads) > 1:
            several.set()
        assert several.wait(PATIENCE), "no other thread took a block"
        exponentials(self, rows, target)

    monkeypatch.setattr(module.Rows, "exponentials", noted)
    shape, vocabulary = (20, 17), 1100
    logits = rng.normal(size=(*shape, vocabulary)).astype("float32")
    tokens, advantages = rng.integers(0, vocabulary, shape), rng.normal(size=20)
    lengths = rng.integers(0, 18, (20, 1))
    mask = np.arange(17) < lengths if masked == "ends" else np.indices(shape).sum(0) % 2 == 0
    recipe = replace(recipe, kl_coef=0.0)
    old = chosen(logits.astype(float), tokens) + 0.01
    loss, gradient = readable(
        logits[None].astype(float),
        tokens[None],
        advantages[None],
        mask[None],
        recipe=recipe,
        old_log_probs=old[None],
    )
    first = None
    for rows in (1, 7, 50, 10_000):
        monkeypatch.setattr(module, "BLOCK_BYTES", rows * vocabulary * 4)
        for number in (1, 2, 3, 7):
            threads.clear()
            several.clear() if number > 1 else several.set()
            ours = policy_loss_from_logits(
                logits, tokens, advantages, mask, recipe=recipe, old_log_probs=old, threads=number
            )
            first = first or ours
            assert len(threads) <= number
            assert several.is_set()
            assert ours.loss == first.loss
            np.testing.assert_array_equal(ours.gradient, first.gradient)
    assert first.loss == pytest.approx(loss, rel=1e-6)
    np.testing.assert_allclose(first.gradient, gradient[0], rtol=0, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_first_of_several_bad_rows_is_named_whatever_the_threads(threads, monkeypatch):
    monkeypatch.setattr(module.Rows, "alone", 0)
    monkeypatch.setattr(module, "BLOCK_BYTES", V * 8)
    logits = LOGITS.copy()
    logits[0, 1, 0] = logits[1, 1, 3] = logits[1, 2, 2] = np.nan
    with pytest.raises(ValueError, match="logits: row 5 holds"):
        policy_loss_from_logits(
            logits, TOKENS, ADVANTAGES, MASK, recipe=RECIPES["reinforce"], threads=threads
        )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(module.Rows, "alone", 0)
    given = (LOGITS, TOKENS, ADVANTAGES, MASK)
    expected = policy_loss_from_logits(*given, recipe=RECIPES["reinforce"]).loss
    child = os.fork()
    if child == 0:
        signal.alarm(int(PATIENCE))
        os._exit(policy_loss_from_logits(*given, recipe=RECIPES["reinforce"]).loss != expected)
    assert os.waitpid(child, 0)[1] == 0


def test_metrics_are_those_asked_for(passes):
    asked = {"recipe": GRPO, "metrics": ("ess",), "ref_log_probs": OTHERS["ref_log_probs"]}
    result = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, **asked)
    expected = policy_loss(chosen(LOGITS, TOKENS), ADVANTAGES, MASK, **asked)
    assert list(result.metrics) == ["ess"]
    assert result.metrics["ess"] == pytest.approx(expected.metrics["ess"], rel=1e-12)


READ_ONLY = np.zeros_like(LOGITS)
READ_ONLY.flags.writeable = False
WRONG = {
    "temperature": ({"temperature": 0.0}, "temperature: expected a number > 0, got 0.0"),
    "integers": ({"logits": LOGITS.astype(int)}, "logits: expected float32 or float64, got int64"),
    "another shape": ({"mask": MASK[..., :4]}, r"mask \(2, 3, 4\)"),
    "a token out of range": ({"tokens": TOKENS + V}, r"tokens: expected 0 to 6, got 7 to"),
    "a negative token": ({"tokens": TOKENS - V}, r"tokens: expected 0 to 6, got -7 to"),
    "tokens that are no integers": ({"tokens": TOKENS * 1.0}, "tokens: expected integers, got float64"),
    "no vocabulary": (
        {"logits": LOGITS[..., :0]},
        r"at least one token to choose from, got shape \(2, 3, 5, 0\)",
    ),
    "a banned token": (
        {"logits": np.where(np.arange(V) == 3, -np.inf, LOGITS), "tokens": TOKENS * 0 + 3},
        "tokens: row 0 has a token whose logit is -inf",
    ),
    "out with gaps": (
        {"out": np.zeros((*SHAPE, 2 * V))[..., ::2]},
        "out: expected a contiguous float64 array",
    ),
    "out that cannot be written": ({"out": READ_ONLY}, "out: expected a writable array"),
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


def test_out_may_not_share_a_part_with_the_logits():
    memory = np.zeros(LOGITS.size + V)
    logits, out = memory[:-V].reshape(LOGITS.shape), memory[V:].reshape(LOGITS.shape)
    with pytest.raises(ValueError, match="out: expected the logits themselves or other memory"):
        policy_loss_from_logits(logits, TOKENS, ADVANTAGES, MASK, recipe=RECIPES["reinforce"], out=out)


@pytest.mark.parametrize(
    ("others", "error"),
    [({}, ValueError), ({"ref_log_probs": LOGITS[..., 0], "rfe_log_probs": LOGITS[..., 0]}, TypeError)],
    ids=["no reference", "a misspelt name"],
)
def test_what_is_missing_is_said_before_the_logits_are_overwritten(others, error):
    logits = LOGITS.copy()
    with pytest.raises(error, match=r"r(ef|fe)_log_probs"):
        policy_loss_from_logits(
            logits, TOKENS, ADVANTAGES, MASK, recipe=replace(GRPO, kl_coef=0.1), out=logits, **others
        )
    np.testing.assert_array_equal(logits, LOGITS)


def test_logits_in_any_order_and_tokens_of_any_integers_and_none_as_left_out():
    recipe = replace(GRPO, kl_coef=0.0)
    expected = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=recipe)
    wide = np.concatenate([LOGITS, LOGITS], axis=-1)[..., :V]
    for logits in (np.asfortranarray(LOGITS), wide):
        for dtype in ("uint8", "uint64", "int32"):
            ours = policy_loss_from_logits(
                logits, TOKENS.astype(dtype), ADVANTAGES, MASK, recipe=recipe, old_log_probs=None
            )
            np.testing.assert_array_equal(ours.gradient, expected.gradient)


def likely_ones(log_probs):
    """A correction that drops unlikely tokens."""
    return (log_probs > -2.0) * 1.0


def by_budget(log_ratio, advantages, max_length):
    """A surrogate that is not computed from its token alone."""
    return Term(log_ratio * advantages * max_length, advantages * max_length)


PARTS = {
    "weights that depend on corrections": {
        "corrections": (slot(likely_ones),),
        "aggregate": slot(kept_token_mean),
    },
    "a surrogate that reads the budget": {"surrogate": slot(by_budget)},
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_what_a_token_cannot_know_takes_two_passes(parts, monkeypatch):
    monkeypatch.setattr(module, "SHORT", 0)
    monkeypatch.setattr(module, "BLOCK_BYTES", 2 * V * 8)
    recipe, others = replace(RECIPES["reinforce"], **parts), {"old_log_probs": OTHERS["old_log_probs"]}
    loss, gradient = readable(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=recipe, **others)
    ours = policy_loss_from_logits(LOGITS, TOKENS, ADVANTAGES, MASK, recipe=recipe, **others)
    assert ours.loss == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(ours.gradient, gradient, rtol=0, atol=1e-12 * np.abs(gradient).max())
