"""Parse the values of keys as a configuration means them, and mark those that only a run can show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

MOST_NODES, DEEPEST = 100_000, 60
NAMED = {"None": None, "null": None, "True": True, "true": True, "False": False, "false": False}
"""Words of a command line that are not text.

`none` is missing on purpose: it is text, as in TRL's scale_rewards.
"""
DECIMAL = re.compile(r"[-+]?\d+(_\d{3})*")


class NoLaunch(ValueError):
    """Raised for a text that can be read and launches no trainer that is known here."""


@dataclass(frozen=True)
class Unknown:
    """A value that cannot be known without running the program.

    Attributes:
      text: the value as written, such as "$CLIP" or "${oc.env:CLIP}".
      why: the reason, as the end of "Not known, because ...".
    """

    text: str
    why: str

    def __str__(self) -> str:
        return self.text


class Loader(yaml.SafeLoader):
    """Load YAML with the numbers of YAML 1.2: 3e-4 is a number, which YAML 1.1 reads as text."""


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d[\d_]*)?\.?\d+[eE][-+]?\d+$"), list("-+.0123456789")
)


def parsed(text: str) -> Any:
    """Parse a word of a command line as Hydra and argparse do. Anything else is text.

    >>> [parsed(text) for text in ("3e-4", "None", "[0.2, 4]", "0.5_5.0", "010", "off", "a: b: c")]
    [0.0003, None, [0.2, 4], '0.5_5.0', 10, 'off', 'a: b: c']
    """
    if text in NAMED:
        return NAMED[text]
    if DECIMAL.fullmatch(text):
        return int(text)
    if text.startswith(("[", "{", "'", '"')):
        return _of_yaml(text)
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text


def _of_yaml(text: str) -> Any:
    try:
        return read_yaml(text)
    except ValueError:
        return text


def read_yaml(text: str) -> Any:
    """Parse a YAML text.

    Raises:
      ValueError: if the text is not YAML, has more than 100,000 values, or is nested deeper than 60 levels.
    """
    try:
        value = yaml.load(text, Loader)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    _count(value)
    return value


def _count(value: Any, depth: int = 0, counted: int = 0) -> int:
    """Count the values, repetitions included.

    Raise a ValueError if there are too many, or if they are circular.
    """
    if depth > DEEPEST:
        raise ValueError(f"a value that is nested deeper than {DEEPEST} levels, or in itself")
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            counted = _count(item, depth + 1, counted)
    if counted >= MOST_NODES:
        raise ValueError(f"more than {MOST_NODES:,} values")
    return counted + 1


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested groups into dotted keys. A key may itself contain dots.

    >>> flat({"actor": {"clip_ratio_low": 0.2}, "n": 8})
    {'actor.clip_ratio_low': 0.2, 'n': 8}
    """
    keys: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{prefix}{key}"
        keys |= flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return keys
