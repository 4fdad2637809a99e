"""Which keys of a real file an explanation rests on: what matters, what does not, and what nobody knows."""

import difflib
from collections.abc import Mapping
from typing import Any, NamedTuple

from grpo_ref.recipes import Recipe
from grpo_ref.trainers.dialect import Dialect
from grpo_ref.trainers.launch.values import Unknown

SLIP = 2
"""A key that nobody knows is taken for a slip of the pen if so many letters are others, or one in six."""
TRIED = (0.5, 2.0, 3, True, False)
"""Values that an unknown one is tried with, to see which parts of the objective depend on it."""


class Unsure(NamedTuple):
    """A key that matters and whose value only the run knows.

    Attributes:
      key: as it was given.
      value: what stands in its place, and why it is not known.
      parts: of the recipe that depend on it.
    """

    key: str
    value: Unknown
    parts: tuple[str, ...]


class Understood(NamedTuple):
    """The keys of a file, sorted.

    Attributes:
      config: those that the trainer reads for its objective, with a known value.
      unsure: those whose value is not known.
      without_effect: known keys that do not touch the objective.
      strangers: keys that this trainer does not have -> the nearest one that it has, or "".
    """

    config: dict[str, Any]
    unsure: list[Unsure]
    without_effect: dict[str, Any]
    strangers: dict[str, str]


def understood(dialect: Dialect, keys: Mapping[str, Any], *, strict: bool = True) -> Understood:
    """Sort the keys of a file.

    Args:
      dialect: the trainer's.
      keys: dotted, with their values.
      strict: whether a key that looks like a slip in one that matters is an error.

    Raises:
      ValueError: for such a slip; or a value that the trainer would refuse.

    >>> from grpo_ref.trainers import DIALECTS
    >>> found = understood(DIALECTS["trl"], {"beta": 0.04, "bf16": True, "my_reward": "math"})
    >>> found.config, found.without_effect, found.strangers
    ({'beta': 0.04}, {'bf16': True}, {'my_reward': ''})
    """
    config: dict[str, Any] = {}
    without: dict[str, Any] = {}
    strangers: dict[str, str] = {}
    holes: dict[str, Unknown] = {}
    for given, stated in keys.items():
        key, value = _positive(dialect, given, stated)
        name = dialect.key(key)
        if name is None:
            strangers[key] = _nearest(dialect, key)
        elif name not in dialect.defaults and name not in dialect.beyond:
            without[key] = value
        elif isinstance(value, Unknown):
            holes[key] = value
        else:
            config[key] = _without_holes(key, value)
    slips = [
        f"{key!r} (did you mean {near!r}?)" for key, near in strangers.items() if _is_slip(dialect, key, near)
    ]
    if slips and strict:
        raise ValueError(f"{dialect.name} has no key {', '.join(slips)}")
    unsure = [Unsure(key, value, _depending(dialect, config, key)) for key, value in holes.items()]
    return Understood(config, unsure, without, strangers)


def _positive(dialect: Dialect, key: str, value: Any) -> tuple[str, Any]:
    """The key without a "no_" that parsers of flags put before those that are on by default."""
    inner = key.removeprefix("no_")
    is_negated = inner != key and value is True and dialect.key(key) is None
    return (inner, False) if is_negated and isinstance(dialect.defaults.get(inner), bool) else (key, value)


def _nearest(dialect: Dialect, key: str) -> str:
    names = [*dialect.defaults, *dialect.aliases, *dialect.others, *dialect.beyond]
    known = [name for name in names if name not in dialect.absent]
    return next(iter(difflib.get_close_matches(key.split(".")[-1], known, n=1, cutoff=0.75)), "")


def _is_slip(dialect: Dialect, key: str, near: str) -> bool:
    """Whether a key is nearly one that matters."""
    name = dialect.aliases.get(near, near)
    matters = name in dialect.defaults or name in dialect.beyond
    given, meant = key.split(".")[-1], near.split(".")[-1]
    same = sum(block.size for block in difflib.SequenceMatcher(None, given, meant).get_matching_blocks())
    others = max(len(given), len(meant)) - same
    return matters and 0 < others <= min(SLIP, max(1, len(meant) // 6))


def _without_holes(key: str, value: Any) -> Any:
    """The value, unless a part of it is unknown."""
    if isinstance(value, list) and any(isinstance(item, Unknown) for item in value):
        raise ValueError(f"{key}: a part of {[str(item) for item in value]} is not known")
    return value


def _depending(dialect: Dialect, config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The parts of the recipe that are others for some value of the key."""
    name = str(dialect.key(key))
    tried = [*dialect.choices.get(name, ()), *TRIED]
    recipes = [recipe for value in tried if (recipe := _recipe(dialect, {**config, key: value})) is not None]
    before = _recipe(dialect, config)
    parts = [part for recipe in recipes if before is not None for part in before.differences(recipe)]
    return tuple(dict.fromkeys(parts))


def _recipe(dialect: Dialect, config: Mapping[str, Any]) -> Recipe | None:
    try:
        return dialect.recipe(**config)
    except ValueError:
        return None
