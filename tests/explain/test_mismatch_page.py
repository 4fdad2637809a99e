"""The page on the mismatch of sampler and learner: its keys have their defaults, and no kernel is missing."""

import re
from pathlib import Path

import pytest
from every_kernel import kernels_of

from grpo_ref import corrections
from grpo_ref.explain.dialects import DIALECTS

PAGE = (Path(__file__).parents[2] / "docs/mismatch.md").read_text(encoding="utf-8")
TITLES = {dialect.title.partition(" ")[0]: name for name, dialect in DIALECTS.items()}
NAMES = {
    name: TITLES[name] for name in ("verl", "TRL", "ms-swift", "slime", "SkyRL", "ROLL", "NeMo-RL", "AReaL")
}
NAMES |= {"Open Instruct": "open_instruct", "OpenRLHF": "openrlhf"}
KEY = re.compile(r"`([\w.]+)(?:=[\w.-]+)?`(?: ([\d.][\de.-]*|True|False)(?=[,;( ]|$))?")


def rows(text, start):
    """Return the cells of the table rows that begin with some characters."""
    lines = [line for line in text.splitlines() if line.startswith(start)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


DEFINITIONS = rows(PAGE, "| **")
"""One row per correction: name, weight, function, meaning."""
SECTIONS = [section.partition("\n") for section in re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)]
TRAINERS = {heading: rows(text, "| `") for heading, _, text in SECTIONS if heading in NAMES}
"""Trainer -> one row per correction: keys, name of the correction."""
KEYS = [
    (NAMES[trainer], key, default)
    for trainer, table in TRAINERS.items()
    for row in table
    for key, default in KEY.findall(row[0])
]


@pytest.mark.parametrize(("trainer", "key", "default"), KEYS, ids=[" ".join(key) for key in KEYS])
def test_a_key_of_the_page_exists_and_has_its_default(trainer, key, default):
    defaults = DIALECTS[trainer].keys.defaults
    assert key in defaults
    if default in ("True", "False"):
        assert str(defaults[key]) == default
    elif default:
        value = defaults[key]
        assert float(value[0] if isinstance(value, list) else value) == float(default)


def test_every_trainer_has_a_table_of_keys():
    assert set(TRAINERS) == set(NAMES)
    assert all(TRAINERS.values())


def test_a_trainer_names_only_corrections_that_are_defined():
    defined = {re.match(r"\*\*(.+?)\*\*", row[0])[1] for row in DEFINITIONS}
    assert {row[1] for table in TRAINERS.values() for row in table} <= defined


def test_every_correction_of_the_sampler_has_a_row():
    others = {"early_stop", "future_kl", "top_entropy", "unlikely_under_reference"}
    kernels = set(kernels_of(corrections))
    named = {name for row in DEFINITIONS for name in re.findall(r"`(\w+)", row[2])}
    assert kernels - others <= named
    assert named - kernels == {"m2po", "glm_5", "rollout_is"}
