"""`grpo-ref watch`: saves and keys in a terminal of its own."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest
from student import ROOT, WRONG, facts

from grpo_ref.course.contents import EXERCISES, exercises_in
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.starters import starter_of

CLEARED = "\x1b[2J"


class Terminal:
    """A program in a terminal of its own, its screen read as text."""

    def __init__(self, *arguments):
        self.master, slave = pty.openpty()
        command = [sys.executable, "-c", "from grpo_ref.cli import main; main()", *arguments]
        environment = os.environ | {"TERM": "xterm"}
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        self.text = ""

    def wait_for(self, words, seconds=20.0):
        """What was written until the words appeared; they are looked for in what is new."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            if select.select([self.master], [], [], 0.1)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            assert time.monotonic() < deadline, f"{words!r} did not appear: {self.text}"
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
        ROOT / "solutions/01_probabilities/01_log_softmax.py", folder / "01_probabilities/01_log_softmax.py"
    )
    screen.wait_for("solved; to see the model answer")
    (folder / "02_advantages/01_group_normalized.py").write_text(WRONG + "\n")
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
    screen.wait_for(f"Groups and advantages: 0 of {len(exercises_in('advantages'))} solved")
    screen.wait_for("q: quit")
    screen.press("r")
    screen.wait_for("Restore the starter?")
    screen.press("x")
    assert (folder / "02_advantages/01_group_normalized.py").read_text() == WRONG
    screen.press("r")
    screen.wait_for("Restore the starter?")
    screen.press("y")
    screen.wait_for("your work is in exercises/02_advantages/01_group_normalized-1.backup")
    screen.wait_for("your work is in")  # also when it is graded again, because the file has changed
    screen.press("n")
    names = list(EXERCISES)
    screen.wait_for(f"{names[names.index('advantages/group_normalized') + 1]}: ")
    screen.press("q")
    assert screen.process.wait(10) == 0


def test_two_files_that_are_saved_together_are_both_graded(terminal, folder):
    screen = terminal("watch", "exact_kl")
    screen.wait_for("q: quit")
    for name in ("01_probabilities/01_log_softmax.py", "01_probabilities/02_token_log_probs.py"):
        shutil.copy(ROOT / "solutions" / name, folder / name)
    shown = screen.wait_for(f"2 of {len(EXERCISES)} solved")
    assert "probabilities/log_softmax: " in shown
    assert "probabilities/token_log_probs: " in shown


def test_a_file_that_is_saved_while_another_is_graded_leaves_both_on_the_screen(terminal, folder):
    screen = terminal("watch", "exact_kl")
    screen.wait_for("q: quit")
    first, second = "01_probabilities/01_log_softmax.py", "01_probabilities/02_token_log_probs.py"
    shutil.copy(ROOT / "solutions" / first, folder / first)
    screen.wait_for("grading probabilities/log_softmax")
    shutil.copy(ROOT / "solutions" / second, folder / second)
    shown = screen.wait_for(f"2 of {len(EXERCISES)} solved").rpartition(CLEARED)[2]
    assert "probabilities/log_softmax: " in shown
    assert "probabilities/token_log_probs: " in shown


def test_a_deleted_file_is_said_and_comes_back(terminal, folder):
    path = folder / "02_advantages/01_group_normalized.py"
    screen = terminal("watch", "group_normalized")
    screen.wait_for("q: quit")
    path.unlink()
    screen.wait_for("This file is missing; press r to write it again.")
    screen.wait_for("q: quit")
    screen.press("\n")
    screen.wait_for("This file is missing")
    screen.press("r")
    screen.wait_for("Restore the starter?")
    screen.press("y")
    screen.wait_for("the file had no work of yours")
    assert path.read_text(encoding="utf-8") == starter_of("advantages/group_normalized")
    path.write_text(WRONG)
    assert "FAIL" in screen.wait_for("Groups do not mix")[-40:]


def test_the_statement_is_shown_at_a_key(terminal):
    screen = terminal("watch", "group_normalized")
    screen.wait_for("q: quit")
    screen.press("s")
    shown = screen.wait_for("## Examples")
    assert PROBLEMS["advantages/group_normalized"].title in shown
    assert "Check me: grpo-ref grade advantages/group_normalized" in screen.wait_for("q: quit")


def test_q_ends_it_while_an_endless_loop_is_graded(terminal, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (folder / "02_advantages/01_group_normalized.py").write_text(
        "def group_advantages(rewards, eps=1e-4):\n    while True:\n        pass\n"
    )
    screen = terminal("watch", "group_normalized")
    screen.wait_for("grading advantages/group_normalized")
    time.sleep(1.0)
    assert list((tmp_path / "temporary").iterdir())
    screen.press("q")
    assert screen.process.wait(3) == 0
    assert not list((tmp_path / "temporary").iterdir())


def test_plain_text_is_neither_cleared_nor_colored(terminal):
    screen = terminal("watch", "group_normalized", "--plain")
    shown = screen.wait_for("q: quit")
    assert "Test failed: Groups do not mix." in shown
    assert "\x1b" not in shown


def test_watch_without_a_terminal_ends_with_an_interrupt(folder):
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from grpo_ref.cli import main; main()"
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
