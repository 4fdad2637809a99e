"""The report names the mistake of a wrong loss."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from losses import loss_with, non_empty, sequence_mean, surrogate, token_mean

from grpo_ref import DAPO, DR_GRPO, RECIPES, slot
from grpo_ref.check import assert_matches, compare
from grpo_ref.surrogates import dual_clipped

MISTAKES = {
    "padded length": (loss_with(lambda x, mask: x.mean()), "the denominator is the padded length"),
    "mean of means": (
        loss_with(sequence_mean),
        "every completion counts the same, divided by its own length",
    ),
    "empty ones left out": (
        loss_with(non_empty),
        "every completion counts the same, and empty completions are not counted",
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
        "the ratio is inverted",
    ),
    "two mistakes": (
        loss_with(sequence_mean, high=0.2),
        "the clip is symmetric, of half-width 0.2 and"
        " every completion counts the same, divided by its own length",
    ),
}


@pytest.mark.parametrize(("loss", "match"), MISTAKES.values(), ids=MISTAKES)
def test_the_report_names_what_a_wrong_loss_computes(loss, match):
    found = compare(loss, DAPO, batches=60)
    assert not found.agrees
    assert match in found.matches
    with pytest.raises(AssertionError, match=r"first difference: .*, zeros in the padding: your loss is"):
        assert_matches(loss, DAPO, batches=60)


RECIPE = replace(DAPO, kl_coef=0.1)


def written(bug):
    """A loss of DAPO with a penalty, as somebody may write it, with one mistake."""

    def loss(logps, old_logps, ref_logps, advantages, mask):
        there, counted, a = mask > 0, mask > 0, advantages[:, None]
        if bug == "without the first":
            counted = counted & (np.arange(mask.shape[1]) > 0)
        if bug == "one more":
            counted = counted | np.pad(counted, ((0, 0), (1, 0)))[:, :-1]
        if bug == "normalized twice":
            a = (a - a.mean()) / (a.std() + 1e-8)
        old, ref = (
            logps if bug == "ratio of 1" else old_logps,
            old_logps if bug == "KL against old" else ref_logps,
        )
        z, v = (np.where(counted, logps - other, 0.0) for other in (old, ref))
        z = z.sum(-1, keepdims=True) * counted if bug == "product" else z
        ratio, low, high = np.exp(z), 0.8, 1.45 if bug == "wider" else 1.28
        held = np.exp(np.clip(z, -0.2, 0.28)) if bug == "clip in logs" else np.clip(ratio, low, high)
        gain = (np.maximum if bug == "max" else np.minimum)(ratio * a, held * a)
        weight = {"sign": -0.1, "weight": 0.03}.get(bug, 0.1)
        terms = np.where(counted, weight * (np.exp(-v) - 1 + v) - gain, 0.0)
        counted = there if bug == "right below" else counted
        if bug == "micro-batches":
            parts = [slice(start, start + 2) for start in range(0, len(mask), 2)]
            return np.mean([terms[part].sum() / max(mask[part].sum(), 1.0) for part in parts])
        return terms.sum() / max(counted.sum(), 1.0)

    return loss


NAMED = {
    "sign": "the KL penalty has the wrong sign",
    "weight": "kl_coef is 0.03, not 0.1",
    "KL against old": "the KL penalty is to the old policy, not to the reference",
    "without the first": "the mask is off by one: the first token does not count",
    "one more": "the mask is off by one: the position after each token counts too",
    "micro-batches": "each micro-batch of 2 is averaged by itself, and the mean of these is taken",
    "clip in logs": "the clip is on the log-ratio, to [-0.2, 0.28], before the exponential",
    "wider": "clip_high is 0.45, not 0.28",
    "max": "the larger of the two products is taken (max for min)",
    "ratio of 1": "the ratio is identically 1, without a gradient: a detach is missing",
    "product": "the ratio is the product over the completion",
    "normalized twice": "the advantages are normalized twice: once more by mean and std of the batch"
    " (ddof=0, eps=1e-08)",
}


@pytest.mark.parametrize("bug", NAMED)
def test_a_mistake_is_reported_by_its_name(bug):
    found = compare(written(bug), RECIPE, batches=32)
    assert NAMED[bug] in found.matches, found


def test_the_loss_of_the_mistakes_is_right_without_one():
    assert_matches(written(""), RECIPE, batches=32)


def test_a_missing_dual_clip_is_reported():
    plain = loss_with(token_mean, high=0.2)
    dual = replace(DAPO, surrogate=slot(dual_clipped, clip_low=0.2, clip_high=0.2, max_ratio=3.0))
    assert compare(plain, dual, batches=32).matches[0] == "the dual clip is missing"
    assert "the smallest batch that shows it" in str(compare(plain, dual, batches=32))


def test_the_padded_length_stands_for_a_constant():
    found = compare(loss_with(lambda x, mask: x.mean(), high=0.2), DR_GRPO, max_length=64, batches=32)
    assert found.matches == ("the denominator is the padded length",)


def test_a_gradient_through_a_constant_is_reported():
    """CISPO's weight, not detached: w log π A with w = min(r, 5)."""

    def attached(logps, old_logps, advantages, mask):
        lp, a = np.where(mask > 0, logps, 0.0), advantages[:, None]
        ratio = np.exp(np.where(mask > 0, logps - old_logps, 0.0))
        weight = np.minimum(ratio, 5.0)
        slope = a * (weight + np.where(ratio < 5.0, ratio * lp, 0.0))
        tokens = max(mask.sum(), 1.0)
        return -(weight * a * lp * mask).sum() / tokens, -slope * mask / tokens

    recipe = replace(RECIPES["cispo"], aggregate=DAPO.aggregate)
    (match,) = compare(attached, recipe, batches=32).matches
    assert match == "a detach is missing: the gradient flows through what should be constant"


def test_a_loss_that_reads_the_padding_is_reported():
    def leaking(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        ratio = np.exp(log_probs - old_log_probs)
        clipped = np.clip(ratio, 0.8, 1.28)
        gain = np.minimum(ratio * advantages[:, None], clipped * advantages[:, None])
        return -(gain * mask).sum() / max(mask.sum(), 1.0)

    found = compare(leaking, DAPO)
    assert found.matches == ("NaN in the padding reaches the loss",)
    assert found.unless == "with NaN in the padding"
    assert "right, except for batches with NaN in the padding" in str(found)
    assert "NaN in the padding" in found.first
    assert_matches(leaking, DAPO, nan_in_padding=False)


def test_a_second_mistake_beside_the_padding_is_reported_too():
    def narrow(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        ratio, gains = np.exp(log_probs - old_log_probs), advantages[:, None]
        gain = np.minimum(ratio * gains, np.clip(ratio, 0.8, 1.2) * gains)
        return -(gain * mask).sum() / max(mask.sum(), 1.0)

    found = compare(narrow, RECIPES["dapo"])
    assert found.matches == (
        "the clip is symmetric, of half-width 0.2 and NaN in the padding reaches the loss",
    )


# ---- mistakes of real reports, written with loops over completions and tokens --------------------------


def grpo_with(mistake, divide=True):
    """GRPO of rewards without a penalty, token by token, with one mistake or several."""
    mistakes = mistake.split(" and ")

    def loss(logps, old_logps, rewards, mask, num_generations):
        groups = rewards.reshape(-1, num_generations)
        if "transposed groups" in mistakes:
            groups = rewards.reshape(num_generations, -1)
        with warnings.catch_warnings(action="ignore"):  # a transposed group may be a group of one
            mean, std = groups.mean(1, keepdims=True), groups.std(1, ddof=1, keepdims=True)
        if "batch statistics" in mistakes:
            mean, std = groups.mean(), groups.std(ddof=1)
        advantages = ((groups - mean) / (std + 1e-4)).reshape(-1)
        counted = mask > 0
        if "inverted mask" in mistakes:
            counted = ~counted
        if "mask of ones" in mistakes:
            counted = counted | True
        if "longest" in mistakes:
            longest = max((np.flatnonzero(row).max(initial=-1) for row in counted), default=-1)
            counted = np.broadcast_to(np.arange(mask.shape[1]) <= longest, mask.shape)
        temperature = 0.7 if "temperature" in mistakes else 1.0
        total, rows = 0.0, range(len(mask))
        for i in rows:
            tokens = [t for t in range(mask.shape[1]) if counted[i, t]]
            ratios = [np.exp(logps[i, t] / temperature - old_logps[i, t]) for t in tokens]
            high = 1.3 if "wide clip" in mistakes else 1.2
            gains = [min(r * advantages[i], np.clip(r, 0.8, high) * advantages[i]) for r in ratios]
            if "not floored" in mistakes:
                total += np.divide(sum(gains), len(gains))
            else:
                total += sum(gains) / max(len(gains), 1)
        return -total if "sum over completions" in mistakes else -total / len(mask)

    return loss


REPORTED = {
    "transposed groups": ["the groups are transposed: view(G, P), not view(P, G)"],
    "inverted mask": ["the mask is inverted"],
    "mask of ones": ["the mask is all ones: the padding counts"],
    "longest": ["every completion counts as long as the longest one"],
    "sum over completions": ["completions are summed, not averaged"],
    "temperature": ["the policy's log-probabilities only are divided by the temperature 0.7"],
    "batch statistics": [
        "the mean of the batch subtracted and are divided by std + 0.0001, ddof=1, of the batch"
    ],
    "not floored": ["the denominator has no floor, so an empty completion gives 0/0"],
    "not floored and wide clip": ["the denominator has no floor", "clip_high is 0.3, not 0.2"],
    "transposed groups and sum over completions": ["transposed: view(G, P)", "completions are summed"],
    "batch statistics and temperature": ["of the batch", "by the temperature 0.7"],
    "wide clip and mask of ones": ["clip_high is 0.3, not 0.2", "the mask is all ones"],
}


@pytest.mark.parametrize("mistake", REPORTED)
def test_a_mistake_of_a_real_report_is_named(mistake):
    found = compare(
        grpo_with(mistake), replace(RECIPES["grpo"], kl_coef=0.0), batches=78, nan_in_padding=False
    )
    assert not found.agrees
    assert all(text in found.matches[0] for text in REPORTED[mistake]), found


def test_the_loss_of_the_reports_is_right_without_one():
    assert_matches(grpo_with(""), replace(RECIPES["grpo"], kl_coef=0.0), batches=78)


def test_packed_rows_are_named():
    """Two completions in each row; the mean over the tokens of a row is taken for that of a completion."""

    def loss(logps, old_logps, advantages, mask):
        gain = surrogate(logps, old_logps, advantages, mask, high=0.2)
        rows = [slice(start, start + 2) for start in range(0, len(mask), 2)]
        return -np.mean([gain[row].sum() / max(mask[row].sum(), 1.0) for row in rows])

    found = compare(loss, replace(RECIPES["grpo"], kl_coef=0.0), batches=39)
    assert "the completions are packed, 2 completions in each row, and a row is taken for a completion" in (
        found.matches
    )


def test_a_mean_without_a_floor_is_refused_where_no_token_counts():
    def loss(logps, old_logps, advantages, mask):
        return -surrogate(logps, old_logps, advantages, mask).sum() / mask.sum()

    found = compare(loss, DAPO)
    assert found.matches == ("the denominator has no floor, so a batch without tokens gives 0/0",)
    assert found.unless == "without any token"
    assert "mask = np.array([[0.0]])" in found.smallest
    assert_matches(loss, DAPO, empty_batches=False)
    assert_matches(loss, DAPO, empty_completions=False)


def test_a_trainer_with_the_same_fault_is_named():
    def loss(log_prob, old_log_prob, advantages, response_mask):
        return -surrogate(log_prob, old_log_prob, advantages[:, 0], response_mask).sum() / response_mask.sum()

    high = replace(DAPO, source="verl 0.7")
    assert compare(loss, high, batches=13).note == "verl divides 0 by 0 there too"
    assert compare(loss, DAPO, batches=13).note == ""
