"""Open Instruct: the calls and metrics of its recorded cases."""

import numpy as np
import pytest

from grpo_ref.explain.dialects import open_instruct
from grpo_ref.parity.calls.open_instruct import open_instruct_kl
from grpo_ref.parity.replay import rebuild

LOG2 = np.log(2.0)


def test_the_second_estimator_is_the_default(asarray):
    """k3 at v = log 2 is 1/2 - 1 + log 2, with the slope 1 - 1/2."""
    zero = asarray([0.0])
    term = open_instruct_kl(zero, asarray([-LOG2]), zero)
    asarray.check(term.value, [LOG2 - 0.5])
    asarray.check(term.direct, [0.5])


# at v = log 2 and a ratio of 3: k1, k2, k3, and k1 times the ratio
NUMBERED = {0: LOG2, 1: LOG2**2 / 2, 2: LOG2 - 0.5, 3: 3 * LOG2}


@pytest.mark.parametrize(("number", "value"), NUMBERED.items())
def test_each_number_is_its_estimator(number, value):
    arrays = np.zeros(1), np.full(1, -LOG2), np.full(1, np.log(3.0))
    np.testing.assert_allclose(open_instruct_kl(*arrays, estimator=number).value, [value], rtol=1e-12)
    penalty = open_instruct.recipe(kl_estimator=number).penalty
    record = dict(zip(("log_probs", "ref_log_probs", "log_ratio"), arrays, strict=True))
    np.testing.assert_allclose(penalty(**record).value, [value], rtol=1e-12)


def test_an_unknown_estimator_is_named():
    with pytest.raises(ValueError, match="estimator: expected 0, 1, 2 or 3, got 4"):
        open_instruct_kl(np.zeros(1), np.zeros(1), np.zeros(1), estimator=4)


def case(call, config, **arrays):
    """A case of the arrays that are given by our names, with groups of two."""
    given = {name: name for name in arrays}
    return {"id": "", "trainer": "open_instruct", "call": call, "config": config, "given": given}, {
        **arrays,
        "group_size": 2,
    }


def test_what_is_logged_of_advantages_is_of_the_groups_that_are_left():
    """The second group has equal rewards. With this group, the mean of the scores would be 3/4."""
    told, arrays = case("advantages", {}, rewards=[1.0, 0.0, 1.0, 1.0], mask=[[1]] * 4)
    told["metrics"] = {"scores": 0.5, "val/advantages_mean": 0.0, "val/advantages_max": 0.5}
    found = rebuild(told, arrays)
    np.testing.assert_array_equal(found["value"], [[0.5, -0.5], [0.0, 0.0]])
    assert found["logged"] == told["metrics"]


def test_groups_without_contrast_go_before_what_was_cut_off():
    """The second and third group keep one completion each, which form one group with scores 1 and 3."""
    rewards, ended = [1.0, 1.0, 1.0, 0.0, 0.0, 3.0], [1, 0, 1, 0, 0, 1]
    config = {"mask_truncated_completions": True}
    told, arrays = case("advantages of ended completions", config, rewards=rewards, ended=ended)
    np.testing.assert_array_equal(rebuild(told, arrays)["value"], [[0.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    told["config"] = config | {"filter_zero_std_samples": False}
    with pytest.raises(ValueError, match="reshape"):
        rebuild(told, arrays)


LENGTHS = {"log_probs": [[-1.0, -1.0], [-1.0, -2.0], [-1.0, -2.0]], "mask": [[1, 1], [1, 0], [1, 0]]}


CONFIG = {"use_rho_correction": False, "beta": 0.0, "loss_denominator": 1}


def test_a_micro_batch_of_packs_is_what_a_metric_is_a_mean_of():
    """Advantages 2, -3, 1: the rows' losses are -4 and 3, or -1 together, and -1; tokens are 3 and 1."""
    told, arrays = case("loss in packs of two", CONFIG, **LENGTHS, advantages=[2.0, -3.0, 1.0])
    arrays = {**arrays, "group_size": 3}
    told["metrics"] = {"loss/total_avg": 0.0}
    for size, logged in {1: -1.0, 2: -2.0}.items():
        told["config"] = {**CONFIG, "per_device_train_batch_size": size}
        assert rebuild(told, arrays)["logged"]["loss/total_avg"] == logged


def test_metrics_overflow_in_float32():
    """A ratio of exp(100), which no number of float32 is."""
    told, arrays = case("loss", CONFIG, log_probs=[[-1.0], [-1.0]], old_log_probs=[[-101.0], [-1.0]])
    arrays |= {"advantages": [1.0, -1.0], "mask": [[1], [1]]}
    told |= {"given": {name: name for name in arrays if name != "group_size"}, "metrics": {"val/ratio": 0.0}}
    assert rebuild(told, arrays)["logged"]["val/ratio"] == np.inf
