"""The notebooks: each runs from top to bottom in an empty folder, and is what its script says."""

import re
from itertools import takewhile

import jupytext
import nbformat
import pytest
from click.testing import CliRunner
from make_notebooks import SCRIPTS, made_from
from nbclient import NotebookClient

from grpo_ref.frontends.cli import main

LONGEST = 5


def test_there_are_ten():
    assert [script.stem[:2] for script in SCRIPTS] == [f"{number:02}" for number in range(1, 11)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebook_is_made_from_its_script(script):
    assert script.with_suffix(".ipynb").read_text(encoding="utf-8") == made_from(script), "make notebooks"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebook_runs(script, tmp_path):
    notebook = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no figure"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebook_defines_nothing_long(script):
    for cell in jupytext.read(script).cells:
        for definition in re.split(r"^(?=def |class )", cell.source, flags=re.M)[1:]:
            indented = takewhile(lambda line: not line.strip() or line[0] == " ", definition.splitlines()[1:])
            assert len([line for line in indented if line.strip()]) <= LONGEST, definition


def test_command_copies_and_overwrites_nothing(tmp_path):
    folder = tmp_path / "mine"
    first = CliRunner().invoke(main, ["notebooks", str(folder), "--no-open"])
    assert first.exit_code == 0, first.output
    assert {path.name for path in folder.iterdir()} == {path.with_suffix(".ipynb").name for path in SCRIPTS}
    mine = folder / SCRIPTS[0].with_suffix(".ipynb").name
    mine.write_text("mine")
    again = CliRunner().invoke(main, ["notebooks", str(folder), "--no-open"])
    assert f"0 notebooks written, {len(SCRIPTS)} left alone" in again.output
    assert mine.read_text() == "mine"


def test_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    refused = CliRunner().invoke(main, ["notebooks", str(tmp_path / "new")])
    assert refused.exit_code == 1
    assert "pip install 'grpo-ref[notebooks]'" in refused.output
    assert not (tmp_path / "new").exists()
