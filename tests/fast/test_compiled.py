"""The compiled loop over the tokens of a loss: equal to the kernels, wherever it may be asked for."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import DAPO, DR_GRPO, GRPO, RECIPES, policy_loss_from_logits, slot
from grpo_ref.fast import logits_rows
from grpo_ref.fast.compiled import CompiledRows
from grpo_ref.penalties import k2

SHAPE, V = (2, 3, 5), 7
GENERATOR = np.random.default_rng(12)
TOKENS = GENERATOR.integers(0, V, SHAPE)
MASK = np.broadcast_to(np.arange(5) < np.array([[5, 2, 0], [1, 4, 3]])[..., None], SHAPE)
BATCH = {"tokens": TOKENS, "advantages": GENERATOR.normal(size=SHAPE[:-1]), "mask": MASK}
LOGITS = GENERATOR.normal(size=(*SHAPE, V))
LOG_PROBS = {
    name: np.log(GENERATOR.uniform(0.05, 0.6, SHAPE))
    for name in ("old_log_probs", "ref_log_probs", "rollout_log_probs")
}
USUAL = {"grpo": GRPO, "dapo with kl": replace(DAPO, kl_coef=0.04), "dr_grpo": DR_GRPO}


def both(logits=LOGITS, *, recipe, metrics=(), **others):
    arguments = BATCH | {"recipe": recipe, "metrics": metrics} | others
    theirs = policy_loss_from_logits(logits.copy(), **arguments)
    return theirs, policy_loss_from_logits(logits, **arguments, compiled=True)


def assert_close(theirs, ours, rtol=1e-12):
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=rtol, atol=rtol)
    assert ours.gradient.dtype == theirs.gradient.dtype


@pytest.mark.parametrize("recipe", USUAL.values(), ids=USUAL)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("threads", [1, 2])
def test_loss_and_gradient_are_those_of_the_kernels(recipe, dtype, threads, monkeypatch):
    monkeypatch.setattr(logits_rows, "BLOCK_BYTES", 4 * V * 8)
    monkeypatch.setattr(CompiledRows, "alone", 0)
    theirs, ours = both(
        LOGITS.astype(dtype), recipe=recipe, temperature=0.7, threads=threads, max_length=9, **LOG_PROBS
    )
    assert theirs.loss != 0.0
    assert_close(theirs, ours, 1e-12 if dtype == "float64" else 1e-6)
    assert ours.metrics == {}


def test_without_old_log_probabilities_every_ratio_is_1():
    theirs, ours = both(recipe=DR_GRPO)
    assert np.abs(ours.gradient).max() > 0.0
    assert_close(theirs, ours)


def test_metrics_are_those_of_the_kernels_and_in_place_is_allowed():
    theirs, ours = both(recipe=GRPO, metrics=None, **LOG_PROBS)
    assert ours.metrics.keys() == theirs.metrics.keys() > {"kl", "ess"}
    for name, value in theirs.metrics.items():
        np.testing.assert_allclose(ours.metrics[name], value, rtol=1e-12)
    logits = LOGITS.copy()
    in_place = policy_loss_from_logits(
        logits, **BATCH, recipe=GRPO, metrics=(), out=logits, compiled=True, **LOG_PROBS
    )
    assert np.shares_memory(in_place.gradient, logits)
    assert_close(theirs, in_place)


@pytest.mark.parametrize("advantage", [2.0, -2.0, 0.0])
def test_by_hand_a_token_that_was_pushed_far_enough(advantage):
    """Two tokens with π = 1/2: ratio 1/2 over 1/4 is 2, beyond 1.2; k3 at v = log 2 is 1/2 - 1 + log 2."""
    result = policy_loss_from_logits(
        np.zeros((1, 1, 2)),
        np.zeros((1, 1), int),
        np.array([advantage]),
        np.ones((1, 1)),
        recipe=replace(GRPO, kl_coef=0.1),
        metrics=(),
        compiled=True,
        old_log_probs=np.log(np.full((1, 1), 0.25)),
        ref_log_probs=np.log(np.full((1, 1), 0.25)),
    )
    gain, slope = {2.0: (2.4, 0.0), -2.0: (-4.0, -4.0), 0.0: (0.0, 0.0)}[advantage]
    assert result.loss == pytest.approx(-(gain - 0.1 * (0.5 - 1.0 + np.log(2.0))))
    down = -(slope - 0.1 * (1.0 - 0.5))  # with respect to log π; softmax: times 1 - π, and -π for the other
    np.testing.assert_allclose(result.gradient, [[[0.5 * down, -0.5 * down]]], atol=1e-15)


def test_what_a_counted_token_holds_is_seen_and_what_the_padding_holds_is_not():
    held = LOG_PROBS["old_log_probs"].copy()
    held[~MASK] = np.nan
    assert_close(*both(recipe=GRPO, **LOG_PROBS | {"old_log_probs": held}))
    held[0, 0, 0] = np.nan
    theirs, ours = both(recipe=GRPO, **LOG_PROBS | {"old_log_probs": held})
    assert np.isnan(theirs.loss)
    assert np.isnan(ours.loss)
    np.testing.assert_array_equal(np.isnan(ours.gradient), np.isnan(theirs.gradient))


ROWS = {
    "far from 0": np.array([1e4, 0.0, -1e4, 3.0, 2.0, 1.0, 0.0]),
    "banned tokens": np.array([-np.inf, 0.0, 1.0, -np.inf, -np.inf, 2.0, 0.5]),
    "a sum that float32 hardly holds": np.full(7, 84.0) + np.arange(7.0) / 4,
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("short", [0, 1024], ids=["a long row", "a short row"])
def test_any_row_is_right(row, short, monkeypatch):
    monkeypatch.setattr(logits_rows, "SHORT", short)
    logits, tokens = LOGITS.copy(), TOKENS.copy()
    logits[0, 0, 1], tokens[0, 0, 1] = row, 6
    assert_close(*both(logits, recipe=DR_GRPO, tokens=tokens))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.nan, "logits: row 6 holds NaN or"),
        (np.inf, "logits: row 6 holds NaN or"),
        (-np.inf, "tokens: row 6 has a token whose logit is -inf"),
    ],
)
def test_a_row_that_is_no_distribution_is_named_if_it_counts(bad, message):
    logits = LOGITS.copy()
    logits[0, 0, 3:], logits[0, 2] = -np.inf, np.nan
    mask = MASK.copy()
    mask[0, 0, 3:] = False
    assert_close(*both(logits, recipe=DR_GRPO, mask=mask))
    logits[0, 1, 1, TOKENS[0, 1, 1]] = bad
    with pytest.raises(ValueError, match=message):
        policy_loss_from_logits(logits, **BATCH | {"mask": mask}, recipe=DR_GRPO, metrics=(), compiled=True)


MISTAKES = {
    "ref_log_probs: this recipe has kl_coef=0.1": (ValueError, {"recipe": replace(GRPO, kl_coef=0.1)}),
    "unexpected keyword argument 'old_log_prob'": (
        TypeError,
        {"recipe": DR_GRPO, "old_log_prob": LOG_PROBS["old_log_probs"]},
    ),
    "surrogate: the compiled loop does not support cispo": (ValueError, {"recipe": RECIPES["cispo"]}),
    "level: the compiled loop does not support sequence_mean_level": (
        ValueError,
        {"recipe": RECIPES["gspo"]},
    ),
    "penalty: the compiled loop does not support k2": (
        ValueError,
        {"recipe": replace(GRPO, kl_coef=0.1, penalty=slot(k2))},
    ),
    "metrics: no metric 'kll'; did you mean 'kl'": (ValueError, {"recipe": DR_GRPO, "metrics": ("kll",)}),
    "recipe: expected a Recipe or a name, got a dict": (TypeError, {"recipe": {}}),
}


@pytest.mark.parametrize(("message", "mistake"), MISTAKES.items(), ids=MISTAKES)
def test_mistakes_are_named(message, mistake):
    kind, change = mistake
    logits = LOGITS.copy()
    with pytest.raises(kind, match=message):
        policy_loss_from_logits(logits, **BATCH, **{"metrics": ()} | change, out=logits, compiled=True)
    np.testing.assert_array_equal(logits, LOGITS)
