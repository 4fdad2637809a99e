"""The documentation: its tables are made from the lists that they describe, and its links lead somewhere."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import tables  # noqa: E402

FOLDERS = ("docs/howto", "docs/tutorials", "docs/derivation", "docs/decisions")
OTHERS = (ROOT / "CHANGELOG.md", *(path for name in FOLDERS for path in sorted((ROOT / name).glob("*.md"))))
PAGES = {path.relative_to(ROOT).as_posix(): path for path in (*tables.PAGES, *OTHERS)}
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")


@pytest.mark.parametrize("name", PAGES)
def test_the_tables_of_a_page_are_up_to_date(name):
    text = PAGES[name].read_text(encoding="utf-8")
    assert tables.renewed(text) == text, "renew it with: make docs"


@pytest.mark.parametrize("name", PAGES)
def test_links_inside_the_project_lead_somewhere(name):
    for target in LINK.findall(PAGES[name].read_text(encoding="utf-8")):
        assert (PAGES[name].parent / target).exists(), target


def test_a_page_that_is_behind_is_noticed():
    page = "<!-- totals: made by make docs -->\nno exercises\n<!-- end of totals -->"
    assert "exercises in" in tables.renewed(page)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
