"""The sandbox under attack."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hostile import HONEST, HOSTILE
from little_exercise import RIGHT

from grpo_ref.course.grading import confine, fork_server
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.sandbox import Sandbox

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_fails_and_the_judge_lives(judged, text):
    begun = time.monotonic()
    report = judged(text)
    assert report.status == "failed"
    assert report.points < report.of / 2
    assert time.monotonic() - begun < 30  # they would go on for ever


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_an_honest_answer_passes(judged, text):
    report = judged(text)
    assert report.status == "passed", report.results


def test_one_hang_does_not_cost_the_other_checks(judged):
    """Only the case with one axis hangs: the rest is judged, in a new process."""
    text = RIGHT.replace('raise ValueError("rows must have two axes")', "\n        while True: pass")
    report = judged(text)
    assert [result.passed for result in report.results] == [True, True, False, True]
    assert report.points == 1.5
    assert report.results[2].wrong == "no answer after 1 s"


def test_hanging_again_and_again_uses_up_the_time_of_the_exercise(tmp_path):
    """Half a second for the first, then less for each, until the rest of 0.3 s is used up."""
    path = tmp_path / "hang.py"
    path.write_text("import time\ndef hang(): time.sleep(1000)")
    limits = Limits(seconds=0.5, impatient_seconds=0.2, rest=0.3)
    with Sandbox(path, limits) as sandbox:
        messages = [sandbox.call("hang", [], {}).message for _ in range(5)]
    assert messages[0] == "no answer after 0.5 s"
    assert re.fullmatch(r"(no answer after|loading the file took more than) 0.[\d]+ s", messages[1])
    assert messages[3:] == ["not tried: the time for this exercise is used up"] * 2


def test_many_slow_calls_use_it_up_too(tmp_path):
    path = tmp_path / "slow.py"
    path.write_text("import time\ndef slow(): time.sleep(0.2)")
    with Sandbox(path, Limits(total=0.5)) as sandbox:
        replies = [sandbox.call("slow", [], {}) for _ in range(4)]
    assert [reply.ok for reply in replies] == [True, True, False, False]
    assert replies[3].message == "not tried: the time for this exercise is used up"


def test_a_flood_is_stopped_at_once(tmp_path):
    path = tmp_path / "flood.py"
    path.write_text("def flood():\n    while True: print('x' * 10**6)")
    begun = time.monotonic()
    with Sandbox(path) as sandbox:
        reply = sandbox.call("flood", [], {})
    assert (reply.kinds, reply.message) == (("Died",), "too much was printed; print less")
    assert time.monotonic() - begun < 4.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux filters system calls")
def test_an_answer_may_have_threads_but_no_further_processes(tmp_path):
    """Root too, for whom the limit of the system on processes does not count."""
    path = tmp_path / "many.py"
    path.write_text(
        "import os, subprocess, threading\n"
        "def fork(): os.fork()\n"
        "def spawn(): subprocess.run(['true'])\n"
        "def thread():\n"
        "    found = []\n"
        "    thread = threading.Thread(target=lambda: found.append(1.0))\n"
        "    thread.start(), thread.join()\n"
        "    return found\n"
    )
    with Sandbox(path) as sandbox:
        refused = [sandbox.call(name, [], {}) for name in ("fork", "spawn")]
        assert sandbox.call("thread", [], {}).value == [1.0]
    assert [reply.kinds[0] for reply in refused] == ["BlockingIOError"] * 2


def test_a_process_that_does_not_listen_does_not_stop_the_judge(tmp_path):
    """Two megabytes are more than a pipe holds: nothing reads them at all, or not any more."""
    path = tmp_path / "deaf.py"
    path.write_text("import time\ntime.sleep(1000)")
    with Sandbox(path, Limits(start_seconds=0.3)) as sandbox:
        assert "more than 0.3 s" in sandbox.call("deaf", [np.zeros(2**18)], {}).message
    path.write_text(
        "import os, sys, time\ndef deaf(x):\n"
        "    line = sys.modules['_wire'].dumps({'ok': True, 'warnings': [], 'value': (0, ([], {}))})\n"
        "    for fd in range(3, 20):\n        try: os.write(fd, line.encode() + b'\\n')\n"
        "        except OSError: pass\n    time.sleep(1000)"
    )
    with Sandbox(path, Limits(seconds=0.5)) as sandbox:
        assert sandbox.call("deaf", [0], {}).value == 0
        assert sandbox.call("deaf", [np.zeros(2**18)], {}).kinds == ("TimedOut",)


def test_after_a_hang_the_judge_waits_less_long(tmp_path):
    path = tmp_path / "hang.py"
    path.write_text("import time\ndef hang(): time.sleep(1000)")
    with Sandbox(path, Limits(seconds=0.5, impatient_seconds=0.25)) as sandbox:
        first, second, third = (sandbox.call("hang", [], {}).message for _ in range(3))
    assert first == "no answer after 0.5 s"
    assert second == third == "no answer after 0.25 s"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to see processes in")
def test_an_endless_loop_ends_with_the_judge(tmp_path):
    """A judge that is killed cannot clean up; what it had started notices by itself."""
    path = tmp_path / "loop.py"
    path.write_text("def loop():\n    print('looping')\n    while True: pass")
    program = (
        "import sys, threading, time\nfrom pathlib import Path\n"
        "from grpo_ref.course.grading.limits import Limits\n"
        "from grpo_ref.course.grading.sandbox import Sandbox\n"
        "with Sandbox(Path(sys.argv[1]), Limits(seconds=1000, total=1000)) as sandbox:\n"
        "    sandbox.load()\n    print('loaded', flush=True)\n    sandbox.call('loop', [], {})"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as judge:
        assert judge.stdout.readline() == b"loaded\n"
        started = descendants(judge.pid)
        assert len(started) >= 2
        judge.kill()
    deadline = time.monotonic() + 30
    while any(map(is_running, started)):
        assert time.monotonic() < deadline, "the endless loop outlived its judge"
        time.sleep(0.05)


def descendants(process):
    """All processes that it has started, directly or not."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def is_running(process):
    """Whether there is such a process, and it is no zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to see processes in")
def test_what_an_answer_starts_ends_with_it(tmp_path):
    """Neither a session of its own nor another parent keeps a process alive."""
    path = tmp_path / "hide.py"
    path.write_text(
        "import os, time\ndef hide():\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(1000)\n        os._exit(0)\n    os.wait()\n    return 1"
    )
    with Sandbox(path) as sandbox:
        reply = sandbox.call("hide", [], {})
        started = descendants(os.getpid())
        server = sandbox.backend.server.process.pid
    if not reply.ok:
        assert "BlockingIOError" in reply.kinds  # further processes are not allowed here at all
    begun = time.monotonic()
    while len([each for each in started if is_running(each)]) > len(descendants(server)) + 1:
        assert time.monotonic() - begun < 10
        time.sleep(0.05)


def version_of_landlock():
    return confine._version()


TRIES = {
    "writes into the home folder": "open({home!r}, 'w')",
    "reads the solutions": "open({solution!r})",
    "reads the problems": "open({problem!r})",
    "lists the folder above": "os.listdir({above!r})",
    "changes its own file": "open({own!r}, 'a')",
    "writes beside its file": "open({beside!r}, 'w')",
    "removes its own file": "os.remove({own!r})",
    "makes a link": "os.link({own!r}, 'link')",
    "runs a program": "os.execv('/bin/sh', ['sh'])",
}


@pytest.mark.skipif(version_of_landlock() == 0, reason="no Landlock here")
@pytest.mark.parametrize("attempt", TRIES.values(), ids=TRIES)
def test_other_files_are_out_of_reach(tmp_path, attempt):
    own = tmp_path / "chapter" / "answer.py"
    places = {
        "home": str(Path.home() / "x"),
        "solution": str(ROOT / "solutions/01_probabilities/03_entropy.py"),
        "problem": str(ROOT / "grpo_ref/course/exercises/probabilities/entropy.py"),
        "above": str(tmp_path),
        "own": str(own),
        "beside": str(own.with_name("x.txt")),
    }
    own.parent.mkdir()
    own.write_text(f"import os\ndef attempt(): {attempt.format(**places)}")
    with Sandbox(own) as sandbox:
        reply = sandbox.call("attempt", [], {})
    assert "OSError" in reply.kinds
    assert own.exists()


def test_its_own_folder_and_the_libraries_are_in_reach(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    path = tmp_path / "answer.py"
    path.write_text(
        "import pathlib, random, tempfile, colorsys, scipy.special\n"
        "def answer():\n    pathlib.Path('note').write_text('a')\n    tempfile.TemporaryFile().write(b'a')\n"
        "    notes = pathlib.Path('note').read_text(), "
        f"pathlib.Path({str(tmp_path / 'notes.txt')!r}).read_text()\n    return list(notes)"
    )
    with Sandbox(path) as sandbox:
        reply = sandbox.call("answer", [], {})
        assert reply.value == ["a", "mine"], reply


@pytest.mark.skipif(version_of_landlock() < 4, reason="no Landlock with a network here")
@pytest.mark.parametrize("method", ["connect", "bind"])
def test_the_network_is_out_of_reach(tmp_path, method):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1] if method == "connect" else 0
        path = tmp_path / "answer.py"
        path.write_text(
            f"import socket\ndef answer():\n    with socket.socket() as s: s.{method}(('127.0.0.1', {port}))"
        )
        with Sandbox(path) as sandbox:
            reply = sandbox.call("answer", [], {})
    assert "OSError" in reply.kinds


@pytest.fixture
def sockets(tmp_path):
    """UNIX sockets in the student's own folder, as Docker and the system's log have them."""
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        server.bind(str(tmp_path / "listener"))
        server.listen()
        log.bind(str(tmp_path / "log"))
        yield {name: str(tmp_path / name) for name in ("listener", "log")}


OUTSIDE = {
    "a UNIX socket": "import socket\n    socket.socket(socket.AF_UNIX).connect({listener!r})",
    "a pair of sockets, of which one is sent elsewhere": (
        "import socket\n    socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', {log!r})"
    ),
    "memory without a limit": "import os\n    os.memfd_create('x')",
    "the server's limits": "import resource\n    resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))",
    "the server's priority": "import os\n    os.setpriority(os.PRIO_PROCESS, 1, 19)",
    "the server's processors": "import os\n    os.sched_setaffinity(1, [0])",
    "another disk": (
        "import ctypes\n    if ctypes.CDLL(None).mount(b'tmpfs', b'.', b'tmpfs', 0, None): raise OSError"
    ),
    "shared memory": "import ctypes\n    if ctypes.CDLL(None).shmget(0, 100, 0o1600) == -1: raise OSError",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux filters system calls")
@pytest.mark.parametrize("attempt", OUTSIDE.values(), ids=OUTSIDE)
def test_what_lies_outside_is_refused_and_the_next_answer_is_right(tmp_path, judged, sockets, attempt):
    path = tmp_path / "attempt.py"
    path.write_text(f"def attempt():\n    {attempt.format(**sockets)}")
    with Sandbox(path) as sandbox:
        assert "OSError" in sandbox.call("attempt", [], {}).kinds
    assert judged(RIGHT).status == "passed"


def test_many_files_do_not_fill_the_disk(tmp_path):
    """Each is as large as a file may be; the second one is too much where a process has its own disk."""
    path = tmp_path / "fill.py"
    path.write_text(
        "def fill():\n    for name in 'ab':\n"
        "        with open(name, 'wb') as file:\n"
        "            for _ in range(40): file.write(bytes(2**20))"
    )
    with Sandbox(path) as sandbox:
        reply = sandbox.call("fill", [], {})
        assert reply.ok == ("filling the disk" in sandbox.protection.partition("not ")[2])


@pytest.mark.parametrize("disk", ["its own disk", "the disk of all"])
def test_folders_of_any_depth_are_removed(tmp_path, monkeypatch, confined_by, disk):
    if disk == "the disk of all":
        confined_by("\nown_disk = lambda folder: False\n")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / "deep.py"
    path.write_text(
        "import os\ndef deep():\n    for _ in range(1500):\n        os.mkdir('d')\n        os.chdir('d')"
    )
    with Sandbox(path) as sandbox:
        assert sandbox.call("deep", [], {}).ok
        folder = sandbox.backend.folder
        assert folder.is_relative_to(tmp_path)
    assert not folder.exists()


def test_one_answer_leaves_nothing_to_the_next(tmp_path):
    """Both come from the same process that has imported NumPy."""
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(
        "import os, sys, numpy as np\ndef answer():\n"
        "    np.tampered = os.environ['LEFT'] = 'x'\n    return os.getcwd()"
    )
    second.write_text(
        "import os, numpy as np\ndef answer(other):\n"
        "    return [hasattr(np, 'tampered'), 'LEFT' in os.environ, os.path.exists(other)]"
    )
    with Sandbox(first) as sandbox:
        work, server = sandbox.call("answer", [], {}).value, sandbox.backend.server
    with Sandbox(second) as sandbox:
        assert sandbox.call("answer", [work], {}).value == [False, False, False]
        assert sandbox.backend.server is server


def test_two_sandboxes_at_a_time(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text("def answer(x): return x")
    with Sandbox(path) as one, Sandbox(path) as other:
        one.start(), other.start()
        assert [each.call("answer", [n], {}).value for n, each in enumerate((one, other))] == [0, 1]
        assert one.backend.server is not other.backend.server


def test_the_protection_is_said(judged, tmp_path):
    protection = judged(RIGHT).protection
    assert protection.startswith(("kept from ", "limited in time and memory, "))
    assert ("kept from other files" in protection) == (version_of_landlock() > 0)
    assert judged("raise ValueError").protection == protection


@pytest.fixture
def confined_by(tmp_path, monkeypatch):
    """Sandboxes whose confinement is changed by some lines."""

    def change(lines):
        folder = tmp_path / "grading"
        folder.mkdir()
        for name in ("child.py", "guest.py", "wire.py", "confine.py"):
            (folder / name).write_text((Path(confine.__file__).with_name(name)).read_text())
        with (folder / "confine.py").open("a") as file:
            file.write(lines)
        monkeypatch.setattr(fork_server, "HERE", folder)

    monkeypatch.setattr(fork_server, "FREE", [])
    yield change
    fork_server.close_all()


@pytest.mark.skipif(version_of_landlock() == 0, reason="no Landlock here")
def test_what_packages_are_imported_from_is_out_of_reach(tmp_path, monkeypatch, confined_by):
    """Exercises may be in any of them, also where Python's own folders are around."""
    python = tmp_path / "lib"
    confined_by(f"\nLIBRARIES = (*LIBRARIES, {str(python)!r})\n")
    for name in ("site-packages/my_course", "python"):
        (python / name).mkdir(parents=True)
        (python / name / "contents.py").write_text("hidden")
    monkeypatch.syspath_prepend(python / "site-packages")
    path = tmp_path / "student" / "answer.py"
    path.parent.mkdir()
    path.write_text("def answer(path): return open(path).read()")
    with Sandbox(path) as sandbox:
        replies = [
            sandbox.call("answer", [str(python / name / "contents.py")], {})
            for name in ("python", "site-packages/my_course")
        ]
    assert [reply.ok for reply in replies] == [True, False]
    assert "PermissionError" in replies[1].kinds


def test_python_is_in_reach_though_modules_are_searched_around_it(tmp_path, monkeypatch, confined_by):
    confined_by("")
    monkeypatch.syspath_prepend(Path(os.__file__).parents[1])
    path = tmp_path / "answer.py"
    path.write_text("import colorsys\ndef answer(): return 1")
    with Sandbox(path) as sandbox:
        assert sandbox.call("answer", [], {}).value == 1


@pytest.fixture
def unprotected(confined_by):
    """A system on which both mechanisms are missing."""
    confined_by("\nset_apart = filter_calls = lambda: False\n_version = lambda: 0\n")


def test_a_system_without_any_protection_says_so_and_grades(unprotected, judged):
    report = judged(RIGHT)
    assert report.status == "passed"
    assert report.protection == (
        "limited in time and memory, not kept from other files, the network, UNIX sockets, other processes"
        " and filling the disk"
    )


UNSHIELDED = ["kills its judge", "kills its parent's group", "exits", "traps", "prints without end"]


@pytest.mark.parametrize("name", UNSHIELDED)
def test_there_too_a_hostile_answer_costs_its_own_tests_only(unprotected, judged, name):
    assert judged(HOSTILE[name]).status == "failed"
    assert judged(RIGHT).status == "passed"


def test_only_numpy_scipy_and_the_standard_library_can_be_imported(judged):
    allowed = "import numpy, scipy.special, json, math, itertools\n" + RIGHT
    assert judged(allowed).status == "passed"
    for library in ("matplotlib", "click", "rich", "hypothesis", "grpo_ref", "solutions"):
        report = judged(f"import {library}\n{RIGHT}")
        assert f"No module named '{library}'" in report.results[0].got


def test_the_environment_of_the_judge_is_not_passed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET", "42")
    path = tmp_path / "answer.py"
    path.write_text("import os\ndef look(): return [str(os.environ.get('SECRET')), os.getcwd()]")
    with Sandbox(path) as sandbox:
        secret, folder = sandbox.call("look", [], {}).value
        assert secret == "None"
        assert Path(folder).resolve() != Path.cwd().resolve()


def test_what_the_answer_prints_is_kept_apart_and_short(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text("print('loaded')\ndef talk(n):\n    print('x' * n)\n    return n")
    with Sandbox(path, Limits(seconds=10.0)) as sandbox:
        assert sandbox.call("talk", [3], {}).value == 3
        assert sandbox.printed() == "loaded\nxxx\n"
        assert sandbox.call("talk", [10**6], {}).value == 10**6
        assert len(sandbox.printed()) < 70_000
        assert sandbox.printed().endswith("(more was printed)")


def test_a_process_that_was_started_is_waited_for(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text(RIGHT)
    with Sandbox(path) as sandbox:
        sandbox.start()
        started = sandbox.backend.pipes
        assert sandbox.load().ok
        assert sandbox.backend.pipes is started
        assert sandbox.load().value == ["mean_row"]
        assert sandbox.backend.pipes is not started


def test_a_call_may_be_given_less_time(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text("import time\ndef mean_row(rows): time.sleep(1000)")
    with Sandbox(path) as sandbox:
        sandbox.allow(0.2)
        sandbox.load()
        assert sandbox.call("mean_row", [[[1.0]]], {}).message == "no answer after 0.2 s"
