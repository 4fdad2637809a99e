"""Find the part of a program that some of its names need: the statements that define them, and so on
recursively.
"""

import ast
import symtable
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

CHOICES, LOOPS = (ast.If, ast.Try, ast.With), (ast.For, ast.While)
"""Statements that contain others and have no namespace of their own."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ALWAYS = frozenset(("*", "annotations"))
"""Imported names that affect the whole program."""


def needed(nodes: Sequence[ast.stmt], asked: Iterable[str]) -> list[ast.stmt]:
    """Return the statements that define the requested names, those that define the names read there, and so
    on, in order.

    A number that a function reads may come from a call, as in `EPS = np.finfo(float).eps`. But a function is
    not replaced by its own result, as in `k3 = k3(1, 2)`. If none of the requested names is defined, all
    definitions are returned.
    """
    changed = {node.name: _changed_by(node) for node in nodes if isinstance(node, FUNCTIONS)}
    imported = set().union(*(given(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)))
    gives = [
        given(node, changed) - (imported if isinstance(node, ast.Expr) else _own_results(node))
        for node in nodes
    ]
    reads = [_read(node) for node in nodes]
    roots = set(asked) & set().union(*gives)
    kept = [not names.isdisjoint(ALWAYS) for names in gives] if roots else list(map(_is_definition, nodes))
    givers: dict[str, list[int]] = defaultdict(list)
    for at, names in enumerate(gives):
        for name in names:
            givers[name].append(at)
    # Each name is followed once, so that the time is proportional to the length of the program.
    left = [*roots, *(name for at, keep in enumerate(kept) if keep for name in reads[at])]
    followed: set[str] = set()
    while left:
        name = left.pop()
        if name in followed:
            continue
        followed.add(name)
        for at in givers.get(name, ()):
            if not kept[at]:
                kept[at] = True
                left += reads[at]
    return [node for node, keep in zip(nodes, kept, strict=True) if keep]


def given(node: ast.stmt, changed: Mapping[str, set[str]] | None = None) -> set[str]:
    r"""Return the names that a statement of a module binds, or whose values it may change.

    Args:
      node: the statement.
      changed: name of a function of the program -> names of the program whose values it may change.

    >>> program = "import a.b, c as d\nx.y[z] = 1\nx.append(1)\nf(x)\nfor i in x: t += i\n@f\ndef g(): pass"
    >>> [sorted(given(node, {"f": {"all"}})) for node in ast.parse(program).body]
    [['a', 'd'], ['x'], ['x'], ['all'], ['i', 't'], ['all', 'f', 'g']]
    """
    changed = changed or {}
    if isinstance(node, CHOICES + LOOPS):
        return _headed(node).union(*(given(each, changed) for each in _inner(node)))
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {each.asname or each.name.partition(".")[0] for each in node.names}
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        headers = [*node.decorator_list, *(node.bases if isinstance(node, ast.ClassDef) else ())]
        names = set().union(*(_bases(each.func if isinstance(each, ast.Call) else each) for each in headers))
        return {node.name, *names}.union(*(changed.get(name, ()) for name in names))
    if isinstance(node, ast.Assign | ast.Delete):
        return set().union(*map(_bases, node.targets))
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        return _bases(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return _bases(called) if isinstance(called, ast.Attribute) else changed.get(_name(called), set())
    return set()


def _bases(target: ast.expr) -> set[str]:
    """Return the names at the beginning of an assignment's target, as `name` in `name.part[0]`."""
    if isinstance(target, ast.Tuple | ast.List):
        return set().union(*map(_bases, target.elts))
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    return {_name(target)} - {""}


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _own_results(node: ast.stmt) -> set[str]:
    """Return the names that a statement would replace by the result of calling them."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return set().union(*map(_bases, node.targets)) & {_name(node.value.func)}
    return set()


def _changed_by(function: ast.stmt) -> set[str]:
    """Return the module's names whose values a function may change."""
    inside = (each for each in ast.walk(function) if isinstance(each, ast.stmt) and each is not function)
    return set().union(*map(given, inside)) & _read(function)


def _headed(node: ast.stmt) -> set[str]:
    """Return the names that the first line of a block binds."""
    if isinstance(node, ast.For):
        return _bases(node.target)
    if isinstance(node, ast.With):
        return set().union(*(_bases(each.optional_vars) for each in node.items if each.optional_vars))
    return set()


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements of all branches of a block."""
    for branch in ("body", "orelse", "finalbody"):
        yield from getattr(node, branch, ())
    for handler in getattr(node, "handlers", ()):
        yield from handler.body


def _is_definition(node: ast.stmt) -> bool:
    """Return whether a statement only defines: an import, function, class, value without a call, or a choice
    of these.
    """
    if isinstance(node, CHOICES):
        return all(_is_definition(each) or isinstance(each, ast.Pass) for each in _inner(node))
    if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return True
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    return isinstance(node.value, ast.Lambda) or not any(
        isinstance(each, ast.Call) for each in ast.walk(node)
    )


def _read(node: ast.stmt) -> set[str]:
    """Return the module's names that a statement reads, also inside functions, without those that it binds
    itself.
    """
    tables = [symtable.symtable(ast.unparse(node), "program", "exec")]
    names = set()
    for table in tables:
        tables += table.get_children()
        is_module = table.get_type() == "module"
        names |= {
            each.get_name()
            for each in table.get_symbols()
            if (is_module and each.is_referenced()) or (not is_module and each.is_global())
        }
    return names - _headed(node)
