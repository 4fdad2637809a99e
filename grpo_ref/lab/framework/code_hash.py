"""Hash all code that a result depends on: a module and all modules that it imports."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from sys import modules as loaded

import grpo_ref

PACKAGE = grpo_ref.__name__
ROOT = Path(grpo_ref.__file__).parents[1]
"""Folder that contains the package."""


@cache
def code_hash(module: str) -> str:
    """Return the hash of a module's syntax, and of all modules of this package that it imports.

    Modules that are imported indirectly are included. Comments, docstrings, layout and the assignment to
    `EXPERIMENT` are excluded, so that a stored result stays valid if a sentence is improved. The settings of
    the arms are part of the result's name in any case.

    Args:
      module: dotted name of a module of this package, or of another module that is loaded.
    """
    reached, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _imported(name)
    parts = (f"{name} {_file_hash(file)}" for name in sorted(reached) for file in _files(name))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _files(module: str) -> list[Path]:
    """Return a module's file and, for a package with lazy imports, its stub."""
    if module.split(".")[0] != PACKAGE:
        return [Path(str(loaded[module].__file__))]
    place = ROOT.joinpath(*module.split("."))
    places = (place.with_suffix(".py"), place / "__init__.py", place / "__init__.pyi")
    return [path for path in places if path.is_file()]


@cache
def _tree(file: Path) -> ast.Module:
    tree: ast.Module = _WithoutWords().visit(ast.parse(file.read_bytes()))
    return tree


@cache
def _file_hash(file: Path) -> str:
    """Return the hash of a file's syntax tree, which is dumped without line numbers."""
    return hashlib.sha256(ast.dump(_tree(file)).encode()).hexdigest()


class _WithoutWords(ast.NodeTransformer):
    """Removes docstrings, and the assignment to `EXPERIMENT` in a claim's module."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        is_experiment = any(isinstance(one, ast.Name) and one.id == "EXPERIMENT" for one in node.targets)
        return None if is_experiment else node


@cache
def _imported(module: str) -> list[str]:
    """Return the modules of this package that a module imports, also inside functions."""
    named = [name for file in _files(module) for name in _names(module, file)]
    return [name for name in named if name.split(".")[0] == PACKAGE and _files(name)]


def _names(module: str, file: Path) -> Iterator[str]:
    """Generate the dotted names in import statements; `from a import b` gives a and a.b."""
    parts = module.split(".") if file.stem == "__init__" else module.split(".")[:-1]
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
