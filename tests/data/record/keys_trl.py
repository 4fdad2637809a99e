"""TRL's keys: `python tests/data/record/keys_trl.py SOURCES`, SOURCES being where `trl` 1.16.0 is installed.

Reads the fields of GRPOConfig and GMPOConfig and the arguments of GRPOTrainer, and of the classes that TRL's
command line reads beside them. Prints each that the dialect does not know, each default that is another, and
each key that the dialect knows and TRL does not have; exits 1 if there is any.
"""

import inspect
import sys
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

OURS = ("trainer",)
"""Keys of the dialect that are no key of TRL: which of its classes trains."""
COMMAND_LINE = ("config",)
"""What TRL's command line takes besides."""
MISTAKEN = ("ref_model", "tokenizer")
"""Arguments that texts give to GRPOTrainer and that it does not have: accepted, and told of."""
VERSION = "1.16.0"


def default(field: "Field[Any]") -> Any:
    """The default of a field of a data class."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def main() -> int:
    sys.path[:0] = [sys.argv[1], str(Path(__file__).parents[3])]
    import trl
    from trl.experimental.gmpo import GMPOConfig

    from grpo_ref.explain.dialects.trl.objective import DIALECT, GMPO

    if trl.__version__ != VERSION:
        sys.exit(f"this reads TRL {VERSION}, not {trl.__version__}")
    known = {*DIALECT.keys.defaults, *DIALECT.keys.names, *DIALECT.keys.harmless, *DIALECT.keys.inexpressible}
    configured = {field.name: default(field) for field in fields(trl.GRPOConfig)}
    arguments = set(inspect.signature(trl.GRPOTrainer.__init__).parameters) - {"self"}
    command_line = {field.name for kind in (trl.ModelConfig, trl.ScriptArguments) for field in fields(kind)}
    problems = [f"{key}: not known" for key in sorted({*configured, *arguments, *command_line} - known)]
    given = {
        DIALECT.key(key) or key: value
        for key, value in configured.items()
        if DIALECT.keys.names.get(key, key) == key
    }
    for key, value in DIALECT.keys.defaults.items():
        if key not in OURS and given.get(key, MISSING) != value:
            problems.append(f"{key}: the default is {given.get(key, 'missing')!r}, not {value!r}")
    theirs = {*configured, *arguments, *command_line, *OURS, *COMMAND_LINE, *MISTAKEN}
    problems += [f"{key}: TRL has no such key" for key in sorted(known - theirs)]
    own = {field.name: default(field) for field in fields(GMPOConfig)}
    changed = {key: value for key, value in own.items() if configured[key] != value}
    if changed != DIALECT.keys.variants["trainer", GMPO]:
        problems.append(f"GMPOConfig changes {changed}")
    print(*(problems or [f"all {len(configured)} keys of GRPOConfig are known"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
