"""Whether every key of Tunix's GRPO is known here: `python tests/data/record/keys_tunix.py SOURCES`.

Reads the fields of the configurations for GRPO and of the classes that they extend, and every key of the YAML
files of the command line and of the examples that launch it; prints each that the dialect neither knows nor
counts to a section without effect. Then every one of these files and scripts is explained, and what
`base_config` says is compared with the dialect's entry. Exits 1 if there is anything.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[3]))
from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects.tunix import DIALECT
from grpo_ref.explain.launch import launches
from grpo_ref.explain.understanding import understood

CLASSES = {
    "tunix/rl/algorithm_config.py": "AlgorithmConfig",
    "tunix/rl/grpo/grpo_learner.py": "GRPOConfig",
    "tunix/rl/grpo/dapo_learner.py": "DAPOConfig",
    "tunix/rl/grpo/drgrpo_learner.py": "DrGRPOConfig",
    "tunix/rl/agentic/agentic_rl_learner.py": "AgenticRLConfig",
    "tunix/rl/agentic/agentic_grpo_learner.py": "GRPOConfig",
}
FILES = ("tunix/cli/base*config.yaml", "examples/rl/grpo/**/*.yaml", "examples/frozenlake/**/*.yaml")
SCRIPTS = ("examples/rl/grpo/**/*.sh", "examples/frozenlake/*.sh", "examples/deepscaler/*.sh")


def fields(path: Path, name: str) -> Iterator[str]:
    """The fields of a class."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    yield from (ast.unparse(item.target) for item in node.body if isinstance(item, ast.AnnAssign))


def problem_of(path: Path, sources: Path) -> str:
    """Why a file is refused, is not known to be Tunix's, or has keys that nobody knows; or ""."""

    def beside(name: str) -> str | None:
        file = sources / name
        return file.read_text(encoding="utf-8") if file.is_file() else None

    try:
        launch = launches(path.read_text(encoding="utf-8"), path.name, beside)[0]
        if launch.trainer != DIALECT.name:
            return f"taken to be of {launch.trainer}"
        found = understood(DIALECT, launch.keys)
        DIALECT.recipe(**found.config)
    except ValueError as error:
        return str(error)
    return f"not known: {', '.join(found.strangers)}" if found.strangers else ""


def main(sources: Path) -> int:
    """The number of problems, at most 1."""
    known = {field for path, name in CLASSES.items() for field in fields(sources / path, name)}
    files = sorted(path for pattern in FILES for path in sources.glob(pattern))
    configs = {path: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}
    known |= {key for config in configs.values() for key in flat(config)}
    problems = [f"{key}: not known" for key in sorted(known) if DIALECT.key(key) is None]
    scripts = sorted(path for pattern in SCRIPTS for path in sources.glob(pattern))
    told = {path: problem_of(path, sources) for path in [*files, *scripts]}
    problems += [f"{path.relative_to(sources)}: {why}" for path, why in told.items() if why]
    for name, keys in DIALECT.program.files.items():
        whole = configs[sources / "tunix/cli" / f"{name}.yaml"]
        differs = DIALECT.recipe(**whole) != DIALECT.recipe(**keys)
        problems += [f"{name}: the file says other than its entry"] if differs else []
    print(*(problems or [f"all {len(known)} keys and {len(told)} files are known"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
