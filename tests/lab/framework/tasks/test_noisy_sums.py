"""A verifier that errs: how often, in which direction, and whether it repeats its errors."""

import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.noisy_sums import noisy_sums
from grpo_ref.tasks.arithmetic import EOS

SEED = 5
QUESTION = "1+1="
RIGHT, WRONG = [2, EOS, 0], [1, EOS, 0]
TIMES = 4000

# rates of false positives and false negatives -> share of accepted answers among wrong and among right ones
RATES = {
    "no noise": (0.0, 0.0, 0.0, 1.0),
    "false positives": (0.3, 0.0, 0.3, 1.0),
    "false negatives": (0.0, 0.2, 0.0, 0.8),
    "both": (0.15, 0.15, 0.15, 0.85),
}


def accepted(task, answer, group=TIMES):
    """Return (group,) true and noisy verdicts on the same answer, given again and again."""
    prompts = np.array([task.prompts.index(QUESTION)])
    tokens = np.zeros((1, group, task.max_length), dtype=int)
    tokens[..., : len(answer)] = answer[: task.max_length]
    mask = np.broadcast_to(np.arange(task.max_length) < 2, tokens.shape)
    found = task.verify(prompts, tokens, mask)[0]
    return found[:, task.criteria.index("correct")], found[:, task.criteria.index("accepted")]


@pytest.mark.parametrize(("wrong", "right", "of_wrong", "of_right"), RATES.values(), ids=RATES)
def test_errors_have_their_rates_and_the_truth_is_unchanged(wrong, right, of_wrong, of_right):
    task = noisy_sums(SEED, accepts_wrong=wrong, rejects_right=right)
    for answer, truth, share in ((WRONG, 0.0, of_wrong), (RIGHT, 1.0, of_right)):
        correct, verdicts = accepted(task, answer)
        assert (correct == truth).all()
        assert verdicts.mean() == pytest.approx(share, abs=0.03)


def test_only_the_noisy_verdict_is_rewarded():
    task = noisy_sums(SEED)
    assert dict(zip(task.criteria, task.weights, strict=True)) == {
        "format": 0.0,
        "correct": 0.0,
        "accepted": 1.0,
    }


def test_errors_that_repeat_are_the_same_for_the_same_answer():
    task = noisy_sums(SEED, accepts_wrong=0.5, rejects_right=0.5, repeats=True)
    for answer in (RIGHT, WRONG, [3, EOS, 0], [7, EOS, 0]):
        assert np.ptp(accepted(task, answer)[1]) == 0.0


def test_errors_that_repeat_have_their_rate_over_answers():
    task = noisy_sums(SEED, accepts_wrong=0.3, repeats=True, largest=9)
    first, second = (digits.ravel() for digits in np.meshgrid(range(10), range(10)))
    tokens = np.stack([first, second, np.full(100, EOS)], axis=-1)
    everything = np.broadcast_to(tokens, (100, 100, 3))
    found = task.verify(np.arange(100), everything, np.ones(everything.shape, dtype=bool))
    wrong = found[..., 1] == 0.0
    assert found[..., 2][wrong].mean() == pytest.approx(0.3, abs=0.02)
    assert (found[..., 2][~wrong] == 1.0).all()


def test_two_batches_have_different_errors():
    task = noisy_sums(SEED, accepts_wrong=0.5)
    _, verdicts = accepted(task, WRONG, group=64)
    _, others = accepted(task, [3, EOS, 0], group=64)
    assert not np.array_equal(verdicts, others)
