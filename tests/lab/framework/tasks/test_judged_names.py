"""Names and their judges: what is rewarded, and what is real."""

import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.judged_names import (
    LOOKED_AT,
    SHARES,
    _ends,
    _has,
    _lasts,
    different_names,
    judged_names,
    written,
)

A, E, N, EOS = 0, 4, 13, 26


def test_a_written_name_has_its_first_letter_and_no_padding():
    tokens, mask = np.array([[[N, N, A, EOS, 0, 0]]]), np.array([[[True] * 4 + [False] * 2]])
    letters, lengths = written(np.array([A]), tokens, mask)
    assert letters[0, 0, :4].tolist() == [A, N, N, A]
    assert lengths.tolist() == [[4]]


@pytest.mark.parametrize(
    ("holds", "has_it"),
    [
        (lambda *name: _has(A, 2, *name), True),
        (lambda *name: _has(A, 3, *name), False),
        (lambda *name: _ends(A, *name), True),
        (lambda *name: _ends(N, *name), False),
        (lambda *name: _lasts(2, *name), True),
        (lambda *name: _lasts(5, *name), False),
    ],
    ids=["two a", "three a", "ends in a", "ends in n", "2 to 4 letters", "5 to 7 letters"],
)
def test_properties_of_anna(holds, has_it):
    anna = np.array([[A, N, N, A, A, A]]), np.array([4])  # the last two are padding
    assert holds(*anna).tolist() == [has_it]


@pytest.mark.parametrize("seed", range(4))
def test_all_names_of_the_census_are_real_and_some_have_the_property(seed):
    task = judged_names(seed)
    prompts, tokens, mask = task.examples.prompts, task.examples.tokens[:, None], task.examples.mask[:, None]
    has_it, is_real, wanted = task.verify(prompts, tokens, mask)[:, 0].T
    assert is_real.all()
    assert (wanted == has_it).all()
    assert SHARES[0] < has_it.mean() < SHARES[1]


def test_a_policy_that_always_writes_the_same_name_has_one_for_each_first_letter():
    task = judged_names(0, context=1, min_count=8)
    certain = np.where(np.arange(27) == E, 50.0, 0.0) * np.ones((len(task.ref_logits), 1))
    certain[task.starts] = np.where(np.arange(27) == EOS, 50.0, 0.0)  # one letter and the end
    found = different_names(task, certain[None], "property")
    assert found[0] <= 26 / LOOKED_AT
