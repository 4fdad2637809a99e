"""From logits on a device: equal to NumPy's, with few transfers, and errors that name the row."""

from dataclasses import replace

import numpy as np
import pytest
from devices import assert_close

from grpo_ref import GRPO, RECIPES, policy_loss_from_logits, token_log_probs
from grpo_ref.arrays import to_device, to_host
from grpo_ref.fast import logits_device

FIELDS = ("old_log_probs", "ref_log_probs", "rollout_log_probs", "entropies", "noise")
FIELDS += ("top_log_probs", "top_rollout_log_probs")
TEACHER = "teacher_log_probs"
SHAPE = (2, 3, 5)
MASK = np.arange(5) < np.array([[5, 2, 0], [1, 4, 3]])[..., None]


def batch_of(vocabulary, dtype="float64"):
    """The arguments of `policy_loss_from_logits`; rows in the padding are not distributions."""
    generator = np.random.default_rng(3)
    logits = generator.normal(size=(*SHAPE, vocabulary)).astype(dtype) * 3
    tokens = generator.integers(0, vocabulary, SHAPE)
    at = token_log_probs(logits, tokens)
    probs = generator.dirichlet(np.ones(4), (2, *SHAPE))[..., :3]
    others = {name: at + 0.1 * generator.normal(size=SHAPE) for name in FIELDS[:3]}
    others |= {name: generator.random(SHAPE) for name in FIELDS[3:5]}
    others |= dict(zip(FIELDS[5:], np.log(probs), strict=True))
    others[TEACHER] = at + 0.1 * generator.normal(size=SHAPE)
    dirty = np.where(MASK[..., None], logits, np.nan).astype(dtype)
    return {
        "logits": dirty,
        "tokens": tokens,
        "advantages": generator.normal(size=SHAPE[:-1]),
        "mask": MASK,
    } | others


def check_logits(place, given, recipe, rtol, **settings):
    expected = policy_loss_from_logits(**given, recipe=recipe, **settings)
    got = policy_loss_from_logits(**to_device(given, place.xp), recipe=recipe, **settings)
    assert got.loss == pytest.approx(expected.loss, rel=rtol, abs=rtol)
    assert_close(got.gradient, expected.gradient, rtol)
    for name, value in expected.metrics.items():
        np.testing.assert_allclose(to_host(got.metrics[name]), value, rtol=rtol, atol=rtol)
    assert (to_host(got.gradient)[~MASK] == 0.0).all()


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_every_recipe_from_logits(recipe, place):
    check_logits(place, batch_of(7), replace(recipe, kl_coef=0.1), place.rtol, max_length=9, temperature=0.7)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("vocabulary", [1, 3, 256, 257, 1024, 5000])
def test_any_vocabulary_in_both_precisions(vocabulary, dtype, place):
    """Around the number of lanes that share a row, and around the four logits that each reads at a time."""
    check_logits(place, batch_of(vocabulary, dtype), GRPO, place.rtol if dtype == "float64" else 2e-6)


@pytest.mark.parametrize("metrics", [None, ()])
def test_the_compiled_loop(metrics, place):
    pytest.importorskip("numba")
    recipe = replace(RECIPES["dapo"], kl_coef=0.1)
    check_logits(place, batch_of(7), recipe, place.rtol, compiled=True, metrics=metrics)


def test_several_blocks_of_rows(place, monkeypatch):
    """With 7 logits of 8 bytes in each of the 30 rows, 230 bytes are 4 rows, so there are 8 blocks."""
    monkeypatch.setattr(logits_device, "BLOCK_BYTES", 230)
    given = batch_of(7)
    check_logits(place, given, replace(GRPO, kl_coef=0.1), place.rtol)
    check_logits(place, given, replace(GRPO, kl_coef=0.1), place.rtol, metrics=())
    given["logits"][0, 1, 1, 3] = np.nan
    there = to_device(given, place.xp)
    with pytest.raises(ValueError, match=r"logits: row 6 holds NaN"):
        policy_loss_from_logits(**there, recipe=GRPO, out=there["logits"])
    assert np.isnan(to_host(there["logits"])).all()


ROWS = {
    "ten thousand": np.array([1e4, 0.0, -1e4, 3.0, 2.0, 1.0, 0.0]),
    "minus ten thousand": np.full(7, -1e4) + np.arange(7.0),
    "all equal": np.full(7, 88.0),
    "rising": np.arange(7.0) * 100,
    "banned tokens": np.array([-np.inf, 0.0, 1.0, -np.inf, -np.inf, 2.0, 0.5]),
    "all but one banned": np.array([-np.inf] * 6 + [3.0]),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_any_row_and_in_place(row, dtype, place):
    logits, tokens = np.stack([row, row[::-1]])[None].astype(dtype), np.array([[6, 0]])
    given = {"logits": logits, "tokens": tokens, "advantages": np.array([1.5]), "mask": np.ones((1, 2))}
    recipe = replace(GRPO, kl_coef=0.0)
    expected = policy_loss_from_logits(**given, recipe=recipe)
    there = to_device(given, place.xp)
    log_probs = token_log_probs(there["logits"], there["tokens"])
    got = policy_loss_from_logits(**there, recipe=recipe, out=there["logits"])
    rtol = place.rtol if dtype == "float64" else 1e-6
    assert_close(log_probs, token_log_probs(logits, tokens), rtol)
    assert_close(there["logits"], expected.gradient, rtol)
    assert got.gradient is there["logits"]


@pytest.mark.parametrize(("where", "bad"), [(3, np.nan), (3, np.inf), (slice(None), -np.inf)])
def test_a_row_that_is_no_distribution_is_named(where, bad, place):
    given = batch_of(7)
    given["logits"][0, 1, 1, where] = bad
    there = to_device(given, place.xp)
    out = place.xp.zeros(given["logits"].shape, dtype=np.float64)
    with pytest.raises(ValueError, match=r"logits: row 6 holds NaN or \+inf, or nothing but -inf"):
        policy_loss_from_logits(**there, recipe=GRPO, out=out)
    assert np.isnan(to_host(out)).all()


def test_a_token_out_of_range_and_a_wrong_shape_are_named(place):
    given = to_device(batch_of(7), place.xp)
    with pytest.raises(ValueError, match="tokens: expected 0 to 6"):
        policy_loss_from_logits(**given | {"tokens": given["tokens"] + 6}, recipe=GRPO)
    with pytest.raises(ValueError, match=r"mask \(2, 3, 4\)"):
        policy_loss_from_logits(**given | {"mask": given["mask"][..., :4]}, recipe=GRPO)


def test_only_arrays_of_the_tokens_cross(place):
    """Down: all inputs but logits and tokens, and two numbers a row, as padding is NaN. Up: one number."""
    given = batch_of(7)
    there = to_device(given, place.xp)
    up, down = place.crossings()
    policy_loss_from_logits(**there, recipe=GRPO)
    assert place.crossings() == (up + 1, down + len(given))


def test_no_completions(place):
    given = {name: array[:0] for name, array in batch_of(7).items()}
    result = policy_loss_from_logits(**to_device(given, place.xp), recipe=GRPO, metrics=())
    assert result.loss == 0.0
    assert result.gradient.shape == (0, 3, 5, 7)
