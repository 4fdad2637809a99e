"""docs/handout: the sheets, the course file and the marking scheme agree, and what they tell to run runs."""

import re

import pytest
from student import ROOT
from walks import STEP, run

from grpo_ref import DAPO, TASKS, config_for, iter_train
from grpo_ref.course.classroom.course_file import read_course
from grpo_ref.course.contents import OURS
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.lab.claim_results import load
from grpo_ref.lab.numbers import interval_text

HANDOUT = ROOT / "docs" / "handout"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(HANDOUT.glob("*.md"))}
COURSE = read_course(HANDOUT / "course.toml")
PROGRAMMING = re.compile(r"^\| P(\d)\.(\d+) \| `([^`]+)` \| (.*) \| (\d+) \|$", re.MULTILINE)
WRITTEN = re.compile(
    r"^### (W\d\.\d) ([^\n]*) \((\d+) points\)\n(.*?)(?=^### |^## |\Z)", re.MULTILINE | re.DOTALL
)
TOTAL = re.compile(r"(\d+) points: (\d+) for programming, (\d+) for written problems")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")
WEEKS = [each.name for each in COURSE.assignments]


def prose(text):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def problems(text):
    """Number -> title and points of each written problem, and the points of its parts."""
    found = {}
    for number, title, points, answer in WRITTEN.findall(prose(text)):
        found[number] = (title, int(points), [int(part) for part in re.findall(r"\[(\d)\]", answer)])
    return found


@pytest.mark.parametrize("name", WEEKS)
def test_a_sheet_has_the_exercises_and_points_of_the_course_file(name):
    (assignment,) = (each for each in COURSE.assignments if each.name == name)
    rows = PROGRAMMING.findall(TEXTS[f"{name}.md"])
    assert [int(number) for _, number, *_ in rows] == list(range(1, len(rows) + 1))
    assert {week for week, *_ in rows} == {name[-1]}
    assert tuple(row[2] for row in rows) == assignment.exercises
    for *_, exercise, title, points in rows:
        assert (title, float(points)) == (PROBLEMS[exercise].title, COURSE.points_of(exercise))


@pytest.mark.parametrize("name", WEEKS)
def test_the_points_of_a_sheet_add_up(name):
    text = TEXTS[f"{name}.md"]
    together, programming, written = map(int, TOTAL.search(text).groups())
    assert together == programming + written
    assert programming == sum(int(row[-1]) for row in PROGRAMMING.findall(text))
    assert written == sum(points for _, points, _ in problems(text).values())
    for title, points, parts in problems(text).values():
        assert sum(parts) == points, title


@pytest.mark.parametrize("name", WEEKS)
def test_the_marking_scheme_has_the_same_problems_and_steps(name):
    scheme = {number: rest for number, rest in problems(TEXTS["marking-scheme.md"]).items()}
    for number, told in problems(TEXTS[f"{name}.md"]).items():
        assert scheme[number] == told


def test_the_schedule_has_the_points_of_the_sheets():
    overview = TEXTS["README.md"]
    totals = {name: tuple(map(int, TOTAL.search(TEXTS[f"{name}.md"]).groups())) for name in WEEKS}
    rows = re.findall(r"\((week-\d)\.md\) \| [\d, ]+ \| (\d+) \| (\d+) \| (\d+) \|", overview)
    assert {name: (int(all_), int(code), int(text)) for name, code, text, all_ in rows} == totals
    together, programming, written = (sum(column) for column in zip(*totals.values(), strict=True))
    assert f"| all | | {programming} | {written} | {together} |" in overview
    share = round(100 * programming / together)
    assert f"{share} % of the course is programming and {100 - share} % is written" in overview
    assert f"divided by {together}" in overview


def test_what_is_on_no_sheet_is_said():
    left = [name for name in OURS.ids if name not in COURSE.exercises]
    (told,) = re.findall(r"are on no sheet: (.*?)\.", TEXTS["README.md"], re.DOTALL)
    assert re.findall(r"`(\w+)`", told) == [name.split("/")[1] for name in left]


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name):
    for target in LINK.findall(prose(TEXTS[name])):
        assert (HANDOUT / target).exists(), target


def test_the_worked_numbers_of_the_overview():
    tests = len(PROBLEMS["kl/k3"].checks)
    assert f"15 of {tests} tests passed, you get 15/{tests} · 1 = {15 / tests:.2f}." in TEXTS["README.md"]
    assert round(18 * COURSE.late.share(2), 2) == 14.4


@pytest.mark.parametrize("name", ["README.md", "week-4.md"])
def test_the_commands_run(name, tmp_path):
    commands = [step["command"] for step in STEP.finditer(TEXTS[name]) if step["command"]]
    assert commands
    told = [run(command, tmp_path, path=[ROOT]) for command in commands]
    if name == "week-4.md":
        assert (tmp_path / "compared.png").is_file()
        assert "length_bias  too few tasks to judge  (4 tasks)" in told[-1]
        assert "holds" not in told[-1]
        assert re.search(
            r"shorter under GRPO: final growth of right -0\.53\d* \[-1\.5\d*, 0\.4\d*\]", told[-1]
        )


def test_the_findings_are_those_of_the_page_about_experiments():
    """What the model answer to W4.4 says of 32 tasks."""
    results = load(ROOT / "docs" / "experiments" / "length_bias")
    rows = {
        found["says"]: [interval_text(found), f"{found['share']:.0%}", found["outcome"]]
        for found in results["table"]["findings"]
    }
    told = {
        "Wrong answers grow longer under GRPO": ["−0.58 [−0.75, −0.42]", "6%", "opposite"],
        "Right answers grow shorter under GRPO": ["−0.68 [−0.79, −0.57]", "100%", "holds"],
        "Answers that are mistaken, whatever the label says, grow longer under GRPO": [
            "+0.59 [+0.44, +0.74]",
            "100%",
            "holds",
        ],
    }
    assert {says: rows[says] for says in told} == told


def test_the_table_of_a_run_is_that_of_the_run():
    """W4.2's table, the marking scheme and a new run agree, to the digits that the table shows."""
    metrics = ("format", "correct", "entropy", "kl", "dead_groups")
    task = TASKS["arithmetic"]()
    *_, last = updates = list(iter_train(task, DAPO, config_for(task, seeds=8, updates=60)))
    runs = [[float(each.metrics[name].mean()) for name in metrics] for each in (updates[0], last)]
    _, problem = TEXTS["week-4.md"].split("### W4.2 ")
    rows = re.findall(r"^\| [^|]+ \| ([\d.]+) \| ([\d.]+) \|$", problem.split("### ")[0], re.MULTILINE)
    for column, run_ in zip(zip(*rows, strict=True), runs, strict=True):
        digits = [len(told.partition(".")[2]) for told in column]
        assert [f"{value:.{places}f}" for value, places in zip(run_, digits, strict=True)] == list(column)
        assert str([round(value, 3) for value in run_]) in TEXTS["marking-scheme.md"]
    assert f"is close to {runs[1][1]:.2f}. Of the 100 prompts" in problem


def test_the_marking_scheme_is_the_last_page_in_the_navigation():
    from website.tree import BELOW

    weeks = [f"handout/{name}" for name in WEEKS]
    assert list(BELOW["handout/index"]) == [*weeks, "handout/marking-scheme"]
