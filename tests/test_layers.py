"""The house keeps its order: modules import downwards only, and each outside library at its own door."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import grpo_ref

PACKAGE = Path(grpo_ref.__file__).parent
FLOORS = """
    arrays files listing data objective
    types
    kernels
    recipes
    validation
    loss
    learning
    fast
    training
    mistakes
    check
    trainers
    experiments
    plots
    course
    frontends
"""
"""The rooms from the ground floor up, a line a floor; a room is a folder or a file of the package."""
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS.split("\n")) for room in rooms.split()}
DOORS = {
    "array_api_compat": {"arrays"},
    "cupy": {"arrays"},
    "matplotlib": {"plots"},
    "scipy": {"experiments", "plots"},
    "joblib": {"experiments"},
    "distributed": {"experiments"},
    "click": {"frontends"},
    "rich": {"frontends"},
    "markdown_it": {"frontends"},
}
FILES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def name_of(path):
    """The dotted name of a module of ours."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(name):
    return name.split(".")[1]


def imports(text):
    """Every module named by an import statement, inside functions too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            ours = node.module.split(".")[0] == PACKAGE.name
            yield from (one if ours and one in MODULES else node.module for one in whole)


MODULES = {name_of(path): path for path in FILES}
IMPORTS = {name: set(imports(path.read_text(encoding="utf-8"))) for name, path in MODULES.items()}
OURS = {name: {one for one in found if one.startswith("grpo_ref.")} for name, found in IMPORTS.items()}


def climbing(name, imported):
    """What a module imports from its own floor or above, its own room left out."""
    for one in imported:
        assert one in MODULES, f"{name} imports {one} from the package itself, not from its module"
        if room(one) != room(name) and FLOOR[room(one)] >= FLOOR[room(name)]:
            yield one


def test_every_room_has_a_floor():
    assert {room(name) for name in MODULES} == set(FLOOR)


@pytest.mark.parametrize("name", MODULES)
def test_modules_import_downwards_only(name):
    assert list(climbing(name, OURS[name])) == []


def test_an_import_that_climbs_is_found_inside_a_function_too():
    text = "def late():\n    from grpo_ref.plots import dynamics\n"
    assert list(climbing("grpo_ref.kernels.levels", set(imports(text)))) == ["grpo_ref.plots.dynamics"]


def test_there_are_no_circles():
    within = {name: OURS[name] - {parent_of(name)} for name in MODULES}
    assert len(list(TopologicalSorter(within).static_order())) == len(MODULES)


def parent_of(name):
    return name.rpartition(".")[0]


def test_a_kernel_imports_no_other_kernel():
    """But for its own folder, and for the levels, over which a ratio of any kind is taken."""
    for name in MODULES:
        if room(name) == "kernels":
            folder = name if MODULES[name].name == "__init__.py" else parent_of(name)
            others = {
                one for one in OURS[name] if room(one) == "kernels" and one != "grpo_ref.kernels.levels"
            }
            assert folder != "grpo_ref.kernels" or not others, name
            assert all(one.startswith(folder) for one in others), name


SIBLINGS = ("trainers",)
"""Rooms whose inhabitants do not know one another."""


def neighbour(name, many):
    """The inhabitant of a room that a module belongs to, if it is one of several in their own folders."""
    inside = name.removeprefix(f"grpo_ref.{many}.").split(".")[0]
    return inside if name.startswith(f"grpo_ref.{many}.") and (PACKAGE / many / inside).is_dir() else None


@pytest.mark.parametrize("many", SIBLINGS)
def test_inhabitants_of_a_room_do_not_import_one_another(many):
    for name in MODULES:
        ours = neighbour(name, many)
        if ours:
            assert {neighbour(one, many) for one in OURS[name]} <= {ours, None}, name


def test_the_library_knows_nothing_of_the_course_nor_the_grader_of_grpo():
    for name in MODULES:
        rooms = {room(one) for one in OURS[name]}
        assert room(name) in ("course", "frontends") or "course" not in rooms, name
        if name.startswith("grpo_ref.course.grading"):
            allowed = ("grpo_ref.course.grading", "grpo_ref.arrays")
            assert all(one.startswith(allowed) for one in OURS[name]), name


def test_outside_libraries_come_in_at_their_own_door():
    for name in MODULES:
        for one in IMPORTS[name]:
            assert room(name) in DOORS.get(one.split(".")[0], {room(name)}), f"{name} imports {one}"


def test_importing_the_package_loads_nothing_heavy():
    code = "import grpo_ref, sys; print({'scipy', 'matplotlib', 'click', 'rich'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "set()\n"
