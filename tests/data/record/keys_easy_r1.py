"""Whether every key of EasyR1 is known here: `python tests/data/record/keys_easy_r1.py SOURCES`.

Reads the dataclasses below `PPOConfig` from its files, in their groups, and `examples/config.yaml`, and names
each key that the dialect does not know.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects import DIALECTS

FILES = (
    *("trainer/config.py", "workers/config.py"),
    *(f"workers/{part}/config.py" for part in ("actor", "critic", "reward", "rollout")),
)


def classes(sources: Path) -> dict[str, ast.ClassDef]:
    """The classes of all configuration files, by name."""
    trees = [ast.parse((sources / "verl" / file).read_text(encoding="utf-8")) for file in FILES]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def fields(found: dict[str, ast.ClassDef], name: str, prefix: str = "") -> Iterator[str]:
    """Dotted keys of a class; a field whose type is one of these classes is a group."""
    for line in found[name].body:
        if isinstance(line, ast.AnnAssign):
            key, kind = prefix + ast.unparse(line.target), ast.unparse(line.annotation)
            yield from fields(found, kind, f"{key}.") if kind in found else [key]


def example(sources: Path) -> Iterator[str]:
    """Dotted keys of the file that its scripts start from."""
    text = (sources / "examples" / "config.yaml").read_text(encoding="utf-8")
    yield from flat(yaml.safe_load(text))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    known = {*fields(classes(folder), "PPOConfig"), *example(folder)}
    missing = sorted(key for key in known if DIALECTS["easy_r1"].key(key) is None)
    print("\n".join(missing) or f"all {len(known)} keys are known")
    sys.exit(bool(missing))
