"""Build the versions of a trainer from the history of its keys: differences are data, not branches."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Version, numbered


class Without(NamedTuple):
    """A mark for a version that does not have the key and behaves as with this value.

    Attributes:
      value: value of the key in the versions that have it.
    """

    value: Any


History = Mapping[str, Mapping[str, Any]]
"""For each key, its default from each version on, or `Without` if the version does not have it."""


def versions(title: str, history: History, others: Iterable[str] = ()) -> dict[str, Version]:
    """Return every version in which something changed, the oldest first.

    Args:
      title: name of the trainer, "TRL".
      history: history of its keys. Before its first version, a key is as in that version.
      others: versions in which something else changed.

    >>> found = versions("T", {"beta": {"0.1": 0.04, "0.3": 0.0}, "delta": {"0.1": Without(None), "0.2": None}})
    >>> {name: (version.defaults["beta"], sorted(version.absent)) for name, version in found.items()}
    {'0.1': (0.04, ['delta']), '0.2': (0.04, []), '0.3': (0.0, [])}
    """
    names = sorted({*others, *(name for changes in history.values() for name in changes)}, key=numbered)
    return {name: _version(f"{title} {name}", history, name) for name in names}


def _version(title: str, history: History, name: str) -> Version:
    values = {key: _at(changes, name) for key, changes in history.items()}
    return Version(
        title=title,
        defaults={key: value.value if isinstance(value, Without) else value for key, value in values.items()},
        absent=frozenset(key for key, value in values.items() if isinstance(value, Without)),
    )


def _at(changes: Mapping[str, Any], name: str) -> Any:
    """Return the value that the last change up to this version set."""
    made = [change for change in sorted(changes, key=numbered) if numbered(change) <= numbered(name)]
    return changes[made[-1] if made else min(changes, key=numbered)]
