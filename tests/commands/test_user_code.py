"""MODULE:NAME means what a user's own module says, wherever it is."""

import sys

import click
import pytest

from grpo_ref.commands.user_code import NameOrOwn, imported, is_own


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module in the current folder, forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_own_parts.py").write_text("NUMBER = 7\n")
    (tmp_path / "my_broken_parts.py").write_text("raise SystemExit('no')\n")
    yield "my_own_parts"
    for name in ("my_own_parts", "my_broken_parts"):
        sys.modules.pop(name, None)


def test_the_current_folder_is_searched_and_no_longer_afterwards(module):
    before = list(sys.path)
    assert imported(f"{module}:NUMBER") == 7
    assert sys.path == before


def test_what_is_installed_is_found_too():
    assert imported("math:pi") == pytest.approx(3.14159, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "expected MODULE:FUNCTION or FILE.py:FUNCTION, got 'nothing'"),
        (":NUMBER", "expected MODULE:FUNCTION or FILE.py:FUNCTION, got ':NUMBER'"),
        ("my_own_parts:OTHER", "my_own_parts:OTHER: module 'my_own_parts' has no attribute 'OTHER'"),
        ("my_broken_parts:NUMBER", "my_broken_parts:NUMBER: no"),
    ],
)
@pytest.mark.usefixtures("module")
def test_what_cannot_be_imported_is_told(text, message):
    before = list(sys.path)
    with pytest.raises(click.UsageError) as told:
        imported(text, kind="FUNCTION")
    assert told.value.message == message
    assert sys.path == before


def test_a_name_of_ours_is_checked_and_one_of_the_users_is_left_for_later():
    kind = NameOrOwn("task", lambda: ["bandit"])
    assert kind.convert("bandit", None, None) == "bandit"
    assert kind.convert("mine:TASK", None, None) == "mine:TASK"
    assert is_own("mine:TASK")
    with pytest.raises(click.BadParameter, match="Did you mean 'bandit'"):
        kind.convert("bandits", None, None)
