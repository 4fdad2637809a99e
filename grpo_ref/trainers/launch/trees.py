"""Configuration files: YAML, JSON and TOML, with references to other keys and to other files.

References such as `${actor.clip_ratio}` are resolved by OmegaConf. One that would have to look outside the
files, `${oc.env:CLIP}`, or be computed by a function of the trainer's, `${eval:...}`, gives an `Unknown`.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from grpo_ref.trainers.launch.values import Unknown, flat, read_yaml

REFERENCE = re.compile(r"\$\{\s*(\.*[\w@/-][\w.@/\[\]-]*)\s*\}")
SELECTION = re.compile(r"\$\{oc\.select:[\w.]+(,[\w.-]*)?\}")
LONGEST, DEEPEST = 100_000, 40
FILES_DEEP = 6
NOT_HERE = "references to other keys are not followed here"

Beside = Callable[[str], str | None]
"""The text of a file by its path as another file gives it; None if there is none."""


class Tree(NamedTuple):
    """What a file holds.

    Attributes:
      keys: dotted, with their values.
      notes: what a reader has to know of the reading, in whole sentences.
    """

    keys: dict[str, Any]
    notes: list[str]


def nowhere(path: str) -> str | None:
    """There are no other files."""
    return None


def read_tree(text: str, name: str = "", beside: Beside = nowhere) -> Tree:
    """The keys of a configuration file.

    Args:
      text: of the file.
      name: of the file; its ending says what it is, and without one JSON and YAML are tried.
      beside: finds the files that it inherits from.

    Raises:
      ValueError: if it cannot be read, or holds no keys.
    """
    notes: list[str] = []
    data = _inherited(_mapping(_parsed(text, name)), beside, notes)
    return Tree(flat(_resolved(_unwrapped(data))), notes)


def _parsed(text: str, name: str) -> Any:
    try:
        return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError:
        if name.endswith((".json", ".toml")):
            raise
        return read_yaml(text)


def _mapping(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"expected keys and values, as in beta: 0.04, got {type(data).__name__}")
    return {str(key): value for key, value in data.items()}


def _unwrapped(data: dict[str, Any]) -> dict[str, Any]:
    """The values of a file that Weights & Biases wrote, which holds each as {value: ...}."""
    named = {key: value for key, value in data.items() if not key.startswith(("_wandb", "wandb_version"))}
    if named and all(isinstance(value, dict) and "value" in value for value in named.values()):
        return {key: value["value"] for key, value in named.items()}
    return data


def _inherited(data: dict[str, Any], beside: Beside, notes: list[str], depth: int = 0) -> dict[str, Any]:
    """A file's keys over those of the files that it names under `defaults`, of which the later ones win."""
    named = data.pop("defaults", None)
    parents = [named] if isinstance(named, str) else named
    if not isinstance(parents, list) or depth == FILES_DEEP:
        return data if named is None else {**data, "defaults": named}
    whole: dict[str, Any] = {}
    for path, group in _parents([*parents, *([] if "_self_" in parents else ["_self_"])]):
        if path == "_self_":
            whole = _merged(whole, data)
            continue
        text = beside(f"{path}" if path.endswith((".yaml", ".yml")) else f"{path}.yaml")
        if text is None:
            notes.append(
                f"It inherits from {path}, which is not beside it, so those keys are not known here."
            )
            continue
        found = _inherited(_mapping(_parsed(text, ".yaml")), beside, notes, depth + 1)
        whole = _merged(whole, {group: found} if group else found)
    return whole


def _parents(named: list[Any]) -> Iterator[tuple[str, str]]:
    """The files of a defaults list, each with the group that its keys go into."""
    for entry in named:
        if isinstance(entry, str):
            yield entry, ""
        elif isinstance(entry, Mapping):
            for group, name in entry.items():
                folder, _, place = str(group).removeprefix("override ").partition("@")
                if isinstance(name, str) and not folder.startswith("hydra/"):
                    yield f"{folder}/{name}", place or folder.replace("/", ".")


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Two trees as one, the second one winning key by key."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _resolved(data: dict[str, Any]) -> dict[str, Any]:
    """The tree without references, which are unknown where OmegaConf is not installed, as in a page."""
    if not any(_is_open(value) for value in _leaves(data)):
        return data
    try:
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException
    except ImportError:
        keys = flat(data).items()
        return {key: Unknown(str(value), NOT_HERE) if _is_open(value) else value for key, value in keys}
    _refuse_growth(flat(data))
    safe = _map(data, lambda value: _hidden(value) if isinstance(value, str) else value)
    try:
        config = OmegaConf.create(safe)
    except OmegaConfBaseException as error:
        raise ValueError(" ".join(str(error).split())) from error
    return {key: _resolve(config, key, value) for key, value in flat(data).items()}


def _is_open(value: Any) -> bool:
    """Whether a value refers to another one, or has to be given."""
    return isinstance(value, str) and ("${" in value or value == "???")


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, (dict, list)):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _leaves(value)
    else:
        yield data


def _map(data: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(data, dict):
        return {key: _map(value, change) for key, value in data.items()}
    return [_map(value, change) for value in data] if isinstance(data, list) else change(data)


HIDDEN = "\x00"


def _hidden(text: str) -> str:
    """The text; a mark in its place if it calls a function, so that whatever refers to it is seen to be unknown."""
    return HIDDEN if "${" in SELECTION.sub("", REFERENCE.sub("", text)) else text


def _resolve(config: Any, key: str, value: Any) -> Any:
    """The value of a key with what it refers to, or why it cannot be known."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    if value == "???":
        return Unknown(value, "it has to be given when the program is started")
    if not any(isinstance(leaf, str) and "${" in leaf for leaf in _leaves(value)):
        return value
    try:
        found = OmegaConf.select(config, key)
    except OmegaConfBaseException:
        return Unknown(str(value), "it refers to a key that is not in these files")
    found = OmegaConf.to_container(found, resolve=True) if OmegaConf.is_config(found) else found
    if any(isinstance(leaf, str) and HIDDEN in leaf for leaf in _leaves(found)):
        return Unknown(str(value), "it is computed when the program runs")
    return found


def _refuse_growth(keys: dict[str, Any]) -> None:
    """Raise a ValueError if references grow without end: a value that doubles another that doubles another."""
    lengths: dict[str, int] = {}

    def length(key: str, depth: int) -> int:
        if depth > DEEPEST:
            raise ValueError(f"{key} refers to itself, or through more than {DEEPEST} other keys")
        if key not in lengths:
            inside = [(name, value) for name, value in keys.items() if f"{name}.".startswith(f"{key}.")]
            lengths[key] = sum(
                len(str(value))
                + sum(length(_absolute(name, other), depth + 1) for other in _references(value))
                for name, value in inside
            )
            if lengths[key] > LONGEST:
                raise ValueError(
                    f"{key} is longer than {LONGEST:,} characters when its references are followed"
                )
        return lengths[key]

    for key in keys:
        length(key, 0)


def _references(value: Any) -> list[str]:
    return [name for leaf in _leaves(value) if isinstance(leaf, str) for name in REFERENCE.findall(leaf)]


def _absolute(key: str, reference: str) -> str:
    """The key that a reference means: each dot in front of it goes up a group."""
    name = reference.lstrip(".")
    ups = len(reference) - len(name)
    return ".".join([*key.split(".")[: -ups or None], name]) if ups else name
