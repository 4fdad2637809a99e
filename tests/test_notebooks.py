"""The notebooks: each runs from top to bottom in an empty folder, and is what its script says."""

import base64
import io
import math
import re
from itertools import takewhile
from statistics import NormalDist

import jupytext
import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from make_notebooks import FOLDER, SCRIPTS, made_from, picture, run
from PIL import Image

from grpo_ref.cli import main

LONGEST = 5
NEARLY = "# yours: nearly the same"
"""In a cell after the long training of a network, where rounding decides in the end what is drawn."""


def test_there_are_thirteen():
    assert [script.stem[:2] for script in SCRIPTS] == [f"{number:02}" for number in range(1, 14)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebook_is_made_from_its_script(script):
    notebook = nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    assert nbformat.writes(notebook) == nbformat.writes(made_from(script)), "make notebooks"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebook_runs_and_gives_what_it_shows(script):
    ran, shown = run(made_from(script)), nbformat.read(script.with_suffix(".ipynb"), as_version=4)
    outputs = [output for cell in ran.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no figure"
    for ours, theirs in zip(ran.cells, shown.cells, strict=True):
        for one, other in zip(ours.get("outputs", ()), theirs.get("outputs", ()), strict=True):
            assert is_alike(one, other, nearly=NEARLY in ours.source), f"{ours.id}: make notebooks"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_figure_is_described_and_sharp(script):
    for cell in nbformat.read(script.with_suffix(".ipynb"), as_version=4).cells:
        figures = [output for output in cell.get("outputs", ()) if "image/png" in output.get("data", {})]
        assert len(figures) == len(cell.metadata)
        for figure in figures:
            known = figure.metadata["image/png"]
            assert known["alt"] == cell.metadata["mystnb"]["image"]["alt"]
            assert len(known["alt"]) >= 60, f"{cell.id}: say what the figure shows"
            assert tuple(size // 2 for size in picture(figure).size) == (known["width"], known["height"])


def test_another_number_and_another_figure_are_seen():
    figures = [output({"image/png": png(size)}) for size in ((4, 4), (4, 4), (4, 5))]
    assert is_alike(figures[0], figures[1])
    assert not is_alike(figures[0], figures[2])
    assert not is_alike(figures[0], output({"image/png": png((4, 4), "black")}))
    texts = [
        output({"text/plain": text}) for text in ("loss 0.5", "loss 0.50000000001", "loss 0.501", "lost 0.5")
    ]
    assert [is_alike(texts[0], text) for text in texts] == [True, True, False, False]


def test_nearly_the_same_is_not_anything():
    texts = [
        output({"text/plain": text}) for text in ("27+38=51.60.065 0.80", "27+38=51.50.055 0.83", "0.10")
    ]
    assert [is_alike(texts[0], text, nearly=True) for text in texts] == [True, True, False]
    figures = [output({"image/png": png(*kind)}) for kind in (((4, 4),), ((4, 5),), ((4, 4), "black"))]
    assert [is_alike(figures[0], figure, nearly=True) for figure in figures] == [True, False, False]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_guess_is_judged_in_a_later_cell(script):
    cells = [cell.source for cell in jupytext.read(script).cells if cell.cell_type == "code"]
    for place, source in enumerate(cells):
        for assigned in re.findall(r"^((?:guess_\w+(?:, )?)+) = ", source, re.M):
            for guess in assigned.split(", "):
                judged = re.compile(rf"how_far\(\s*{guess},")
                assert any(judged.search(later) for later in cells[place + 1 :]), guess


GUESSES = re.compile(r"^(?:guess_\w+(?:, )?)+ = ([None, ]+)$", re.M)
BOLD_NUMBER = re.compile(r"\*\*([\d.]+)\*\*")


@pytest.mark.filterwarnings("default")
def test_answers_that_can_be_unfolded_are_right_guesses():
    notebook = made_from(next(script for script in SCRIPTS if script.stem.startswith("11")))
    right = []
    for place, cell in enumerate(notebook.cells):
        if GUESSES.search(cell.source):
            right.append(answers_after(notebook.cells[place:]))
            cell.source = GUESSES.sub(
                lambda asked: asked[0].replace(asked[1], ", ".join(right[-1])), cell.source
            )
            last = place + 2
    del notebook.cells[last:]
    printed = [
        output.text for cell in run(notebook).cells for output in cell.get("outputs", ()) if "text" in output
    ]
    assert "".join(printed).count("Yes.") == sum(map(len, right)) > 0


def answers_after(cells):
    """The bold numbers of the next answer that can be unfolded."""
    unfolded = next(cell.source for cell in cells if cell.source.startswith("<details>"))
    return BOLD_NUMBER.findall(unfolded.partition("</details>")[0])


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
SHARE = re.compile(r"(?<![\d.])\d\.\d+(?![\d.])")
"""A number with one digit before its point, that is no part of a sum that a network has written."""
COLOR_OFF, COLOR_OFF_NEARLY = 4.0, 15.0
"""By how much the colors of a figure may be off on average, of 255; few colors cost about one."""


def is_alike(ours, theirs, *, nearly=False):
    """Whether two outputs show the same, but for rounding in numbers and for colors that are near."""
    same_text, color_off = (is_near_text, COLOR_OFF_NEARLY) if nearly else (is_same_text, COLOR_OFF)
    if "data" not in ours:
        return ours.name == theirs.name and same_text(ours.text, theirs.text)
    if ours.data.keys() != theirs.data.keys():
        return False
    if "image/png" not in ours.data:
        return same_text(ours.data["text/plain"], theirs.data["text/plain"])
    one, other = (np.asarray(picture(each).convert("RGB"), dtype=float) for each in (ours, theirs))
    return one.shape == other.shape and abs(one - other).mean() < color_off


def is_near_text(ours, theirs):
    """Whether both have as many shares, each near the other's."""
    one, other = (SHARE.findall(text) for text in (ours, theirs))
    return [float(share) for share in one] == [pytest.approx(float(share), abs=0.25) for share in other]


def is_same_text(ours, theirs):
    """Whether the words are the same, and the numbers but for rounding."""
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(float(one) == pytest.approx(float(other), rel=1e-6, abs=1e-9) for one, other in pairs)


def output(data):
    """An output with these data."""
    return nbformat.v4.new_output("display_data", data)


def png(size, color="white"):
    """A picture of one color, as a notebook holds it."""
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, "png")
    return base64.b64encode(file.getvalue()).decode()


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


def test_weights_of_mismatched_data_have_the_means_of_a_log_normal():
    """Notebook 7: log r is normal with mean -s²/2 and s = 0.05 sqrt 50, so that r has the mean 1.

    For a limit C, E[r; r <= C] = Φ((log C - s²/2) / s), and P(r > C) = 1 - Φ((log C + s²/2) / s). The means
    of 1000 completions are within three standard errors, at most 3 s / sqrt 1000.
    """
    spread, limit = 0.05 * math.sqrt(50), math.log(2.0)
    kept = NormalDist().cdf((limit - spread**2 / 2) / spread)
    beyond = 1.0 - NormalDist().cdf((limit + spread**2 / 2) / spread)
    expected = {"full, completion": 1.0, "TIS, completion": kept + 2.0 * beyond, "MIS, completion": kept}
    text = FOLDER.joinpath("07_stale_and_mismatched_data.ipynb").read_text(encoding="utf-8")
    for name, mean in expected.items():
        (shown,) = re.findall(rf"{name} +mean weight ([\d.]+)", text)
        assert float(shown) == pytest.approx(mean, abs=3.0 * spread / math.sqrt(1000.0))
    assert [round(mean, 3) for mean in expected.values()] == [1.0, 0.995, 0.963]
