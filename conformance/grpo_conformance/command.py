"""The command line: `python -m grpo_conformance MODULE:FUNCTION NAME`."""

import argparse
import importlib
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

EXAMPLE = """\
examples:
  python -m grpo_conformance my_module:my_loss dapo
  python -m grpo_conformance my_module:my_loss grpo kl_coef=0
  python -m grpo_conformance my_module:my_loss trl loss_type=dapo epsilon_high=0.28
  python -m grpo_conformance --list

Exit status: 0 if the function conforms, 1 if it does not, 2 if it could not be compared.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m grpo_conformance",
        description="Test that a function computes what the GRPO trainers compute.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "function", nargs="?", metavar="MODULE:FUNCTION", help="your function; . is on the path"
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="an algorithm, an estimator, a trainer or a release"
    )
    parser.add_argument(
        "settings", nargs="*", metavar="KEY=VALUE", help="settings; default: the published ones"
    )
    parser.add_argument(
        "--framework", default="", choices=("numpy", "torch", "jax"), help="default: as the function"
    )
    parser.add_argument("--dtype", default="float64", choices=("float64", "float32"), help="of the arrays")
    parser.add_argument("--list", action="store_true", help="list the names and their formulas, and stop")
    options = parser.parse_args(arguments)
    if options.list:
        _print("\n".join(listed()))
        return 0
    if not options.function or not options.name:
        parser.error("expected MODULE:FUNCTION and NAME, for example: my_module:my_loss dapo")
    from grpo_conformance.conforming import conforms

    name, settings = parsed(",".join([options.name, *options.settings]))
    try:
        function = function_of(options.function)
        report = conforms(function, name, framework=options.framework, dtype=options.dtype, **settings)
    except (ValueError, TypeError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    _print(str(report))
    return 0 if report.conforms else 1


def _print(text: str) -> None:
    """Print a text. A reader that stops early, as `| head` does, is not an error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # Python flushes the output once more at its end, and would report the error then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


LEGEND = """\
r = exp(log_probs - old_log_probs), A = advantage, d = ref_log_probs - log_probs, sg[x] = x without its gradient,
w = exp(old_log_probs - rollout_log_probs), unless a formula defines it."""
"""The symbols of the formulas."""


def listed() -> list[str]:
    """Return the symbols of the formulas, then a few lines for each name, below its level."""
    from grpo_conformance.trainer import TRAINERS
    from grpo_conformance.vector import LEVELS, document, names

    lines = [LEGEND]
    for level in (1, 2, 3):
        lines.append(f"level {level}: {LEVELS[level]}")
        for name in names(level):
            about = document(name)
            settings = ", ".join(f"{key}={value}" for key, value in about["settings"].items())
            lines.append(f"  {name:24} {settings}")
            lines.append(f"  {'':24} {about['formula']}")
            if "mean" in about:
                lines.append(f"  {'':24} mean: {about['mean']}")
    return [*lines, f"level 4: {LEVELS[4]}", f"  {', '.join(TRAINERS)}"]


def function_of(place: str) -> Callable[..., Any]:
    """Import MODULE:FUNCTION, with the current folder on the path.

    Raises:
      ValueError: if the text has another form, or the module has no such function.
      ImportError: if the module cannot be imported.
    """
    module, _, path = place.partition(":")
    if not module or not path:
        raise ValueError(f"function: expected MODULE:FUNCTION, such as my_module:my_loss, got {place!r}")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    value: Any = importlib.import_module(module)
    for name in path.split("."):
        if not hasattr(value, name):
            raise ValueError(f"function: {module} has no {path!r}")
        value = getattr(value, name)
    if not callable(value):
        raise ValueError(f"function: expected a function, {place} is of type {type(value).__name__}")
    return value  # type: ignore[no-any-return]


OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")
"""A comma that does not separate the items of a list."""


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Split "NAME,KEY=VALUE,..." into the name and the settings.

    >>> parsed("dapo,clip_high=0.28,loss_type=dapo,delta=null")
    ('dapo', {'clip_high': 0.28, 'loss_type': 'dapo', 'delta': None})
    >>> parsed("areal,actor.eps_clip_low_high=[0.2, 0.28]")
    ('areal', {'actor.eps_clip_low_high': [0.2, 0.28]})

    Raises:
      ValueError: if there is no name.
    """
    name, *pairs = OUTSIDE_BRACKETS.split(text)
    if not name:
        raise ValueError("expected a name after the function, as in my_module:my_loss=dapo")
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        spelled = {"True": "true", "False": "false", "None": "null"}.get(value, value)
        try:
            settings[key] = json.loads(spelled)
        except json.JSONDecodeError:
            settings[key] = value
    return name, settings
