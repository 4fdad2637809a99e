"""Compare the history of OpenRLHF's flags with its releases: python versions_openrlhf.py CHECKOUT

CHECKOUT is a clone with its tags. The script exits with 1 and names each flag of a version that the dialect
says otherwise of: there or not, its default.
"""

import ast
import subprocess
import sys
from typing import Any

from grpo_ref.explain import Dialect
from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects.openrlhf import DIALECT
from grpo_ref.explain.dialects.openrlhf.keys import DEFAULTS, FORMER
from grpo_ref.explain.dialects.openrlhf.versions import CAME, HISTORY, WENT

FLAGS = "openrlhf/cli/train_ppo_ray.py"
FIRST = (0, 6)
"""Tags with .post are left out; those of 0.6.0 are as 0.6.1."""
APART = {"prompt_split"}
"""What was gone from 0.7.0 to 0.7.3, and came back."""


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told = []
    for tag in _git(checkout, "tag", "--list", "v*").split():
        if numbered(tag[1:]) >= FIRST:
            text = _git(checkout, "show", f"{tag}:{FLAGS}")
            told += [f"OpenRLHF {tag}: {line}" for line in differences(DIALECT.at(tag[1:]), flags(text))]
    print("\n".join(told) or "no difference")
    return bool(told)


def differences(dialect: Dialect, theirs: dict[str, Any]) -> list[str]:
    """What a version has otherwise than its dialect."""
    told = []
    for flag in {*CAME, *WENT} - APART:
        if (flag in theirs) == (flag in dialect.foreign):
            told.append(f"{flag} is {'there' if flag in theirs else 'not there'}")
    for flag, default in theirs.items():
        key = dialect.key(flag)
        if key is None or flag in dialect.foreign:
            told.append(f"{flag} is not known")
        elif key in HISTORY and _meant(key, default) != dialect.keys.defaults[key]:
            told.append(f"{flag} is {default!r}, and {dialect.keys.defaults[key]!r} here")
    return told


def _meant(key: str, default: Any) -> Any:
    """A default as the dialect has it: an empty list for None, lists for tuples, and the names of today."""
    if isinstance(default, bool):
        return FORMER.get(key, {}).get(default, default)
    if isinstance(default, tuple):
        return list(default)
    return [] if default is None and isinstance(DEFAULTS[key], list) else default


def flags(text: str) -> dict[str, Any]:
    """The flags with their defaults; a name with {prefix} stands for actor and critic."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            name = ast.unparse(node.args[0]).removeprefix("f").strip("'\"").removeprefix("--")
            default = False if "action" in given else None
            for prefix in ("actor", "critic"):
                found[name.replace("{prefix}", prefix)] = _constant(given.get("default"), default)
    return found


def _constant(value: ast.expr | None, default: Any) -> Any:
    try:
        return default if value is None else ast.literal_eval(value)
    except ValueError:
        return None


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
