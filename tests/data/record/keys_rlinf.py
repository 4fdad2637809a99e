"""RLinf's keys: `python tests/data/record/keys_rlinf.py SOURCES`, a checkout of RLinf at a3816b596.

Reads every YAML file under `examples` with an objective, and what the actors for language models read of its
group `algorithm`. Prints each key that the dialect does not know, and each file for language models that is
refused; those of other tasks may be. Exits 1 if there is anything.
"""

import re
import sys
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[3]))
from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects.rlinf import DIALECT
from grpo_ref.explain.dialects.rlinf.keys import BEYOND

ACTORS = (
    "actor/fsdp_actor_worker.py",
    "actor/megatron_actor_worker.py",
    "actor/async_ppo_fsdp_worker.py",
    "megatron_worker.py",
)
READ = re.compile(r"cfg\.algorithm\.(?:get\(\s*\"(\w+)\"|(\w+))")
EXPRESSED = ("grpo", "raw", "reinpp")
"""Advantages that need no critic and no other agent."""


def files(sources: Path) -> dict[str, dict[str, Any]]:
    """The examples that have an objective, as dotted keys."""
    contents = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
        for path in sorted((sources / "examples").rglob("*.yaml"))
    }
    return {
        name: flat(content)
        for name, content in contents.items()
        if isinstance(content, dict) and isinstance(content.get("algorithm"), dict)
    }


def read_in_code(sources: Path) -> set[str]:
    """The keys that the actors read."""
    texts = [(sources / "rlinf" / "workers" / name).read_text(encoding="utf-8") for name in ACTORS]
    keys = {one or other for text in texts for one, other in READ.findall(text)}
    return keys - {"get"} - DIALECT.keys.groups - DIALECT.keys.ignored


def problem_of(config: dict[str, Any]) -> str:
    """Why a file is refused that should not be, or ""."""
    given = {key: value for key, value in config.items() if not str(value).startswith("${")}
    expected = (
        config.get("runner.task_type") in ("reasoning", "coding_online_rl")
        and config.get("algorithm.adv_type") in EXPRESSED
        and not any(
            config.get(f"algorithm.{key}", neutral) not in (neutral, None)
            for key, (neutral, _) in BEYOND.items()
        )
    )
    try:
        DIALECT.recipe(**given)
    except ValueError as error:
        return str(error) if expected else ""
    return ""


def main(sources: Path) -> int:
    """The number of problems, at most 1."""
    examples = files(sources)
    keys = {key for config in examples.values() for key in config}
    unknown = {key for key in keys | read_in_code(sources) if DIALECT.key(key) is None}
    problems = [f"{key}: not known" for key in sorted(unknown)]
    refused = {name: problem_of(config) for name, config in examples.items()}
    problems += [f"{name}: {problem}" for name, problem in refused.items() if problem]
    print(*(problems or [f"all {len(keys)} keys of {len(examples)} files are known"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
