"""The answer in a notebook: the functions that are asked for, and what they need; nothing else of it runs."""

import ast
import json
import re
from collections.abc import Iterable

from grpo_ref.course.classroom.entries import Unreadable
from grpo_ref.course.classroom.needed import needed

CELL_MAGIC = re.compile(r"%%(\w+)")
PYTHON_MAGICS = frozenset(("time", "timeit", "capture", "prun", "memit", "writefile", "python", "python3"))
"""What the rest of a notebook's cell is Python after."""
MAGIC = re.compile(
    r"^(?P<indent>[ \t]*)(?:[%!?].*|[\w.\[\], \t]+=\s*[!%].*|[\w.\[\]()]+\?\??[ \t]*)$", re.MULTILINE
)
"""A line of IPython's own: %magic, !command, x = !command, ?help and help?."""
DEFINITION = re.compile(r"^\s*(def|class)\b", re.MULTILINE)
"""What a cell may be needed for."""
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What Python raises where a text is no program."""


def code_of(notebook: bytes, asked: Iterable[str]) -> bytes:
    """The functions that are asked for, and what they need; all definitions of it, if none of them is there.

    Args:
      notebook: the text of an .ipynb file.
      asked: names of functions.

    Raises:
      Unreadable: if it is none.
    """
    try:
        cells = json.loads(notebook)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable("is no notebook that can be read") from error
    nodes: list[ast.stmt] = []
    faulty: list[str] = []
    for text in map(_without_magics, sources):
        try:
            nodes += ast.parse(text).body
        except FAULTS:
            faulty += [text] * bool(DEFINITION.search(text))  # its fault is told when it is loaded
    nodes.sort(key=lambda node: getattr(node, "module", "") != "__future__")  # these have to be first
    try:
        code = [ast.unparse(node) for node in needed(nodes, asked)]
    except FAULTS as error:
        raise Unreadable("is no notebook that can be read") from error
    return "\n\n".join(code + faulty).encode(errors="backslashreplace")


def _without_magics(source: str) -> str:
    r"""A cell without what is no Python: a line of IPython's becomes `pass`, a cell of another program empty.

    >>> _without_magics("x = 1\n!ls\ny = %pwd\nlen?")
    'x = 1\npass\npass\npass'
    """
    first, *_ = source.lstrip().splitlines() or [""]
    other = CELL_MAGIC.match(first)
    return "" if other and other[1] not in PYTHON_MAGICS else MAGIC.sub(r"\g<indent>pass", source)
