"""Say which keys and values were recorded, the nearest first, if nothing was recorded for those asked for."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

SHOWN = 8
"""Number of keys, values or configurations that a message lists."""
SIMILAR = 0.6
"""Similarity of two texts from which on one may be a misspelling of the other; `difflib`'s default."""

Keys = Mapping[str, Any]


class Configuration(NamedTuple):
    """The configuration of a recorded case.

    Attributes:
      own: the keys that the case sets.
      all: these and the defaults of the others.
    """

    own: Keys
    all: Keys


def not_recorded(name: str, wanted: Keys, recorded: Iterable[Configuration]) -> ValueError:
    """Return the error for keys of which there is no recorded case.

    Its message names the first key that is unknown, or else the first key whose value no case has. If each value was
    recorded, but not all of them together, it lists the configurations that differ in the fewest keys.

    Args:
      name: what was asked for, such as "dapo" or "trl==1.9.0".
      wanted: the keys that were asked for.
      recorded: the configurations of the recorded cases.
    """
    recorded = list(recorded)
    known = sorted({key for each in recorded for key in each.all})
    for key, value in wanted.items():
        if key not in known:
            return ValueError(f"{name}: unknown key {key!r}{_nearest('keys', key, known)}")
        values = distinct(each.all[key] for each in recorded if key in each.all)
        if value not in values:
            return ValueError(
                f"{name}: nothing was recorded for {text({key: value})}{_nearest('values', value, values)}"
            )
    ordered = distinct(text(each.own) for each in sorted(recorded, key=lambda each: _distance(each, wanted)))
    together = f"{text(wanted)} together" if len(wanted) > 1 else text(wanted)
    return ValueError(
        f"{name}: nothing was recorded for {together}; the nearest are {_listed(ordered, '; ')}"
    )


def text(keys: Keys) -> str:
    """Return keys and values as one writes them in a call.

    >>> text({"loss_type": "dapo", "beta": 0.0})
    "loss_type='dapo', beta=0.0"
    """
    return ", ".join(f"{key}={value!r}" for key, value in keys.items()) or "the defaults alone"


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values without repetitions. They need not be hashable.

    >>> distinct([[0.2, 0.28], None, [0.2, 0.28]])
    [[0.2, 0.28], None]
    """
    kept: list[Any] = []
    for value in values:
        if value not in kept:
            kept.append(value)
    return kept


def nearest_first(value: Any, choices: Sequence[Any]) -> list[Any]:
    """Return the choices in the order of their distance: numbers by difference, all others by similarity as text.

    >>> nearest_first(0.25, [None, 0.1, 0.28])
    [0.28, 0.1, None]
    >>> nearest_first("dap0", ["grpo", "dapo"])
    ['dapo', 'grpo']
    """

    def distance(choice: Any) -> tuple[bool, float]:
        if is_number(value) and is_number(choice):
            return False, abs(choice - value)
        return is_number(value), -_similarity(value, choice)

    return sorted(choices, key=distance)


def is_number(value: Any) -> bool:
    """Return true for numbers other than True and False."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _nearest(what: str, value: Any, choices: Sequence[Any]) -> str:
    """Return the end of a message: the likely choice, if there is one, and the list of choices."""
    ordered = nearest_first(value, choices)
    if not ordered:
        return f"; it has no {what}"
    similar = isinstance(value, str) and _similarity(value, ordered[0]) >= SIMILAR
    hint = f", did you mean {ordered[0]!r}?" if similar else ";"
    shown = [each if what == "keys" else repr(each) for each in ordered]
    return f"{hint} recorded {what}: {_listed(shown, ', ')}"


def _listed(lines: Sequence[str], separator: str) -> str:
    others = f"{separator}and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return separator.join(lines[:SHOWN]) + others


def _similarity(value: Any, choice: Any) -> float:
    """Return a number from 0 to 1. A choice is 1 if the value is the end of its path, as eps_clip of actor.eps_clip."""
    first, second = str(value).lower(), str(choice).lower()
    return 1.0 if second.endswith(f".{first}") else difflib.SequenceMatcher(None, first, second).ratio()


def _distance(recorded: Configuration, wanted: Keys) -> int:
    """Return the number of keys with another value than the one asked for, or that were not asked for."""
    missing = object()
    differing = [key for key, value in wanted.items() if recorded.all.get(key, missing) != value]
    return len(differing) + len(recorded.own.keys() - wanted.keys())
