"""The hash of all code that a result depends on: that of a module, and of all modules that it imports."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from sys import modules as loaded

import grpo_ref

PACKAGE = grpo_ref.__name__
ROOT = Path(grpo_ref.__file__).parents[1]
"""The folder that the package lies in."""


@cache
def code_hash(module: str) -> str:
    """Of the syntax of a module and of every module of this package that it imports, directly or not.

    Comments, docstrings, layout and what an `EXPERIMENT` says of itself are no part of it, so that a result
    outlives a better sentence; the settings of the arms are in a result's name besides.

    Args:
      module: a dotted name, of this package or of any other module that is loaded.
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
    """Where a module is written: its file, and the stub of a package that imports its parts when needed."""
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
    """Of the syntax tree, which is written out without line numbers."""
    return hashlib.sha256(ast.dump(_tree(file)).encode()).hexdigest()


class _WithoutWords(ast.NodeTransformer):
    """Leaves out every statement that is nothing but a string, and the experiment of a claim's module."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign | None:
        is_experiment = any(isinstance(one, ast.Name) and one.id == "EXPERIMENT" for one in node.targets)
        return None if is_experiment else node


@cache
def _imported(module: str) -> list[str]:
    """The modules of this package that are named by its import statements, inside functions too."""
    named = [name for file in _files(module) for name in _names(module, file)]
    return [name for name in named if name.split(".")[0] == PACKAGE and _files(name)]


def _names(module: str, file: Path) -> Iterator[str]:
    """Every dotted name after `import`, and `from` a module with each of the names that it gives."""
    parts = module.split(".") if file.stem == "__init__" else module.split(".")[:-1]
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
