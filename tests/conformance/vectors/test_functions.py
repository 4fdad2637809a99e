"""Frameworks are recognized, and a result that cannot be compared is described."""

from types import ModuleType

import numpy as np
import pytest
from grpo_conformance import assert_conforms, conforms
from grpo_conformance.arguments import parameters_of
from grpo_conformance.detection import detected
from grpo_conformance.frameworks import Call, ReturnError
from grpo_conformance.vector import vectors

# The file imports PyTorch, as far as the function's globals can tell.
torch = ModuleType("torch")
torch.exp = lambda value: np.exp(value.written_with_torch)


def dapo(log_probs, old_log_probs, advantages, mask):
    ratio, gain = np.exp(log_probs - old_log_probs), advantages[:, None]
    surrogate = np.minimum(ratio * gain, np.clip(ratio, 0.8, 1.28) * gain)
    return -(surrogate * mask).sum() / max(mask.sum(), 1.0)


def with_a_helper(log_probs, old_log_probs, advantages, mask):
    return dapo(log_probs, old_log_probs, advantages, mask)


def of_torch(log_probs, old_log_probs, advantages, mask):
    return torch.exp(log_probs - old_log_probs).sum()


def with_a_helper_of_torch(log_probs, old_log_probs, advantages, mask):
    return of_torch(log_probs, old_log_probs, advantages, mask)


FRAMEWORKS = {
    "its code uses NumPy, in a file that imports torch": (dapo, "numpy"),
    "a helper uses NumPy, and the result is NumPy's": (with_a_helper, "numpy"),
    "its code uses torch": (of_torch, "torch"),
    "a helper uses torch, and refuses NumPy arrays": (with_a_helper_of_torch, "torch"),
}


@pytest.mark.parametrize(("function", "framework"), FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_the_framework_is_recognized_by_the_code_and_the_result(function, framework):
    call = Call(function, parameters_of(function), next(vectors(name="dapo")))
    assert detected(function, call.on_numpy) == framework


def test_a_numpy_loss_in_a_file_with_torch_conforms():
    assert_conforms(with_a_helper, "dapo")


def returning(change):
    """The loss of DAPO, changed before it is returned."""

    def loss(log_probs, old_log_probs, advantages, mask):
        return change(dapo(log_probs, old_log_probs, advantages, mask), log_probs, mask)

    return loss


RETURNED = {
    "a dict": (lambda loss, *_: {"loss": loss, "kl": 0.0}, r"returned a dict with the keys 'loss', 'kl'$"),
    "nothing": (lambda *_: None, "returned None$"),
    "text": (lambda *_: "0.5", "returned a value of type str$"),
    "a number per token": (
        lambda loss, log_probs, mask: log_probs * mask,
        r"an array of shape \(2, 1\), one number for each token; return their average over the mask$",
    ),
    "a number per completion, and metrics": (
        lambda loss, log_probs, mask: ((log_probs * mask).sum(-1), {}),
        r"begins with an array of shape \(2,\), one number for each completion; return their average$",
    ),
}


@pytest.mark.parametrize(("change", "message"), RETURNED.values(), ids=RETURNED)
def test_what_is_no_loss_is_described(change, message):
    expected = r"^expected the loss as one number, \(loss, metrics\) or \(loss, gradient\); your function "
    with pytest.raises(ReturnError, match=expected + ".*" + message):
        conforms(returning(change), "dapo")


def test_what_is_no_array_is_described():
    with pytest.raises(
        ReturnError, match="expected an array; your function returned a dict with the keys 'kl'"
    ):
        conforms(lambda log_probs, ref_log_probs: {"kl": log_probs}, "k1")


FACTORS = {
    "the sum": (lambda loss, log_probs, mask: loss * mask.sum(), "the sum over the tokens without the mean"),
    "the sign": (lambda loss, log_probs, mask: -loss, "the sign: return minus the mean"),
    "the padding": (lambda loss, log_probs, mask: loss * mask.mean(), "a mean that counts the padding"),
}


@pytest.mark.parametrize(("change", "message"), FACTORS.values(), ids=FACTORS)
def test_a_factor_of_every_loss_names_the_mistake(change, message):
    assert conforms(returning(change), "dapo").mistake.startswith(message)


def test_a_sum_over_completions_is_named():
    def summed(log_probs, old_log_probs, advantages, mask):
        ratio, gain = np.exp(log_probs - old_log_probs), advantages[:, None]
        surrogate = np.minimum(ratio * gain, np.clip(ratio, 0.8, 1.2) * gain)
        return -((surrogate * mask).sum(-1) / np.maximum(mask.sum(-1), 1.0)).sum()

    assert conforms(summed, "grpo", kl_coef=0).mistake.startswith("the sum over the completions")


def test_single_precision_may_take_either_side_of_a_bound():
    """At a tie, JAX returns the mean of both sides. Some ratios are 1.28, up to their rounding."""
    ties = []

    def split(log_probs, old_log_probs, advantages, mask):
        ratio, gain = np.exp(log_probs - old_log_probs), advantages[:, None]
        clipped = np.clip(ratio, np.float32(0.8), np.float32(1.28))
        tie = (np.abs(ratio - np.float32(1.28)) < 3e-7) & (gain > 0) & (mask > 0)
        ties.append(tie.any())
        weight = np.where(tie, 0.75, ratio * gain <= clipped * gain)
        count = max(mask.sum(), 1.0)
        loss = -(np.minimum(ratio * gain, clipped * gain) * mask).sum() / count
        return loss, -weight * ratio * gain * mask / count

    assert_conforms(split, "dapo", dtype="float32")
    assert any(ties)


def test_numbers_that_single_precision_cannot_tell_apart_are_skipped():
    """In one case, the rewards of a group are 3, 3.0000001, 3 and 3."""

    def centered(rewards, group_size):
        groups = rewards.reshape(-1, group_size)
        return (groups - groups.mean(1, keepdims=True)).ravel()

    with pytest.warns(
        UserWarning, match="1 of .* skipped: different numbers of rewards are equal in float32"
    ):
        assert_conforms(centered, "group_centered", dtype="float32")
    assert conforms(centered, "group_centered").skipped == []


def test_a_case_without_an_empty_completion_is_shown_first():
    report = conforms(returning(lambda loss, *_: 2.0 * loss + 1.0), "dapo")
    assert report.smallest.vector.inputs["mask"].any(axis=-1).all()
    small = [each for each in report.failed if not each.vector.inputs["mask"].any(axis=-1).all()]
    assert (
        min(each.vector.inputs["mask"].size for each in small) <= report.smallest.vector.inputs["mask"].size
    )


def test_a_failure_shows_what_the_function_got():
    """A parameter `log_prob` asks for verl's shapes: an advantage for each token."""

    def of_verl(log_prob, advantages, response_mask):
        return 1.0

    def of_trl(inputs):
        return 1.0

    lines = str(conforms(of_verl, "gpg")).splitlines()
    (shown,) = [line for line in lines if line.startswith("    advantages = ")]
    assert shown.startswith("    advantages = [[")
    assert [line.split(" = ")[0].strip() for line in lines if " = [" in line][:3] == [
        "log_prob",
        "advantages",
        "response_mask",
    ]
    assert "    inputs['completion_mask'] = [[" in str(conforms(of_trl, "gpg"))


SHAPES = {
    "a number, not a penalty per token": (
        lambda log_probs, ref_log_probs: np.float64(0.5),
        "k1",
        "your function returned shape (), expected (2, 1): one value per token",
    ),
    "a penalty per completion": (
        lambda log_probs, ref_log_probs: (ref_log_probs - log_probs).sum(1),
        "k1",
        "your function returned shape (2,), expected (2, 1): one value per token",
    ),
    "a number, not an advantage per completion": (
        lambda rewards: rewards.mean(),
        "group_centered",
        "your function returned shape (), expected (6,): one value per completion",
    ),
}


@pytest.mark.parametrize(("function", "name", "message"), SHAPES.values(), ids=SHAPES)
def test_a_wrong_shape_is_named(function, name, message):
    assert f"    {message}\n" in str(conforms(function, name))


def test_a_failure_shows_the_formula_and_the_mean():
    lines = str(conforms(lambda log_probs, advantages, mask: 1.0, "gpg")).splitlines()
    assert ["formula: -A log_probs", "mean: all tokens of the batch"] == [
        line for line in lines if line.startswith(("formula", "mean"))
    ]


def failure(function, name, vector):
    """The message for the first vector of which a condition is true."""
    return str(conforms(function, name, only=vector))


def has_no_token(vector):
    return not vector.inputs["mask"].any()


def has_an_empty_completion(vector):
    return not has_no_token(vector) and not vector.inputs["mask"].any(axis=-1).all()


def test_a_difference_from_0_is_not_a_share_of_it():
    """A batch without a token has the loss 0."""
    message = failure(returning(lambda loss, *_: loss + 0.095), "dapo", has_no_token)
    assert "    the loss differs: expected 0, computed 0.095\n" in message


@pytest.mark.parametrize(
    ("name", "vector", "end"),
    [
        ("dapo", has_no_token, ": is there a division by mask.sum() = 0?"),
        ("dapo", has_an_empty_completion, ": is there a division by mask.sum(-1) = 0, the length of an"),
        ("dapo", lambda vector: vector.inputs["mask"].any(axis=-1).all(), "\n"),
    ],
)
def test_a_loss_that_is_nan_names_the_division(name, vector, end):
    message = failure(returning(lambda *_: float("nan")), name, vector)
    assert f"    your loss is nan{end}" in message


def without_gradient(log_probs, advantages, mask):
    """The loss of GPG, with the gradient 0."""
    return -(advantages[:, None] * log_probs * mask).sum() / max(mask.sum(), 1.0), np.zeros(mask.shape)


def with_a_gradient_at_times(log_probs, advantages, mask):
    loss, gradient = without_gradient(log_probs, advantages, mask)
    return loss, gradient + (mask.sum() > 6)


@pytest.mark.parametrize(("function", "said"), [(without_gradient, True), (with_a_gradient_at_times, False)])
def test_a_gradient_of_0_in_every_case_is_named(function, said):
    assert ("no gradient reaches your loss" in str(conforms(function, "gpg"))) == said
