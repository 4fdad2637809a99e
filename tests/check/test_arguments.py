"""The names under which a function takes its arrays."""

from functools import partial

import numpy as np
import pytest
from losses import loss_with, token_mean

from grpo_ref import DAPO, REINFORCE
from grpo_ref.check import LossError, assert_matches, compare
from grpo_ref.check.arguments import NAMES, TRL, keyword_arguments

VALUES = {name: name for name in ("log_probs", "old_log_probs", "ref_log_probs", "advantages", "mask")}


def everything(log_probs, **others): ...


def of_trl(per_token_logps, inputs): ...


def of_verl(old_log_prob, log_prob, advantages, response_mask, loss_agg_mode="token-mean", config=None): ...


ASKED = {
    "ours": (loss_with(token_mean), VALUES),
    "the rest by name": (everything, VALUES),
    "verl's": (
        of_verl,
        {
            "old_log_prob": "old_log_probs",
            "log_prob": "log_probs",
            "advantages": "advantages",
            "response_mask": "mask",
        },
    ),
    "a dict with TRL's names": (
        of_trl,
        {"per_token_logps": "log_probs", "inputs": {TRL[name]: name for name in VALUES}},
    ),
}


@pytest.mark.parametrize(("loss", "given"), ASKED.values(), ids=ASKED)
def test_a_function_is_given_what_it_asks_for(loss, given):
    assert keyword_arguments(loss, VALUES) == given


def test_no_two_arrays_have_a_name_in_common():
    names = [name for names in NAMES.values() for name in names]
    assert len(set(names)) == len(names)


STRANGE = {
    "an unknown parameter": (
        lambda logps, labels: 0.0,
        "the parameter 'labels' is unknown; expected names are",
    ),
    "no log-probabilities": (lambda advantages: 0.0, "no parameter for the log-probabilities; expected"),
}


@pytest.mark.parametrize(("loss", "message"), STRANGE.values(), ids=STRANGE)
def test_the_names_are_listed(loss, message):
    with pytest.raises(LossError, match=message):
        compare(loss, DAPO, batches=2)


def test_what_is_returned_may_have_several_forms():
    def per_token(logps, advantages):
        return -advantages[:, None] * logps

    assert_matches(per_token, REINFORCE, batches=48)
    assert_matches(
        lambda logps, advantages: (per_token(logps, advantages), {"kl": 0.0}), REINFORCE, batches=48
    )
    assert not compare(
        lambda logps, advantages: 2.0 * per_token(logps, advantages), REINFORCE, batches=8
    ).agrees


def test_advantages_are_of_each_token_beside_the_name_of_verl():
    def loss(log_prob, advantages, response_mask):
        assert advantages.shape == response_mask.shape
        return -np.where(response_mask > 0, advantages * log_prob, 0.0).sum() / len(response_mask)

    assert_matches(loss, REINFORCE, batches=24)


def test_a_right_loss_in_single_precision_is_right():
    """Its rounding is 1e-8 where the exact loss is 0, on policy."""
    right = loss_with(token_mean)

    def single(log_probs, old_log_probs, advantages, mask):
        arrays = (
            array.astype(np.float32) for array in (log_probs, old_log_probs, log_probs, advantages, mask)
        )
        return np.float32(right(*arrays))

    assert_matches(single, DAPO, batches=48)
    assert_matches(right, DAPO, batches=48, dtype="float32")
    assert not compare(partial(loss_with(token_mean, high=0.281)), DAPO, batches=48, dtype="float32").agrees
    with pytest.raises(ValueError, match="dtype: expected one of float64, float32, got 'half'"):
        assert_matches(right, DAPO, dtype="half")
