"""The student's side of the sandbox: loads one file, calls its functions, sends back data.

Run as a script by `sandbox.py`, with an import path that holds the standard library, NumPy and SciPy and
nothing else. Requests are read from standard input, replies are written to a descriptor of their own, so that
whatever the student prints stays apart. It never sees an expected value.
"""

import importlib.util
import json
import linecache
import os
import resource
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

MOST_WARNINGS = 5
DEEPEST = 5
"""How many warnings, and how many of the student's lines in a traceback, are passed on."""
PULSE = 0.5
"""Seconds between two looks whether the judge still lives."""


def main() -> None:
    """Load the file, then serve requests until standard input ends."""
    settings = json.loads(sys.argv[1])
    sys.path[:] = [entry for entry in sys.path if entry not in ("", str(Path(__file__).parent))]
    sys.path += settings["path"]
    threading.Thread(target=_end_with, args=(settings["judge"],), daemon=True).start()
    resource.setrlimit(resource.RLIMIT_AS, (settings["memory"], settings["memory"]))
    wire = _load("_wire", settings["wire"])
    requests, replies = _take_over_the_channels()
    submission = settings["submission"]
    _reply(replies, _attempt(wire, submission, _open, submission))
    for line in requests:
        _reply(replies, _attempt(wire, submission, _call, wire.loads(line)))


def _end_with(judge: int) -> None:
    """End this process, and all that it started, when the judge is gone: an endless loop would outlive it."""
    while os.getppid() == judge:
        time.sleep(PULSE)
    os.killpg(0, signal.SIGKILL)


def _take_over_the_channels() -> tuple[Any, Any]:
    """Descriptors of our own; the student reads nothing and prints to standard error."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return requests, replies


def _load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _open(submission: str) -> tuple[list[str], Any]:
    """Load the file; the names of what can be called in it."""
    module = vars(_load("submission", submission))
    return [name for name, value in module.items() if callable(value) and type(name) is str], ([], {})


def _call(request: dict[str, Any]) -> tuple[Any, Any]:
    """The function's result, and its arguments as they are afterwards."""
    arguments, keywords = request["arguments"], request["keywords"]
    result = getattr(sys.modules["submission"], request["function"])(*arguments, **keywords)
    return result, (arguments, keywords)


def _attempt(wire: Any, submission: str, action: Callable[[Any], Any], request: Any) -> str:
    """The action's outcome as a line: a result, or an exception told with the student's own lines."""
    outcome: dict[str, Any]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = {"ok": True, "value": action(request)}
        except BaseException as error:
            outcome = {"ok": False} | _describe(error, submission)
    outcome["warnings"] = [f"{each.category.__name__}: {each.message}" for each in caught[:MOST_WARNINGS]]
    try:
        return str(wire.dumps(outcome))
    except Exception as error:
        return str(wire.dumps({"ok": False, "warnings": []} | _describe(error, submission)))


def _describe(error: BaseException, submission: str) -> dict[str, Any]:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == submission]
    lines = [f"line {frame.lineno}, in {frame.name}: {frame.line}" for frame in frames[-DEEPEST:]]
    if isinstance(error, SyntaxError) and error.filename == submission:
        lines = [f"line {error.lineno}: {linecache.getline(submission, error.lineno or 0).strip()}"]
    kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)]
    return {"kinds": kinds or ["BaseException"], "message": str(error), "lines": lines}


def _reply(replies: Any, line: str) -> None:
    sys.stdout.flush()
    replies.write(line + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
