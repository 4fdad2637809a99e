"""The list of trainers: each has a folder of its name, which owns what is known of it."""

from pathlib import Path

import pytest

import grpo_ref.trainers
from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.replay import shipped

FOLDER = Path(grpo_ref.trainers.__file__).parent


def test_every_folder_is_a_trainer_of_the_list():
    assert {path.parent.name for path in FOLDER.glob("*/__init__.py")} - {"launch"} == set(DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_trainer_is_a_module_of_its_name_with_a_dialect_and_a_recipe(name):
    module = getattr(grpo_ref.trainers, name)
    assert module.DIALECT is DIALECTS[name]
    assert module.recipe().source == DIALECTS[name].version


def test_the_recorded_cases_of_every_folder_are_shipped():
    assert set(shipped()) == set(FOLDER.glob("*/recorded*.json"))
