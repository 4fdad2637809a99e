"""Record the cases of a trainer again with its new sources, and compare them with the recorded ones."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from grpo_conformance import RECORDINGS

from watch.sources import NotFetchedError, Snapshot
from watch.tracked import Trainer

ROOT = Path(__file__).parents[2]
SECONDS = 900
"""Seconds after which a recorder is stopped."""
NUMBERS = ("loss", "grad_logp", "value")
TOLERANCE = 1e-6
START = """
import runpy, sys
from pathlib import Path
recorder, results, sources = sys.argv[1:4]
sys.path.insert(0, str(Path(recorder).parent))
import writing
writing.RECORDINGS = Path(results)
sys.argv = [recorder, sources]
sys.path.insert(0, sources)
runpy.run_path(recorder, run_name="__main__")
"""
"""A recorder writes beside the recorded numbers; here into a folder of its own."""


@dataclass(frozen=True)
class Rerun:
    """The cases of a trainer, recorded again.

    Attributes:
      problem: why nothing could be run; "" if it was run.
      cases: number of cases that were compared.
      largest: the largest difference, relative to the largest recorded magnitude of a case.
      apart: the cases that differ by more than the tolerance, with their difference, the largest first.
      missing: the cases that were recorded and are not there now.
    """

    problem: str = ""
    cases: int = 0
    largest: float = 0.0
    apart: tuple[tuple[str, float], ...] = ()
    missing: tuple[str, ...] = ()


def rerun(trainer: Trainer, snapshot: Snapshot, python: str) -> Rerun:
    """Run a trainer's recorder with a snapshot, in a process of its own.

    Args:
      trainer: the trainer; its recorder is in `tests/data/record`.
      snapshot: the sources to record.
      python: the interpreter, which needs PyTorch and what else the recorder's docstring names.
    """
    if not trainer.recorder:
        return Rerun("there is no recorder for this trainer")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = folder / "recordings"
        results.mkdir()
        (results / "inputs.json").write_bytes((RECORDINGS / "inputs.json").read_bytes())
        (folder / "sources").mkdir()
        try:
            sources = snapshot.unpack(folder / "sources")
        except NotFetchedError as error:
            return Rerun(f"the sources could not be unpacked: {error}")
        command = [python, "-c", START, str(ROOT / trainer.recorder), str(results), str(sources)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("PYTHONPATH", None)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, env=environment, cwd=name
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Rerun(f"the recorder could not be run: {type(error).__name__}")
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return Rerun(f"the recorder ended with: {last[:200]}")
        new = _cases(results / f"{trainer.dialect}.json")
    return differences(_cases(RECORDINGS / f"{trainer.dialect}.json"), new)


def _cases(path: Path) -> dict[str, Mapping[str, Any]]:
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["id"]: case for case in cases}


def differences(before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]) -> Rerun:
    """Compare two recordings case by case: numbers, metrics, and whether a configuration is refused."""
    apart = {}
    for name in before.keys() & after.keys():
        apart[name] = max(_compared(before[name], after[name]), default=0.0)
    over = sorted(((x, name) for name, x in apart.items() if x > TOLERANCE), reverse=True)
    return Rerun(
        cases=len(apart),
        largest=max(apart.values(), default=0.0),
        apart=tuple((name, x) for x, name in over),
        missing=tuple(sorted(before.keys() - after.keys())),
    )


def _compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[float]:
    if ("refused" in before) != ("refused" in after):
        yield float("inf")
        return
    pairs = [(before[name], after.get(name)) for name in NUMBERS if name in before]
    logged = after.get("metrics", {})
    pairs += [(value, logged.get(name)) for name, value in before.get("metrics", {}).items()]
    for old, new in pairs:
        yield _error(_array(old), _array(new))


def _array(value: Any) -> Any:
    if isinstance(value, list):
        return np.array([_array(each) for each in value], dtype=np.float64)
    return np.array("nan" if value is None else value, dtype=np.float64)


def _error(old: Any, new: Any) -> float:
    """Return the largest difference, relative to the largest magnitude; infinite where non-finite numbers differ."""
    if old.shape != new.shape:
        return float("inf")
    finite = np.isfinite(old)
    if not np.array_equal(old[~finite], new[~finite], equal_nan=True) or not np.isfinite(new[finite]).all():
        return float("inf")
    scale = np.max(np.abs(old[finite]), initial=1e-9)
    return float(np.max(np.abs(old[finite] - new[finite]), initial=0.0) / scale)
