"""Whether every key of SkyRL is known here: `python tests/data/record/keys_skyrl.py SOURCES`.

Reads the dataclasses below `SkyRLTrainConfig` from its files, in their groups, with those of the environments
and of the DAPO example, and names each key that the dialect does not know.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from grpo_ref.explain.dialects import DIALECTS

FILES = (
    "skyrl/train/config/config.py",
    "skyrl-gym/skyrl_gym/envs/search/env.py",
    "skyrl-gym/skyrl_gym/envs/sql/env.py",
    "examples/train/algorithms/dapo/main_dapo.py",
)


def classes(sources: Path) -> dict[str, ast.ClassDef]:
    """The classes of all files, by name."""
    trees = [ast.parse((sources / file).read_text(encoding="utf-8")) for file in FILES]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def fields(found: dict[str, ast.ClassDef], name: str, prefix: str = "") -> Iterator[str]:
    """Dotted keys of a class; a field whose type is one of these classes, or None, is a group."""
    for line in found[name].body:
        if isinstance(line, ast.AnnAssign):
            key = prefix + ast.unparse(line.target)
            kind = ast.unparse(line.annotation).removeprefix("Optional[").removesuffix("]")
            yield from fields(found, kind, f"{key}.") if kind in found else [key]


if __name__ == "__main__":
    found = classes(Path(sys.argv[1]))
    known = {*fields(found, "SkyRLTrainConfig"), *fields(found, "DAPOAlgorithmConfig", "trainer.algorithm.")}
    missing = sorted(key for key in known if DIALECTS["skyrl"].key(key) is None)
    print("\n".join(missing) or f"all {len(known)} keys are known")
    sys.exit(bool(missing))
