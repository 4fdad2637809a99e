"""The grader: the judge's comparisons, the sandbox under attack, and what a student gets to read."""

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from grpo_ref.frontends.text import failure_text, report_text

from grpo_ref.course.grading import wire
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.judge import difference
from grpo_ref.course.grading.problem import Case, Drawn, Holds, Mutant, Problem, Raises, Unchanged
from grpo_ref.course.grading.sandbox import Limits, Sandbox


def mean_row(rows):
    """The right answer of the little exercise below."""
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2:
        raise ValueError("rows must have two axes")
    return rows.mean(0)


EXERCISE = Problem(
    id="tests/mean_row",
    title="Mean of the rows",
    function="mean_row",
    reference=mean_row,
    points=4,
    seconds=1.0,
    background="",
    task="",
    inputs="",
    output="",
    source="",
    hints=(),
    checks=(
        Case(
            "Two rows",
            ([[1.0, 2.0], [3.0, 6.0]],),
            np.array([2.0, 4.0]),
            why="(1+3)/2 and (2+6)/2",
            shown=True,
        ),
        Drawn("Random rows", lambda rng, size: (rng.normal(size=(size + 1, size)),), why="any shape will do"),
        Raises("One axis is refused", (([1.0, 2.0],),), why="a vector has no rows"),
        Unchanged((np.ones((2, 3)),)),
    ),
    mutants=(
        Mutant(
            "mean of the columns", lambda rows: np.asarray(rows).mean(1), "This is the mean along each row."
        ),
        Mutant("sum", lambda rows: np.asarray(rows).sum(0), "This is the sum, not the mean."),
    ),
)
RIGHT = """
import numpy as np

def mean_row(rows):
    rows = np.asarray(rows, dtype=float)
    if rows.ndim != 2:
        raise ValueError("rows must have two axes")
    return rows.mean(0)
"""


@pytest.fixture
def judged(tmp_path):
    """Grade a file with the given text."""

    def judge(text):
        path = tmp_path / "mean_row.py"
        path.write_text(text)
        return grade(EXERCISE, path)

    return judge


# ---- the judge -----------------------------------------------------------------------------------

ARRAY = np.array([1.0, 2.0])
SAME = {
    "itself": (ARRAY, ARRAY),
    "a list for an array": ([1, 2], ARRAY),
    "another order of rounding": (ARRAY * (1 + 1e-12), ARRAY),
    "float32 of exact numbers": (ARRAY.astype("float32"), ARRAY),
    "a NumPy scalar for a number": (np.float64(3.0), 3.0),
    "an int for a float": (3, 3.0),
    "NaN where NaN is due": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
    "infinite where infinite is due": (-np.inf, -np.inf),
    "truth values": ([True, False], np.array([True, False])),
    "a list for a tuple": ([1.0, ARRAY], (1.0, ARRAY)),
    "a dict": ({"a": 1.0}, {"a": 1.0}),
    "nothing": (None, None),
}
OTHER = {
    "off by a little more than the tolerance": (
        np.array([1.0, 2.0 + 3e-9]),
        ARRAY,
        "value",
        "1 of 2 wrong, the first too large",
    ),
    "a shape that would broadcast": (
        np.array([[1.0, 2.0]]),
        ARRAY,
        "shape",
        r"expected shape \(2,\), got shape \(1, 2\)",
    ),
    "a number for an array": (1.0, ARRAY, "type", "expected an array of shape"),
    "an array for a number": (np.array(3.0), 3.0, "type", "expected a number, got an array of shape"),
    "nothing for a number": (None, 3.0, "type", "is a return missing"),
    "text for a number": ("3", 3.0, "type", "expected a number, got a value of type str"),
    "NaN": (np.array([1.0, np.nan]), ARRAY, "finite", r"nan at index \[1\]"),
    "infinite for finite": (np.inf, 3.0, "finite", "inf"),
    "finite for NaN": (0.0, np.nan, "finite", "0.0"),
    "a NaN does not hide a wrong value": ([np.nan, 5.0], np.array([np.nan, 1.0]), "value", "too large"),
    "complex": (ARRAY + 0j, ARRAY, "type", "expected real numbers, got dtype complex128"),
    "numbers for truth values": (np.array([1, 0]), np.array([True, False]), "type", "dtype bool"),
    "ragged lists": ([[1.0], [1.0, 2.0]], ARRAY, "shape", "lists of unequal lengths"),
    "too few values": ((1.0,), (1.0, 2.0), "type", "expected 2 values, got a tuple of 1"),
    "a wrong part": ((1.0, 2.5), (1.0, 2.0), "value", "value 2 of 2: it too large: 2.5"),
    "a missing key": ({}, {"a": 1.0}, "type", "a dict with the keys 'a'"),
    "a wrong entry": ({"a": 2.0}, {"a": 1.0}, "value", r"\['a'\]: it too large"),
}


@pytest.mark.parametrize(("got", "expected"), SAME.values(), ids=SAME)
def test_the_judge_accepts(got, expected):
    assert difference(got, expected, rtol=1e-9) is None


@pytest.mark.parametrize(("got", "expected", "kind", "text"), OTHER.values(), ids=OTHER)
def test_the_judge_refuses(got, expected, kind, text):
    found = difference(got, expected, rtol=1e-9)
    assert found.kind == kind
    assert re.search(text, found.text), found.text


# ---- the wire ------------------------------------------------------------------------------------

DATA = [None, True, 3, 10**30, 0.1, -0.0, float("inf"), "text", [1, (2.0, "x")], {"a": [1.0]}, {1: 2}, 1 + 2j]
DATA += [
    np.arange(6.0).reshape(2, 3),
    np.float32(1.5),
    np.array([True]),
    np.array(["a", "b"]),
    np.zeros((0, 3)),
]


@pytest.mark.parametrize("value", DATA, ids=repr)
def test_data_travels_unchanged(value):
    back = wire.loads(wire.dumps(value))
    assert type(back) is type(value)
    assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
    assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value


@pytest.mark.parametrize(
    "value", [object(), np.array([object()]), lambda: 1, {1, 2}, type("F", (float,), {})(1.0)]
)
def test_what_is_no_data_does_not_travel(value):
    with pytest.raises(wire.NotData, match="is not plain data"):
        wire.dumps([value])


@pytest.mark.parametrize("line", ["", "{}", '{"kind": "code"}', "[", '{"kind": "array", "npy": "gASV"}'])
def test_what_is_no_line_of_ours_is_refused(line):
    with pytest.raises((ValueError, EOFError)):
        wire.loads(line)


# ---- the sandbox under attack --------------------------------------------------------------------


def test_a_right_answer_passes(judged):
    report = judged(RIGHT)
    assert report.status == "passed"
    assert (report.points, report.of) == (4, 4)
    assert report.official


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
    assert report.points == 3
    assert "TimedOut: no answer after 1 s" in report.results[2].came


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
        assert f"No module named '{library}'" in report.results[0].came


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


# ---- what a student reads ------------------------------------------------------------------------


def test_an_untouched_starter_is_not_started(judged):
    report = judged("def mean_row(rows):\n    raise NotImplementedError('tests/mean_row')")
    assert report.status == "not started"
    assert report.points == 0


def test_a_failure_says_what_was_called_what_came_and_what_is_wrong(judged):
    report = judged(
        "import numpy as np\ndef mean_row(rows):\n    print('here')\n    return np.asarray(rows).mean(1)"
    )
    shown, hidden, refused, unchanged = report.results
    assert shown.called == "mean_row([[1.0, 2.0], [3.0, 6.0]])"
    assert shown.came == "[1.5, 4.5]"
    assert shown.wrong == "2 of 2 wrong, the first too small: 1.5 at index [0]; expected [2, 4]"
    assert shown.why == "(1+3)/2 and (2+6)/2"
    assert "expected shape (1,), got shape (2,)" in hidden.wrong
    assert refused.passed  # NumPy's AxisError is a ValueError
    assert unchanged.passed
    assert report.diagnosis == "This is the mean along each row."
    assert "here" in report.printed


def test_the_derivation_of_a_hidden_case_is_not_given_away():
    hidden = Case("Hidden", ([[1.0], [2.0]],), np.array([1.5]), why="(1 + 2) / 2 = 1.5")
    (result,) = grade(replace(EXERCISE, checks=(hidden,)), lambda rows: np.zeros(1)).results
    assert "1.5" not in result.called + result.came + result.wrong + result.why


def test_a_hidden_value_is_not_given_away(judged):
    """The random rows are a hidden test: the message has the answer's own number and no other."""
    report = judged("import numpy as np\ndef mean_row(rows): return np.asarray(rows).sum(0)")
    hidden = report.results[1]
    rows = np.random.default_rng([report.seed, 0, *b"Random rows"]).normal(size=(2, 1))
    assert repr(float(rows.sum())) in hidden.wrong
    assert str(rows.mean())[:8] not in hidden.wrong + hidden.came
    assert report.diagnosis == "This is the sum, not the mean."


def test_an_error_is_told_with_the_students_own_lines(judged):
    report = judged(
        "def mean_row(rows):\n    return helper(rows)\n\ndef helper(rows):\n    return rows / 'x'"
    )
    assert report.results[0].called == "mean_row([[1.0, 2.0], [3.0, 6.0]])"
    assert report.results[0].came.splitlines()[1:] == [
        "line 2, in mean_row: return helper(rows)",
        "line 5, in helper: return rows / 'x'",
    ]


def test_a_syntax_error_is_told_with_its_line(judged):
    report = judged("\ndef mean_row(rows) return 0")
    assert report.results[0].name == "The file can be loaded"
    assert "line 2: def mean_row(rows) return 0" in report.results[0].came


def test_a_changed_input_is_noticed(judged):
    report = judged(
        RIGHT.replace("return rows.mean(0)", "result = rows.mean(0)\n    rows += 1\n    return result")
    )
    assert [result.name for result in report.results if not result.passed] == ["Does not modify its inputs"]
    assert "is now" in report.results[3].wrong


def test_warnings_cost_nothing_but_are_passed_on(judged):
    report = judged(RIGHT.replace("return rows.mean(0)", "np.array([1.0]) / 0\n    return rows.mean(0)"))
    assert report.status == "passed"
    assert report.warnings == ("RuntimeWarning: divide by zero encountered in divide",)


def test_a_warning_stands_with_the_test_that_it_came_in(judged):
    text = RIGHT.replace(
        'raise ValueError("rows must have two axes")', "\n        np.array([1.0]) / 0\n        return 0"
    )
    report = judged(text)
    assert [len(result.warnings) for result in report.results] == [0, 0, 1, 0]
    assert "divide by zero" in failure_text(report.results[2], report)


def test_all_failures_are_shown_in_full_if_asked_for(judged):
    report = judged("def mean_row(rows): return 0")
    failed = sum(not result.passed for result in report.results)
    assert failed > 1
    assert report_text(report).count("called   ") == 1
    assert report_text(report, every=True).count("called   ") == failed


def test_equal_seeds_give_equal_reports(judged):
    assert judged(RIGHT) == judged(RIGHT)


def test_a_function_at_hand_is_graded_too_but_not_officially():
    report = grade(EXERCISE, mean_row)
    assert report.status == "passed"
    assert not report.official


def test_a_property_that_cannot_be_evaluated_is_a_failure_not_a_crash():
    check = Holds("Sums to one", lambda f: None if f([[1.0]]).sum() == 1 else "no", why="")
    problem = replace(EXERCISE, checks=(check,))
    assert grade(problem, mean_row).status == "passed"
    report = grade(problem, lambda rows: "text")
    assert "cannot be used as described" in report.results[0].wrong
