"""The sandbox under attack."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from little_exercise import RIGHT

from grpo_ref.course.grading.sandbox import Limits, Sandbox

HOSTILE = {
    "exits": "import os\ndef mean_row(rows): os._exit(0)",
    "raises SystemExit": "def mean_row(rows): raise SystemExit(0)",
    "exits on import": "raise SystemExit(0)",
    "hangs": "def mean_row(rows):\n    while True: pass",
    "hangs in C": "import time\ndef mean_row(rows): time.sleep(1000)",
    "ignores signals": (
        "import signal, time\n[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT)]\n"
        "def mean_row(rows): time.sleep(1000)"
    ),
    "takes all memory": "import numpy as np\ndef mean_row(rows): return np.ones(10**11)",
    "prints without end": "def mean_row(rows):\n    while True: print('x' * 10**6)",
    "answers far too much": "def mean_row(rows): return [0] * 10**8",
    "recurses": "def mean_row(rows): return mean_row(rows)",
    "returns a function": "def mean_row(rows): return lambda: 1",
    "returns an array in disguise": (
        "import numpy as np\nclass Same(np.ndarray):\n    def __eq__(self, other): return True\n"
        "def mean_row(rows): return np.zeros(2).view(Same)"
    ),
    "returns an object that equals everything": (
        "class Same:\n    def __eq__(self, other): return True\n    def __sub__(self, other): return 0\n"
        "def mean_row(rows): return Same()"
    ),
    "tampers with NumPy": (
        "import numpy as np\nnp.allclose = np.array_equal = lambda *a, **k: True\n"
        "np.save = lambda *a, **k: None\n"
        "def mean_row(rows): return np.zeros(2)"
    ),
    "writes to every channel": (
        "import os\ndef mean_row(rows):\n    for fd in range(3, 20):\n"
        "        try: os.write(fd, b'{\"ok\": true}\\n')\n"
        "        except OSError: pass\n    return 0"
    ),
    "closes every channel": "import os\ndef mean_row(rows): os.closerange(0, 100)",
    "imports the package": "import grpo_ref\ndef mean_row(rows): return grpo_ref",
    "imports the judge": "import grading\ndef mean_row(rows): return 0",
    "imports pytest": "import pytest\ndef mean_row(rows): return 0",
    "reads its orders": "import sys\ndef mean_row(rows): return sys.stdin.read()",
    "kills its parent's group": "import os, signal\ndef mean_row(rows): os.kill(0, signal.SIGKILL)",
    "forks and hides": (
        "import os, time\ndef mean_row(rows):\n    if os.fork() == 0: time.sleep(1000)\n    return 0"
    ),
    "does not parse": "def mean_row(rows) return 0",
    "has no such function": "def another(rows): return 0",
    "is no Python": "\x00\x01",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_fails_and_the_judge_lives(judged, text):
    begun = time.monotonic()
    report = judged(text)
    assert report.status == "failed"
    assert report.points < report.of / 2
    assert time.monotonic() - begun < 60


def test_one_hang_does_not_cost_the_other_checks(judged):
    """Only the case with one axis hangs: the rest is judged, in a new process."""
    text = RIGHT.replace('raise ValueError("rows must have two axes")', "\n        while True: pass")
    report = judged(text)
    assert [result.passed for result in report.results] == [True, True, False, True]
    assert report.points == 1.5
    assert "TimedOut: no answer after 1 s" in report.results[2].got


def test_after_a_hang_the_judge_waits_less_long(tmp_path):
    path = tmp_path / "hang.py"
    path.write_text("import time\ndef hang(): time.sleep(1000)")
    with Sandbox(path, Limits(seconds=0.5, impatient_seconds=0.25)) as sandbox:
        first, second, third = (sandbox.call("hang", [], {}).message for _ in range(3))
    assert first == "no answer after 0.5 s"
    assert second == third == "no answer after 0.25 s"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to see processes in")
def test_an_endless_loop_ends_with_the_judge(tmp_path):
    """A judge that is killed cannot clean up; the child notices by itself."""
    path = tmp_path / "loop.py"
    path.write_text(
        "import os\ndef loop():\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    while True: pass"
    )
    program = (
        "import sys\nfrom pathlib import Path\nfrom grpo_ref.course.grading.sandbox import Limits, Sandbox\n"
        "with Sandbox(Path(sys.argv[1]), Limits(seconds=1000)) as sandbox: sandbox.call('loop', [], {})"
    )
    judge = subprocess.Popen([sys.executable, "-c", program, str(path)])
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child = int((tmp_path / "pid").read_text())
    judge.kill()
    judge.wait()
    while is_running(child):
        assert time.monotonic() < deadline, "the endless loop outlived its judge"
        time.sleep(0.05)


def is_running(process):
    """Whether there is such a process, and it is no zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


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
        started = sandbox.process
        assert sandbox.load().ok
        assert sandbox.process is started
        assert sandbox.load().ok
        assert sandbox.process is not started


def test_a_call_may_be_given_less_time(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text("import time\ndef mean_row(rows): time.sleep(1000)")
    with Sandbox(path) as sandbox:
        sandbox.allow(0.2)
        sandbox.load()
        assert sandbox.call("mean_row", [[[1.0]]], {}).message == "no answer after 0.2 s"
