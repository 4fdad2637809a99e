"""The answer in a notebook: the functions that are asked for, and what they need; nothing else of it runs."""

import ast
import json
import re
import symtable
from collections.abc import Iterable, Iterator, Sequence

from grpo_ref.course.classroom.entries import Unreadable

CELL_MAGIC = re.compile(r"%%(\w+)")
PYTHON_MAGICS = frozenset(("time", "timeit", "capture", "prun", "memit", "writefile", "python", "python3"))
"""What the rest of a notebook's cell is Python after."""
MAGIC = re.compile(
    r"^(?P<indent>[ \t]*)(?:[%!?].*|[\w.\[\], \t]+=\s*[!%].*|[\w.\[\]()]+\?\??[ \t]*)$", re.MULTILINE
)
"""A line of IPython's own: %magic, !command, x = !command, ?help and help?."""
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
            faulty.append(text)  # its fault is told when it is loaded
    nodes.sort(key=lambda node: getattr(node, "module", "") != "__future__")  # these have to be first
    try:
        code = [ast.unparse(node) for node in _needed(nodes, asked)]
    except FAULTS as error:
        raise Unreadable("is no notebook that can be read") from error
    return "\n\n".join(code + faulty).encode(errors="backslashreplace")


def bound(node: ast.stmt) -> list[str]:
    r"""The names that a statement of a module defines, imports or assigns to.

    >>> [bound(node) for node in ast.parse("def f(): pass\ng = h = lambda: 0\nimport a.b, c as d\ng()").body]
    [['f'], ['g', 'h'], ['a', 'd'], []]
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [each.asname or each.name.partition(".")[0] for each in node.names]
    if isinstance(node, ast.If | ast.Try):
        return [name for each in _inner(node) for name in bound(each)]
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def _needed(nodes: Sequence[ast.stmt], asked: Iterable[str]) -> list[ast.stmt]:
    """The statements that bind what is asked for, those that bind what they read, and so on, in their order.

    A number that a function reads may come from a call, as in `EPS = np.finfo(float).eps`; but the result of
    a call does not take the place of a definition of the same name.
    """
    names = [set(bound(node)) for node in nodes]
    is_definition = list(map(_is_definition, nodes))
    defined = set().union(*(its for its, is_one in zip(names, is_definition, strict=True) if is_one))
    binds = [its if is_one else its - defined for its, is_one in zip(names, is_definition, strict=True)]
    roots = set(asked) & set().union(*binds)
    kept = [not its.isdisjoint(("*", "annotations")) for its in names] if roots else is_definition
    while True:
        used = roots | _read([node for node, keep in zip(nodes, kept, strict=True) if keep])
        more = [keep or not used.isdisjoint(its) for keep, its in zip(kept, binds, strict=True)]
        if more == kept:
            return [node for node, keep in zip(nodes, kept, strict=True) if keep]
        kept = more


def _is_definition(node: ast.stmt) -> bool:
    """An import, function or class, a value made without a call, or a choice between such."""
    if isinstance(node, ast.If | ast.Try):
        return all(_is_definition(each) or isinstance(each, ast.Pass) for each in _inner(node))
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return True
    calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
    return isinstance(node, ast.Assign | ast.AnnAssign) and not calls


def _inner(node: ast.If | ast.Try) -> Iterator[ast.stmt]:
    """The statements of all branches."""
    yield from node.body
    yield from node.orelse
    if isinstance(node, ast.Try):
        yield from node.finalbody
        for handler in node.handlers:
            yield from handler.body


def _read(nodes: list[ast.stmt]) -> set[str]:
    """The module's names that these statements read, in their functions too."""
    tables = [symtable.symtable(ast.unparse(ast.Module(nodes, [])), "notebook", "exec")]
    names = set()
    for table in tables:
        tables += table.get_children()
        is_module = table.get_type() == "module"
        names |= {
            each.get_name()
            for each in table.get_symbols()
            if each.is_referenced() and (is_module or each.is_global())
        }
    return names


def _without_magics(source: str) -> str:
    r"""A cell without what is no Python: a line of IPython's becomes `pass`, a cell of another program empty.

    >>> _without_magics("x = 1\n!ls\ny = %pwd\nlen?")
    'x = 1\npass\npass\npass'
    """
    first, *_ = source.lstrip().splitlines() or [""]
    other = CELL_MAGIC.match(first)
    return "" if other and other[1] not in PYTHON_MAGICS else MAGIC.sub(r"\g<indent>pass", source)
