"""Checking somebody else's loss: right ones pass, wrong ones are told what they compute instead."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from grpo_ref import DAPO, DR_GRPO, GRPO, RECIPES, masked, slot
from grpo_ref.check import assert_matches, compare
from grpo_ref.check.compare import generate
from grpo_ref.frontends.cli import main

CLIP = {"clip_low": 0.2, "clip_high": 0.28}


def surrogate(log_probs, old, advantages, mask, low=0.2, high=0.28, gain=None):
    ratio = np.exp(np.where(mask > 0, log_probs - old, 0.0))
    advantages = advantages[:, None]
    smaller = np.minimum(ratio * advantages, np.clip(ratio, 1 - low, 1 + high) * advantages)
    return np.where(mask > 0, gain(ratio, advantages) if gain else smaller, 0.0)


def loss_with(average, **clip):
    def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        return -average(surrogate(log_probs, old_log_probs, advantages, mask, **clip), mask)

    return loss


def token_mean(x, mask):
    return x.sum() / max(mask.sum(), 1)


def with_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, factor=1.0):
    """DAPO's loss with a manual gradient."""
    value = surrogate(log_probs, old_log_probs, advantages, mask)
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    good, bad = advantages[:, None] > 0, advantages[:, None] < 0
    held = (good & (ratio > 1.28)) | (bad & (ratio < 0.8))
    slope = np.where(held, 0.0, ratio * advantages[:, None]) * mask
    return -token_mean(value, mask), -factor * slope / mask.sum()


def test_a_right_loss_passes_with_and_without_a_gradient():
    assert_matches(loss_with(token_mean), DAPO)
    assert_matches(with_gradient, DAPO)
    assert compare(loss_with(token_mean), DAPO).gradients


def sequence_mean(x, mask):
    return (x.sum(-1) / np.maximum(mask.sum(-1), 1)).mean()


def non_empty(x, mask):
    return (x.sum(-1) / np.maximum(mask.sum(-1), 1)).sum() / max((mask.sum(-1) > 0).sum(), 1)


MISTAKES = {
    "padded length": (loss_with(lambda x, mask: x.mean()), "the denominator is the padded length"),
    "mean of means": (
        loss_with(sequence_mean),
        "every completion counts the same, divided by its own length",
    ),
    "empty ones left out": (
        loss_with(non_empty),
        "every completion counts the same, and empty ones are not counted",
    ),
    "symmetric clip": (loss_with(token_mean, high=0.2), "the clip is symmetric, of half-width 0.2"),
    "swapped clip": (loss_with(token_mean, low=0.28, high=0.2), "the half-widths of the clip are swapped"),
    "sum": (loss_with(lambda x, mask: x.sum()), "tokens are summed"),
    "sign": (loss_with(lambda x, mask: -token_mean(x, mask)), "it is multiplied by -1"),
    "twice": (loss_with(lambda x, mask: 2 * token_mean(x, mask)), "it is multiplied by 0.5"),
    "no minimum": (
        loss_with(token_mean, gain=lambda ratio, a: np.clip(ratio, 0.8, 1.28) * a),
        "the ratio is always clipped, without the minimum",
    ),
    "upside down": (
        loss_with(token_mean, gain=lambda r, a: np.minimum(a / r, np.clip(1 / r, 0.8, 1.28) * a)),
        "the ratio is upside down",
    ),
    "two mistakes": (
        loss_with(sequence_mean, high=0.2),
        "every completion counts the same, divided by its own length and"
        " the clip is symmetric, of half-width 0.2",
    ),
}


@pytest.mark.parametrize(("loss", "match"), MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_loss_is_told_what_it_computes(loss, match):
    found = compare(loss, DAPO, batches=60)
    assert not found.agrees
    assert match in found.matches
    with pytest.raises(AssertionError, match=r"first difference: .*, zeros in the padding: your loss is"):
        assert_matches(loss, DAPO, batches=60)


def test_a_loss_that_reads_the_padding_is_told_so():
    def leaking(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        ratio = np.exp(log_probs - old_log_probs)
        clipped = np.clip(ratio, 0.8, 1.28)
        gain = np.minimum(ratio * advantages[:, None], clipped * advantages[:, None])
        return -(gain * mask).sum() / mask.sum()

    found = compare(leaking, DAPO)
    assert found.matches == ("the padding holds zeros: it reads the padding",)
    assert "NaN in the padding" in found.first
    assert_matches(leaking, DAPO, nan_in_padding=False)


def test_a_second_mistake_beside_the_padding_is_told_as_well():
    def narrow(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        ratio, gains = np.exp(log_probs - old_log_probs), advantages[:, None]
        gain = np.minimum(ratio * gains, np.clip(ratio, 0.8, 1.2) * gains)
        return -(gain * mask).sum() / max(mask.sum(), 1.0)

    found = compare(narrow, RECIPES["dapo"])
    assert found.matches == (
        "the clip is symmetric, of half-width 0.2, and the padding holds zeros: it reads the padding",
    )


def test_a_wrong_gradient_beside_a_right_loss_is_noticed():
    found = compare(lambda **arrays: with_gradient(**arrays, factor=0.5), DAPO, batches=20)
    assert "the loss agrees, the gradient does not: at [" in found.first


def test_without_a_derivative_of_its_own_the_gradient_is_not_compared():
    """CISPO's weight is detached: a plain number has no gradient to look at."""

    def cispo(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        difference = np.where(mask > 0, log_probs - old_log_probs, 0.0)
        weight = np.minimum(np.exp(difference), 5.0) * advantages[:, None]
        return -np.where(mask > 0, weight * log_probs, 0.0).sum() / mask.sum()

    found = compare(cispo, RECIPES["cispo"])
    assert found.agrees
    assert not found.gradients
    assert "the gradient was not compared" in str(found)


def test_penalty_budget_and_sampler_reach_the_function():
    def dr_grpo(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        return -surrogate(log_probs, old_log_probs, advantages, mask, 0.2, 0.2).sum() / len(mask) / 11

    assert_matches(dr_grpo, DR_GRPO, max_length=11)

    def with_k1(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        penalty = np.where(mask > 0, log_probs - ref_log_probs, 0.0)
        gain = surrogate(log_probs, old_log_probs, advantages, mask, 0.2, 0.2) - 0.04 * penalty
        return -sequence_mean(gain, mask)

    assert compare(with_k1, GRPO).matches == ("the penalty is k1",)

    def with_exchanged_k3(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        v = np.where(mask > 0, log_probs - ref_log_probs, 0.0)
        gain = surrogate(log_probs, old_log_probs, advantages, mask, 0.2, 0.2) - 0.04 * (np.exp(v) - 1 - v)
        return -sequence_mean(gain, mask)

    exchanged = ("the penalty is k3 with policy and reference exchanged",)
    assert compare(with_exchanged_k3, GRPO).matches == exchanged

    def corrected(log_probs, old_log_probs, ref_log_probs, advantages, mask, rollout_log_probs):
        weight = np.exp(np.where(mask > 0, old_log_probs - rollout_log_probs, 0.0))
        gain = surrogate(log_probs, old_log_probs, advantages, mask) * np.where(weight <= 3.0, weight, 0.0)
        return -token_mean(gain, mask)

    assert_matches(corrected, replace(DAPO, corrections=(slot(masked, max_ratio=3.0),)))


def test_the_batches_are_what_they_say():
    batches = [batch for batch, _ in zip(generate(GRPO, 0), range(15), strict=False)]
    by_kind = {batch.kind: batch for batch in batches}
    assert len(by_kind) == 15
    assert np.isnan(by_kind["ragged, NaN in the padding"].log_probs).any()
    assert (by_kind["an empty completion, zeros in the padding"].mask.sum(-1) == 0).any()
    dead = by_kind["a group without contrast, zeros in the padding"]
    assert (dead.advantages[:3] == 0.0).all()
    fresh = by_kind["on policy, zeros in the padding"]
    np.testing.assert_array_equal(fresh.log_probs, fresh.old_log_probs)
    far = by_kind["extreme ratios, zeros in the padding"]
    assert np.abs(far.log_probs - far.old_log_probs).max() > 2.0


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_autograd_is_used_where_there_is_one(framework):
    library = pytest.importorskip(framework)

    def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        xp = library if framework == "torch" else library.numpy
        ratio = xp.exp(xp.where(mask > 0, log_probs - old_log_probs, xp.zeros_like(mask)))
        gain = xp.minimum(ratio * advantages[:, None], xp.clip(ratio, 0.8, 1.28) * advantages[:, None])
        return -xp.where(mask > 0, gain, xp.zeros_like(mask)).sum() / mask.sum()

    found = compare(loss, DAPO, framework=framework, batches=30)
    assert found.agrees, str(found)
    assert found.gradients


def test_an_unknown_framework_is_named():
    with pytest.raises(ValueError, match="framework: expected one of numpy, torch, jax, got 'theano'"):
        compare(with_gradient, DAPO, framework="theano")


# ---- the command ------------------------------------------------------------------------------------

MODULE = """
import numpy as np

def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    a = advantages[:, None]
    gain = np.minimum(ratio * a, np.clip(ratio, 0.8, 1.28) * a)
    return -np.where(mask > 0, gain, 0.0).sum() / mask.sum()
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_trainer.py").write_text(MODULE)
    yield lambda *arguments: CliRunner().invoke(main, ["check", *arguments])
    sys.modules.pop("my_trainer", None)


def test_the_command_checks(run):
    right = run("my_trainer:loss", "--dialect", "trl", "--set", "epsilon_high=0.28")
    assert (right.exit_code, right.output) == (0, "loss and gradient: 200 of 200 batches agree\n")
    assert run("my_trainer:loss", "--recipe", "dapo", "--batches", "20").exit_code == 0
    wrong = run("my_trainer:loss", "--dialect", "trl", "--batches", "20")
    assert wrong.exit_code == 1
    assert "your loss matches if the clip is [1 - 0.2, 1 + 0.28]\n" in wrong.output


def test_the_trainers_own_budget_is_divided_by(run, tmp_path):
    text = MODULE.replace("0.8, 1.28", "0.8, 1.2").replace("mask.sum()", "(512 * len(mask))")
    (tmp_path / "my_trainer.py").write_text(text)
    result = run("my_trainer:loss", "--dialect", "trl", "--set", "loss_type=dr_grpo", "--batches", "15")
    assert result.exit_code == 0, result.output
    assert result.stderr == "divided by max_completion_length = 512\n"


FAILING = {
    "raise ValueError('oh')": "failed on the batch 'ragged, zeros in the padding': ValueError: oh (",
    "import sys; sys.exit(0)": "failed on the batch 'ragged, zeros in the padding': SystemExit: 0 (",
    "return None": "expected the loss, a number, got None",
    "return mask.sum(0)": "expected the loss, a number, got an array of shape (",
    "return 0.0, mask[0]": "expected a gradient of shape (6, ",
}


@pytest.mark.parametrize("body", FAILING)
def test_a_function_that_fails_is_told_so(run, tmp_path, body):
    arguments = "log_probs, old_log_probs, ref_log_probs, advantages, mask"
    (tmp_path / "my_trainer.py").write_text(f"def loss({arguments}):\n    {body}\n")
    result = run("my_trainer:loss", "--recipe", "dapo")
    assert result.exit_code == 2
    assert FAILING[body] in result.output
    assert "my_trainer.py:2)" in result.output or body.startswith("return")


def test_a_function_with_other_parameters_is_told_so(run, tmp_path):
    (tmp_path / "my_trainer.py").write_text("def loss(logits, labels):\n    return 0.0\nnumber = 3\n")
    result = run("my_trainer:loss", "--recipe", "dapo")
    assert result.exit_code == 2
    assert "got an unexpected keyword argument 'log_probs'" in result.output
    result = run("my_trainer:number", "--recipe", "dapo")
    assert "expected a function, got int" in result.output


STRANGE = {
    "no function": (["my_trainer", "--recipe", "grpo"], "expected MODULE:FUNCTION, got 'my_trainer'"),
    "no such module": (["nowhere:loss", "--recipe", "grpo"], "nowhere:loss: No module named 'nowhere'"),
    "no such function": (["my_trainer:lose", "--recipe", "grpo"], "has no attribute 'lose'"),
    "nothing to compare with": (["my_trainer:loss"], "either --dialect or --recipe"),
    "two things to compare with": (
        ["my_trainer:loss", "--dialect", "trl", "--recipe", "grpo"],
        "either --dialect or --recipe",
    ),
    "a setting of a recipe": (
        ["my_trainer:loss", "--recipe", "dapo", "--set", "beta=0.1"],
        "--set changes a dialect; it needs --dialect",
    ),
    "an unknown key": (["my_trainer:loss", "--dialect", "trl", "--set", "x=1"], "trl has no key 'x'"),
}


@pytest.mark.parametrize(("arguments", "message"), STRANGE.values(), ids=STRANGE)
def test_mistakes_never_pass(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
