"""Sorting with a trace: the result is judged, the steps are watched."""

import numpy as np
import pytest

from grpo_ref.tasks.sorting import EOS, VOCABULARY, sorting

JUDGED = {
    "the first two out of order, each time": ("3142", ">1342>1324>1234", True, True),
    "another order of swaps": ("3142", ">3124>1324>1234", True, True),
    "a detour": ("2134", ">2143>2134>1234", True, True),
    "sorted already": ("1134", "", True, True),
    "sorted already, and nothing left to swap": ("1134", ">1134", True, False),
    "at once": ("3142", ">1234", True, False),
    "two neighbours further apart": ("3214", ">1234", True, False),
    "a digit that comes from nowhere, then the right list": ("3142", ">9342>1234", True, False),
    "equal neighbours, beside two digits from nowhere": ("1134", ">1156>1134", True, False),
    "legal, but not to the end": ("3142", ">1342", False, True),
    "not sorted, and no step": ("3142", "", False, True),
    "another list, sorted": ("3142", ">1235", False, False),
    "without an arrow": ("3142", "1234", False, False),
    "a digit too many makes the last four right": ("4123", "4", False, False),
    "a list too short": ("3142", ">134", False, False),
    "two arrows": ("2134", ">>1234", True, False),
}


def judge(task, prompt, answer, *, ended=True):
    written = [VOCABULARY.index(sign) for sign in answer] + [EOS] * ended
    tokens = np.array(written + [0] * (task.max_length - len(written)))[None, None]
    mask = (np.arange(task.max_length) < len(written))[None, None]
    return task.verify(np.array([task.prompts.index(prompt)]), tokens, mask)[0, 0].tolist()


@pytest.mark.parametrize(("prompt", "answer", "right", "legal"), JUDGED.values(), ids=JUDGED)
def test_result_and_steps(prompt, answer, right, legal):
    assert judge(sorting(), prompt, answer) == [right, legal]


def test_what_does_not_end_is_neither_right_nor_legal():
    assert judge(sorting(), "2134", ">1234", ended=False) == [0, 0]
    assert judge(sorting(), "2134", ">1234" * 8, ended=False) == [0, 0]


def test_every_example_is_right_and_legal_and_none_is_held_out():
    task = sorting(digits=3)
    examples = task.examples
    judged = task.verify(examples.prompts, examples.tokens[:, None], examples.mask[:, None])
    assert judged.all()
    assert len(examples.prompts) == 800
    assert (task.prompt_probs[examples.prompts] > 0).all()


def test_the_longest_sorting_leaves_room():
    """4321 is sorted by 4 * 3 / 2 = 6 swaps of 5 tokens each, and an end; the budget has 2 lists more."""
    task = sorting()
    assert task.max_length == (6 + 2) * 5
    row = task.examples.prompts.tolist().index(task.prompts.index("4321"))
    shown = task.render(task.examples.prompts[row], task.examples.tokens[row], task.examples.mask[row])
    assert shown == "4321>3421>3241>2341>2314>2134>1234"
    assert task.examples.mask[row].sum() == 6 * 5 + 1


@pytest.mark.parametrize("digits", [1, 5])
def test_sorting_refuses_other_numbers_of_digits(digits):
    with pytest.raises(ValueError, match=f"digits: expected 2, 3 or 4, got {digits}"):
        sorting(digits=digits)
