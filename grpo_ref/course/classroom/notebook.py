"""Extract an answer from a notebook: the requested functions and everything that they need. The rest never
runs.
"""

import ast
import json
import re
import sys
from collections.abc import Iterable

from grpo_ref.course.classroom.entries import Unreadable
from grpo_ref.course.classroom.needed_names import given, needed
from grpo_ref.course.grading.wasm import PACKAGES

CELL_MAGIC = re.compile(r"%%(\w+)")
PYTHON_MAGICS = frozenset(("time", "capture", "prun", "memit", "writefile"))
"""Cell magics after which the rest of the cell is Python."""
BEFORE_EQUALS, BEFORE_QUESTION = re.compile(r"[\w.\[\], \t]+"), re.compile(r"[\w.\[\]()]+")
"""Texts before `= !command` and before `?` in IPython syntax."""
TIMED = "%time "
"""The magic before a statement whose time is measured."""
MAIN = '__name__ = "__main__"'
"""Defines `__name__` as in a notebook."""
ABSENT = "_Absent"
LATE = f"""class {ABSENT}:

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        raise self.error

    def __call__(self, *arguments, **keywords):
        raise self.error"""
"""Class that replaces a module which an answer cannot import. Using it raises the import error."""
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions that Python raises if a text is not a program."""


def code_of(notebook: bytes, asked: Iterable[str]) -> bytes:
    """Return the requested functions and everything that they need; all definitions if none of them is found.

    Args:
      notebook: the text of an .ipynb file.
      asked: names of functions.

    Raises:
      Unreadable: if the text is not a notebook.
    """
    try:
        cells = json.loads(notebook)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable("is not a readable notebook") from error
    nodes: list[ast.stmt] = []
    faulty: list[str] = []
    for text in map(_without_magics, sources):
        try:
            nodes += [each for node in ast.parse(text).body for each in _apart(node)]
        except FAULTS:
            has_definition = any(line.lstrip().startswith(("def ", "class ")) for line in text.splitlines())
            faulty += [text] * has_definition  # loading the answer reports the mistake
    nodes.sort(key=lambda node: getattr(node, "module", "") != "__future__")  # these have to be first
    try:
        kept = [_forgiven(node) for node in needed(nodes, asked)]
        code = [ast.unparse(node) for node in kept]
    except FAULTS as error:
        raise Unreadable("is not a readable notebook") from error
    late = [LATE] * any(ABSENT in text for text in code) + [MAIN] * any("__name__" in text for text in code)
    first = sum(text.startswith("from __future__") for text in code)
    return "\n\n".join(code[:first] + late + code[first:] + faulty).encode(errors="backslashreplace")


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """Split an import into one for each name, so that a missing one does not affect the others; return other
    statements as they are.
    """
    if isinstance(node, ast.Import):
        return [ast.Import([name]) for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.ImportFrom(node.module, [name], node.level) for name in node.names]
    return [node]


def _forgiven(node: ast.stmt) -> ast.stmt:
    """Delay the error of an import that an answer cannot make until its name is used."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return node
    (name,) = node.names
    module = name.name if isinstance(node, ast.Import) else node.module or ""
    if module.partition(".")[0] in {*sys.stdlib_module_names, *PACKAGES}:
        return node
    (bound,) = given(node)
    late = "pass" if bound == "*" else f"{bound} = {ABSENT}(error)"
    text = f"try:\n    {ast.unparse(node)}\nexcept ImportError as error:\n    {late}"
    return ast.parse(text).body[0]


def _without_magics(source: str) -> str:
    r"""Remove IPython syntax: such a line becomes `pass`, and a cell of another program becomes empty.

    >>> _without_magics("x = 1\n!ls\ny = %pwd\n%time z = 2\nlen?")
    'x = 1\npass\npass\nz = 2\npass'
    """
    first, *_ = source.lstrip().splitlines() or [""]
    other = CELL_MAGIC.match(first)
    if other and other[1] not in PYTHON_MAGICS:
        return ""
    text = source.lstrip().removeprefix(first) if other else source
    try:
        ast.parse(text)
    except FAULTS:
        return "\n".join(map(_without_magic, text.split("\n")))
    return text


def _without_magic(line: str) -> str:
    """Replace a line of IPython syntax by `pass`: %magic, !command, x = !command, ?help and help?."""
    code = line.lstrip(" \t")
    indent = line[: len(line) - len(code)]
    if code.startswith(TIMED) and code[len(TIMED) :].strip():
        return indent + code[len(TIMED) :].lstrip()
    target, equals, value = code.partition("=")
    asked = code.rstrip(" \t\r")
    is_magic = (
        code.startswith(("%", "!", "?"))
        or (equals and value.lstrip().startswith(("!", "%")) and BEFORE_EQUALS.fullmatch(target))
        or (asked.endswith("?") and BEFORE_QUESTION.fullmatch(asked.removesuffix("?").removesuffix("?")))
    )
    return f"{indent}pass" if is_magic else line
