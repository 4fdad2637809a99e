"""The page that a chapter begins with."""

import re

import pytest
from student import ROOT

from grpo_ref.course.contents import CHAPTERS, NOTEBOOKS, exercises_in
from grpo_ref.course.layout import folder_of
from grpo_ref.course.pages import page, pages, translated_chapter

EACH = pytest.mark.parametrize("chapter", CHAPTERS)


@EACH
def test_a_page_has_all_that_a_student_begins_with(chapter):
    text = page(chapter)
    number = list(CHAPTERS).index(chapter) + 1
    assert text.startswith(f"# {number}. {CHAPTERS[chapter]}\n")
    headings = re.findall("^## (.*)$", text, re.M)
    assert headings == ["What to read", "The notebook", "The exercises"]
    assert (ROOT / "notebooks" / f"{NOTEBOOKS[chapter]}.ipynb").is_file()
    assert f"`{NOTEBOOKS[chapter]}.ipynb`" in text


@EACH
def test_a_page_lists_the_exercises_of_its_chapter_in_order(chapter):
    listed = re.findall(r"^\d+\. \[(\w+)\]\((.*?)\): ", page(chapter), re.M)
    assert [name for name, _ in listed] == [exercise.name for exercise in exercises_in(chapter)]


@EACH
def test_whatever_a_page_links_to_is_there(chapter):
    """The picture too, which is described for those who cannot see it."""
    folder = ROOT / "exercises" / folder_of(chapter)
    links = re.findall(r"\]\(([^)]+)\)", page(chapter))
    assert [link for link in links if not (folder / link).is_file()] == []
    assert re.search(r"!\[[^]]{60,}\]\(picture\.png\)", page(chapter))


@EACH
def test_a_page_is_no_longer_than_is_read(chapter):
    """And no line is longer than an editor shows."""
    text = page(chapter)
    assert 300 <= len(text.split()) <= 750
    written, _, listed = text.partition("## The exercises")
    assert max(map(len, written.splitlines())) <= 120
    assert listed


def test_pages_and_pictures_lie_in_the_folders_of_their_chapters():
    assert set(pages()) == {
        f"{folder_of(chapter)}/{name}" for chapter in CHAPTERS for name in ("README.md", "picture.png")
    }


TRANSLATED = [chapter for chapter in CHAPTERS if translated_chapter(chapter, "zh")]


@pytest.mark.parametrize("chapter", TRANSLATED)
def test_a_chinese_page_has_the_parts_of_the_english_one(chapter):
    english, chinese = page(chapter), page(chapter, "zh")
    assert chinese.startswith(
        f"# {list(CHAPTERS).index(chapter) + 1}. {translated_chapter(chapter, 'zh')[0]}\n"
    )
    assert re.findall("^## (.*)$", chinese, re.M) == ["延伸阅读", "notebook", "练习"]
    for pattern in (r"\]\(([^)]+)\)", r"^ {4}.*$", r"arXiv:\d+\.\d+", r"`[^`\n]+`"):
        assert re.findall(pattern, chinese, re.M) == re.findall(pattern, english, re.M)
    assert set(re.findall(r"\d+\.\d+", chinese)) == set(re.findall(r"\d+\.\d+", english))
    assert "english:" not in chinese


def test_a_chapter_without_a_translation_stays_in_english():
    assert len(TRANSLATED) >= 3
    assert page("network", "zh") == page("network")
