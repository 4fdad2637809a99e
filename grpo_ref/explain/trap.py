"""Traps: configurations that differ from what their author is likely to think.

Each trainer's traps are in its folder, in `traps.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from grpo_ref.explain.settings import Settings

Condition = Callable[[Settings, Set[str]], bool]
"""A function of all settings and the given keys that returns true if the configuration falls into the trap."""


@dataclass(frozen=True)
class Trap:
    """One trap of one trainer.

    Attributes:
      name: the trap in a few words. It names the key first.
      sprung: the condition under which a configuration falls into it.
      text: the effect, and how to avoid it, in full sentences.
      source: the publication or code that describes the trap.
      example, near: a configuration that falls into it, and a similar one that does not.
      release: the newest release in which the example falls into it, or another one of its span of equal releases;
        "" for the version that `keys.toml` describes.
    """

    name: str
    sprung: Condition
    text: str
    source: str
    example: Mapping[str, Any]
    near: Mapping[str, Any]
    release: str = ""


def sprung(traps: Iterable[Trap], settings: Settings, given: Set[str]) -> list[Trap]:
    """Return the traps that a configuration certainly falls into: no trap whose condition reads an unknown value.

    Args:
      traps: the trainer's traps, `Dialect.traps`.
      settings: every key with its value, `Dialect.settings(config, unknown)`.
      given: the keys that the configuration gives, `Dialect.given(config)`.
    """
    certain = []
    for trap in traps:
        read = settings.afresh()
        if trap.sprung(read, given) and not read.rests_on_unknown:
            certain.append(trap)
    return certain
