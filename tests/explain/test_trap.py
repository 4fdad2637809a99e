"""Traps: each one is sprung by its example, and not by a configuration close by."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap, sprung
from grpo_ref.levels import token_level

TRAPS = [
    pytest.param(dialect.at(trap.release), trap, id=f"{dialect.name}: {trap.name}")
    for dialect in DIALECTS.values()
    for trap in dialect.traps
]


def _is_of_sequences(dialect, config):
    """Return true if a configuration is accepted and its ratio is a mean over the completion."""
    try:
        return (
            dialect.recipe(**config).level is not token_level
            and "mean" in dialect.recipe(**config).level.__name__
        )
    except ValueError:
        return False


def falls_into(dialect, config):
    return sprung(dialect.traps, dialect.settings(config), dialect.given(config))


@pytest.mark.parametrize(("dialect", "trap"), TRAPS)
def test_a_trap_is_sprung_by_its_example_and_not_by_the_near_one(dialect, trap):
    assert trap in falls_into(dialect, trap.example)
    assert trap not in falls_into(dialect, trap.near)
    dialect.recipe(**trap.example)
    dialect.recipe(**trap.near)


@pytest.mark.parametrize(("dialect", "trap"), TRAPS)
def test_a_trap_is_told_in_full_sentences_with_a_source(dialect, trap):
    assert trap.text.endswith(".")
    assert trap.source


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_the_traps_of_a_trainer_have_different_names(dialect):
    assert len({trap.name for trap in dialect.traps}) == len(dialect.traps)


# NeMo-RL refuses its key alone. Trinity-RFT's gspo has the widths of the paper by default.
NEMO_RL = {"sequence_level_importance_ratios": True, "token_level_loss": False}
OF_SEQUENCES = [("nemo_rl", NEMO_RL)] + [
    (name, {key: value})
    for name, dialect in DIALECTS.items()
    for key, values in dialect.keys.choices.items()
    for value in values
    if (key, value) != ("loss_type", "real")  # ms-swift's REAL has no clip
    and _is_of_sequences(dialect, {key: value})
]


@pytest.mark.parametrize(("name", "config"), OF_SEQUENCES)
def test_each_trainer_warns_of_a_clip_that_no_mean_ratio_reaches(name, config):
    dialect = DIALECTS[name]
    warned = [trap.name for trap in falls_into(dialect, config) if "too large for" in trap.name]
    assert len(warned) == (name != "trinity")


def test_the_trainers_with_a_mean_ratio_are_found():
    assert {"verl", "trl", "openrlhf", "areal", "roll", "liger"} <= {name for name, _ in OF_SEQUENCES}


def test_only_the_traps_whose_condition_holds_are_sprung():
    odd = Trap("odd", lambda s, given: s.number % 2 == 1, "It is odd.", "arithmetic", {}, {})
    told = Trap("told", lambda s, given: "number" in given, "It is told.", "arithmetic", {}, {})
    assert sprung([odd, told], Settings({"number": 3}), set()) == [odd]
    assert sprung([odd, told], Settings({"number": 4}), {"number"}) == [told]
