"""Networks on the tasks of a table: they begin as the table does, and a run does not depend on the others."""

import numpy as np
import pytest

from grpo_ref.lab.framework.network import SIZES, learned, network_curves, sums
from grpo_ref.lab.framework.tasks.digit_sums import PARTS, PLAIN, drawn_sums
from grpo_ref.learning.rollout import draw, sample

SEED = 2


@pytest.fixture(scope="module")
def start():
    return sums(SEED)


@pytest.mark.parametrize("kind", SIZES)
def test_the_network_begins_about_as_right_as_the_table(kind):
    task, policy = sums(SEED, kind=kind)
    actor = policy.at(policy.start(task, 1), 1.0)
    network = draw(task, actor, [np.random.default_rng(0)], prompts=4000, group_size=1).rewards.mean()
    table = drawn_sums(SEED)
    begun = sample(table, table.ref_logits[None], prompts=4000, group_size=1, seed=0).rewards.mean()
    assert abs(network - begun) < 0.08


def test_a_start_is_made_once():
    assert sums(SEED) is sums(SEED)
    assert sums(SEED, known=0.5) is not sums(SEED)


def test_results_do_not_depend_on_the_number_of_seeds(start):
    sizes = {"updates": 3, "prompts": 4, "group_size": 4, "learning_rate": 0.01, "seed": SEED}
    many, few = (network_curves(start, PLAIN, ("correct",), seeds=seeds, **sizes) for seeds in (3, 2))
    np.testing.assert_array_equal(many["correct"][:2], few["correct"])


def test_what_is_measured_is_a_curve_over_the_updates(start):
    sizes = {"updates": 3, "prompts": 4, "group_size": 4, "learning_rate": 0.01, "seed": SEED, "seeds": 2}
    found = network_curves(start, PLAIN, (), {"done": lambda state: np.full((2, 5), state.update)}, **sizes)
    assert found["done"].shape == (2, 5, 3)
    np.testing.assert_array_equal(found["done"][0, 0], [1, 2, 3])


def test_a_network_learns_sums():
    sizes = {"updates": 4 * PARTS, "prompts": 16, "group_size": 8, "learning_rate": 0.003}
    curve = learned(recipe=PLAIN, seeds=2, seed=3, **sizes)["correct"]
    assert curve.shape == (2, PARTS)
    assert (curve[:, -1] > curve[:, 0] + 0.3).all()
