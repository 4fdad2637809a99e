"""Find the tests of a kernel or a recipe by the names that the tests use."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from package_map import KERNELS

from website.places import to_line
from website.tree import ROOT

MANY = 8
"""Maximum number of tests that are linked from one place."""


class Proof(NamedTuple):
    """One test: its name, file and line, and all names that it uses."""

    name: str
    file: Path
    line: int
    uses: frozenset[str]

    @property
    def title(self) -> str:
        """The name as a phrase."""
        return self.name.removeprefix("test_").replace("_", " ")


def proofs_of(names: set[str]) -> list[Proof]:
    """Return the tests that use one of these names.

    >>> proofs_of({"group_centered"})[0].file.parent.name
    'advantages'
    """
    return [proof for proof in all_proofs() if names & proof.uses]


def proof_links(names: set[str], page: str) -> str:
    """Return links to the tests that use one of these names.

    Args:
      names: names of kernels or recipes.
      page: name of the page that the links are on.
    """
    proofs = proofs_of(names)
    links = [to_line(proof.file, proof.line, proof.title, page=page) for proof in proofs[:MANY]]
    more = len(proofs) - MANY
    return ", ".join(links) + (f" and {more} more" if more > 0 else "")


@cache
def all_proofs() -> list[Proof]:
    """Return the tests of the kernels, in the order of the pipeline, then the other tests."""
    tests = ROOT / "tests"
    of_kernels = [
        file
        for kernel in KERNELS
        for file in (*sorted((tests / kernel).rglob("test_*.py")), tests / f"test_{kernel}.py")
        if file.is_file()
    ]
    of_folders = [file for name in ("recipes", "fast") for file in sorted((tests / name).rglob("test_*.py"))]
    files = dict.fromkeys([*of_kernels, *of_folders, *sorted(tests.glob("test_*.py"))])
    return [proof for file in files for proof in _in(file)]


def _in(file: Path) -> Iterator[Proof]:
    """Yield the tests of a file. A test also uses the names in the tables and functions that it refers to."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    known = {name for node in body for name in (*_defined(node), *_imported(node))}
    uses = {name: _names(node, known) for node in body for name in _defined(node)}
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Proof(node.name, file, node.lineno, frozenset(_reached(node.name, uses)))


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    reached, new = set(), {name}
    while new:
        reached |= new
        new = {used for each in new for used in uses.get(each, ())} - reached
    return reached


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def _imported(node: ast.stmt) -> list[str]:
    return [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []


def _names(node: ast.stmt, known: set[str]) -> set[str]:
    """Return the attributes in a statement, and those of its names that the module defines or imports."""
    nodes = list(ast.walk(node))
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    return names & known | {each.attr for each in nodes if isinstance(each, ast.Attribute)}
