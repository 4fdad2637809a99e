"""The keys of verl 1dda039b9 that our dialect does not know: `python keys_verl.py CHECKOUT`.

Read from the configurations that its trainers start with, which verl merges from all of its files
(`_generated_ppo_*_trainer.yaml`, for each backend), from the legacy reward settings, and from the fields of
the classes of actor, policy loss, algorithm and rollout correction, which may hold more. Exits 1 and names
the keys if there are any.
"""

import ast
import sys
from pathlib import Path

import yaml

from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects.verl import DIALECT

CONFIG = "verl/trainer/config"
CLASSES = {
    "verl/workers/config/actor.py": {
        "PolicyLossConfig": "actor_rollout_ref.actor.policy_loss",
        "ActorConfig": "actor_rollout_ref.actor",
        "McoreActorConfig": "actor_rollout_ref.actor",
        "FSDPActorConfig": "actor_rollout_ref.actor",
    },
    "verl/trainer/config/algorithm.py": {
        "KLControlConfig": "algorithm.kl_ctrl",
        "FilterGroupsConfig": "algorithm.filter_groups",
        "RolloutCorrectionConfig": "algorithm.rollout_correction",
        "AlgoConfig": "algorithm",
    },
}
"""File -> class -> the group that it is the configuration of."""


def of_files(folder):
    """Dotted keys of all trainers' configurations."""
    files = [*sorted(folder.glob("_generated_ppo_*_trainer.yaml")), folder / "legacy_reward_impl.yaml"]
    for file in files:
        for key, value in flat(yaml.safe_load(file.read_text(encoding="utf-8"))).items():
            if value != {}:
                yield key


def of_classes(sources):
    """Dotted keys of the classes, of which a field that is a class itself is a group."""
    for file, classes in CLASSES.items():
        for node in ast.parse((sources / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in classes:
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and "Config" not in ast.unparse(field.annotation):
                        yield f"{classes[node.name]}.{field.target.id}"


def missing(sources):
    """The keys that are neither known nor in a group without effect, each once."""
    keys = dict.fromkeys([*of_files(sources / CONFIG), *of_classes(sources)])
    keys = [key for key in keys if not key.split(".")[-1].startswith("_")]
    print(f"{len(keys)} keys")
    return [key for key in keys if DIALECT.key(key) is None]


if __name__ == "__main__":
    unknown = missing(Path(sys.argv[1]))
    print("\n".join(unknown))
    sys.exit(bool(unknown))
