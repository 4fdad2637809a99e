"""The module that runs beside the student's code: it loads one file, calls its functions and reports each
result as a line.

It is loaded under the name `_guest`, in a process (`child.py`) or in WebAssembly (`wasm.py`), and uses
nothing but `wire.py`, the standard library and NumPy. No expected value ever comes here.
"""

import contextlib
import linecache
import sys
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import decode_source, module_from_spec
from typing import Any

MOST_WARNINGS = 5
DEEPEST = 5
"""Largest numbers of warnings, and of the student's lines in a traceback, that are passed on."""
LONGEST = 2000
"""Characters of an error's message that are passed on."""
ABSENT = "; an answer can import NumPy, SciPy and the standard library"
"""Text added to the message if a module is missing."""


def load(wire: Any, path: str, source: bytes) -> str:
    """Run a file's text. The reply holds the names of all callables in it.

    Args:
      wire: the module `wire`.
      path: name of the file in tracebacks.
      source: the file's text, which the judge has read.
    """
    return _attempt(wire, path, partial(_run, path, source))


def answer(wire: Any, path: str, line: str) -> str:
    """Make the call of a request. The reply holds the result.

    Args:
      wire: the module `wire`.
      path: name of the student's file in tracebacks.
      line: the request.
    """
    return _attempt(wire, path, partial(_call, wire, line))


def _run(path: str, source: bytes) -> tuple[list[str], Any]:
    module = module_from_spec(ModuleSpec("submission", SourceFileLoader("submission", path)))
    module.__file__ = path
    sys.modules["submission"] = module
    with contextlib.suppress(SyntaxError, UnicodeDecodeError):
        text = decode_source(source)
        linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    exec(compile(source, path, "exec"), vars(module))
    names = [name for name, value in vars(module).items() if callable(value) and type(name) is str]
    return names, None


def _call(wire: Any, line: str) -> tuple[Any, Any]:
    """Return the function's result, and its arguments after the call, or None if these are unchanged."""
    function, packed = wire.requested(line)
    given = wire.unpacked(packed)
    result = wire.encoded(getattr(sys.modules["submission"], function)(*given[0], **given[1]))
    return result, None if wire.packed(given) == packed else given  # what encoding changed counts, too


def _attempt(wire: Any, submission: str, action: Callable[[], Any]) -> str:
    """Return the action's outcome as a line: a result, or an exception with the student's own lines."""
    outcome: dict[str, Any]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = {"ok": True, "value": action()}
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
    return {"kinds": kinds or ["BaseException"], "message": _said(error), "lines": lines}


def _said(error: BaseException) -> str:
    try:
        return str(error)[:LONGEST] + ABSENT * isinstance(error, ModuleNotFoundError)
    except BaseException:
        return "its message cannot be read"
