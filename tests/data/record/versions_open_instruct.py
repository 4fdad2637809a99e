"""Compare Open Instruct's keys month by month with its history: python versions_open_instruct.py CHECKOUT

CHECKOUT is a clone of allenai/open-instruct. What it was at the end of a month is read from git; nothing is
run. The script exits with 1 and names each key of a month that the dialect says otherwise of: there or not,
its default.
"""

import ast
import subprocess
import sys
from typing import Any

from grpo_ref.explain import Dialect
from grpo_ref.explain.dialects.open_instruct import DIALECT
from grpo_ref.explain.dialects.open_instruct.versions import HISTORY

BEFORE = ("grpo_vllm_thread_ray_gtrl.py",)
FILES = ("grpo_fast.py", "grpo_utils.py", "data_loader.py", "olmo_core_utils.py")
CLASSES = (
    *("Args", "ExperimentConfig", "GRPOExperimentConfig", "StreamingDataLoaderConfig", "VLLMConfig"),
    *("TrainingConfig", "LoggingConfig"),
)
MONTHS = [(year, month) for year in (2025, 2026) for month in range(1, 13)][:20]
APART = {"ddof"}
"""What is no key."""


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told = []
    for year, month in MONTHS:
        after = f"{year + month // 12}-{month % 12 + 1:02d}-01T00:00:00"
        commit = _git(checkout, "rev-list", "-1", f"--before={after}", "HEAD").strip()
        files = BEFORE if (year, month) < (2025, 3) else FILES
        found = {key: value for file in files for key, value in fields(checkout, commit, file).items()}
        told += [f"{year}.{month}: {line}" for line in differences(DIALECT.at(f"{year}.{month}"), found)]
    print("\n".join(told) or "no difference")
    return bool(told)


def differences(dialect: Dialect, theirs: dict[str, Any]) -> list[str]:
    """What a month has otherwise than its dialect."""
    told = []
    named = {dialect.keys.names.get(key, key): value for key, value in theirs.items()}
    for key in HISTORY.keys() - APART:
        has = key in named
        if has != (dialect.key(key) is not None):
            told.append(f"{key} is {'there' if has else 'not there'}")
        elif has and named[key] != dialect.keys.defaults[key]:
            told.append(f"{key} is {named[key]!r}, and {dialect.keys.defaults[key]!r} here")
    return told + [f"{key} is not known" for key in theirs if dialect.key(key) is None and key not in HISTORY]


def fields(checkout: str, commit: str, file: str) -> dict[str, Any]:
    """The fields of the configurations in a file, with their defaults."""
    path = f"open_instruct/{file}"
    if not _git(checkout, "ls-tree", "--name-only", commit, path):
        return {}
    found: dict[str, Any] = {}
    for node in ast.parse(_git(checkout, "show", f"{commit}:{path}")).body:
        if isinstance(node, ast.ClassDef) and node.name in CLASSES:
            items = [item for item in node.body if isinstance(item, ast.AnnAssign)]
            found |= {ast.unparse(item.target): _default(item.value) for item in items}
    return found


def _default(value: ast.expr | None) -> Any:
    """A number or word as it is, an enumeration's by its name."""
    if isinstance(value, ast.Attribute):
        return value.attr
    return value.value if isinstance(value, ast.Constant) else None


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
