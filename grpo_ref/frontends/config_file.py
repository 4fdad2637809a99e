"""Configurations from files and from the command line, and their values as YAML."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from grpo_ref.trainers.dialect import Dialect, flat

SCIENTIFIC = re.compile(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+")


def read_config(parts: Sequence[str]) -> dict[str, Any]:
    """Files and KEY=VALUE pairs as one configuration with dotted keys; later ones win.

    Raises:
      ValueError: if a part is neither, or a file is no mapping of keys.
    """
    config: dict[str, Any] = {}
    for part in parts:
        if "=" in part:
            key, value = part.split("=", 1)
            config |= flat({key: _parsed(value)})
        else:
            config |= flat(_read(Path(part)))
    return config


def without_unknown(dialect: Dialect, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without the keys that the dialect does not have, each named on standard error."""
    for text in dialect.unknown(config):
        click.echo(f"skipped: {dialect.name} has no key {text}", err=True)
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
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(data, dict):
        raise ValueError(f"{path}: expected keys and values, got {type(data).__name__}")
    numbers: dict[str, Any] = _as_number(data)
    return numbers


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
