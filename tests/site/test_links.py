"""Pages link to the exercises, and the exercises link back to the pages."""

import pytest

pytest.importorskip("myst_nb")
from docutils.core import publish_string
from website import build, conf
from website.links import Links

from grpo_ref.web.build import Link

parser = pytest.importorskip("myst_parser.docutils_")

CLIP = "docs/derivation/04_clip.md"
TEXT = "[ratios/clipped](../../exercises/03_ratios/03_clipped.py)"


def test_an_exercise_opens_in_the_course():
    links = Links(has_course=True)
    text = links.rewritten(TEXT, path=CLIP, page="derivation/04_clip")
    assert text == "[ratios/clipped](course:../course/index.html#ratios/clipped)"
    assert links.pages_on == {"ratios/clipped": {"derivation/04_clip"}}
    assert links.linked == set()


def test_without_the_course_an_exercise_leads_to_its_source():
    links = Links()
    text = links.rewritten(TEXT, path=CLIP, page="derivation/04_clip")
    assert text == "[ratios/clipped](source:../source/exercises/03_ratios/03_clipped.py.html)"
    assert links.pages_on == {}


def test_the_address_keeps_the_exercise():
    settings = {"myst_url_schemes": conf.myst_url_schemes, "output_encoding": "unicode"}
    html = publish_string(
        "[x](course:../course/index.html#ratios/clipped)",
        parser=parser.Parser(),
        writer="html5",
        settings_overrides=settings,
    )
    assert 'href="../course/index.html#ratios/clipped"' in html


def test_the_course_links_to_chapters_then_steps_then_notebooks(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    for page, text in {
        "derivation/04_clip.md": "# 4. The clip\n",
        "derivation/index.md": "# Derivation\n",
        "chapters/03_ratios.md": "---\na: b\n---\n\n# 3. Ratios and clipping\n",
        "notebooks/01_objective.ipynb": NOTEBOOK,
    }.items():
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text(text)
    pages = [
        "howto/x",
        "derivation/index",
        "notebooks/01_objective",
        "derivation/04_clip",
        "chapters/03_ratios",
    ]
    assert build.read_more(pages) == [
        Link("Chapter 3. Ratios and clipping", "../chapters/03_ratios.html"),
        Link("Derivation 4. The clip", "../derivation/04_clip.html"),
        Link("Notebook 1. The objective", "../notebooks/01_objective.html"),
    ]


NOTEBOOK = """
{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# 1. The objective"}],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
"""
