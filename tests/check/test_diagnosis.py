"""A wrong loss is told what it computes instead."""

import numpy as np
import pytest
from losses import loss_with, non_empty, sequence_mean, token_mean

from grpo_ref import DAPO, RECIPES
from grpo_ref.check import assert_matches, compare

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
    assert found.matches == ("the padding holds no NaN",)
    assert found.unless == "the padding holds NaN"
    assert "right unless the padding holds NaN" in str(found)
    assert "NaN in the padding" in found.first
    assert_matches(leaking, DAPO, nan_in_padding=False)


def test_a_second_mistake_beside_the_padding_is_told_as_well():
    def narrow(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        ratio, gains = np.exp(log_probs - old_log_probs), advantages[:, None]
        gain = np.minimum(ratio * gains, np.clip(ratio, 0.8, 1.2) * gains)
        return -(gain * mask).sum() / max(mask.sum(), 1.0)

    found = compare(narrow, RECIPES["dapo"])
    assert found.matches == ("the clip is symmetric, of half-width 0.2, and the padding holds no NaN",)
