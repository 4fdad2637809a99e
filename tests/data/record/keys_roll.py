"""Whether every key of ROLL's RLVR pipeline is known here: `python tests/data/record/keys_roll.py SOURCES`.

Reads the fields of `RLVRConfig` and of the classes below it, those of its workers and of the correction too,
and the keys of every RLVR example. Names each one that the dialect does not know, and each default that is
another.
"""

import ast
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OURS: dict[str, Any] = {"adv_estimator": "grpo", "num_return_sequences_in_group": 8}
"""Where the dialect has another default than ROLL."""
NESTED = {
    "train_infer_correction": "TrainInferCorrectionConfig",
    "train_infer_correction.is_weight": "TrainInferISWeightConfig",
    "actor_train": "WorkerConfig",
    "actor_infer.generating_args": "GeneratingArguments",
    "rewards.math_rule": "RewardConfig",
    "query_filter_config": "RewardFilterConfig",
}
"""Groups and their classes."""
FREE = ("query_filter_config.filter_args",)
"""A group whose keys no class has; their defaults are in `query_filter`."""


def classes(sources: Path) -> dict[str, ast.ClassDef]:
    """Every class of the configuration, by name."""
    paths = [*(sources / "roll" / "configs").glob("*.py"), sources / "roll/pipeline/rlvr/rlvr_config.py"]
    nodes = [node for path in paths for node in ast.parse(path.read_text(encoding="utf-8")).body]
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def fields(known: dict[str, ast.ClassDef], name: str) -> Iterator[tuple[str, Any]]:
    """The annotated fields of a class and of those below it, with their defaults as text."""
    for base in known[name].bases:
        yield from fields(known, ast.unparse(base))
    for line in known[name].body:
        if isinstance(line, ast.AnnAssign):
            yield ast.unparse(line.target), default(line.value)


def default(value: ast.expr | None) -> Any:
    """The default of a field, if it is a plain value."""
    for keyword in getattr(value, "keywords", []):
        if keyword.arg == "default":
            value = keyword.value
    try:
        return ast.literal_eval(value) if value is not None else None
    except ValueError:
        return None


def of_examples(sources: Path) -> set[str]:
    """The keys of every example of the pipeline, with their groups."""
    from omegaconf import OmegaConf

    from grpo_ref.explain.dialect import flat

    found: set[str] = set()
    paths = (sources / "examples").rglob("*.yaml")
    for path in (each for each in paths if "rlvr" in str(each) or "docs_examples" in str(each)):
        found |= set(flat(OmegaConf.to_container(OmegaConf.load(path), resolve=False)))
    return found


def main() -> int:
    from grpo_ref.explain.dialects.roll import DIALECT

    sources = Path(sys.argv[1])
    known = classes(sources)
    theirs = dict(fields(known, "RLVRConfig"))
    for group, name in NESTED.items():
        theirs |= {f"{group}.{key}": value for key, value in fields(known, name)}
    names = set(theirs) | of_examples(sources)
    problems = [f"{name}: not known" for name in sorted(names) if DIALECT.key(name) is None]
    for name, ours in DIALECT.keys.defaults.items():
        if not name.startswith(FREE) and OURS.get(name, theirs.get(name, math.nan)) != ours:
            problems.append(f"{name}: the default is {theirs.get(name)!r}, not {ours!r}")
    print("\n".join(problems) or f"all {len(names)} keys are known")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
