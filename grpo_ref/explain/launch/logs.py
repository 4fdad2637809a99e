"""Read the log of a run: the command that started the run, and the configuration that the trainer completed."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from grpo_ref.explain.launch.pastes import COLOUR, PREFIXES

GOES_ON = re.compile(r"\s+(['\"\d\[{(}\])-]|None|True|False).*")
"""A continuation line of a printed dictionary.

Other lines that the same process prints meanwhile do not match.
"""
TRACED = re.compile(r"\++ (\S.*)")
"""A command as `set -x` prints it before running it."""
LINES = 5_000
"""Largest number of lines of a printed configuration."""


def traced(text: str) -> list[str]:
    r"""Return the commands that a script printed before it ran them.

    >>> traced("+ export A=1\nhello\n++ date")
    ['export A=1', 'date']
    """
    return [found[1] for line in text.splitlines() if (found := TRACED.fullmatch(_parted(line)[1]))]


def printed(text: str) -> Iterator[dict[str, Any]]:
    r"""Yield the dictionaries that processes printed, without the prefixes of their lines.

    >>> list(printed("(main pid=7) {'actor': {'clip': 0.2,\n(other pid=8) hello\n(main pid=7)  'n': 4}}"))
    [{'actor': {'clip': 0.2, 'n': 4}}]
    """
    lines = [_parted(line) for line in text.splitlines()]
    for place, (source, line) in enumerate(lines):
        if line.startswith(("{'", '{"')):
            rest = [inner for other, inner in lines[place : place + LINES] if other == source]
            rest = [line, *filter(GOES_ON.fullmatch, rest[1:])]
            found = _dictionary(rest)
            if found is not None:
                yield found


def _parted(line: str) -> tuple[str, str]:
    """Return the prefix of a line, which names the process, and the rest of the line."""
    plain = COLOUR.sub("", line)
    found = next((match for prefix in PREFIXES if (match := prefix.match(plain))), None)
    return (found[1], plain[found.end() :]) if found else ("", plain)


def _dictionary(lines: list[str]) -> dict[str, Any] | None:
    """Return the dictionary that begins with the first line; None if it does not end or has non-constant values."""
    depth, taken = 0, []
    for line in lines:
        taken.append(line)
        bare = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", "", line)
        depth += bare.count("{") - bare.count("}")
        if depth <= 0:
            break
    try:
        found = ast.literal_eval("\n".join(taken))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found if isinstance(found, dict) else None
