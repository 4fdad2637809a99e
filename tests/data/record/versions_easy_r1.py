"""Compare EasyR1's keys month by month with its history: python versions_easy_r1.py CHECKOUT

CHECKOUT is a clone of hiyouga/EasyR1 with its tags. What it was at the end of a month is read from git;
nothing is run. The script exits with 1 and names each key of a month or release that the dialect says
otherwise of: there or not, its default.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from grpo_ref.explain import Dialect
from grpo_ref.explain.dialects.easy_r1 import DIALECT
from grpo_ref.explain.dialects.easy_r1.versions import HISTORY, RELEASES

FILES = ("trainer/config.py", *(f"workers/{part}config.py" for part in ("", "actor/", "reward/", "rollout/")))
MONTHS = [(year, month) for year in (2025, 2026) for month in range(1, 13)][1:19]
GROUPS = {"DataConfig": "data", "AlgorithmConfig": "algorithm", "TrainerConfig": "trainer"} | {
    f"{name}Config": f"worker.{name.lower()}" for name in ("Actor", "Rollout", "Reward", "Ref")
}
"""Class -> the group of its fields; of the classes below these the fields are in the actor's."""
APART = {"max_log_ratio", "not_yet", "actor.use_kl_loss"}
"""What is no key, and one that was no argument any more when it had no effect."""


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told = []
    for name, commit in moments(checkout):
        theirs = dict(fields(checkout, commit))
        told += [f"{name}: {line}" for line in differences(DIALECT.at(name), theirs)]
    print("\n".join(told) or "no difference")
    return bool(told)


def moments(checkout: str) -> Iterator[tuple[str, str]]:
    """The end of each month, and each release, with its commit."""
    for year, month in MONTHS:
        after = f"{year + month // 12}-{month % 12 + 1:02d}-01T00:00:00"
        yield f"{year}.{month}", _git(checkout, "rev-list", "-1", f"--before={after}", "HEAD").strip()
    yield from ((release, release) for release in RELEASES)


def differences(dialect: Dialect, theirs: dict[str, Any]) -> list[str]:
    """What a month has otherwise than its dialect."""
    told = []
    named = {dialect.key(key): value for key, value in theirs.items()}
    for key in HISTORY.keys() - APART:
        has = key in named
        if has == (key in dialect.keys.behaviours):
            told.append(f"{key} is {'there' if has else 'not there'}")
        elif has and named[key] != dialect.keys.defaults[key]:
            told.append(f"{key} is {named[key]!r}, and {dialect.keys.defaults[key]!r} here")
    return told + [f"{key} is not known" for key in theirs if dialect.key(key) is None]


def fields(checkout: str, commit: str) -> Iterator[tuple[str, Any]]:
    """The keys with their defaults, in their groups; those that no file can give are left out."""
    for file in FILES:
        text = _git(checkout, "show", f"{commit}:verl/{file}")
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name not in ("PPOConfig", "WorkerConfig"):
                group = GROUPS.get(node.name, "worker.actor")
                for item in node.body:
                    if isinstance(item, ast.AnnAssign) and not isinstance(item.value, ast.Call):
                        yield f"{group}.{ast.unparse(item.target)}", _constant(item.value)


def _constant(value: ast.expr | None) -> Any:
    return value.value if isinstance(value, ast.Constant) else None


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
