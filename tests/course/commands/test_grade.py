"""`grpo-ref grade`: names, reports on the screen and as JSON, debuggers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from student import ROOT, TOTAL, facts, run


def test_grade_everything(folder):
    result = run("grade")
    assert result.exit_code == 1
    assert f"1 of {TOTAL} solved" in result.output
    assert "FAIL  Groups do not mix" in result.output
    assert "likely   Computes mean and standard deviation over the whole batch" in result.output
    assert "next: " not in result.output
    assert "probabilities/log_softmax: not started" in result.output
    assert "clinic/falling_reward: not started" in result.output
    assert facts(folder) == ["probabilities/entropy points 1"]


@pytest.mark.parametrize(
    "name", ["probabilities/entropy", "entropy", "exercises/01_probabilities/03_entropy.py"]
)
def test_an_exercise_is_named_by_id_by_its_last_part_or_by_its_file(folder, name):
    result = run("grade", name)
    assert result.exit_code == 0
    assert result.output.startswith("probabilities/entropy: passed, 1 of 1 point\n  PASS  ")
    path = Path("01_probabilities", "04_sampling.py")
    assert f"{path}   (grpo-ref hint probabilities/sampling)\n" in result.output


@pytest.mark.parametrize(
    "name", ["probabilities", "01_probabilities", "exercises/01_probabilities", "exercises/01_probabilities/"]
)
def test_a_chapter_is_named_by_its_name_or_its_folder(folder, name):
    result = run("grade", name)
    assert result.exit_code == 1
    assert "1 of 4 solved, 1 of 5 points" in result.output
    assert "probabilities/entropy: passed" in result.output
    assert "advantages" not in result.output


def test_an_exercise_that_is_named_twice_is_graded_once(folder):
    assert run("grade", "entropy", "probabilities", "entropy").output.count("probabilities/entropy") == 1


def test_a_path_says_which_folder_is_meant(folder):
    folder.rename("elsewhere")
    assert run("grade", "elsewhere/01_probabilities/03_entropy.py").exit_code == 0
    assert facts(Path("elsewhere")) == ["probabilities/entropy points 1"]


@pytest.mark.parametrize("options", [[], ["--in-process"]], ids=["sandbox", "in process"])
def test_a_missing_file_is_not_started_and_the_others_are_graded(folder, options):
    (folder / "01_probabilities/01_log_softmax.py").unlink()
    result = run("grade", "probabilities", *options)
    assert result.exit_code == 1
    assert "probabilities/log_softmax: not started" in result.output
    assert "probabilities/entropy: passed" in result.output
    assert (
        "01_log_softmax.py is missing; to write missing files, run: grpo-ref init exercises" in result.output
    )


MISTAKES = {
    "misspelt": (["entropi"], "no exercise is called 'entropi'. Did you mean"),
    "no such folder": (
        ["--folder", "nowhere"],
        "there is no folder nowhere; to write it, run: grpo-ref init nowhere",
    ),
    "a folder without exercises": (
        ["--folder", "."],
        "there are no exercises in .; to write them, run: grpo",
    ),
    "a path into another folder": (
        ["--folder", ".", "exercises/03_ratios"],
        "all files must lie in one folder: . differs from exercises",
    ),
    "a misspelt chapter": (["ratois"], "Did you mean 'ratios'?"),
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
    (folder / "01_probabilities/03_entropy.py").write_text("def entropy(log_probs): return 0.0\n")
    assert run("grade", "entropy").exit_code == 1
    assert facts(folder) == ["probabilities/entropy points 1"]


def test_a_part_of_the_points_is_recorded_once_the_examples_pass(folder):
    (folder / "02_advantages/01_group_normalized.py").write_text(
        "import numpy as np\n\ndef group_advantages(rewards, eps=1e-4):\n"
        "    rewards = np.asarray(rewards, dtype=float)\n"
        "    distance = rewards - rewards.mean(-1, keepdims=True)\n"
        "    return np.clip(distance / (rewards.std(-1, keepdims=True) + eps), -3, 3)\n"
    )
    assert "FAIL  One success among 65" in run("grade", "group_normalized").output
    (line,) = facts(folder)
    assert line.startswith("advantages/group_normalized points ")
    assert 0 < float(line.split()[-1]) < 1


def test_it_is_said_what_the_answers_were_kept_from(folder):
    told = " ".join(run("grade", "entropy").output.split())
    assert "each answer ran in a process of its own, " in told
    report = json.loads(run("grade", "entropy", "--json", "-").stdout)["exercises"][0]
    assert told.endswith(report["protection"])
    told = " ".join(run("grade", "entropy", "--in-process").output.split())
    assert "each answer ran in a process of its own" not in told


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


def test_plain_text_has_sentences_and_no_columns(folder):
    text = run("grade", "group_normalized", "--plain", color=True).output
    assert "Test passed: One of two is right.\n" in text
    assert (
        "Test failed: Groups do not mix.\nCalled: group_advantages([[0, 1], [5, 5]], 0.5)\nReturned: " in text
    )
    assert "\x1b" not in text
    assert "PASS" not in text


def test_colour_only_where_it_is_wanted(folder, monkeypatch):
    assert "\x1b[32m" in run("grade", "entropy", color=True).output
    assert "\x1b" not in run("grade", "entropy").output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("grade", "entropy", color=True).output


def test_in_process_prints_and_is_not_official(folder):
    text = (ROOT / "solutions/01_probabilities/03_entropy.py").read_text()
    (folder / "01_probabilities/03_entropy.py").write_text(
        text.replace("    probs =", "    print('here')\n    probs =")
    )
    result = run("grade", "entropy", "--in-process")
    assert result.exit_code == 0
    assert "here\n" in result.output
    assert "not official" in result.output
    assert facts(folder) == []


def test_in_process_a_file_that_cannot_be_loaded_is_an_error(folder):
    (folder / "01_probabilities/03_entropy.py").write_text("1 / 0")
    result = run("grade", "entropy", "--in-process")
    assert result.exit_code == 1
    assert "entropy.py cannot be loaded: ZeroDivisionError" in result.output


def test_pdb_stops_in_the_line_of_the_student(folder):
    (folder / "01_probabilities/03_entropy.py").write_text(
        "def entropy(log_probs):\n    secret = 41\n    return 1 / 0\n"
    )
    program = "from grpo_ref.cli import main; main()"
    command = [sys.executable, "-c", program, "grade", "entropy", "--pdb"]
    typed = "p secret + 1\nc\np secret + 1\nq\n" + "p 'again'\n" * 8
    result = subprocess.run(command, input=typed, capture_output=True, text=True, check=False)
    assert "ZeroDivisionError('division by zero')" in result.stderr
    assert "return 1 / 0" in result.stdout
    assert result.stdout.count("(Pdb) 42\n") == 2  # c goes on with the next failure, q ends
    assert "again" not in result.stdout
    assert "Traceback" not in result.stderr
    assert result.returncode == 1


def test_a_report_has_room_in_sixty_columns(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = run("grade", "group_normalized", "entropy", "--all").output
    assert "\n        called   " in text
    assert max(map(len, text.splitlines())) <= 60


def test_a_seed_is_not_negative(folder):
    assert run("grade", "entropy", "--seed", -1).exit_code == 2
