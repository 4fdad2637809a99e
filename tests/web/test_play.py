"""Training as a page asks for it: settings, updates a few at a time, and what is said of them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import DAPO, GRPO, RECIPES, TASKS, config_for, iter_train, slot
from grpo_ref.recipes import CATALOG
from grpo_ref.surrogates import clipped
from grpo_ref.web.play import PANELS, Runs, choices, training

SETTINGS = {
    "task": "bandit",
    "recipe": "dapo",
    "clip_low": 0.1,
    "clip_high": 0.3,
    "kl_coef": 0.02,
    "group_size": 4,
    "learning_rate": 0.2,
    "epochs": 2,
    "updates": 6,
    "seeds": 3,
    "seed": 5,
}


def test_settings_describe_a_training():
    task, recipe, config = training(SETTINGS)
    assert task.name == "bandit"
    assert recipe == replace(DAPO, kl_coef=0.02, surrogate=slot(clipped, clip_low=0.1, clip_high=0.3))
    assert config == config_for(task, group_size=4, learning_rate=0.2, epochs=2, updates=6, seeds=3, seed=5)


def test_a_recipe_without_a_clip_range_is_taken_as_it_is():
    settings = SETTINGS | {"recipe": "sapo", "clip_low": None, "clip_high": None, "kl_coef": 0.0}
    assert training(settings).recipe == RECIPES["sapo"]


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_pieces_are_the_training_itself(seconds):
    task, recipe, config = training(SETTINGS)
    expected = [update.metrics["reward"] for update in iter_train(task, recipe, config)]
    runs = Runs()
    assert runs.begin("a", SETTINGS) == {"notes": []}
    found = []
    while rows := runs.advance("a", seconds):
        assert len(rows) == (1 if seconds == 0.0 else 6)
        found += rows
    assert [row["reward"] for row in found] == [
        [rewards.mean(), *np.percentile(rewards, [10, 90])] for rewards in expected
    ]
    assert found[0].keys() == PANELS.keys()


def test_two_runs_go_on_side_by_side():
    runs = Runs()
    for name in "ab":
        runs.begin(name, SETTINGS)
    for name in "abab":
        runs.advance(name, 0.0)
    assert runs.advance("a", 60.0) == runs.advance("b", 60.0)


def test_what_is_told_of_the_first_update():
    """Ten arms of equal probability: an entropy of log 10, the reference itself, and every ratio is 1."""
    runs = Runs()
    runs.begin("a", SETTINGS | {"epochs": 1})
    row = runs.advance("a", 0.0)[0]
    assert row["entropy"] == pytest.approx([math.log(10.0)] * 3)
    assert row["kl"] == row["clip"] == [0.0, 0.0, 0.0]


NOTES = {
    "a group of one": (
        {"recipe": "grpo", "group_size": 1},
        "Every advantage is 0: a group of one completion has no",
    ),
    "one epoch": (
        {"epochs": 1},
        "With one epoch every ratio is 1, so this recipe's surrogate has the same effect",
    ),
}


@pytest.mark.parametrize(("settings", "note"), NOTES.values(), ids=NOTES)
def test_parts_that_do_nothing_are_told(settings, note):
    (told,) = Runs().begin("a", SETTINGS | settings)["notes"]
    assert told.startswith(note)


def test_a_setting_out_of_range_is_told():
    told = Runs().begin("a", SETTINGS | {"group_size": 0})
    assert told == {"error": "group_size: expected a whole number >= 1, got 0"}


def test_what_is_not_finite_is_told_as_none():
    runs = Runs()
    runs.begin("a", SETTINGS)
    update = next(runs.updates["a"])
    runs.updates["a"] = iter([update._replace(metrics=update.metrics | {"kl": np.array([1.0, np.inf, 2.0])})])
    (row,) = runs.advance("a", 0.0)
    assert row["kl"] is None
    assert row["reward"] is not None


def test_what_can_be_chosen():
    found = choices()
    tasks, recipes = ({each["name"]: each for each in found[kind]} for kind in ("tasks", "recipes"))
    assert list(tasks) == list(TASKS)
    assert tasks["bandit"]["settings"]["group_size"] == 8
    assert tasks["liked_names"]["title"] == "liked names"
    assert all(each["about"].endswith(".") for each in (*tasks.values(), *recipes.values()))
    assert list(recipes) == [name for name, recipe in CATALOG.items() if not recipe.needs_teacher]
    assert "opd" not in recipes
    assert not [name for name in recipes if name.startswith("book_")]
    own = {
        name: [each[key] for key in ("kl_coef", "clip_low", "clip_high")] for name, each in recipes.items()
    }
    assert own["dapo"] == [0.0, 0.2, 0.28]
    assert own["clip_cov"] == [0.0, 0.2, 0.2]
    assert own["sapo"] == [0.0, None, None]
    assert own["grpo"][0] == GRPO.kl_coef
    assert (recipes["dr_grpo"]["title"], recipes["dapo"]["about"]) == (
        "Dr. GRPO",
        DAPO.source.replace("`", "") + ".",
    )
