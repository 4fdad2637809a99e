"""The parts of the built site link to each other: exercises, the course, reports in the page."""

import json
import re

import pytest
from crawl import read

pytest.importorskip("myst_nb")
from website.link_map import Node, related, titles
from website.links import has_course

from grpo_ref.course.contents import EXERCISES
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import CATALOG
from grpo_ref.web.explain import key_anchor, keys_in_tables, trap_anchor

EXERCISE = re.compile(r"(?:^|/)source/(?:exercises|grpo_ref/course/exercises)/\d*_?\w+/.*\.py\.html")
IN_STATEMENT = re.compile(r'<a href="([^"]+)">')
PAGES = [entry for entry in titles() if entry.kind not in ("exercise", "kernel")]


def resolved(file, target):
    """Return the file and the anchor that a link leads to."""
    path, _, anchor = target.partition("#")
    return (file.parent / path).resolve(), anchor


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: "/".join(entry))
def test_a_page_shows_its_neighbours(site, entry):
    """Every neighbour that the map has for a page is a link on the page, or in its section on a symptom."""
    path, anchor = resolved(site.folder / "index.html", entry.address)
    links = {resolved(path, target) for target in site.pages[path].links}
    assert not anchor or anchor in site.pages[path].anchors
    for others in related(entry).values():
        for other in others:
            if other.kind != "exercise" or has_course():
                assert resolved(site.folder / "index.html", other.address) in links, other


def test_no_exercise_opens_as_source(site):
    """A page of source may link to a page of source."""
    wrong = {
        (file.relative_to(site.folder).as_posix(), target)
        for file, page in site.pages.items()
        if "source" not in file.relative_to(site.folder).parts
        for target in page.links
        if EXERCISE.search(target)
    }
    assert wrong == set()


@pytest.mark.parametrize("name", DIALECTS)
def test_explain_leads_to_each_trap_and_key(site, name):
    dialect = DIALECTS[name]
    anchors = read(site.folder / f"trainers/{name}.html").anchors
    assert {trap_anchor(dialect, place) for place in range(len(dialect.traps))} <= anchors
    assert {key_anchor(key) for key in keys_in_tables(dialect)} <= anchors


def test_the_pages_that_compute_lead_to_recipes(site):
    assert all((site.folder / f"recipe/{name}.html").is_file() for name in CATALOG)


@pytest.mark.skipif(not has_course(), reason="make page")
def test_the_links_of_the_course_lead_somewhere(site):
    folder = site.folder / "course"
    chapters = json.loads((folder / "course.json").read_text(encoding="utf-8"))
    targets = [chapter["address"] for chapter in chapters]
    for chapter in chapters:
        shown = json.loads((folder / f"chapter-{chapter['id']}.json").read_text(encoding="utf-8"))
        for name, exercise in shown.items():
            links = IN_STATEMENT.findall(exercise["statement"])
            assert len(links) >= len(related(Node("exercise", name))) - 2  # no chapter and no kernel
            targets += links
    for target in targets:
        file, anchor = resolved(folder / "index.html", target)
        if target.startswith("#"):
            assert anchor in EXERCISES, target
        else:
            assert file.is_file(), target
            assert not anchor or anchor in site.pages[file].anchors, target


@pytest.mark.skipif(not has_course(), reason="make page")
@pytest.mark.parametrize("name", ["index", "play", "surrogates", "explain", "diagnose", "symptoms"])
def test_each_page_of_the_course_links_to_the_site(site, name):
    assert "../index.html" in read(site.folder / f"course/{name}.html").links
