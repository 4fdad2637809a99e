"""Configurations from files, from the command line and from a pasted text, and their values as YAML."""

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from grpo_ref.trainers.dialect import Dialect, flat

SCIENTIFIC = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")


def read_config(parts: Sequence[str]) -> dict[str, Any]:
    """Files and KEY=VALUE pairs as one configuration with dotted keys; later ones win.

    A key may begin with Hydra's + or ++.

    Raises:
      ValueError: if a part is neither, or a file is no mapping of keys.
    """
    config: dict[str, Any] = {}
    for part in parts:
        if "=" in part:
            key, value = part.split("=", 1)
            config |= flat({key.lstrip("+"): _parsed(value)})
        else:
            config |= flat(_read(Path(part)))
    return config


def pasted(text: str) -> dict[str, Any]:
    r"""A configuration from a text: YAML or JSON, or KEY=VALUE pairs with blanks or new lines between them.

    Args:
      text: of the configuration; without any keys, the trainer's defaults are meant.

    Raises:
      ValueError: if it is none of these.

    >>> pasted("loss_type=dr_grpo \\\n  beta=4e-2") == pasted("loss_type: dr_grpo\nbeta: 4e-2")
    True
    """
    pairs = _words(text)
    if pairs and all("=" in pair for pair in pairs):
        return read_config(pairs)
    data = _json_or_yaml(text)
    return flat(_mapping({} if data is None else data))


def known(dialect: Dialect, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without the keys that the dialect does not have."""
    return {key: value for key, value in config.items() if dialect.key(key) is not None}


def as_yaml(value: Any) -> str:
    """A value as YAML, on one line.

    >>> as_yaml([0.2, None])
    '[0.2, null]'
    """
    return str(yaml.safe_dump(value, default_flow_style=True).splitlines()[0])


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"{path} is neither a file nor KEY=VALUE")
    text = path.read_text(encoding="utf-8")
    try:
        data = json.loads(text) if path.suffix == ".json" else _yaml(text)
        return _mapping(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _mapping(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"expected keys and values, as in beta: 0.04, got {type(data).__name__}")
    numbers: dict[str, Any] = _as_number(data)
    return numbers


def _words(text: str) -> list[str]:
    """The words of a command line; none of a text that cannot be one."""
    try:
        return shlex.split(text.replace("\\\n", " "), comments=True)
    except ValueError:
        return []


def _json_or_yaml(text: str) -> Any:
    """JSON may have tabs, which YAML forbids."""
    try:
        return json.loads(text)
    except ValueError:
        return _yaml(text)


def _parsed(value: str) -> Any:
    """A value as YAML reads it, with Python's None, True and False."""
    return {"None": None, "True": True, "False": False}.get(value, _as_number(_yaml(value)))


def _as_number(value: Any) -> Any:
    """YAML takes 3e-4, without a point, for text; a configuration means the number."""
    if isinstance(value, dict):
        return {key: _as_number(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_number(item) for item in value]
    return float(value) if isinstance(value, str) and SCIENTIFIC.fullmatch(value) else value


def _yaml(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
