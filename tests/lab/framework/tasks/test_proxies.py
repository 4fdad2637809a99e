"""Answers and their judges: what is said to be exact is."""

from itertools import product

import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.proxies import Score, answers, judged_answers, standing
from grpo_ref.lab.framework.training import along


def test_answers_by_hand():
    chances, shares = answers(2, np.log([0.25, 0.75]))
    assert {tuple(row): chance for row, chance in zip(shares.tolist(), chances.round(12), strict=True)} == {
        (0.0, 1.0): 0.5625,
        (0.5, 0.5): 0.375,
        (1.0, 0.0): 0.0625,
    }


def test_the_expected_reward_is_the_mean_of_all_answers():
    generator = np.random.default_rng(0)
    probs = generator.dirichlet(np.ones(3), size=4)
    score = Score(generator.normal(size=3), np.array([[1.0, 2.0, 0.0], [2.0, -3.0, 1.0], [0.0, 1.0, 0.5]]))
    listed = np.array(list(product(range(3), repeat=4)))
    chances = probs[np.arange(4), listed].prod(-1)
    shares = (listed[..., None] == np.arange(3)).mean(-2)
    np.testing.assert_allclose(score.expected(probs), chances @ score.of(shares))


@pytest.mark.parametrize("seed", range(3))
def test_the_reference_has_no_reward_and_the_truth_a_deviation_of_one(seed):
    judged = judged_answers(seed)
    at_start = np.repeat(judged.log_probs[None], judged.task.max_length, axis=0)
    np.testing.assert_allclose(standing(judged, at_start), 0.0, atol=1e-9)
    chances, shares = answers(judged.task.max_length, judged.log_probs)
    np.testing.assert_allclose(chances.sum(), 1.0)
    np.testing.assert_allclose(chances @ judged.true.of(shares) ** 2, 1.0)


def test_a_flawless_judge_pays_what_is_true():
    judged = judged_answers(5, flawless=True)
    tokens = np.zeros((1, 1, judged.task.max_length), dtype=int)
    proxy, true = judged.task.verify(np.zeros(1, int), tokens, tokens == 0)[0, 0]
    assert proxy == true


@pytest.mark.parametrize("seed", range(3))
def test_a_misled_judge_likes_an_answer_best_that_is_worse_than_the_average(seed):
    judged = judged_answers(seed, misled=True)
    _, shares = answers(judged.task.max_length, judged.log_probs)
    assert judged.true.of(shares)[judged.proxy.of(shares).argmax()] < 0.0


def test_a_path_that_turns_back_counts_where_it_first_arrives():
    path, curve = np.array([[0.0, 2.0, 1.0, 4.0]]), np.array([[0.0, 20.0, 0.0, 40.0]])
    assert along(path, curve, (1.0, 3.0))[0].tolist() == [10.0, 20.0]
