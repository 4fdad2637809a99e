"""Whether every key of AReaL is known here: `python tests/data/record/keys_areal.py SOURCES`.

Reads the dataclasses of `cli_args.py`, from `PPOConfig` down through every type that an annotation names, and
prints each key that the dialect does not know. Then every YAML file of the examples that has an actor and a
generation is explained; one that trains with what cannot be said here is refused by a sentence, and one that
fails otherwise is a problem. Exits 1 if there is anything.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[3]))
from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects.areal import DIALECT

SENTENCES = ("cannot be expressed here", "got 'binary_kl'")
"""What a refusal that is meant says; AReaL refuses what one of its examples asks for."""
MISSPELT = {"actor.behav_imp_weight_cap"}
"""What is in two of the examples, and AReaL refuses it as well."""


def keys(classes: dict[str, ast.ClassDef], name: str, prefix: str = "") -> Iterator[str]:
    """Every key of a dataclass and of those below it, dotted; those of a class that it extends too."""
    for base in classes[name].bases:
        if ast.unparse(base) in classes:
            yield from keys(classes, ast.unparse(base), prefix)
    for field in classes[name].body:
        if not isinstance(field, ast.AnnAssign) or "ClassVar" in ast.unparse(field.annotation):
            continue
        key = f"{prefix}{ast.unparse(field.target)}"
        names = [node.id for node in ast.walk(field.annotation) if isinstance(node, ast.Name)]
        below = [each for each in names if each in classes and each != name]
        is_list = ast.unparse(field.annotation).startswith(("list", "tuple", "dict"))
        if not below or is_list or "None" in ast.unparse(field.annotation):
            yield key
        for each in below if not is_list else []:
            yield from keys(classes, each, f"{key}.")


def problem_of(path: Path, own: set[str]) -> str:
    """Why a file of a run is refused by what is no sentence that is meant, or ""."""
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(config, dict) or not {"actor", "gconfig"} <= set(config):
        return ""
    given = {key: value for key, value in flat(config).items() if key.split(".")[0] in own}
    given = {key: value for key, value in given.items() if key not in MISSPELT}
    try:
        DIALECT.recipe(**given)
    except ValueError as error:
        return "" if any(each in str(error) for each in SENTENCES) else str(error)
    return ""


def main(sources: Path) -> int:
    """The number of problems, at most 1."""
    tree = ast.parse((sources / "areal" / "api" / "cli_args.py").read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    known = sorted({*keys(classes, "PPOConfig")})
    problems = [f"{key}: not known" for key in known if DIALECT.key(key) is None]
    own = {key.split(".")[0] for key in known}
    files = sorted((sources / "examples").rglob("*.yaml"))
    problems += [f"{path.relative_to(sources)}: {told}" for path in files if (told := problem_of(path, own))]
    print(*(problems or [f"all {len(known)} keys and {len(files)} files are known"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
