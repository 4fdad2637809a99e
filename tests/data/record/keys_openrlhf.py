"""Whether every flag of OpenRLHF is known here: `python tests/data/record/keys_openrlhf.py SOURCES`.

Reads the flags of `cli/train_ppo_ray.py`, those of its loop over actor and critic too, and names each one
that the dialect does not know.
"""

import ast
import re
import sys
from pathlib import Path

from grpo_ref.explain.dialects import DIALECTS


def flags(path: Path) -> set[str]:
    """The names that `add_argument` is given; a name with {prefix} stands for actor and critic."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            name = ast.unparse(node.args[0]).removeprefix("f").strip("'\"")
            found |= {re.sub(r"\{prefix\}", prefix, name) for prefix in ("actor", "critic")}
    return {name.removeprefix("--") for name in found}


if __name__ == "__main__":
    known = flags(Path(sys.argv[1]) / "openrlhf" / "cli" / "train_ppo_ray.py")
    missing = sorted(name for name in known if DIALECTS["openrlhf"].key(name) is None)
    print("\n".join(missing) or f"all {len(known)} flags are known")
    sys.exit(bool(missing))
