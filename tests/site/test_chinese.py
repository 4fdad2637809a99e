"""The Chinese pages of the site: they are translated as a whole, and each language leads to the other."""

from pathlib import Path

import pytest
import translations
from website.links import has_course
from website.tree import CHINESE, ROOT

LOCALE = ROOT / "docs/website/locale/zh_CN/LC_MESSAGES"
CHAPTERS = ("chapters/01_probabilities", "chapters/02_advantages", "chapters/03_ratios")
PAGES = pytest.mark.parametrize("page", CHINESE)


@pytest.fixture(scope="module")
def templates(site):
    """The folder of the templates of the catalogs. The build of the site copies the pictures before."""
    from website.chinese import write_templates

    if not has_course():
        pytest.skip("the links to exercises are other ones without the course: make page")
    return write_templates()


@PAGES
def test_the_catalog_has_every_paragraph_of_the_page_and_no_other(templates, page):
    from babel.messages.pofile import read_po

    with (templates / f"{page}.pot").open("rb") as file:
        english = {message.id for message in read_po(file) if message.id}
    with (LOCALE / f"{page}.po").open("rb") as file:
        catalog = {message.id: message for message in read_po(file) if message.id}
    assert set(catalog) == english
    assert [each.id for each in catalog.values() if not each.string or each.fuzzy] == []


@pytest.mark.parametrize("page", [*CHINESE, *CHAPTERS])
def test_the_two_languages_lead_to_each_other(site, page):
    english, chinese = site.folder / f"{page}.html", site.folder / "zh" / f"{page}.html"
    text = chinese.read_text(encoding="utf-8")
    assert '<html lang="zh-CN"' in text
    for ours, theirs in ((english, chinese), (chinese, english)):
        links = site.pages[ours.resolve()].links
        assert theirs.resolve() in {(ours.parent / link).resolve() for link in links}


def test_headings_are_translated_and_code_is_not(site):
    text = (site.folder / "zh/tutorials/student.html").read_text(encoding="utf-8")
    assert "1. 取得练习" in text
    assert "Get the exercises" not in text
    assert "my-exercises: ... files written, 0 brought up to date" in text


def test_chinese_pages_load_the_files_of_the_english_ones(site):
    names = {path.name for path in Path(site.folder / "zh/_static").rglob("*") if path.is_file()}
    assert "site.css" not in names
    assert "../_static/site.css" in (site.folder / "zh/index.html").read_text(encoding="utf-8")


def test_every_translated_chapter_has_a_page_and_its_exercises_open_in_chinese(site):
    from website import chinese

    assert tuple(chinese.CHAPTERS) == CHAPTERS
    assert len(CHAPTERS) == translations.CHAPTERS
    text = (site.folder / "zh/chapters/02_advantages.html").read_text(encoding="utf-8")
    assert "组与优势" in text
    if has_course():
        assert 'href="../../course/index.html?language=zh#advantages/gdpo"' in text
