import numpy as np

from grpo_ref.lab.framework.tasks.noisy_bandit import noisy_bandit


def test_good_arms_pay_for_their_share_of_the_prompts_and_bad_ones_for_the_rest():
    task = noisy_bandit(states=2, prompts=8, arms=4, good=1, pays=0.75)
    every = np.broadcast_to(np.arange(4)[:, None], (16, 4, 1))
    paid = task.verify(np.arange(16), every, np.ones_like(every, bool))[..., 0]
    for state in range(2):
        shares = paid[task.starts == state].mean(0)
        np.testing.assert_allclose(sorted(shares), [0.25, 0.25, 0.25, 0.75])


def test_by_default_28_prompts_of_40_pay_and_13_do():
    task = noisy_bandit(states=1)
    every = np.broadcast_to(np.arange(16)[:, None], (40, 16, 1))
    paid = task.verify(np.arange(40), every, np.ones_like(every, bool))[..., 0]
    assert sorted(paid.sum(0)) == [13] * 8 + [28] * 8
