"""The entropy bonus: constant, and adapted to a target."""

import numpy as np
from small_training import finish

from grpo_ref import GRPO
from grpo_ref.tasks.bandit import bandit


def test_an_entropy_bonus_keeps_entropy_up():
    plain = finish(bandit(), GRPO, updates=60)[-1].metrics["entropy"]
    bonus = finish(bandit(), GRPO, updates=60, entropy_coef=0.5)[-1].metrics["entropy"]
    assert bonus > plain + 0.3


def test_an_adaptive_entropy_bonus_steps_toward_its_target():
    """Always below the target: up by 0.01 an update, to the bound; always above: down, to 0."""
    task = bandit()
    below = [
        u.state.entropy_coef for u in finish(task, GRPO, seeds=2, entropy_target=9.0, entropy_delta=0.01)
    ]
    np.testing.assert_allclose(np.array(below)[:, 0], 0.01 * np.arange(1, 7), rtol=1e-12)
    bounded = finish(task, GRPO, entropy_target=9.0, entropy_delta=0.4, entropy_max=0.5)[-1]
    assert bounded.state.entropy_coef.tolist() == [0.5]
    settings = {"entropy_target": 1e-9, "entropy_coef": 0.25, "entropy_delta": 0.1}
    above = finish(task, GRPO, **settings)
    np.testing.assert_allclose([u.state.entropy_coef[0] for u in above], [0.15, 0.05, 0, 0, 0, 0], atol=1e-15)
    plain = finish(task, GRPO)[-1]
    np.testing.assert_array_equal(above[-1].state.params, plain.state.params)


def test_an_entropy_target_holds_the_entropy_up():
    task, settings = bandit(), {"updates": 150, "seeds": 4}
    free = finish(task, GRPO, **settings)[-1].metrics["entropy"].mean()
    held = (
        finish(task, GRPO, **settings, entropy_target=0.8, entropy_delta=0.05)[-1].metrics["entropy"].mean()
    )
    assert held > free + 0.2
