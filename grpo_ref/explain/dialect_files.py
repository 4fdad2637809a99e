"""Read a trainer's keys and their history from `keys.toml` and `history.toml` in its folder.

TOML has no None. A key without `default` has the default None, and `{ unset = true }` is None elsewhere.
`docs/contributing/add_a_trainer.md` describes both files.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from grpo_ref.explain.dialect import (
    Absent,
    Averages,
    Dialect,
    History,
    Inexpressible,
    Key,
    Keys,
    Name,
    Objective,
    Program,
)
from grpo_ref.explain.trap import Trap

UNSET = {"unset": True}
PROGRAM = re.compile(r"^\[program[\].].*?(?=^\[(?!program[\].])|\Z)", re.MULTILINE | re.DOTALL)
"""The table `[program]` of a keys.toml and its inner tables, which follow one another."""


def dialect_of(package: str, objective: Objective, traps: tuple[Trap, ...]) -> Dialect:
    """Return the dialect of a trainer: its functions and traps, with the keys from the files in its folder.

    Args:
      package: the trainer's folder as a package, `__package__` in its modules.
      objective: the meaning of its keys.
      traps: its traps.

    Raises:
      ValueError: if a file has a table or field that the format does not have.
    """
    about, keys, program, history = read_files(package)
    return Dialect(
        name=package.rpartition(".")[2],
        title=about["title"],
        release=about["version"],
        objective=objective,
        keys=keys,
        program=program,
        history=history,
        traps=traps,
        foreign=frozenset(name for name, each in history.names.items() if not history.has(each, "")),
    )


@cache
def read_files(package: str) -> tuple[dict[str, str], Keys, Program, History]:
    """Return the title fields, the keys, the commands and the history of a trainer.

    Args:
      package: the trainer's folder as a package, `__package__` in its modules.

    Raises:
      ValueError: if a file has a table or field that the format does not have.
    """
    parents, _, name = package.rpartition(".")
    folder = files(parents)
    history = folder / name / "history.toml"
    past = history.read_text(encoding="utf-8") if history.is_file() else ""
    data = tomllib.loads((folder / name / "keys.toml").read_text(encoding="utf-8"))
    if "base" in data:
        base = (folder / data.pop("base") / "keys.toml").read_text(encoding="utf-8")
        data = _on_top(tomllib.loads(base), data)
    return read_data(data, tomllib.loads(past), name)


@cache
def read_program(package: str) -> Program:
    """Return the commands of a trainer, as `read_files` does, without reading its keys.

    To find the trainer that a command starts, the commands of all trainers are needed. Their keys are twenty times
    as long.

    Args:
      package: the trainer's folder as a package.
    """
    parents, _, name = package.rpartition(".")
    text = (files(parents) / name / "keys.toml").read_text(encoding="utf-8")
    tables = tomllib.loads("".join(PROGRAM.findall(text)))
    if "program" not in tables:  # the trainer has another one's commands
        return read_files(package)[2]
    program: Program = _record(Program, tables["program"], f"{name}/keys.toml: program")
    return program


def _on_top(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return the tables of another trainer with these on top.

    Fields of keys are replaced; harmless keys and sentences on them are added. The list `without` names keys of the other
    trainer that this one does not have.
    """
    without = set(own.pop("without", "").split())
    keys = {
        name: {**base["keys"].get(name, {}), **own.get("keys", {}).get(name, {})}
        for name in {**base["keys"], **own.get("keys", {})}
        if name not in without
    }
    harmless = {*base.get("harmless", "").split(), *own.get("harmless", "").split()} - without - keys.keys()
    tables = {
        table: {
            name: each
            for name, each in {**base.get(table, {}), **own.get(table, {})}.items()
            if name not in without
        }
        for table in ("inexpressible", "about")
    }
    return {**base, **own, **tables, "keys": keys, "harmless": " ".join(sorted(harmless))}


def read_data(
    data: dict[str, Any], history: dict[str, Any], name: str = ""
) -> tuple[dict[str, str], Keys, Program, History]:
    """Return what `read_files` returns, from the tables of the two files."""
    about = {field: str(data.pop(field)) for field in ("title", "version")}
    program = _record(Program, data.pop("program", {}), f"{name}/keys.toml: program")
    return (
        about,
        _keys(data, f"{name}/keys.toml"),
        program,
        _history(history, about["version"], name),
    )


def _keys(data: dict[str, Any], where: str) -> Keys:
    table = {
        key: _record(
            Key, {**fields_of, "default": _value(fields_of.get("default", UNSET))}, f"{where}: {key}"
        )
        for key, fields_of in data.pop("keys", {}).items()
    }
    inexpressible = {
        key: _record(
            Inexpressible, {**each, "neutral": _value(each.get("neutral", UNSET))}, f"{where}: {key}"
        )
        for key, each in data.pop("inexpressible", {}).items()
    }
    variants = {
        (each["key"], _value(each["value"])): {key: _value(value) for key, value in each["defaults"].items()}
        for each in data.pop("variants", [])
    }
    sections = {name: (each["key"], each["value"]) for name, each in data.pop("sections", {}).items()}
    harmless = frozenset(data.pop("harmless", "").split())
    keys: Keys = _record(
        Keys,
        {
            **{name: data.pop(name) for name in ("groups", "ignored") if name in data},
            **data,
            "table": table,
            "inexpressible": inexpressible,
            "variants": variants,
            "sections": sections,
            "harmless": harmless,
        },
        where,
    )
    return keys


def _history(data: dict[str, Any], version: str, name: str) -> History:
    where = f"{name}/history.toml"
    changes = {
        key: {release: _past(value) for release, value in releases.items()}
        for key, releases in data.pop("keys", {}).items()
    }
    names = {key: _record(Name, each, f"{where}: {key}") for key, each in data.pop("names", {}).items()}
    averages = {
        release: _record(Averages, each, f"{where}: averages") if each else None
        for release, each in data.pop("averages", {}).items()
    }
    record: History = _record(
        History,
        {**data, "changes": changes, "names": names, "averages": averages, "described": version},
        where,
    )
    return record


def _past(value: Any) -> Any:
    if isinstance(value, dict) and "absent" in value:
        return Absent(_value(value["absent"]))
    return _value(value)


def _value(value: Any) -> Any:
    return None if value == UNSET else value


def _record(kind: Any, data: Mapping[str, Any], where: str) -> Any:
    """Make a record, with lists as tuples where the record has tuples or sets."""
    names = {field.name: str(field.type) for field in fields(kind)}
    if unknown := sorted(data.keys() - names.keys()):
        raise ValueError(f"{where}: expected {', '.join(names)}; got {', '.join(unknown)}")
    made = {}
    for key, value in data.items():
        if names[key].startswith("tuple"):
            value = tuple(
                tuple(_value(each) for each in item) if isinstance(item, list) else _value(item)
                for item in value
            )
        elif names[key].startswith("frozenset"):
            value = frozenset(value.split() if isinstance(value, str) else value)
        elif names[key].startswith("Mapping") and isinstance(value, dict):
            value = {name: _deep(each) for name, each in value.items()}
        made[key] = value
    return kind(**made)


def _deep(value: Any) -> Any:
    if isinstance(value, dict) and value != UNSET:
        return {key: _deep(each) for key, each in value.items()}
    return _value(value)
