"""The pages of the recipes: their sections, code, formulas, links and pictures, without a build of the site."""

import contextlib
import io
import re

import numpy as np
import pytest
from website.line_plot import Line, Plot, drawn, ticks
from website.recipe_pages import FOLDER, GROUPS, split, written
from website.recipe_pictures import KINDS, kind_of, picture, plots_of, small_picture
from website.trainer_keys import DIALECTS, computed, in_trainers, nearest_of_all

from grpo_ref.recipes import CATALOG
from grpo_ref.recipes.titles import title_of

ROOT = FOLDER.parents[1]
PAGES = [name for name in CATALOG if written(name)]
SECTIONS = (
    *("## The loss", "## What changes from GRPO", "<!-- picture -->", "## When to use it, and what it costs"),
    *("## In NumPy", "## In a trainer", "<!-- keys -->", "<!-- parts -->", "## Go on"),
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def test_every_file_is_the_page_of_a_recipe():
    assert {path.stem for path in FOLDER.glob("*.md")} <= set(CATALOG)


@pytest.mark.parametrize("name", PAGES)
def test_page_has_front_matter(name):
    head = written(name).head
    assert {"title", "description", "name", "summary"} <= set(head) <= {"title", "description", "name", "summary", "picture"}
    assert head["name"] == title_of(name)
    assert len(head["description"]) <= 160
    assert len(head["summary"].split()) <= 12
    assert head.get("picture", "surrogate") in KINDS


@pytest.mark.parametrize("name", PAGES)
def test_page_has_the_sections_in_their_order(name):
    text = written(name).text
    expected = [each if name != "grpo" or "changes" not in each else "## What trainers change" for each in SECTIONS]
    places = [text.find(f"\n{section}") for section in expected]
    assert [section for section, place in zip(expected, places, strict=True) if place < 0] == []
    assert places == sorted(places)
    assert text.startswith("# ")


@pytest.mark.parametrize("name", PAGES)
def test_links_to_files_lead_somewhere(name):
    targets = [target for target in LINK.findall(written(name).text) if ":" not in target]
    pages = {f"{each}.md" for each in CATALOG}
    assert [each for each in targets if each not in pages and not (FOLDER / each).exists()] == []


# ---- code ----------------------------------------------------------------------------------------


def run(name):
    """Run the blocks of a page that define NAME_loss and use it; return its names and its lines with output."""
    space, shown = {"__name__": "page"}, []
    for block in BLOCK.findall(written(name).text):
        if "trl" in block.partition("import")[2].partition("\n")[0]:
            continue  # an example of a trainer's configuration, which needs the trainer
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(block, f"{name}.md", "exec"), space)
        shown.append((block, output.getvalue()))
    return space, shown


def expected_output(block):
    """Return the output that the comments of a block state: beside a print, or in the lines below it.

    In the lines below a print, a comment ends at four spaces or more: a remark follows.

    >>> expected_output('print(1)  # 1\\nprint(a)\\n# [2 3]    both\\n')
    ['1', '[2 3]']
    """
    lines = []
    below = False
    for line in block.splitlines():
        beside = re.match(r"\s*print\(.*\)\s+# (.*)", line)
        if beside:
            lines.append(beside[1])
        elif below and line.startswith("#"):
            lines.append(re.split(r"(?<=\S) {4,}(?=[a-z])", line[2:])[0])
        below = line.strip().startswith("print(") and not beside or (below and line.startswith("#"))
    return [each.rstrip() for each in lines]


@pytest.mark.parametrize("name", PAGES)
def test_code_runs_and_prints_what_the_comments_state(name):
    _, shown = run(name)
    for block, output in shown:
        assert expected_output(block) == [line.rstrip() for line in output.splitlines()]
    assert any("print(" in block for block, _ in shown)
