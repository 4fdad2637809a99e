"""A process of its own: its result, and its end if it takes too much time or memory or is killed."""

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from deep import deep_folder

from grpo_ref.course.classroom.own_process import TRIES, Ended, in_own_process

LITTLE = 256 * 1024**2


def test_the_result_comes_back_and_prints_do_not_mix():
    assert in_own_process(sorted, [3, 1, 2]) == [1, 2, 3]
    assert in_own_process(print, "not the result") is None


def test_time_is_limited():
    begun = time.monotonic()
    with pytest.raises(Ended, match=r"was not done after 0\.5 s"):
        in_own_process(time.sleep, 1000, seconds=0.5)
    assert time.monotonic() - begun < 10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems may not limit memory")
def test_memory_is_limited():
    with pytest.raises(Ended, match="ended with exit status 1"):
        in_own_process(bytearray, 2 * LITTLE, memory=LITTLE)


def test_a_large_result_is_none(monkeypatch):
    monkeypatch.setattr("grpo_ref.course.classroom.own_process.RESULT", 1000)
    assert in_own_process(bytes, 500) == bytes(500)
    with pytest.raises(Ended):
        in_own_process(bytes, 5000)


def kill(path):
    """Count the calls in a file, and end this process like the system does if memory runs out."""
    with open(path, "a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_is_killed_again_and_again_is_given_up(tmp_path):
    with pytest.raises(Ended, match=f"was killed {TRIES} times, the last time by signal 9"):
        in_own_process(kill, tmp_path / "calls")
    assert (tmp_path / "calls").read_text() == "x" * TRIES


def killed_once(path):
    """End this process at the first call."""
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def test_a_process_that_was_killed_for_anothers_memory_is_tried_again(tmp_path):
    assert in_own_process(killed_once, tmp_path / "called") == "done"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A file. The time of a process is over when it has written this file, however long the imports take."""
    written = tmp_path / "written"

    class WhenWritten(threading.Timer):
        def run(self):
            while not self.finished.wait(0.05):
                if written.is_file() and written.read_text():
                    return self.function()

    monkeypatch.setattr(threading, "Timer", WhenWritten)
    return written


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends it at once")
def test_it_ends_with_the_process_that_waits_for_it(path):
    with pytest.raises(Ended, match="was not done"):
        in_own_process(in_own_process, note_and_sleep, path)
    process = int(path.read_text())
    deadline = time.monotonic() + 10
    while is_running(process):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def folder_and_sleep(path):
    """Make a temporary folder, with deep ones in it, and stay in it."""
    inner = Path(tempfile.mkdtemp()) / "in"
    deep_folder(inner, 1100)
    path.write_text(str(inner))
    time.sleep(1000)


def test_temporary_files_are_removed_though_the_process_is_ended(path):
    with pytest.raises(Ended, match="was not done"):
        in_own_process(folder_and_sleep, path)
    assert not Path(path.read_text()).exists()


def note_and_sleep(path):
    """Write this process's number."""
    path.write_text(str(os.getpid()))
    time.sleep(1000)


def is_running(process):
    """Return True if there is such a process and it is not a zombie."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
