"""The house keeps its order: modules import downwards only, and each outside library at its own door."""

import ast
import subprocess
import sys
from pathlib import Path

import grpo_ref

PACKAGE = Path(grpo_ref.__file__).parent
RANKS = [
    {"arrays", "files", "data", "objective"},
    {"types", "grading"},
    {
        "rewards",
        "advantages",
        "levels",
        "surrogates",
        "penalties",
        "aggregation",
        "filters",
        "metrics",
        "diversity",
        "verbalized",
        "logits_device",
    },
    {"corrections"},
    {"recipes"},
    {"loss"},
    {"neighbours"},
    {"trainers", "testing", "logits"},
    {"policy", "optim"},
    {"tasks"},
    {"rollout"},
    {"train"},
    {"many_seeds"},
    {"runs"},
    {"patients"},
    {"experiments"},
    {"plots"},
    {"problems"},
    {"frontends"},
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}
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


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """Every module named by an import statement of the file, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            whole = node.module == PACKAGE.name
            yield from (f"{PACKAGE.name}.{alias.name}" for alias in node.names) if whole else [node.module]


FILES = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def test_every_module_has_a_rank():
    assert {room(path) for path in FILES} == set(RANK)


def test_modules_import_downwards_only():
    for path in FILES:
        for name in imports(path):
            package, _, rest = name.partition(".")
            if package == "grpo_ref" and rest:
                other = rest.split(".")[0]
                assert other in RANK, f"{path} imports {name} from the package itself, not from its module"
                inside = other == room(path)
                assert inside or RANK[other] < RANK[room(path)], f"{path} imports {name}"


def test_the_library_knows_nothing_of_the_course_nor_the_grader_of_grpo():
    for path in FILES:
        ours = {name.split(".")[1] for name in imports(path) if name.startswith("grpo_ref.")}
        if room(path) not in ("grading", "problems", "frontends"):
            assert not ours & {"grading", "problems"}, path
        if room(path) == "grading":
            assert ours <= {"grading", "arrays"}, path


def test_outside_libraries_come_in_at_their_own_door():
    for path in FILES:
        for name in imports(path):
            outside = name.split(".")[0]
            assert room(path) in DOORS.get(outside, {room(path)}), f"{path} imports {name}"


def test_importing_the_package_loads_nothing_heavy():
    code = "import grpo_ref, sys; print({'scipy', 'matplotlib', 'click', 'rich'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "set()\n"
