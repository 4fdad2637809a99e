"""Versions of a trainer are data."""

import pytest

from grpo_ref.kernels.surrogates import clipped, importance_weighted
from grpo_ref.recipes import slot
from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.trl.keys import DEFAULTS
from grpo_ref.trainers.trl.versions import HISTORY
from grpo_ref.trainers.versions import Without, versions

TRL = DIALECTS["trl"]
THREE = {"a": {"1.0": 1, "1.2": 2, "1.10": 3}, "b": {"1.0": Without(0), "1.2": 5}}


def test_a_change_holds_until_the_next_one():
    found = versions("T", THREE)
    assert {name: (each.defaults, each.absent) for name, each in found.items()} == {
        "1.0": ({"a": 1, "b": 0}, {"b"}),
        "1.2": ({"a": 2, "b": 5}, set()),
        "1.10": ({"a": 3, "b": 5}, set()),
    }
    assert found["1.10"].title == "T 1.10"


def test_the_last_change_of_each_key_is_what_it_is_today():
    today = versions("TRL", HISTORY)["1.10"]
    assert today.absent == set()
    assert today.defaults == {key: DEFAULTS[key] for key in HISTORY}


ASKED = {
    "0.14.0": "TRL 0.14.0",
    "0.15.2": "TRL 0.15.2",
    "0.18": "TRL 0.18",
    "0.21": "TRL 0.21",
    "1.16.0": "TRL 1.16.0",
    "1.17.3": "TRL 1.16.0",
    "": "TRL 1.16.0",
}


@pytest.mark.parametrize("version", ASKED)
def test_the_newest_version_that_is_not_newer_is_taken(version):
    assert TRL.at(version).version == ASKED[version]


@pytest.mark.parametrize("version", ["0.13", "main", "one"])
def test_a_version_that_is_not_described_is_refused(version):
    with pytest.raises(
        ValueError, match=f"trl: version '{version}' is not described here; expected one of 0.14, 0.15"
    ):
        TRL.at(version)


def test_what_trl_computed_in_its_first_version_with_grpo():
    first = TRL.at("0.14.0").recipe()
    assert (str(first.surrogate), first.kl_coef, str(first.penalty)) == ("importance_weighted", 0.04, "k3")
    assert str(first.aggregate) == "sequence_mean_token_mean"
    assert first.surrogate == slot(importance_weighted)


def test_what_an_upgrade_from_0_18_changes():
    old, new = TRL.at("0.18").recipe(), TRL.recipe()
    assert old.surrogate == new.surrogate == slot(clipped, clip_low=0.2, clip_high=0.2)
    assert set(new.differences(old)) == {"kl_coef", "penalty"}


def test_a_key_of_a_later_version_is_unknown_and_one_that_is_gone_is_known():
    old = TRL.at("0.14.0")
    assert old.key("epsilon") is None
    assert TRL.key("epsilon") == "epsilon"
    assert old.key("max_prompt_length") == "max_prompt_length"
    assert TRL.key("max_prompt_length") is None
    assert old.unknown({"epsilonn": 1}) == ["'epsilonn'"]


def test_unsloth_writes_its_own_defaults_over_those_of_trl():
    theirs = TRL.at("unsloth")
    assert theirs.recipe().kl_coef == 0.001
    assert theirs.recipe(beta=0.0).kl_coef == 0.0
    assert theirs.key("max_seq_length") == "max_seq_length"


VERL = DIALECTS["verl"]


def test_early_verl_had_one_width_no_dual_clip_and_a_bonus():
    early = VERL.at("0.2")
    assert early.recipe(clip_ratio=0.3).surrogate == slot(clipped, clip_low=0.3, clip_high=0.3)
    assert early.defaults["entropy_coeff"] == 0.001
    assert early.key("actor_rollout_ref.actor.clip_ratio_c") is None
    assert "each micro-batch" in early.mean(early.settings({}))
    assert "dual_clipped" in str(VERL.at("0.4.1").recipe().surrogate)
    assert VERL.at("0.9.1").recipe() == VERL.recipe()
    assert "micro-batches together" in VERL.at("0.9.1").mean(VERL.settings({}))


@pytest.mark.parametrize("name", VERL.versions)
def test_what_a_version_of_verl_does_not_have_counts_with_a_value_that_does_nothing(name):
    assert VERL.at(name).recipe().level.__name__ == "token_level"
