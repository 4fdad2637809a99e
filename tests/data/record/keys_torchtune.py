"""Whether every key of torchtune's GRPO is known here: `python tests/data/record/keys_torchtune.py SOURCES`.

Reads every `cfg.a.b` and `cfg.a.get("b")` of both recipes and of the workers, the arguments of the losses,
and every key of the YAML files of the recipes; prints each that the dialect neither knows nor counts to a
group without effect. Then each file is compared with what the dialect says of it. Exits 1 on any problem.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[3]))
from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects.torchtune import DIALECT

RECIPES = "recipes/dev/*grpo_full_finetune_distributed.py"
WORKERS = "torchtune/dev/rl/workers/**/*.py"
LOSSES = ("torchtune/dev/grpo/loss.py", "torchtune/dev/rl/linear_grpo_loss.py")
METHODS = ("get", "keys", "items")


def read_keys(path: Path) -> Iterator[str]:
    """Every key that a file reads of the whole configuration."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            group, name = ast.unparse(node.func.value), node.args and node.args[0]
            if isinstance(name, ast.Constant) and (key := _below_a_root(group)) is not None:
                yield f"{key}.{name.value}".lstrip(".")
        if isinstance(node, ast.Attribute) and node.attr not in METHODS:
            if key := _below_a_root(ast.unparse(node)):
                yield key


def _below_a_root(path: str) -> str | None:
    """A dotted path without the configuration in front; "" of the configuration itself."""
    found = re.fullmatch(r"(?:self\.)?cfg((?:\.\w+)*)", path)
    return found[1].lstrip(".") if found else None


def arguments(path: Path) -> Iterator[str]:
    """What the losses of a file are made with."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            yield from (f"loss.{argument.arg}" for argument in node.args.args[1:])


def main(sources: Path) -> int:
    """The number of problems, at most 1."""
    known = {key for place in (RECIPES, WORKERS) for path in sources.glob(place) for key in read_keys(path)}
    known |= {key for path in LOSSES for key in arguments(sources / path)}
    files = [sources / "recipes/configs/dev" / f"{name}.yaml" for name in DIALECT.program.files]
    configs = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}
    known |= {key for config in configs.values() for key in flat(config)}
    problems = [f"{key}: not known" for key in sorted(known) if not _is_known(key, known)]
    for name, config in configs.items():
        whole, short = DIALECT.recipe(**config), DIALECT.recipe(**DIALECT.program.files[name])
        problems += [f"{name}: the file says {whole}, and its entry {short}"] if whole != short else []
    print(*(problems or [f"all {len(known)} keys and {len(files)} files are known"]), sep="\n")
    return 1 if problems else 0


def _is_known(key: str, all_keys: set[str]) -> bool:
    """Whether the dialect has a key; a group is known if all that is in it is."""
    below = [other for other in all_keys if other.startswith(f"{key}.")]
    return DIALECT.key(key) is not None or bool(below and key in DIALECT.keys.groups | DIALECT.keys.ignored)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
