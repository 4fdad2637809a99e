"""A student's day on the command line: init, grade, watch, hint, list, reset, solution, progress."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.problem import AS_IT_CAME
from grpo_ref.course.layout import file_of, starter_of
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.progress import HEADER, Progress
from grpo_ref.course.workbook import Workbook
from grpo_ref.frontends.cli import main
from grpo_ref.frontends.report_json import SCHEMA

ROOT = Path(__file__).parents[2]
TOTAL = len(PROBLEMS)
WRONG = """
import numpy as np

def group_advantages(rewards, eps=1e-4):
    rewards = np.asarray(rewards, dtype=float)
    return (rewards - rewards.mean()) / (rewards.std() + eps)
"""


def run(*arguments, **settings):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **settings)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A fresh course in the folder `exercises` of an empty directory; one exercise solved, one wrong."""
    monkeypatch.chdir(tmp_path)
    assert run("init").exit_code == 0
    folder = Path("exercises")
    solved = Path("01_probabilities/entropy.py")
    shutil.copy(ROOT / "solutions" / solved, folder / solved)
    (folder / "02_advantages/group_normalized.py").write_text(WRONG)
    return folder


def facts(folder):
    """The lines of the progress file but its header and the digests."""
    lines = (folder / "progress.txt").read_text().splitlines()
    return [line for line in lines[1:] if " starter " not in line]


# ---- grade -----------------------------------------------------------------------------------------


def test_grade_everything(folder):
    result = run("grade")
    assert result.exit_code == 1
    assert f"1 of {TOTAL} solved" in result.output
    assert "FAIL  Groups do not mix" in result.output
    assert "likely   Mean and std are taken over the whole batch" in result.output
    assert "probabilities/log_softmax: not started" in result.output
    assert "clinic/falling_reward: not started" in result.output
    assert facts(folder) == ["advantages/group_normalized points 1.5", "probabilities/entropy points 1"]


@pytest.mark.parametrize(
    "name", ["probabilities/entropy", "entropy", "exercises/01_probabilities/entropy.py"]
)
def test_an_exercise_is_named_by_id_by_its_last_part_or_by_its_file(folder, name):
    result = run("grade", name)
    assert result.exit_code == 0
    assert result.output.startswith("probabilities/entropy: passed, 1 of 1 points\n  PASS  ")


MISTAKES = {
    "misspelt": (["entropi"], "no exercise is called 'entropi'. Did you mean"),
    "no such folder": (
        ["--folder", "nowhere"],
        "there is no folder nowhere; one is written by: grpo-ref init nowhere",
    ),
    "a folder without exercises": (["--folder", "."], "is missing; it is written by: grpo-ref init ."),
    "no such file": (["exercises/nothing.py"], "no exercise is called"),
    "a file that is no exercise": (["exercises/conftest.py"], "no exercise is called"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_no_mistake_grades_anything(folder, arguments, message):
    result = run("grade", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert facts(folder) == []


def test_fewer_points_later_take_nothing_away(folder):
    run("grade", "entropy")
    (folder / "01_probabilities/entropy.py").write_text("def entropy(log_probs): return 0.0\n")
    assert run("grade", "entropy").exit_code == 1
    assert facts(folder) == ["probabilities/entropy points 1"]


def test_the_report_as_json_follows_its_schema(folder):
    (folder / "04_kl/k3.py").write_text("print('hello')\ndef k3(: pass")
    result = run("grade", "--json", "report.json")
    report = json.loads(Path("report.json").read_text())
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert (report["version"], report["solved"], report["points"]) == (1, 1, 2.5)
    by_id = {exercise["id"]: exercise for exercise in report["exercises"]}
    assert list(by_id) == list(PROBLEMS)
    assert by_id["probabilities/entropy"]["status"] == "passed"
    assert by_id["kl/estimators"]["tests"] == []
    assert by_id["kl/k3"]["tests"][0]["name"] == "The file can be loaded"
    wrong = by_id["advantages/group_normalized"]
    assert wrong["diagnosis"].startswith("Mean and std are taken over the whole batch")
    assert [test["passed"] for test in wrong["tests"]].count(True) == 6
    assert "FAIL  Groups do not mix" in result.output


def test_json_on_standard_output_is_nothing_but_json(folder):
    result = run("grade", "entropy", "--json", "-")
    assert json.loads(result.stdout)["exercises"][0]["status"] == "passed"
    assert "probabilities/entropy: passed" in result.stderr


def test_where_a_report_cannot_be_written_is_said_before_grading(folder):
    (folder / "file").write_text("mine")
    result = run("grade", "entropy", "--json", str(folder / "file" / "report.json"))
    assert result.exit_code == 1
    assert "passed" not in result.output
    assert f"{folder / 'file'}: " in result.output
    assert "Traceback" not in result.output


def test_a_folder_that_cannot_be_made_is_named(folder):
    (folder / "file").write_text("mine")
    for command in ("init", "notebooks"):
        result = run(command, str(folder / "file" / "course"), *(["--no-open"] * (command == "notebooks")))
        assert result.exit_code == 1
        assert f"Error: {folder / 'file'}" in result.output


PATIENTS = [each for each in PROBLEMS.values() if AS_IT_CAME in {mutant.name for mutant in each.mutants}]


@pytest.mark.parametrize("problem", PATIENTS, ids=lambda problem: problem.id)
def test_a_patient_that_was_not_mended_brings_no_points(folder, problem):
    path = folder / file_of(problem)
    path.write_text("import numpy\n" + starter_of(problem) + "\n# I looked at it\n")
    report = Workbook(folder, print).grade(problem)
    assert len(PATIENTS) == 6
    assert report.status == "failed"
    assert report.points == 0.0
    assert report.diagnosis == next(each.tell for each in problem.mutants if each.name == AS_IT_CAME)


def test_a_schema_that_is_not_followed_is_noticed():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": 2}, json.loads(SCHEMA.read_text()))


def test_plain_text_has_sentences_and_no_columns(folder):
    text = run("grade", "group_normalized", "--plain", color=True).output
    assert "Test passed: One of two is right.\n" in text
    assert "Test failed: Groups do not mix.\nCalled: group_advantages([[0, 1], [5, 5]])\nCame: " in text
    assert "\x1b" not in text
    assert "PASS" not in text


def test_colour_only_where_it_is_wanted(folder, monkeypatch):
    assert "\x1b[32m" in run("grade", "entropy", color=True).output
    assert "\x1b" not in run("grade", "entropy").output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("grade", "entropy", color=True).output


def test_in_process_prints_and_is_not_official(folder):
    text = (ROOT / "solutions/01_probabilities/entropy.py").read_text()
    (folder / "01_probabilities/entropy.py").write_text(text.replace("    # solution", "    print('here')"))
    result = run("grade", "entropy", "--in-process")
    assert result.exit_code == 0
    assert "here\n" in result.output
    assert "not official" in result.output
    assert facts(folder) == []


def test_in_process_a_file_that_cannot_be_loaded_is_an_error(folder):
    (folder / "01_probabilities/entropy.py").write_text("1 / 0")
    result = run("grade", "entropy", "--in-process")
    assert result.exit_code == 1
    assert "entropy.py cannot be loaded: ZeroDivisionError" in result.output


def test_pdb_stops_in_the_line_of_the_student(folder):
    (folder / "01_probabilities/entropy.py").write_text(
        "def entropy(log_probs):\n    secret = 41\n    return 1 / 0\n"
    )
    program = "from grpo_ref.frontends.cli import main; main()"
    command = [sys.executable, "-c", program, "grade", "entropy", "--pdb"]
    result = subprocess.run(
        command, input="p secret + 1\nq\n" * 8, capture_output=True, text=True, check=False
    )
    assert "ZeroDivisionError('division by zero')" in result.stderr
    assert "return 1 / 0" in result.stdout
    assert "(Pdb) 42\n" in result.stdout
    assert result.returncode == 1


# ---- hint, list, reset, solution -----------------------------------------------------------------


def test_hints_are_a_ladder_and_are_remembered(folder):
    hints = PROBLEMS["kl/k3"].hints
    for step in (1, 2, 3, 3):
        output = run("hint", "k3").output
        assert all(hint in output for hint in hints[:step])
        assert not any(hint in output for hint in hints[step:])
    assert facts(folder) == ["kl/k3 hints 3"]
    assert "more: grpo-ref hint kl/k3" in run("hint", "kl/k3", "--steps", 1).output
    assert "Did you mean 'kl/k3'?" in run("hint", "kl/k4").output


def test_list_shows_what_was_reached(folder):
    run("grade", "entropy", "group_normalized")
    run("hint", "k3")
    text = run("list").output
    assert all(name in text for name in PROBLEMS)
    assert re.search(r"^\* probabilities/entropy +1 of 1 pt +easy +01_probabilities/entropy\.py$", text, re.M)
    assert re.search(r"^  advantages/group_normalized +1\.5 of 2 pt +easy", text, re.M)
    assert re.search(r"^  kl/k3 +0 of 2 pt +medium +1 of 3 hints +04_kl/k3\.py$", text, re.M)
    assert f"1 of {TOTAL} solved, 2.5 of " in text


def test_reset_keeps_the_work(folder):
    path = folder / "02_advantages/group_normalized.py"
    assert "group_normalized-1.backup" in run("reset", "group_normalized").output
    assert path.with_name("group_normalized-1.backup").read_text() == WRONG
    assert path.read_text() == starter_of(PROBLEMS["advantages/group_normalized"])
    path.write_text("again")
    run("reset", "group_normalized")
    assert path.with_name("group_normalized-1.backup").read_text() == WRONG
    assert path.with_name("group_normalized-2.backup").read_text() == "again"
    assert "there was no work of yours" in run("reset", "group_normalized").output
    path.unlink()
    assert run("reset", "group_normalized").exit_code == 0
    assert path.exists()


def test_the_solution_is_shown_after_passing_or_on_confirmation(folder):
    assert run("solution", "entropy", input="n\n").exit_code == 1
    asked = run("solution", "entropy", input="y\n")
    assert "probabilities/entropy is not solved yet" in asked.stderr
    assert asked.stdout.startswith('"""Model answer: ')
    assert run("solution", "entropy", "--yes").stdout == asked.stdout
    run("grade", "entropy")
    shown = run("solution", "entropy")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, asked.stdout, "")


# ---- init ------------------------------------------------------------------------------------------


def test_init_again_changes_nothing(folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "0 files written, 0 brought up to date, 2 of yours left alone" in run("init").output
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_init_upgrades_what_is_untouched_and_nothing_else(folder, monkeypatch):
    """The course as an earlier version wrote it, the notes of two exercises since rewritten."""
    untouched, touched = PROBLEMS["kl/k3"], PROBLEMS["advantages/group_normalized"]
    earlier, progress = "# an earlier text\n", Progress.load(folder, pytest.fail)
    for problem in (untouched, touched):
        progress.wrote(problem.id, earlier)
    progress.save(folder)
    (folder / file_of(untouched)).write_text(earlier)
    assert Workbook(folder, pytest.fail).grade(untouched).status == "not started"
    assert "0 files written, 1 brought up to date, 2 of yours left alone" in run("init").output
    assert (folder / file_of(untouched)).read_text() == starter_of(untouched)
    assert (folder / file_of(touched)).read_text() == WRONG


def test_init_leaves_a_conftest_of_somebody_else_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("conftest.py").write_text("# mine\n")
    assert "1 of yours left alone" in run("init", ".").output
    assert Path("conftest.py").read_text() == "# mine\n"


# ---- progress ------------------------------------------------------------------------------------

NAMES = st.sampled_from(list(PROBLEMS))


@st.composite
def progresses(draw):
    progress = Progress()
    for name in draw(st.lists(NAMES)):
        progress.reached(name, draw(st.integers(0, 20)) / 4)
        progress.hinted(name, draw(st.integers(0, 3)))
        progress.wrote(name, draw(st.text(max_size=3)))
    return progress


def text_of(*texts):
    progress = Progress()
    for text in texts:
        assert progress.read(text) == []
    return str(progress)


@given(progresses(), progresses())
def test_progress_files_merge_in_any_order_and_more_than_once(ours, theirs):
    a, b = str(ours), str(theirs)
    assert text_of(a) == a
    assert text_of(a, b) == text_of(b, a) == text_of(a + b) == text_of(a, b, a)


DAMAGE = {
    "half a line": "kl/k3 poi",
    "a number that is none": "kl/k3 points many",
    "not a number at all": "kl/k3 points nan",
    "a negative number": "kl/k3 points -1",
    "another program's file": "\x00\x01\x02",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_set_aside_and_what_can_be_read_is_kept(folder, damage):
    damaged = f"{HEADER}\nprobabilities/entropy points 1\n{damage}\n"
    (folder / "progress.txt").write_text(damaged)
    result = run("list")
    assert result.exit_code == 0
    assert "progress.txt has 1 lines that are not understood; a copy of it is in" in result.stderr
    assert (folder / "progress-1.damaged").read_text() == damaged
    assert facts(folder) == ["probabilities/entropy points 1"]
    assert run("list").stderr == ""


# ---- pytest ----------------------------------------------------------------------------------------


def pytest_in(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def test_pytest_remembers_what_was_reached(folder):
    text = pytest_in(".", "exercises").stdout
    assert f"1 of {TOTAL} solved, 2.5 of " in text
    assert (
        "next: exercises/01_probabilities/log_softmax.py   (grpo-ref hint probabilities/log_softmax)" in text
    )
    assert facts(folder) == ["advantages/group_normalized points 1.5", "probabilities/entropy points 1"]


def test_some_tests_of_an_exercise_do_not_solve_it(folder):
    pytest_in(".", "exercises/01_probabilities/entropy.py", "-k", "Certainty")
    assert facts(folder) == ["probabilities/entropy points 0.17"]


def test_pytest_side_by_side(folder):
    result = pytest_in(".", "exercises", "-n", "2")
    assert result.returncode == 1
    assert "2 failed, 12 passed, 272 not started" in result.stdout
    assert facts(folder) == ["advantages/group_normalized points 1.5", "probabilities/entropy points 1"]


def test_pytest_in_process_is_not_official(folder):
    text = (ROOT / "solutions/01_probabilities/entropy.py").read_text()
    (folder / "01_probabilities/entropy.py").write_text(text.replace("    # solution", "    print('here')"))
    result = pytest_in(".", "exercises/01_probabilities", "--in-process", "-s")
    assert result.returncode == 0
    assert "here\n" in result.stdout
    assert "not official" in result.stdout
    assert facts(folder) == []


def test_pytest_pdb_stops_in_the_line_of_the_student(folder):
    (folder / "01_probabilities/entropy.py").write_text("def entropy(log_probs):\n    return 1 / 0\n")
    command = [sys.executable, "-m", "pytest", "exercises/01_probabilities/entropy.py", "--pdb", "-x"]
    result = subprocess.run(command, input="q\n", capture_output=True, text=True, check=False)
    assert "-> return 1 / 0" in result.stdout


# ---- watch -----------------------------------------------------------------------------------------


class Terminal:
    """A program in a terminal of its own, its screen read as text."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        command = [sys.executable, "-c", "from grpo_ref.frontends.cli import main; main()", *arguments]
        environment = os.environ | {"TERM": "xterm"}
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        self.text = ""

    def wait_for(self, words, seconds=20.0):
        """What came until the words appeared; they are looked for in what is new."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            if select.select([self.master], [], [], 0.1)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            assert time.monotonic() < deadline, f"{words!r} did not come: {self.text}"
        before, _, self.text = self.text.partition(words)
        return before

    def press(self, key):
        os.write(self.master, key.encode())


@pytest.fixture
def terminal(folder):
    terminals = []

    def start(*arguments):
        terminals.append(Terminal(*arguments))
        return terminals[-1]

    yield start
    for each in terminals:
        each.process.kill()
        each.process.wait()
        os.close(each.master)


@pytest.mark.parametrize("options", [[], ["--poll"]], ids=["events", "polling"])
def test_watch_grades_when_a_file_is_saved(terminal, folder, options):
    screen = terminal("watch", *options)
    screen.wait_for("probabilities/log_softmax: ")
    screen.wait_for("q: quit")
    time.sleep(1.1 if options else 0.0)  # polling tells times apart by the second
    shutil.copy(
        ROOT / "solutions/01_probabilities/log_softmax.py", folder / "01_probabilities/log_softmax.py"
    )
    screen.wait_for("solved; the model answer")
    (folder / "02_advantages/group_normalized.py").write_text(WRONG + "\n")
    screen.wait_for("Groups do not mix")
    screen.wait_for("q: quit")
    screen.press("q")
    assert screen.process.wait(10) == 0
    assert "probabilities/log_softmax points 1" in facts(folder)


def test_watch_has_keys_for_hint_list_reset_and_next(terminal, folder):
    screen = terminal("watch", "group_normalized")
    screen.wait_for("FAIL")
    screen.wait_for("q: quit")
    screen.press("h")
    screen.wait_for("1 of 3: ")
    screen.wait_for("q: quit")
    screen.press("l")
    screen.wait_for("Groups and advantages: 0 of 6 solved")
    screen.wait_for("q: quit")
    screen.press("r")
    screen.wait_for("Put the starter back?")
    screen.press("x")
    assert (folder / "02_advantages/group_normalized.py").read_text() == WRONG
    screen.press("r")
    screen.wait_for("Put the starter back?")
    screen.press("y")
    screen.wait_for("your work is in exercises/02_advantages/group_normalized-1.backup")
    screen.wait_for("your work is in")  # also when it is graded again, because the file has changed
    screen.press("n")
    screen.wait_for("advantages/centred: ")
    screen.press("q")
    assert screen.process.wait(10) == 0


def test_watch_without_a_terminal_ends_with_an_interrupt(folder):
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from grpo_ref.frontends.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "watch"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        if "not started" in line:
            break
    time.sleep(0.5)
    process.send_signal(2)
    rest = process.communicate(timeout=20)[0]
    assert "q: quit" not in rest
    assert process.returncode in (0, 1)


# ---- for authors ---------------------------------------------------------------------------------


def test_dev_build_writes_the_starters(tmp_path):
    shutil.copytree(ROOT / "solutions", tmp_path / "solutions")
    assert run("dev", "build", "--root", tmp_path).exit_code == 0
    for problem in PROBLEMS.values():
        ours, theirs = (folder / "exercises" / file_of(problem) for folder in (tmp_path, ROOT))
        assert ours.read_text() == theirs.read_text()


def test_dev_check_proves_and_draws_the_matrix():
    result = run("dev", "check", "k3", "falling_reward", "--table", "--root", ROOT)
    assert result.exit_code == 0
    assert "2 exercises, 12 checks, 18 wrong answers, no survivor" in result.output
    assert re.search(r"^  sign of v  +( [x.] )+", result.output, re.M)


def test_dev_check_finds_drift_and_missing_files(tmp_path):
    for name in ("solutions", "exercises"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "exercises/04_kl/k3.py").write_text("# changed by hand\n")
    (tmp_path / "solutions/04_kl/exact_kl.py").unlink()
    result = run("dev", "check", "kl/k3", "kl/exact_kl", "--root", tmp_path)
    assert result.exit_code == 1
    assert "the starter is not up to date" in result.output
    assert "exact_kl.py is missing" in result.output


def test_dev_new_begins_an_exercise_that_grades(tmp_path):
    assert run("dev", "new", "kl/doubled", "--root", tmp_path).exit_code == 0
    module = {}
    exec((tmp_path / "grpo_ref/course/problems/kl/doubled.py").read_text(), module)
    problem = module["PROBLEM"]
    assert problem.id == "kl/doubled"
    assert grade(problem, tmp_path / "solutions/04_kl/doubled.py").status == "passed"
    assert grade(problem, problem.mutants[1].function).status == "failed"
    again = run("dev", "new", "kl/doubled", "--root", tmp_path)
    assert again.exit_code == 2
    assert "is there already" in again.output
    assert "one of the chapters" in run("dev", "new", "chemistry/doubled", "--root", tmp_path).output
