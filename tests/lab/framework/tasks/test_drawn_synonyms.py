import numpy as np
import pytest

from grpo_ref import GRPO
from grpo_ref.lab.framework.tasks.drawn_synonyms import (
    TRIES,
    VARIANTS,
    answered,
    at_start,
    different,
    drawn_synonyms,
)
from grpo_ref.lab.framework.tasks.synonyms import PROMPTS, VOCABULARY


@pytest.mark.parametrize("seed", range(4))
def test_right_answers_are_equally_good_and_so_are_wrong_ones(seed):
    task, answers, _ = drawn_synonyms(seed, wrong=2)
    every = np.stack(np.divmod(np.arange(VOCABULARY**2), VOCABULARY), axis=-1)
    tokens = np.broadcast_to(every, (len(task.prompts), *every.shape))
    paid = task.verify(np.arange(len(task.prompts)), tokens, np.ones_like(tokens, bool))[..., 0]
    shares = paid.reshape(PROMPTS, VARIANTS, -1).mean(1)
    is_right = np.zeros(shares.shape, bool)
    is_right[np.arange(PROMPTS)[:, None], answers[..., 0] * VOCABULARY + answers[..., 1]] = True
    np.testing.assert_array_equal(shares, np.where(is_right, 0.75, 0.25))


def test_what_is_fixed_leaves_the_rest_as_it_was_drawn():
    drawn, fixed = drawn_synonyms(3), drawn_synonyms(3, wrong=4)
    np.testing.assert_array_equal(drawn.task.ref_logits, fixed.task.ref_logits)
    np.testing.assert_array_equal(drawn.answers, fixed.answers)
    assert drawn.group_size == fixed.group_size


def test_samples_of_an_even_policy_have_nearly_all_answers():
    assert different(np.full((1, 2), 0.5)) == pytest.approx(2.0 - 2.0 * 0.5**TRIES)


def test_one_answer_is_all_there_is_to_give():
    drawn = drawn_synonyms(0, right=1)
    assert at_start(drawn)["modes"] == pytest.approx(1.0)
    found = answered(drawn, GRPO, ("reward",), updates=2, seeds=2, seed=0)
    np.testing.assert_allclose(found["modes"], 1.0)
