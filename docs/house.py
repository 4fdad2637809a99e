"""The rooms of the package, the floors they stand on, and who imports whom, read from the source unrun.

A room is a folder or a file of `grpo_ref/`. `rooms` draws them for `docs/house.md` (`make docs`), and
`tests/test_layers.py` holds every module to the order.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "grpo_ref"
FLOORS = """
    arrays files listing data objective parallel
    types
    kernels
    recipes
    validation
    loss
    learning
    fast
    training
    mistakes
    check trainers experiments
    plots
    course
    frontends
"""
"""The rooms from the ground up, a line for each floor: a room imports its own and those below its floor."""
FLOOR = {room: floor for floor, line in enumerate(FLOORS.strip().splitlines()) for room in line.split()}


def name_of(path: Path) -> str:
    """The dotted name of a module of ours."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name: str) -> str:
    """The room that a module lies in.

    >>> room_of("grpo_ref.kernels.levels")
    'kernels'
    """
    return name.split(".")[1]


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}
"""Every module of the package by its dotted name."""


def stages(stub: str) -> Iterator[tuple[str, list[str]]]:
    r"""The modules that a stub imports from, in its order, each with the names that it takes from there.

    >>> list(stages("from .loss import policy_loss as policy_loss\nfrom . import loss as loss"))
    [('grpo_ref.loss', ['policy_loss']), ('grpo_ref', ['loss'])]
    """
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom):
            yield ".".join(filter(None, ("grpo_ref", node.module))), [alias.name for alias in node.names]


STUB = PACKAGE / "__init__.pyi"
PUBLIC = {name: module for module, names in stages(STUB.read_text(encoding="utf-8")) for name in names}
"""Every public name, with the module that it is imported from."""


def imports_in(text: str) -> Iterator[str]:
    r"""Every module that the text of another one imports, inside a function or as a public name too.

    Raises:
      ValueError: if an import is relative.

    >>> list(imports_in("def later():\n    from grpo_ref.kernels import levels"))
    ['grpo_ref.kernels.levels']
    >>> list(imports_in("import grpo_ref\ngrpo_ref.policy_loss"))
    ['grpo_ref', 'grpo_ref.loss']
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(f"line {node.lineno}: expected an import by its full name")
            yield from (_module(node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "grpo_ref":
                yield _module("grpo_ref", node.attr)


def _module(package: str, name: str) -> str:
    """Where `from package import name` leads: to a submodule of that name, or to the package itself."""
    whole = f"{package}.{name}"
    return whole if whole in MODULES else PUBLIC.get(name, package) if package == "grpo_ref" else package


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports."""
    return {name: set(imports_in(path.read_text(encoding="utf-8"))) for name, path in MODULES.items()}


def inside(names: Iterable[str]) -> set[str]:
    """Those that are modules of the package."""
    return {name for name in names if name.startswith("grpo_ref.")}


def climbing(name: str, imported: Iterable[str]) -> list[str]:
    """What a module imports from its own floor or above, its own room left out.

    >>> climbing("grpo_ref.kernels.levels", ["grpo_ref.arrays", "grpo_ref.plots.dynamics"])
    ['grpo_ref.plots.dynamics']
    """
    others = [one for one in imported if room_of(one) != room_of(name)]
    return [one for one in others if FLOOR[room_of(one)] >= FLOOR[room_of(name)]]


# ---- the map ---------------------------------------------------------------------------------------


def rooms_below() -> dict[str, set[str]]:
    """Of each room, the other rooms that it imports."""
    below: dict[str, set[str]] = {room: set() for room in FLOOR}
    for name, imported in imports().items():
        below[room_of(name)] |= {room_of(one) for one in inside(imported)} - {room_of(name)}
    return below


def needed(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that are not already told by two others.

    >>> sorted(needed({"c": {"a", "b"}, "b": {"a"}, "a": set()})["c"])
    ['b']
    """
    reached: dict[str, set[str]] = {}
    for room in TopologicalSorter(below).static_order():
        reached[room] = below[room].union(*(reached[one] for one in below[room]))
    return {room: ones - set().union(*(reached[one] for one in ones)) for room, ones in below.items()}


def about(room: str) -> str:
    """The first line of a room's docstring."""
    text = MODULES[f"grpo_ref.{room}"].read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def rooms() -> str:
    """The rooms as boxes with the arrows between them, then a table with a line for each."""
    below = rooms_below()
    top_down = sorted(FLOOR, key=lambda room: -FLOOR[room])
    boxes = [f"    {room}" for room in top_down]
    arrows = [f"    {room} --> {one}" for room in top_down for one in sorted(needed(below)[room])]
    rows = [
        f"| {FLOOR[room]} | [{room}](../{_shown(room)}) | {about(room)} | {', '.join(sorted(below[room]))} |"
        for room in top_down
    ]
    header = ["", "| floor | room | what is in it | it imports |", "|---|---|---|---|"]
    return "\n".join(["```mermaid", "flowchart TD", *boxes, *arrows, "```", *header, *rows])


def _shown(room: str) -> str:
    path = MODULES[f"grpo_ref.{room}"]
    found = path.parent if path.name == "__init__.py" else path
    return found.relative_to(PACKAGE.parent).as_posix()
