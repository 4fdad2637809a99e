"""Whether every argument is known here: `python tests/data/record/keys_understand_r1_zero.py SOURCES OAT`.

Reads the fields of `ZeroMathArgs` and of the classes of oat 0.1.3.post1 below it, and names each one that the
dialect does not know.
"""

import ast
import sys
from pathlib import Path

from grpo_ref.explain.dialects import DIALECTS

CLASSES = {"OATArgs": "args.py", "PPOArgs": "algorithms/ppo.py"}


def fields(path: Path, name: str) -> set[str]:
    """The annotated fields of a class."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {ast.unparse(line.target) for line in found.body if isinstance(line, ast.AnnAssign)}


if __name__ == "__main__":
    sources, oat = map(Path, sys.argv[1:3])
    known = fields(sources / "train_zero_math.py", "ZeroMathArgs")
    for name, path in CLASSES.items():
        known |= fields(oat / "oat" / path, name)
    missing = sorted(key for key in known if DIALECTS["understand_r1_zero"].key(key) is None)
    print("\n".join(missing) or f"all {len(known)} arguments are known")
    sys.exit(bool(missing))
