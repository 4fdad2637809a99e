"""Whether every argument of ms-swift is known here: `python tests/data/record/keys_ms_swift.py SOURCES`.

Reads the fields of `RLHFArguments` and of every class below it, those of transformers too, which has to be
installed. Names each one that the dialect does not know, and each default that is another.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILES = ("arguments/*.py", "arguments/base_args/*.py", "trainers/arguments.py", "rlhf_trainers/args_mixin.py")
RAY = "ray_utils/*.py"
RESOLVED = {
    **{
        "rlhf_type": "grpo",
        "loss_type": "grpo",
        "beta": 0.04,
        "kl_in_reward": False,
        "scale_rewards": "group",
    },
    **{"gradient_accumulation_steps": 1, "reward_funcs": None, "cached_dataset": None},
    **{"cached_val_dataset": None, "per_device_train_batch_size": None},
}
"""Where the dialect has what ms-swift takes for grpo in place of its own default."""


def classes(sources: Path) -> dict[str, ast.ClassDef]:
    """Every class of the arguments, by name."""
    paths = [path for pattern in (*FILES, RAY) for path in (sources / "swift").glob(pattern)]
    nodes = [node for path in paths for node in ast.parse(path.read_text(encoding="utf-8")).body]
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def fields(known: dict[str, ast.ClassDef], name: str) -> Iterator[tuple[str, ast.expr | None]]:
    """The annotated fields of a class and of those below it, with their defaults; the later ones count."""
    if name not in known:
        return
    for base in reversed(known[name].bases):
        yield from fields(known, ast.unparse(base))
    for line in known[name].body:
        if isinstance(line, ast.AnnAssign):
            yield ast.unparse(line.target), line.value


def defaults(sources: Path) -> dict[str, Any]:
    """Each field with its default, where that is a plain value; else with None, or an empty list."""
    found = {}
    for name, value in fields(classes(sources), "RLHFArguments"):
        try:
            found[name] = ast.literal_eval(value) if value is not None else None
        except ValueError:
            found[name] = [] if "list" in ast.unparse(value) else None
    return found


def of_transformers() -> set[str]:
    """The fields of the class that all of these have below them."""
    from dataclasses import fields as fields_of

    from transformers import Seq2SeqTrainingArguments

    return {each.name for each in fields_of(Seq2SeqTrainingArguments)}


if __name__ == "__main__":
    from grpo_ref.explain.dialects.ms_swift.objective import BEFORE, DIALECT

    theirs = defaults(Path(sys.argv[1]))
    names = set(theirs) | of_transformers()
    problems = [f"{name}: not known" for name in sorted(names) if DIALECT.key(name) is None]
    for name, ours in (
        (key, value) for key, value in DIALECT.keys.defaults.items() if key not in DIALECT.keys.behaviours
    ):
        default = RESOLVED.get(name, theirs.get(name, "no such key"))
        if default != ours:
            problems.append(f"{name}: the default is {default!r}, not {ours!r}")
    for name in sorted((DIALECT.keys.harmless | set(DIALECT.keys.inexpressible)) - names - BEFORE):
        problems.append(f"{name}: ms-swift has no such key")
    print("\n".join(problems) or f"all {len(names)} arguments are known")
    sys.exit(bool(problems))
