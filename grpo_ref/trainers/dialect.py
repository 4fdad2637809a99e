"""What a dialect is: a trainer's keys, their defaults, and how they become a recipe."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from grpo_ref.recipes import Recipe


@dataclass(frozen=True)
class Dialect:
    """One trainer's way to say which objective it optimises.

    Attributes:
      name: as in `grpo-ref explain NAME`.
      version: what the defaults and the behaviour were read from.
      defaults: key -> value, the keys that change the objective.
      build: all settings -> Recipe.
      choices: key -> its values, of the keys that have only a few; for `grpo-ref convert`.
      others: keys that exist and leave the objective alone.
      aliases: old or longer key -> key.
      beyond: key -> its value that does nothing, and what any other does that no recipe here can say.
    """

    name: str
    version: str
    defaults: Mapping[str, Any]
    build: Callable[[SimpleNamespace], Recipe]
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    beyond: Mapping[str, tuple[Any, str]] = field(default_factory=dict)

    def recipe(self, **config: Any) -> Recipe:
        """The recipe that the trainer computes with this configuration.

        Raises:
          ValueError: if a key is unknown, or a value is one that the trainer would refuse.
        """
        return self.build(self.settings(config))

    def settings(self, config: Mapping[str, Any]) -> SimpleNamespace:
        """The defaults, changed where the configuration says otherwise; nested groups may be given as such.

        Raises:
          ValueError: if a key is unknown, with the nearest known one, or its value is beyond what can be
          said.
        """
        given = {}
        for key, value in flat(config).items():
            name = self.key(key)
            if name in self.defaults:
                given[name] = value
            elif name in self.beyond and value != self.beyond[name][0]:
                raise ValueError(
                    f"{self.name}: {key} = {value!r} cannot be expressed here: {self.beyond[name][1]}"
                )
        return SimpleNamespace(**{**self.defaults, **given})

    def key(self, key: str) -> str:
        """The key by its name in the defaults, whatever group or alias it was given with."""
        groups = key.split(".")
        short = groups[-1]
        for begin in range(len(groups)):
            name = ".".join(groups[begin:])
            name = self.aliases.get(name, name)
            if name in self.defaults or name in self.others or name in self.beyond:
                return name
        known = [*self.defaults, *self.aliases, *self.others, *self.beyond]
        close = difflib.get_close_matches(short, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"{self.name} has no key {key!r}{hint}")


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested groups as dotted keys.

    >>> flat({"actor": {"clip_ratio_low": 0.2}, "n": 8})
    {'actor.clip_ratio_low': 0.2, 'n': 8}
    """
    keys: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{prefix}{key}"
        keys |= flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return keys


def one_of(name: str, value: Any, known: Mapping[Any, Any]) -> Any:
    """The entry of a table, or a ValueError that names the key and what it may be."""
    if value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
    return known[value]
