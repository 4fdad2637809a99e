"""The list of trainers: each has a folder of its name, which owns what is known of it."""

from importlib import import_module
from pathlib import Path

import pytest

from grpo_ref.explain import dialects
from grpo_ref.explain.dialects import DIALECTS

FOLDER = Path(dialects.__file__).parent


def test_every_folder_is_a_trainer_of_the_list():
    assert {path.parent.name for path in FOLDER.glob("*/__init__.py")} - {"common"} == set(DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_trainer_is_a_module_of_its_name_with_a_dialect_and_a_recipe(name):
    module = import_module(f"grpo_ref.explain.dialects.{name}")
    assert module.DIALECT is DIALECTS[name]
    assert module.recipe().source == DIALECTS[name].version
