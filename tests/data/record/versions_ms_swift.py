"""Compare the history of ms-swift's arguments with its releases: python versions_ms_swift.py CHECKOUT

CHECKOUT is a clone with its tags. The script exits with 1 and names each argument of a version that the
dialect says otherwise of: there or not, its default.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from grpo_ref.explain import Dialect
from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects.ms_swift import DIALECT
from grpo_ref.explain.dialects.ms_swift.keys import BEHAVIOUR
from grpo_ref.explain.dialects.ms_swift.versions import CAME, HISTORY, WENT

FIRST = (3, 1, 1)
"""In 3.1.0 grpo had the arguments of TRL alone."""
OWN = {"scale_rewards": "group", "kl_in_reward": False, "vllm_mode": None, "loss_type": "grpo"}
"""What is taken for None, or in place of another default; loss_type was TRL's argument until 3.6."""
APART = {BEHAVIOUR, "loss_type"}
ELSEWHERE = {"RolloutArguments", "DeployArguments", "LmdeployArguments", "EvalArguments"}


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told = []
    for tag in _git(checkout, "tag", "--list", "v*").split():
        if numbered(tag[1:]) >= FIRST:
            theirs = dict(fields(checkout, tag))
            told += [f"ms-swift {tag}: {line}" for line in differences(DIALECT.at(tag[1:]), theirs)]
    print("\n".join(told) or "no difference")
    return bool(told)


def differences(dialect: Dialect, theirs: dict[str, Any]) -> list[str]:
    """What a version has otherwise than its dialect."""
    told = []
    for key in HISTORY.keys() - APART:
        if (key in theirs) != (dialect.key(key) is not None):
            told.append(f"{key} is {'there' if key in theirs else 'not there'}")
        elif key in theirs and theirs[key] != dialect.keys.defaults[key] and key not in OWN:
            told.append(f"{key} is {theirs[key]!r}, and {dialect.keys.defaults[key]!r} here")
    for key in {*WENT, *CAME}:
        if (key in theirs) == (key in dialect.foreign):
            told.append(f"{key} is {'there' if key in theirs else 'not there'}")
    return told


def fields(checkout: str, tag: str) -> Iterator[tuple[str, Any]]:
    """The fields of all classes of arguments with their defaults, but those of other commands."""
    for path in _git(checkout, "ls-tree", "-r", "--name-only", tag, "swift").split():
        if path.endswith(".py") and "arg" in path and "megatron" not in path and "ui/" not in path:
            for node in ast.parse(_git(checkout, "show", f"{tag}:{path}")).body:
                if isinstance(node, ast.ClassDef) and node.name not in ELSEWHERE:
                    items = [item for item in node.body if isinstance(item, ast.AnnAssign)]
                    yield from ((ast.unparse(item.target), _constant(item.value)) for item in items)


def _constant(value: ast.expr | None) -> Any:
    return value.value if isinstance(value, ast.Constant) else None


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
