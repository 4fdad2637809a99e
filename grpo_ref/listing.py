"""Listings by name (recipes, tasks, experiments, trainers), with a suggestion for an unknown name."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

import lazy_loader

difflib = lazy_loader.load("difflib")  # only needed after a misspelt name

Value = TypeVar("Value")


class UnknownName(KeyError):
    """No entry has this name; the message lists or suggests the known ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class Listing(dict[str, Value]):
    """All things of one kind by name, in the order in which they are shown.

    A dictionary in everything but the message for a name that it does not have.

    Args:
      kind: what one of them is called, in a word.
      members: name -> the thing.
      unlisted: names that the message for an unknown name does not list. They can be looked up and suggested.

    >>> metals = Listing("metal", {"gold": 79, "silver": 47})
    >>> metals["gold"]
    79
    >>> metals["silber"]
    Traceback (most recent call last):
    grpo_ref.listing.UnknownName: no metal 'silber'; did you mean 'silver'?
    """

    def __init__(self, kind: str, members: Mapping[str, Value], unlisted: Collection[str] = ()) -> None:
        super().__init__(members)
        self.kind, self.unlisted = kind, frozenset(unlisted)

    def __missing__(self, name: object) -> Value:
        raise UnknownName(unknown(self.kind, name, self))


class LateMapping(Mapping[str, Value]):
    """A mapping that is not there before it is first used.

    Args:
      give: gives the mapping, and is asked at each use.

    >>> later = {}
    >>> metals = LateMapping(lambda: later)
    >>> later["gold"] = 79
    >>> metals["gold"], len(metals)
    (79, 1)
    """

    def __init__(self, give: Callable[[], Mapping[str, Value]]) -> None:
        self.give = give

    def __getitem__(self, name: str) -> Value:
        return self.give()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.give()

    def __iter__(self) -> Iterator[str]:
        return iter(self.give())

    def __len__(self) -> int:
        return len(self.give())


class LazyListing(Mapping[str, Value]):
    """A listing whose members are imported when they are looked up, so that their names cost nothing.

    Args:
      kind: what one of them is called, in a word.
      names: in the order in which they are shown; they are not asked for before they are used.
      load: gives the thing of a name.

    >>> lengths = LazyListing("metal", ("gold", "silver"), len)
    >>> list(lengths), lengths["silver"]
    (['gold', 'silver'], 6)
    """

    def __init__(self, kind: str, names: Collection[str], load: Callable[[str], Value]) -> None:
        self.kind, self.names, self.load = kind, names, load

    def __getitem__(self, name: str) -> Value:
        if name not in self.names:
            raise UnknownName(unknown(self.kind, name, self.names))
        return self.load(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the message for an unknown name: a suggestion, or else all known names.

    >>> unknown("metal", "tin", ["gold", "silver"])
    "no metal 'tin'; there are: gold, silver"
    """
    if close := nearest(name, known):
        return f"no {kind} {name!r}; did you mean {close!r}?"
    return f"no {kind} {name!r}; there are: {', '.join(listed(known)) or 'none'}"


def listed(known: Iterable[str]) -> list[str]:
    """Return the known names, without the unlisted names of a `Listing`.

    >>> listed(Listing("metal", {"gold": 79, "silver": 47}, unlisted=["silver"]))
    ['gold']
    """
    unlisted = known.unlisted if isinstance(known, Listing) else frozenset()
    return [name for name in known if name not in unlisted]


def nearest(name: object, known: Iterable[str]) -> str | None:
    """Return the most similar known name, ignoring case; None if there is none.

    >>> nearest("DAPPO", ["dapo", "grpo"])
    'dapo'
    """
    close = difflib.get_close_matches(str(name).lower(), list(known), n=1)
    return close[0] if close else None
