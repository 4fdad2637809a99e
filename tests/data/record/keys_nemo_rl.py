"""Whether every key of NeMo-RL's GRPO is known here: `python tests/data/record/keys_nemo_rl.py SOURCES`.

Reads the fields of the classes of loss_fn and grpo, and every key of the configurations in `examples/configs`
that start from `grpo_math_1B.yaml`; names each one that the dialect neither knows nor has in a group without
effect.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects import DIALECTS

ALGORITHMS = "nemo_rl/algorithms"
CLASSES = {
    f"{ALGORITHMS}/loss/loss_functions.py": {"ClippedPGLossConfig": "loss_fn"},
    f"{ALGORITHMS}/advantage_estimator.py": {"AdvEstimatorConfig": "grpo.adv_estimator"},
    f"{ALGORITHMS}/reward_functions.py": {"RewardShapingConfig": "grpo.reward_shaping"},
    f"{ALGORITHMS}/grpo.py": {
        "GRPOConfig": "grpo",
        "AsyncGRPOConfig": "grpo.async_grpo",
        "RewardScalingConfig": "grpo.reward_scaling",
        "RewardPenaltyConfig": "reward_penalties",
        "RewardPenaltyTokenIdsConfig": "reward_penalties.token_ids",
    },
}
"""File -> class -> the group that it is the configuration of."""
FIRST = "grpo_math_1B.yaml"


def of_classes(sources: Path) -> Iterator[str]:
    """Dotted keys of the classes; a field that is a class itself is a group."""
    for file, classes in CLASSES.items():
        for node in ast.parse((sources / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in classes:
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and "Config" not in ast.unparse(field.annotation):
                        yield f"{classes[node.name]}.{ast.unparse(field.target)}"


def of_files(sources: Path) -> Iterator[str]:
    """Dotted keys of all configurations of GRPO."""
    for file in sorted((sources / "examples" / "configs").rglob("*.yaml")):
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
        if file.name == FIRST or _starts_from_first(file, config):
            yield from (key for key, value in flat(config).items() if value != {})


def _starts_from_first(file: Path, config: dict) -> bool:
    parent = config.get("defaults")
    if not isinstance(parent, str):
        return False
    path = file.parent / parent
    return path.name == FIRST or _starts_from_first(path, yaml.safe_load(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    keys = dict.fromkeys([*of_classes(Path(sys.argv[1])), *of_files(Path(sys.argv[1]))])
    missing = [key for key in keys if DIALECTS["nemo_rl"].key(key) is None]
    print("\n".join(missing) or f"all {len(keys)} keys are known")
    sys.exit(bool(missing))
