"""The tests that pin a kernel or a recipe, found by the names that they use."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from website.places import to_line
from website.tree import ROOT

FOLDERS = ("tests/kernels", "tests/recipes", "tests/fast")
"""Where the tests of single functions are; those above them in `tests` count too."""


MANY = 8
"""How many tests of one thing are named; those of its own file come first."""


class Proof(NamedTuple):
    """One test: its name, the file and the line that it stands on, and all names that it uses."""

    name: str
    file: Path
    line: int
    uses: frozenset[str]

    @property
    def says(self) -> str:
        """What the test proves, as its name says it."""
        return self.name.removeprefix("test_").replace("_", " ")


def proofs_of(names: set[str]) -> list[Proof]:
    """The tests that use one of these names.

    >>> [proof.name for proof in proofs_of({"group_normalized"})][0]
    'test_group_normalized'
    """
    return [proof for proof in all_proofs() if names & proof.uses]


def proof_links(names: set[str], page: str) -> str:
    """The tests that use one of these names, each with a link to its line.

    Args:
      names: of kernels or recipes.
      page: the name of the page that the links are on.
    """
    found = proofs_of(names)
    links = [to_line(proof.file, proof.line, proof.says, page=page) for proof in found[:MANY]]
    more = len(found) - MANY
    return ", ".join(links) + (f" and {more} more" if more > 0 else "")


@cache
def all_proofs() -> list[Proof]:
    """Every test of the folders in question, in the order of the files."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("test_*.py"))]
    return [proof for file in (*files, *sorted((ROOT / "tests").glob("test_*.py"))) for proof in _in(file)]


def _in(file: Path) -> Iterator[Proof]:
    """The tests of a file; what a test uses includes what the tables and functions beside it do."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    known = {name for node in body for name in (*_defined(node), *_imported(node))}
    uses = {name: _names(node, known) for node in body for name in _defined(node)}
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Proof(node.name, file, node.lineno, frozenset(_reached(node.name, uses)))


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    found, new = set(), {name}
    while new:
        found |= new
        new = {each for one in new for each in uses.get(one, ())} - found
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]


def _imported(node: ast.stmt) -> list[str]:
    return [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []


def _names(node: ast.stmt, known: set[str]) -> set[str]:
    """The attributes in a statement, and those names that are not local to it."""
    found = list(ast.walk(node))
    names = {each.id for each in found if isinstance(each, ast.Name)}
    return names & known | {each.attr for each in found if isinstance(each, ast.Attribute)}
