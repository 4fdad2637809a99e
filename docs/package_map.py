"""The packages of `grpo_ref/`, their layers, and who imports whom, read from the source without running it.

`packages` draws them for `docs/package_map.md` (`make docs`), and `tests/test_layers.py` checks every import.
A package here is a folder or a file directly in `grpo_ref/`.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "grpo_ref"
LAYERS = """
    arrays files listing data memory objective parallel version
    types levels
    rewards filters advantages surrogates penalties aggregation corrections metrics diversity
    recipes
    validation
    loss micro_batches
    learning
    tasks fast history
    training
    check
    plots
    render
    explain course lab
    diagnose
    commands loss_fixture web agents parity
    cli
"""
"""One line per layer, from the bottom up. A module imports its own package and lower layers only.

The core ends with `plots`. The wings `explain`, `course` and `lab` share a layer, so no wing imports another.
"""
KERNELS = """
    rewards filters advantages levels surrogates penalties aggregation corrections metrics diversity
""".split()
"""The packages of kernels, in the order of the pipeline."""
LAYER = {package: layer for layer, line in enumerate(LAYERS.strip().splitlines()) for package in line.split()}


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(name: str) -> str:
    """Return the package that a module belongs to.

    >>> package_of("grpo_ref.levels")
    'levels'
    """
    return name.split(".")[1]


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}
"""Every module by its dotted name."""


def stages(stub: str) -> Iterator[tuple[str, list[str]]]:
    r"""Yield each module that a stub imports from, in order, with the names imported.

    >>> list(stages("from .loss import policy_loss as policy_loss\nfrom . import loss as loss"))
    [('grpo_ref.loss', ['policy_loss']), ('grpo_ref', ['loss'])]
    """
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom):
            yield ".".join(filter(None, ("grpo_ref", node.module))), [alias.name for alias in node.names]


STUB = PACKAGE / "__init__.pyi"
TOP_LEVEL = {name: module for module, names in stages(STUB.read_text(encoding="utf-8")) for name in names}
"""The names of the top level, each with the module that it is imported from."""
DOCUMENTED = {
    "types": "",
    "tasks": "",
    "learning.task": "",
    "learning.policies.transformer": "Transformer",
    "learning.policies.mlp": "MLP",
    "learning.policies.neural": "Network NeuralPolicy",
    "learning.policies.kinds": "",
    "learning.pretraining": "PretrainConfig pretrain_config_for Pretraining pretrain",
    "learning.held_out": "",
    "learning.rollout": "rollout sample",
    "learning.verbalized": "",
    **dict.fromkeys(KERNELS, ""),
    "loss": "policy_loss policy_loss_from_rewards PolicyLoss",
    "fast.logits": "policy_loss_from_logits LogitsLoss token_log_probs",
    "objective": "",
    "check.compare": "compare assert_matches LossComparison",
    "check.slopes": "",
    "recipes": "",
    "learning.optim": "",
    "learning.config": "",
    "learning.state": "TrainState Update initial_state",
    "training": "",
    "history": "",
    "learning.runs": "",
    "fast.many_seeds": "",
    "explain.report": "",
}
"""Module with a page in the reference -> names on the page, or "" for all; in the order of the pipeline."""


def public_names(module: str) -> list[str]:
    """Return the public names of a module: what it defines, or for a package what it imports or lists."""
    path = MODULES[f"grpo_ref.{module}"]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name == "__init__.py":
        lists = [
            node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
        ]
        if lists:
            return list(ast.literal_eval(lists[0].value))
        imported = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        ours = [node for node in imported if node.module.startswith(f"grpo_ref.{module}.")]
        names = [alias.name for node in ours for alias in node.names]
        return names or [node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)]
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [node.name for node in defined if not node.name.startswith("_")]


REFERENCE = {
    f"grpo_ref.{module}": names.split() or public_names(module) for module, names in DOCUMENTED.items()
}
"""Each documented module with its public names."""
PUBLIC = {name: module for module, names in REFERENCE.items() for name in names}
"""Every documented name, with the module that it is imported from."""


def imports_in(text: str) -> Iterator[str]:
    r"""Yield every module that a source text imports, also inside functions and as a public name.

    Raises:
      ValueError: if an import is relative.

    >>> list(imports_in("def later():\n    from grpo_ref import levels"))
    ['grpo_ref.levels']
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
    """Return the module that `from package import name` refers to: a submodule, or the package itself."""
    whole = f"{package}.{name}"
    return whole if whole in MODULES else TOP_LEVEL.get(name, package) if package == "grpo_ref" else package


@cache
def imports() -> dict[str, set[str]]:
    """Return the imports of each module, by its name."""
    return {name: set(imports_in(path.read_text(encoding="utf-8"))) for name, path in MODULES.items()}


def inside(names: Iterable[str]) -> set[str]:
    """Keep the modules of grpo_ref."""
    return {name for name in names if name.startswith("grpo_ref.")}


def climbing(name: str, imported: Iterable[str]) -> list[str]:
    """Return the imports from the module's own layer or above, except from its own package.

    >>> climbing("grpo_ref.levels", ["grpo_ref.arrays", "grpo_ref.plots.dynamics"])
    ['grpo_ref.plots.dynamics']
    """
    others = [one for one in imported if package_of(one) != package_of(name)]
    return [one for one in others if LAYER[package_of(one)] >= LAYER[package_of(name)]]


# ---- the map ---------------------------------------------------------------------------------------


def packages_below() -> dict[str, set[str]]:
    """Return the other packages that each package imports."""
    below: dict[str, set[str]] = {package: set() for package in LAYER}
    for name, imported in imports().items():
        below[package_of(name)] |= {package_of(one) for one in inside(imported)} - {package_of(name)}
    return below


def needed(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that do not follow from two others.

    >>> sorted(needed({"c": {"a", "b"}, "b": {"a"}, "a": set()})["c"])
    ['b']
    """
    reached: dict[str, set[str]] = {}
    for package in TopologicalSorter(below).static_order():
        reached[package] = below[package].union(*(reached[one] for one in below[package]))
    return {package: ones - set().union(*(reached[one] for one in ones)) for package, ones in below.items()}


def about(package: str) -> str:
    """Return the first line of a package's docstring."""
    text = MODULES[f"grpo_ref.{package}"].read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def packages() -> str:
    """Draw the packages as boxes with arrows, followed by a table."""
    below = packages_below()
    top_down = sorted(LAYER, key=lambda package: -LAYER[package])
    boxes = [f"    {package}" for package in top_down]
    arrows = [f"    {package} --> {one}" for package in top_down for one in sorted(needed(below)[package])]
    rows = [
        f"| {LAYER[name]} | [{name}](../{_shown(name)}) | {about(name)} | {', '.join(sorted(below[name]))} |"
        for name in top_down
    ]
    header = ["", "| layer | package | contents | imports |", "|---|---|---|---|"]
    return "\n".join(["```mermaid", "flowchart TD", *boxes, *arrows, "```", *header, *rows])


def _shown(package: str) -> str:
    path = MODULES[f"grpo_ref.{package}"]
    shown = path.parent if path.name == "__init__.py" else path
    return shown.relative_to(PACKAGE.parent).as_posix()
