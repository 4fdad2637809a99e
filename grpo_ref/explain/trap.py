"""Traps: configurations that do something else than their author is likely to think.

Each trainer's traps stand in its folder, in `traps.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

Condition = Callable[[SimpleNamespace, Set[str]], bool]
"""All settings, and the keys that were given -> whether the configuration falls into the trap."""


@dataclass(frozen=True)
class Trap:
    """One trap of one trainer.

    Attributes:
      name: the trap in a few words.
      sprung: when a configuration falls into it.
      text: what really happens, and what to do about it, in full sentences.
      source: where that can be read.
      example, near: a configuration that falls into it, and one close by that does not.
    """

    name: str
    sprung: Condition
    text: str
    source: str
    example: Mapping[str, Any]
    near: Mapping[str, Any]


def sprung(traps: Iterable[Trap], settings: SimpleNamespace, given: Set[str]) -> list[Trap]:
    """The traps that a configuration falls into.

    Args:
      traps: those of the trainer, `Dialect.traps`.
      settings: every key with its value, `Dialect.settings(config)`.
      given: the keys that the configuration spells out, `Dialect.given(config)`.
    """
    return [trap for trap in traps if trap.sprung(settings, given)]
