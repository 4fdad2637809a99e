"""Measures of claims that count runs, where a few runs would dominate a mean."""

import numpy as np

from grpo_ref.lab.claims.collapse_alarm import UPDATES, watched
from grpo_ref.lab.claims.early_stopping import MARGIN, compared
from grpo_ref.lab.claims.reward_hacking import FELL, hacked
from grpo_ref.recipes import GRPO


def test_a_run_has_fallen_if_it_lost_more_than_the_limit():
    measures = hacked(recipe=GRPO, kl_coef=0.0, learning_rate=1.0, misled=True, seeds=4, seed=1)
    assert np.array_equal(measures["fell"], measures["lost"] > FELL)


def test_rate_and_weight_take_the_place_of_the_separate_settings():
    together = hacked(recipe=GRPO, rate_and_weight=(0.3, 0.04), seeds=2, seed=1)
    apart = hacked(recipe=GRPO, learning_rate=0.3, kl_coef=0.04, seeds=2, seed=1)
    assert all(np.array_equal(together[name], apart[name]) for name in apart)


def test_runs_with_a_gap_beyond_the_margin_are_counted():
    measures = compared(recipe=GRPO, learning_rate=0.1, seeds=4, seed=1)
    assert np.array_equal(measures["proxy is higher"], measures["proxy gap"] > MARGIN)
    assert np.array_equal(measures["true differs"], abs(measures["true gap"]) > MARGIN)


def test_a_notice_is_too_late_after_a_tenth_of_the_training():
    measures = watched(seeds=4, seed=1)
    assert np.array_equal(measures["too late"], measures["lag"] > UPDATES / 10.0)
