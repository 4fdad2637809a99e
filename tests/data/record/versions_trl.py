"""Compare the history of TRL's keys with the releases themselves: python versions_trl.py FOLDER

FOLDER holds a folder for each version, `0.18.2/trl/trainer/grpo_config.py`, as unpacked from its wheel. It
exits with 1 and names each key of a version that the dialect says otherwise of: there or not, its default.
"""

import ast
import sys
from pathlib import Path
from typing import Any

from grpo_ref.explain import Dialect
from grpo_ref.explain.dialects.trl import DIALECT
from grpo_ref.explain.dialects.trl.versions import HISTORY

APART = {"vllm_importance_sampling_cap", "router_aux_loss_coef"}
"""A key with another name now, which has its default; and one that counts only for a mixture of experts."""


def main(folder: Path) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told = [
        f"TRL {path.name}: {line}"
        for path in sorted(folder.iterdir())
        if (path / "trl/trainer/grpo_config.py").is_file()
        for line in differences(DIALECT.at(path.name), fields(path / "trl/trainer/grpo_config.py"))
    ]
    print("\n".join(told) or "no difference")
    return bool(told)


def differences(dialect: Dialect, theirs: dict[str, Any]) -> list[str]:
    """What a version has otherwise than its dialect."""
    told = []
    for key in HISTORY:
        has = key in theirs
        if has != (key not in dialect.keys.behaviours):
            told.append(f"{key} is {'there' if has else 'not there'}")
        elif has and key not in APART and theirs[key] != dialect.keys.defaults[key]:
            told.append(f"{key} is {theirs[key]!r}, and {dialect.keys.defaults[key]!r} here")
    return told


def fields(path: Path) -> dict[str, Any]:
    """The fields of GRPOConfig that have a constant for a default."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (config,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "GRPOConfig"
    )
    found = {}
    for item in config.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            found[item.target.id] = default(item.value)
    return found


def default(value: ast.expr | None) -> Any:
    """The default of a field, `field(default=...)` or plain."""
    if isinstance(value, ast.Call):
        given = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
        value = given[0] if given else None
    try:
        return None if value is None else ast.literal_eval(value)
    except ValueError:
        return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
