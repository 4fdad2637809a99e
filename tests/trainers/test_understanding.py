"""The keys of a file, sorted."""

import pytest

from grpo_ref.trainers import DIALECTS, understood
from grpo_ref.trainers.launch import Unknown

TRL = DIALECTS["trl"]
HOLE = Unknown("$X", "$X is not set in this file")


def test_keys_are_sorted_by_what_they_do():
    found = understood(
        TRL, {"beta": 0.04, "bf16": True, "my_reward": "math", "epsilon": HOLE, "output_dir": HOLE}
    )
    assert found.config == {"beta": 0.04}
    assert found.without_effect == {"bf16": True, "output_dir": HOLE}
    assert found.strangers == {"my_reward": ""}
    assert [each.key for each in found.unsure] == ["epsilon"]


def test_what_depends_on_an_unknown_value_is_said():
    (unsure,) = understood(TRL, {"epsilon": HOLE}).unsure
    assert unsure.parts == ("surrogate",)
    (unsure,) = understood(TRL, {"beta": HOLE}).unsure
    assert unsure.parts == ("kl_coef",)
    (unsure,) = understood(TRL, {"num_generations": HOLE}).unsure
    assert unsure.parts == ()


@pytest.mark.parametrize("key", ["epsilonn", "epsilo", "los_type", "num_generation", "scale_reward"])
def test_a_slip_in_a_key_that_matters_stops(key):
    with pytest.raises(ValueError, match=f"trl has no key '{key}' \\(did you mean"):
        understood(TRL, {key: 1})
    assert key in understood(TRL, {key: 1}, strict=False).strangers


@pytest.mark.parametrize("key", ["max_prompt_lenght", "run_nam", "eval_num_generations", "entropy_loss_kind"])
def test_a_slip_in_another_key_does_not(key):
    assert key in understood(TRL, {key: 1}).strangers


def test_a_flag_may_be_turned_off_by_its_name():
    dialect = DIALECTS["open_instruct"]
    assert understood(dialect, {"no_filter_zero_std_samples": True}).config == {
        "filter_zero_std_samples": False
    }
    assert "no_such_key" in understood(dialect, {"no_such_key": True}).strangers


def test_a_list_of_which_a_part_is_unknown_is_refused():
    with pytest.raises(ValueError, match=r"reward_weights: a part of \['1.0', '\$X'\] is not known"):
        understood(TRL, {"reward_weights": [1.0, HOLE]})
