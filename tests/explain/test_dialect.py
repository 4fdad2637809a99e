"""Dialects: a trainer's own keys and defaults give the recipe that it computes, and mistakes are named."""

import itertools
import re

import pytest

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, CONCEPTS
from grpo_ref.explain.dialect_files import read_files, read_program
from grpo_ref.explain.dialects import DIALECTS, TRAINERS, openrlhf, trl, verl

EACH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


@EACH
def test_every_combination_of_choices_is_a_recipe_that_travels(dialect):
    """Pairs of choices, one key against another; or the pair is refused or beyond a recipe, which is told."""
    for (first, ours), (second, theirs) in itertools.combinations(dialect.keys.choices.items(), 2):
        for one, two in itertools.product(ours, theirs):
            try:
                assert dialect.recipe(**{first: one, second: two}).source == dialect.version
            except ValueError as error:
                told = str(error)
                assert "refuses" in told or "cannot be expressed" in told, (first, one, second, two)


@EACH
def test_defaults_choices_and_others_do_not_overlap(dialect):
    assert set(dialect.keys.choices) <= set(dialect.keys.defaults)
    assert not set(dialect.keys.defaults) & set(dialect.keys.harmless)
    known = set(dialect.keys.defaults) | dialect.keys.harmless | set(dialect.keys.inexpressible)
    assert set(dialect.keys.names.values()) <= known
    assert set(dialect.keys.concepts) <= set(CONCEPTS)
    assert set(dialect.keys.concepts.values()) <= known
    assert set(dialect.keys.effects) <= known | set(dialect.keys.names)
    assert set(dialect.keys.written) <= set(dialect.keys.defaults)
    for key, values in dialect.keys.choices.items():
        assert dialect.keys.defaults[key] in values


UNKNOWN = {
    "misspelt": (trl, {"epsilon_hihg": 0.28}, "trl has no key 'epsilon_hihg' (did you mean 'epsilon_high'"),
    "another trainer's": (openrlhf, {"loss_mode": "gspo"}, "openrlhf has no key 'loss_mode'"),
    "a value that is none": (trl, {"loss_type": "ppo"}, "loss_type: expected one of 'grpo', 'bnpo'"),
    "a mode that is none": (verl, {"loss_mode": "gsp"}, "loss_mode: expected one of 'vanilla'"),
    "a key without default": (verl, {"loss_mode": "dro"}, "dro_beta: verl has no default for it"),
    "beyond what can be said": (
        verl,
        {"distillation.enabled": True},
        "distillation.enabled = True cannot be expressed here. A loss towards a teacher's distribution",
    ),
    "two at once": (trl, {"epsilonn": 0.2, "xyz": 1}, "no key 'epsilonn' (did you mean 'epsilon'?), 'xyz'"),
    "a word for a number": (trl, {"beta": "small"}, "beta: expected a number, got 'small'"),
    "a truth value for a number": (trl, {"beta": True}, "beta: expected a number, got True"),
    "a number for a truth value": (
        verl,
        {"use_kl_loss": 1},
        "use_kl_loss: expected True or False, got 1",
    ),
    "a window where none is meant": (trl, {"beta": "0.5_5.0"}, "trl: beta = '0.5_5.0' has the wrong type"),
    "a word where nothing is set": (
        trl,
        {"epsilon_high": "big"},
        "epsilon_high = 'big' has the wrong type",
    ),
    "nothing": (trl, {"beta": None}, "trl: beta = None has the wrong type"),
    "no completions": (verl, {"rollout": {"n": 0}}, "rollout.n: expected at least 1, got 0"),
    "a group of one": (
        trl,
        {"num_generations": 1},
        "num_generations: TRL refuses groups of fewer than 2, got 1",
    ),
    "no passes": (trl, {"num_iterations": 0}, "num_iterations: expected at least 1, got 0"),
    "a negative budget": (
        trl,
        {"max_completion_length": -5},
        "max_completion_length: expected a number > 0, got -5",
    ),
    "a temperature of 0": (
        trl,
        {"loss_type": "sapo", "sapo_temperature_pos": 0.0},
        "expected tau_positive, tau_negative > 0, got 0.0 and 1.05",
    ),
    "a key in a group that is another key's": (
        verl,
        {"algorithm.clip_ratio_low": 0.1},
        "verl has no key 'algorithm.clip_ratio_low'",
    ),
    "a group that is none": (verl, {"critic_of_mine.clip_ratio": 0.2}, "no key 'critic_of_mine.clip_ratio'"),
}


@pytest.mark.parametrize(("module", "config", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_mistakes_are_named(module, config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        module.recipe(**config)


# trainer -> its key, and the weight of the penalty that it makes of -0.5
NEGATIVE = {
    "trl": ({"beta": -0.5}, -0.5),
    "verl": ({"use_kl_loss": True, "kl_loss_coef": -0.5}, -0.5),
    "open_instruct": ({"beta": -0.5}, -0.5),
    "rlinf": ({"kl_beta": -0.5}, 0.0),
    "openrlhf": ({"algo.kl.use_loss": True, "algo.kl.init_coef": -0.5}, 0.0),
    "understand_r1_zero": ({"beta": -0.5}, 0.0),
}


@pytest.mark.parametrize(("name", "config", "weight"), [(name, *row) for name, row in NEGATIVE.items()])
def test_a_negative_weight_of_the_penalty_is_that_of_the_trainer(name, config, weight):
    assert DIALECTS[name].recipe(**config).kl_coef == weight


@EACH
def test_every_sentence_of_a_dialect_is_a_sentence(dialect):
    told = [
        *CONCEPTS.values(),
        *dialect.keys.effects.values(),
        *(key.effect for key in dialect.keys.inexpressible.values()),
    ]
    assert all(text.endswith(".") and text[0].isupper() for text in told), told


def test_the_keys_that_a_configuration_gives_are_known_by_both_names():
    given = verl.DIALECT.given({"actor": {"clip_ratio_low": 0.1}, "reward_kwargs.max_resp_len": 64})
    assert given == {
        "actor.clip_ratio_low",
        "clip_ratio_low",
        "reward_kwargs.max_resp_len",
        "max_resp_len",
    }


def test_a_concept_is_the_trainers_key_for_it():
    assert trl.DIALECT.concept(COMPLETIONS, {"num_generations": 4}) == 4
    assert verl.DIALECT.concept(COMPLETIONS, {}) == 1
    assert openrlhf.DIALECT.concept(BONUS, {}, 0.0) is None


@pytest.mark.parametrize("name", TRAINERS)
def test_the_commands_of_a_trainer_are_read_alone_as_with_its_keys(name):
    package = f"grpo_ref.explain.dialects.{name}"
    assert read_program(package) == read_files(package)[2]


def test_a_configuration_with_a_changed_value_or_order_is_built_anew():
    recipes = [trl.DIALECT.recipe(**config) for config in ({}, {"beta": 0.5}, {"beta": 0.25}, {"beta": 0.5})]
    assert [recipe.kl_coef for recipe in recipes] == [0.0, 0.5, 0.25, 0.5]
    numbers = [trl.DIALECT.settings({"beta": value})["beta"] for value in (1, 1.0)]
    assert list(map(type, numbers)) == [int, float]


def test_a_refused_configuration_is_refused_again():
    for _ in range(2):
        with pytest.raises(ValueError, match="loss_type"):
            trl.DIALECT.recipe(loss_type="none of these")
