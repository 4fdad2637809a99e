"""Look up which settings answer a pattern, their keys in each trainer, and the price of a change."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grpo_ref.explain.explanation import Report

ADVICE = Path(__file__).with_name("advice.toml")
BASES = {"unsloth": "trl", "miles": "slime", "easy_r1": "verl"}
"""Trainers that have the keys of another trainer."""


class Answer(NamedTuple):
    """An answer to a pattern.

    Attributes:
      keys: the keys to change, in the trainer's own names; none if the trainer is unknown.
      price: the price of the change, in whole sentences.
    """

    keys: tuple[str, ...]
    price: str


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(ADVICE.read_text(encoding="utf-8"))


def settings() -> Mapping[str, Mapping[str, str]]:
    """Return each setting with its key for each trainer."""
    keys: dict[str, dict[str, str]] = _data()["settings"]
    return keys


def answer(pattern: str, trainer: str, report: Report | None = None) -> Answer | None:
    """Return the answer to a pattern; None if there is none.

    Args:
      pattern: name of the pattern.
      trainer: name of the trainer.
      report: the explained configuration. Its values are written beside the keys.

    >>> answer("dead", "trl")
    Answer(keys=('num_generations',), price='Each update then needs more completions.')
    """
    entry = _data()["answers"].get(pattern)
    if entry is None:
        return None
    name = BASES.get(trainer, trainer)
    keys = [settings()[setting].get(name) for setting in entry["settings"]]
    return Answer(tuple(_with_value(key, report) for key in keys if key), entry["price"])


def check(code: str) -> tuple[str, str]:
    """Return what to check first if a relation is broken, and the anchor of the section on the symptom; "" if there is none.

    >>> check("R12")[1]
    'grad-norm-is-0'
    """
    entry = _data()["violations"].get(code, {})
    return entry.get("check", ""), entry.get("page", "")


def key_of(setting: str, report: Report | None) -> str:
    """Return the key of a setting in a configuration's trainer, with its value; "" if it is not known."""
    name = "" if report is None else BASES.get(report.dialect.name, report.dialect.name)
    key = settings().get(setting, {}).get(name, "")
    return _with_value(key, report) if key else ""


def _with_value(key: str, report: Report | None) -> str:
    """Return a key with its value in the configuration, if it is given there."""
    dotted = f".{key.partition(' ')[0]}"
    for name, value in ({} if report is None else report.launch.keys).items():
        if dotted.endswith(f".{name}") or f".{name}".endswith(dotted):
            return f"{key} (now {value})"
    return key
