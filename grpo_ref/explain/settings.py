"""The settings of a trainer: every key with its value, and the evidence for each value."""

from collections.abc import Iterator, Mapping, Set
from typing import Any


class Settings(Mapping[str, Any]):
    """Every key of a trainer with its value.

    A key without a dot is also an attribute: `settings.beta` is `settings["beta"]`. The settings note which keys
    were read, so that a warning can be withheld if it depends on an unknown value.

    Args:
      values: the values by key.
      unknown: keys whose value in `values` is only an assumption, such as a default that a missing file may change.

    >>> settings = Settings({"beta": 0.04, "rollout.n": 8}, unknown={"rollout.n"})
    >>> settings.beta, settings["rollout.n"], sorted(settings.read)
    (0.04, 8, ['beta', 'rollout.n'])
    >>> settings.rests_on_unknown
    True
    >>> settings.replaced(beta=0.0).beta
    0.0
    """

    def __init__(self, values: Mapping[str, Any], unknown: Set[str] = frozenset()) -> None:
        self._values = dict(values)
        self.unknown = frozenset(unknown)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return self._values[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"no key {key!r} in these settings") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Settings({self._values!r})"

    @property
    def rests_on_unknown(self) -> bool:
        """True if a key was read whose value is only an assumption."""
        return bool(self.read & self.unknown)

    def afresh(self, unknown: Set[str] | None = None) -> "Settings":
        """Return a copy that has not been read, by default with the same unknown keys."""
        return Settings(self._values, self.unknown if unknown is None else unknown)

    def replaced(self, changes: Mapping[str, Any] | None = None, /, **others: Any) -> "Settings":
        """Return a copy in which some keys have other values. Keys that are read in the copy count as read here."""
        copy = Settings({**self._values, **(changes or {}), **others}, self.unknown)
        copy.read = self.read
        return copy

    def __or__(self, changes: Mapping[str, Any]) -> "Settings":
        """Return `replaced(changes)`."""
        return self.replaced(changes)
