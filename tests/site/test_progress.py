"""The build says what it is doing."""

import pytest

pytest.importorskip("pydata_sphinx_theme")
from website import progress


def test_a_stage_is_named_when_it_begins_and_timed_when_it_ends(capsys):
    with progress.stage("recipes"):
        assert capsys.readouterr().out == "recipes ...\n"
    assert capsys.readouterr().out == "recipes: 0 s\n"


def test_sphinx_returns_its_status_and_shows_how_far_it_is(tmp_path, capfd):
    (tmp_path / "index.md").write_text("# Title\n\n[gone](nowhere.md)\n")
    (tmp_path / "conf.py").write_text('extensions = ["myst_parser"]\n')
    status = progress.sphinx("-W", "--keep-going", str(tmp_path), str(tmp_path / "out"))
    out, warnings = capfd.readouterr()
    assert status == 1
    assert "  reading sources: 100 %\n  writing output: 100 %\n" in out
    assert "nowhere.md" in warnings
    assert "\x1b" not in out


def test_files_are_counted_in_steps_of_twenty():
    lines = [f"writing output... [{number:4}%] page" for number in (10, 30, 35, 100)]
    assert list(progress.percentages(lines)) == [
        *("  writing output: 0 %", "  writing output: 20 %", "  writing output: 100 %")
    ]
