"""Errata: every entry holds for its example in its releases, and not for the configuration near it."""

import json
import tomllib
from pathlib import Path

import pytest
from errata import EFFECTS, border_name, borders, effect, effects_text, sample_release
from jsonschema import Draft202012Validator

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.audit import audit
from grpo_ref.explain.errata.entry import (
    FOLDER,
    TEST,
    UNKNOWN,
    When,
    dialect_at,
    effect_text,
    entries,
    releases,
    written_entries,
)
from grpo_ref.explain.gradient_change import change
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.settings import Settings

ROOT = Path(__file__).parents[2]
ENTRIES = {entry.id: entry for entry in entries()}
FILES = sorted(FOLDER.glob("*.toml"))
OF_THE_FAMILY = {"verl": {"adv_estimator": "grpo"}}
"""The keys without which a trainer has an objective of another family."""
EACH = pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)


def holds(entry, release, config):
    """Return true if the condition of an entry holds for a configuration in a release."""
    dialect = dialect_at(DIALECTS[entry.trainer], release)
    return entry.condition(dialect.settings(config), dialect.given(config))


@EACH
def test_the_example_is_touched_and_the_near_one_is_not(entry):
    """Each entry, in the release that it was seen in last, with the effect that is stated."""
    release = sample_release(entry)
    assert holds(entry, release, entry.example)
    if entry.near != entry.example:
        assert not holds(entry, release, entry.near)
    written = next(each for each in written_entries(entry.trainer) if each["id"] == entry.id)
    stated = effect(entry, written.get("effect", {}))
    assert json.loads(EFFECTS.read_text())[entry.id] == stated
    assert stated["change"] is None or stated["change"] == "inf" or stated["change"] > 0.0


@EACH
def test_an_entry_holds_in_its_releases(entry):
    """Only releases that have the keys are compared. `history.toml` has the behaviour of each release."""
    for release in releases(DIALECTS[entry.trainer]):
        dialect = dialect_at(DIALECTS[entry.trainer], release)
        if entry.state(release) == "yes" and entry.has_keys(dialect):
            assert holds(entry, release, entry.example_in(dialect)), release


@EACH
@pytest.mark.parametrize("end", ["first", "last"])
def test_the_audit_finds_the_example_in_the_first_and_in_the_last_release(entry, end):
    known = releases(DIALECTS[entry.trainer])
    first = entry.seen if entry.first == UNKNOWN else entry.first
    release = first if end == "first" else entry.last or known[-1]
    keys = OF_THE_FAMILY.get(entry.trainer, {}) | entry.example_in(
        dialect_at(DIALECTS[entry.trainer], release)
    )
    found = audit(Launch(entry.trainer, "the name", keys, is_sure=True), release=release)
    undecided = {
        each.id for each, _ in found.undecided
    }  # such as a default that would leave nothing to compare
    assert entry.id in {each.entry.id for each in found.touches} | undecided


@EACH
def test_the_named_test_exists(entry):
    file, _, name = entry.test.partition("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()
    if entry.test.startswith(TEST):
        assert entry.test == f"{TEST}[{entry.id}]"


@EACH
def test_the_releases_are_known(entry):
    known = releases(DIALECTS[entry.trainer])
    assert entry.first in (UNKNOWN, *known)
    assert {entry.seen, *entry.gaps} <= {*known}
    assert entry.last in ("", *known)
    first = known.index(entry.seen if entry.first == UNKNOWN else entry.first)
    assert not entry.last or first <= known.index(entry.last)


@EACH
def test_sentences_are_whole(entry):
    assert entry.computed.endswith(".")
    assert entry.stated.endswith(".")
    assert entry.title
    assert not entry.title.endswith(".")


@EACH
def test_an_id_begins_with_its_trainer(entry):
    assert entry.id.startswith(entry.trainer.replace("_", "-") + "-")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_files_have_the_form_of_the_schema(file):
    schema = json.loads((FOLDER / "schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(tomllib.loads(file.read_text()))


def test_a_wrong_field_is_refused_by_the_schema():
    schema = Draft202012Validator(json.loads((FOLDER / "schema.json").read_text()))
    wrong = {"entry": [{**written_entries("trl")[0], "severity": "high"}]}
    assert not schema.is_valid(wrong)


def test_the_ids_are_different():
    assert len(ENTRIES) == len(entries())


def test_each_file_belongs_to_a_trainer():
    assert {file.stem for file in FILES} <= {*DIALECTS}


def test_the_effects_are_up_to_date():
    assert EFFECTS.read_text(encoding="utf-8") == effects_text(), "run python docs/errata.py"


@pytest.mark.parametrize("trainer", ["trl", "verl"])
def test_every_measured_change_of_behaviour_has_an_entry(trainer):
    measured = {
        border_name(border) for border in borders(trainer) if border["kind"] in ("behaviour", "bug fixed")
    }
    named = {border for entry in entries(trainer) for border in entry.borders}
    assert measured
    assert named == measured


def test_an_effect_is_the_difference_of_two_gradients():
    """scale_rewards="none" counts as true in TRL 0.21.0, so the advantages are divided."""
    dialect = DIALECTS["trl"].at("0.21.0")
    divided, plain = (dialect.recipe(scale_rewards=value) for value in ("none", False))
    assert ENTRIES["trl-scale-rewards-text-is-true"].effect == round(change(divided, plain), 4)


# release -> does TRL swap the meaning of scale_rewards? From the two release notes.
SWAPPED = {"0.21.0": "no", "0.22.0": "yes", "0.22.1": "yes", "0.22.2": "no", "1.16.0": "no"}


@pytest.mark.parametrize(("release", "state"), SWAPPED.items())
def test_a_release_is_inside_or_outside(release, state):
    assert ENTRIES["trl-scale-rewards-does-not-divide"].state(release) == state


def test_a_release_before_the_first_examined_one_is_unknown():
    entry = ENTRIES["verl-bypass-mode-does-not-change-the-loss"]
    assert entry.state("0.9.0") == "unknown"
    assert entry.state(DIALECTS["verl"].release) == "yes"
    assert entry.state("0.9.1") == "yes"


def test_a_release_in_a_gap_does_not_behave_so():
    entry = ENTRIES["trl-dr-grpo-divides-by-std"]
    assert [entry.state(release) for release in ("0.21.0", "0.22.1", "0.22.2")] == ["yes", "no", "yes"]


WHEN = {
    "a value that is in the list": (When(values={"a": [1, 2]}), True),
    "a value that is not": (When(values={"a": [2]}), False),
    "true is not 1": (When(values={"a": [True]}), False),
    "none": (When(values={"b": ["none"]}), True),
    "an excluded value": (When(other_than={"a": [1]}), False),
    "one of two keys is given": (When(given=("a", "c")), True),
    "neither is given": (When(given=("c", "d")), False),
    "a key that must not be given": (When(not_given=("a",)), False),
    "two parts": (When(values={"a": [1]}, not_given=("b",)), True),
}


@pytest.mark.parametrize(("when", "expected"), WHEN.values(), ids=WHEN)
def test_a_condition(when, expected):
    assert when(Settings({"a": 1, "b": None}), {"a"}) is expected


def test_the_effect_in_words():
    assert [effect_text(size) for size in (0.5431, 0.0041, 0.0002, None)] == [
        "54%",
        "0.4%",
        "less than 0.1%",
        "",
    ]
