"""Whether every key of prime-rl is known here: `python tests/data/record/keys_prime_rl.py SOURCES`.

Reads the classes of its configuration, from `RLConfig` down through every type that an annotation names, and
prints each key that the dialect neither knows nor counts to a group without effect. The keys of one source of
tasks are in a list, which is one key; those are compared with what the dialect reads of a source. Then every
TOML file of a run is explained; one that trains with what cannot be said here is refused by a sentence, and
one that fails otherwise is a problem. Exits 1 if there is anything.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
from grpo_ref.explain.dialects.prime_rl import DIALECT
from grpo_ref.explain.dialects.prime_rl.keys import SOURCE

FOLDER = Path("packages/prime-rl-configs/src/prime_rl/configs")
ROOT = ("rl", "RLConfig")
SENTENCES = ("cannot be expressed here", "is expressed here", "compares a group", "more than one")
"""What a refusal that is meant says."""


class Module:
    """The classes, the types and the imports of one file of configurations."""

    def __init__(self, path: Path) -> None:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.types, self.imports = {}, {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                if isinstance(target, ast.Name) and node in tree.body:
                    self.types[target.id] = node.value
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("prime_rl.configs."):
                module = str(node.module).rpartition(".")[2]
                self.imports |= {name.asname or name.name: (module, name.name) for name in node.names}


def named(annotation: ast.AST) -> Iterator[str]:
    """Every name in an annotation, in quotes too."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def classes_of(modules: dict[str, Module], module: str, annotation: ast.AST) -> Iterator[tuple[str, str]]:
    """Every class of a configuration that an annotation can mean."""
    for name in named(annotation):
        if name in modules[module].classes:
            yield module, name
        elif name in modules[module].types:
            yield from classes_of(modules, module, modules[module].types[name])
        elif name in modules[module].imports:
            other, theirs = modules[module].imports[name]
            yield from classes_of(modules, other, ast.Name(theirs))


def keys(modules: dict[str, Module], module: str, name: str, prefix: str = "") -> Iterator[str]:
    """Every key of a class and of those below it, dotted; those of a class that it extends too."""
    node = modules[module].classes[name]
    for base in node.bases:
        for other, theirs in classes_of(modules, module, base):
            yield from keys(modules, other, theirs, prefix)
    for field in node.body:
        if not isinstance(field, ast.AnnAssign) or "ClassVar" in ast.unparse(field.annotation):
            continue
        key = f"{prefix}{ast.unparse(field.target)}"
        below = list(classes_of(modules, module, field.annotation))
        is_list = ast.unparse(field.annotation).startswith(("list", "dict"))
        if not below or is_list or "None" in ast.unparse(field.annotation) or "| str" in key:
            yield key
        if not is_list:
            for other, theirs in below:
                yield from keys(modules, other, theirs, f"{key}.")


def problem_of(path: Path) -> str:
    """Why a file of a run is refused by what is no sentence that is meant, or ""."""
    config = tomllib.loads(path.read_text(encoding="utf-8"))
    if "orchestrator" not in config or "data" in config:
        return ""
    try:
        DIALECT.recipe(**config)
    except ValueError as error:
        return "" if any(sentence in str(error) for sentence in SENTENCES) else str(error)
    return ""


def main(sources: Path) -> int:
    """The number of problems, at most 1."""
    modules = {path.stem: Module(path) for path in (sources / FOLDER).glob("*.py") if path.stem != "__init__"}
    known = sorted({*keys(modules, *ROOT)})
    problems = [f"{key}: not known" for key in known if DIALECT.key(key) is None]
    of_source = {*keys(modules, "orchestrator", "TrainSourceConfig")}
    problems += [
        f"of a source, {key}: not known"
        for key in sorted({key.split(".")[0] for key in of_source} - {*SOURCE})
    ]
    files = [*sorted((sources / "configs").rglob("*.toml")), *sorted((sources / "examples").rglob("*.toml"))]
    problems += [f"{path.relative_to(sources)}: {told}" for path in files if (told := problem_of(path))]
    print(*(problems or [f"all {len(known)} keys and {len(files)} files are known"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
