"""Open Instruct: borders between months, with values from grpo_fast.py and data_loader.py."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.trap import sprung
from grpo_ref.explain.version import choose_version

OPEN_INSTRUCT = DIALECTS["open_instruct"]
CENTERED = 'advantage_normalization_type is "centered" by default'


def traps_of(month, config):
    dialect = OPEN_INSTRUCT.at(month)
    return {trap.name for trap in sprung(dialect.traps, dialect.settings(config), dialect.given(config))}


# 7917d4173 (2026-03-20) changes the default from "standard" to "centered"
@pytest.mark.parametrize(
    ("month", "is_centered"), [("2025.8", False), ("2026.2", False), ("2026.3", True), ("", True)]
)
def test_the_warning_about_centred_advantages_is_of_the_months_with_that_default(month, is_centered):
    recipe = OPEN_INSTRUCT.at(month).recipe()
    assert ("group_centered" in str(recipe.advantage)) == is_centered
    assert (CENTERED in traps_of(month, {})) == is_centered


# c4c1b1c8f (2025-12-01): names before, numbers after; the estimators are the same
@pytest.mark.parametrize(("month", "accepted", "refused"), [("2025.11", "kl3", 2), ("2025.12", 2, "kl3")])
def test_estimators_have_names_until_november_2025_and_numbers_after(month, accepted, refused):
    dialect = OPEN_INSTRUCT.at(month)
    assert dialect.recipe(kl_estimator=accepted) == dialect.recipe()
    assert str(dialect.recipe().penalty) == "k3(max_log_ratio=40.0)"
    with pytest.raises(ValueError, match="kl_estimator: expected"):
        dialect.recipe(kl_estimator=refused)


@pytest.mark.parametrize(("month", "value"), [("2025.11", "kl1"), ("2025.12", 0)])
def test_the_estimator_without_a_gradient_is_warned_of_by_name_and_by_number(month, value):
    assert "kl_estimator 0 has an expected gradient of zero" in traps_of(month, {"kl_estimator": value})


# eeb67ce29 (2026-06-15)
@pytest.mark.parametrize(
    ("month", "temperature"), [("2025.3", 0.7), ("2026.5", 0.7), ("2026.6", 1.0), ("", 1.0)]
)
def test_the_default_temperature(month, temperature):
    assert OPEN_INSTRUCT.at(month).settings({}).temperature == temperature


def test_a_file_with_a_name_of_an_estimator_is_of_a_month_with_names():
    keys = {"kl_estimator": "kl3", "beta": 0.0}
    version = choose_version(Launch(trainer="open_instruct", keys=keys, why="it starts grpo_fast.py"))
    assert version.dialect.release == "2025.11"


def test_of_a_file_that_fits_no_month_the_one_with_the_fewest_unknown_keys_is_explained():
    """`number_samples_per_prompt` went in March 2025 and `clip_higher` came in June: one is unknown."""
    keys = {"number_samples_per_prompt": 8, "clip_higher": 0.2}
    version = choose_version(Launch(trainer="open_instruct", keys=keys, why="it starts grpo_fast.py"))
    assert (version.known_by, version.dialect.first) == ("fork", "2025.1")
