"""Whether every key of Open Instruct is known here: `python tests/data/record/keys_open_instruct.py SOURCES`.

SOURCES is a checkout of allenai/open-instruct at e6c3044aa. Nothing of it is run: the dataclasses that
`grpo_fast.py` gives its parser are read, with their bases and the defaults that it sets itself. Exits with 1
and names each key that the dialect neither knows nor lists as without effect on the objective, each that it
knows and Open Instruct has not, and each default that differs.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grpo_ref.explain.dialects.open_instruct import DIALECT

FILES = (
    "grpo_fast.py",
    "grpo_utils.py",
    "olmo_core_utils.py",
    "data_loader.py",
    "model_utils.py",
    "dataset_transformation.py",
    "environments/tools/utils.py",
)
"""Where the configurations are; of two classes of one name the last counts, as `grpo_fast.py` imports it."""
NONE = object()
"""In place of a default that is made by a call."""


def classes(sources: Path) -> dict[str, ast.ClassDef]:
    """The classes of all files, by name."""
    trees = [ast.parse((sources / "open_instruct" / file).read_text(encoding="utf-8")) for file in FILES]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def parsed(sources: Path) -> tuple[list[str], dict[str, Any]]:
    """The names of the classes that the parser of `grpo_fast.py` is made from, and the defaults it sets."""
    tree = ast.parse((sources / "open_instruct" / "grpo_fast.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    [made] = [call for call in calls if _name(call.func) == "ArgumentParserPlus"]
    [told] = [call for call in calls if _name(call.func) == "set_defaults"]
    names = made.args[0].elts if isinstance(made.args[0], ast.Tuple) else []
    return [_name(name) for name in names], {
        str(keyword.arg): ast.literal_eval(keyword.value) for keyword in told.keywords
    }


def keys(found: dict[str, ast.ClassDef], name: str) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass with their defaults, those of its bases first."""
    for base in found[name].bases:
        yield from keys(found, _name(base))
    for node in found[name].body:
        if isinstance(node, ast.AnnAssign) and not _name(node.target).startswith("_"):
            yield _name(node.target), _default(node.value)


def _name(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _default(node: ast.expr | None) -> Any:
    """A number or word as it is, an enumeration's by its name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.value if isinstance(node, ast.Constant) else NONE


def main(sources: Path) -> int:
    names, own = parsed(sources)
    found = classes(sources)
    theirs = {key: default for name in names for key, default in keys(found, name)} | own
    ours = {
        *DIALECT.keys.defaults,
        *DIALECT.keys.harmless,
        *DIALECT.keys.inexpressible,
    } - DIALECT.keys.behaviours
    problems = [f"unknown here: {key}" for key in theirs if DIALECT.key(key) is None]
    problems += [f"not Open Instruct's: {key}" for key in sorted(ours - set(theirs))]
    problems += [
        f"default of {key}: {theirs[key]!r}, here {default!r}"
        for key, default in DIALECT.keys.defaults.items()
        if key in theirs and theirs[key] != default
    ]
    print("\n".join([*problems, f"{len(theirs)} keys, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
