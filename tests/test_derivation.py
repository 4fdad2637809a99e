"""docs/derivation: every step is whole and leads to the next, and the pictures are those of today's code."""

import re

import derivation_pictures
import pytest
from derivation_panels import PICTURES
from student import ROOT
from svg_pictures import same_picture
from website.tree import BELOW

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import file_of, folder_of

FOLDER = ROOT / "docs" / "derivation"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("[0-9]*.md"))}
INDEX = (FOLDER / "index.md").read_text(encoding="utf-8")
STEP = re.compile(r"\d\d_(\w+)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#]+)(?:#\w+)?\)")
PICTURE = re.compile(r"!\[([^\]]+)\]\((\w+)\.svg\)")

EACH = pytest.mark.parametrize("step", TEXTS)


def prose(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text):
    """What a page links to: shown text and target."""
    return LINK.findall(prose(text))


@EACH
def test_a_step_has_all_its_parts(step):
    text = TEXTS[step]
    assert text.startswith(f"# {int(step[:2])}. ")
    assert "\n**The question.** " in text
    headings = re.findall("^## (.*)$", text, re.MULTILINE)
    assert headings == ["The formula", "In code", "The picture", "What breaks without it", "The exercise"]
    assert "$$" in text
    assert ">>> " in text


@EACH
def test_a_step_belongs_to_exercises_of_the_course(step):
    exercises = {shown: target for shown, target in links(TEXTS[step]) if shown in EXERCISES}
    assert exercises
    for exercise, target in exercises.items():
        file = ROOT / "exercises" / folder_of(exercise.split("/")[0]) / file_of(exercise).name
        assert (FOLDER / target).resolve() == file.resolve()


@pytest.mark.parametrize("text", [INDEX, *TEXTS.values()], ids=["index", *TEXTS])
def test_links_lead_somewhere(text):
    assert [target for _, target in links(text) if not (FOLDER / target).is_file()] == []


def test_each_step_leads_to_the_one_before_and_the_next():
    names = ["index", *TEXTS, "index"]
    for before, step, after in zip(names, names[1:], names[2:], strict=False):
        turns = [target for _, target in links(TEXTS[step].rpartition("\n\n")[2]) if "/" not in target]
        assert turns == [f"{before}.md", f"{after}.md"]


def test_the_overview_and_the_site_have_the_steps_in_order():
    listed = re.findall(r"^\| \[(\d+)\. [^\]]+\]\((\w+)\.md\)", INDEX, re.MULTILINE)
    assert [name for _, name in listed] == list(TEXTS)
    assert [int(number) for number, _ in listed] == list(range(1, len(TEXTS) + 1))
    assert BELOW["derivation/index"] == tuple(f"derivation/{name}" for name in TEXTS)


@EACH
def test_the_picture_of_a_step_is_described(step):
    ((description, name),) = PICTURE.findall(TEXTS[step])
    assert name == STEP.fullmatch(step)[1]
    assert len(description) >= 100


def test_every_picture_is_shown_and_every_step_drawn():
    names = [STEP.fullmatch(step)[1] for step in TEXTS]
    assert list(PICTURES) == names
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(names)


def test_the_pictures_are_those_of_todays_code(tmp_path):
    derivation_pictures.main(tmp_path)
    for name in PICTURES:
        drawn, kept = tmp_path / f"{name}.svg", FOLDER / f"{name}.svg"
        assert same_picture(drawn, kept), f"{name}: run docs/derivation_pictures.py"
