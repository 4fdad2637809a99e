"""Sums in digits: a strict verifier."""

import numpy as np
import pytest

from grpo_ref.tasks.arithmetic import EOS, arithmetic

JUDGED = {
    "right, one digit": ("3+4=", [7, EOS], True, True),
    "right, two digits": ("9+8=", [1, 7, EOS], True, True),
    "zero is a number": ("0+0=", [0, EOS], True, True),
    "wrong number": ("3+4=", [8, EOS], True, False),
    "leading zero": ("3+4=", [0, 7, EOS], False, False),
    "nothing but the end": ("3+4=", [EOS], False, False),
    "no end": ("9+8=", [1, 7, 1, 7], False, False),
    "right digits, then one more": ("3+4=", [7, 7, EOS], True, False),
    "an unfinished right answer": ("9+8=", [1, EOS], True, False),
    "written on after the right end": ("3+4=", [7, EOS, 7], True, False),
}


@pytest.mark.parametrize("padding", [0, 7, -1])
@pytest.mark.parametrize(("prompt", "answer", "well_formed", "correct"), JUDGED.values(), ids=JUDGED)
def test_arithmetic_verifier(prompt, answer, well_formed, correct, padding):
    task = arithmetic()
    tokens = np.array(answer + [padding] * (task.max_length - len(answer)))[None, None]
    mask = (np.arange(task.max_length) < len(answer))[None, None]
    judged = task.verify(np.array([task.prompts.index(prompt)]), tokens, mask)
    assert judged[0, 0].tolist() == [well_formed, correct]


def test_arithmetic_needs_room_for_the_largest_sum():
    with pytest.raises(ValueError, match="max_length: 10 and its end need 3 tokens, got a budget of 2"):
        arithmetic(max_length=2)
