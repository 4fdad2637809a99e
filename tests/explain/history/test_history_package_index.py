"""Releases: each number of a release that is described here is on the package index, as of a stored list."""

import tomllib
from pathlib import Path

import pytest

from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.entry import releases

INDEX = tomllib.loads(Path(__file__).with_name("package_index.toml").read_text(encoding="utf-8"))
BRANCHES = {"verl": {"0.1.1.dev", "0.3.1.dev"}}
"""States of a main branch that forks started from."""


@pytest.mark.parametrize("trainer", [name for name in INDEX if name != "unsloth"])
def test_a_release_that_is_described_is_on_the_package_index(trainer):
    described = {release for release in releases(DIALECTS[trainer]) if numbered(release)}
    assert described - {*INDEX[trainer]["releases"]} == BRANCHES.get(trainer, set())


@pytest.mark.parametrize("month", releases(DIALECTS["unsloth"]))
def test_unsloth_has_a_wheel_of_each_month_that_is_described(month):
    assert numbered(month) in {numbered(wheel)[:2] for wheel in INDEX["unsloth"]["releases"]}
