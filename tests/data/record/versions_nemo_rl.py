"""Compare the history of NeMo-RL's keys with its releases: python versions_nemo_rl.py CHECKOUT

CHECKOUT is a clone with its tags. The script reads the configuration that others start from; it exits with 1
and names each key of a version that the dialect says otherwise of: there or not, its default.
"""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from grpo_ref.explain import Dialect
from grpo_ref.explain.dialect import flat, numbered
from grpo_ref.explain.dialects.nemo_rl import DIALECT
from grpo_ref.explain.dialects.nemo_rl.versions import HISTORY

CONFIG = "examples/configs/grpo_math_1B.yaml"
FIRST = (0, 4)
APART = {"is_scored", "skip_reference_policy_logprobs_calculation", "adv_estimator.reward_weights"}
"""What is no key, and what is not in the configuration."""
FOLLOWED = ("adv_estimator.normalize_rewards", "adv_estimator.use_leave_one_out_baseline")
"""Of these it is another key's value; that is None here."""


def main(checkout: str) -> int:
    """Say what is different, a line each; 1 if anything is."""
    told = []
    for tag in _git(checkout, "tag", "--list", "v*").split():
        if numbered(tag[1:]) >= FIRST:
            config = yaml.safe_load(_git(checkout, "show", f"{tag}:{CONFIG}"))
            theirs = flat({**config["grpo"], **config["loss_fn"]})
            told += [f"NeMo-RL {tag}: {line}" for line in differences(DIALECT.at(tag[1:]), theirs)]
    print("\n".join(told) or "no difference")
    return bool(told)


def differences(dialect: Dialect, theirs: Mapping[str, Any]) -> list[str]:
    """What a version has otherwise than its dialect."""
    told = []
    for key in HISTORY.keys() - APART:
        if (key in theirs) == (key in dialect.keys.behaviours):
            told.append(f"{key} is {'there' if key in theirs else 'not there'}")
        elif key in theirs and key not in FOLLOWED and theirs[key] != dialect.keys.defaults[key]:
            told.append(f"{key} is {theirs[key]!r}, and {dialect.keys.defaults[key]!r} here")
    return told + [
        f"{key} is not known" for key in theirs if dialect.key(f"grpo.{key}") is None is dialect.key(key)
    ]


def _git(checkout: str, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
