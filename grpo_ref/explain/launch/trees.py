"""Configuration files: YAML, JSON and TOML, with references to other keys and to other files.

References such as `${actor.clip_ratio}` are resolved by OmegaConf. One that would have to look outside the
files, `${oc.env:CLIP}`, or be computed by a function of the trainer's, `${eval:...}`, gives an `Unknown`.
"""

import json
import posixpath
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import lazy_loader

from grpo_ref.explain.launch.values import Unknown, flat, read_yaml

tomllib = lazy_loader.load("tomllib")  # for those who write one

REFERENCE = re.compile(r"\$\{\s*(\.*[\w@/-][\w.@/\[\]-]*)\s*\}")
SELECTION = re.compile(r"\$\{oc\.select:[\w.]+(,[\w.-]*)?\}")
LONGEST, DEEPEST = 100_000, 40
FILES_DEEP = 6
ENDINGS = (".yaml", ".yml", ".json", ".toml")
PARENTS = ("extends", "inherits", "inherit_from", "_base_", "base_config", "toml_files")
"""Keys under which projects name the files whose keys count where a file says nothing."""
PACKAGE = re.compile(r"\A(?:\s*#.*\n)*?\s*#\s*@package\s+(\S+)")
"""Where Hydra puts the keys of a file, if the file says so."""
NOT_HERE = "references to other keys are not followed here"

Beside = Callable[[str], str | None]
"""The text of a file by its path as another file gives it; None if there is none."""


class Tree(NamedTuple):
    """What a file holds.

    Attributes:
      keys: dotted, with their values.
      notes: what a reader has to know of the reading, in whole sentences.
      missing: files that it inherits from and that are not there.
      used: the groups whose file was chosen in place of the one that `defaults` name.
    """

    keys: dict[str, Any]
    notes: list[str]
    used: Container[str] = ()
    missing: Sequence[str] = ()


def nowhere(path: str) -> str | None:
    """There are no other files."""
    return None


def read_tree(
    text: str,
    name: str = "",
    beside: Beside = nowhere,
    *,
    chosen: Mapping[str, str] | None = None,
    own: Container[str] = (),
) -> Tree:
    """The keys of a configuration file.

    Args:
      text: of the file.
      name: of the file; its ending says what it is, and without one JSON and YAML are tried.
      beside: finds the files that it inherits from.
      chosen: a file for each of Hydra's groups, in place of the one that its `defaults` name.
      own: names of files that are a trainer's own and hold its defaults; they need not be there.

    Raises:
      ValueError: if it cannot be read, or holds no keys.
    """
    parents = _Parents(near(name, beside), chosen or {}, own, [], [], set())
    data = parents.inherited(_mapping(_parsed(text, name)))
    return Tree(flat(_resolved(_unwrapped(data))), parents.notes, parents.used, parents.missing)


def near(name: str, beside: Beside) -> Beside:
    """Finds files in the folder of another one first.

    >>> near("conf/a.yaml", {"conf/b.yaml": "n: 1"}.get)("b.yaml")
    'n: 1'
    """
    folder = posixpath.dirname(name)
    return lambda path: (
        beside(posixpath.normpath(f"{folder}/{path}")) or beside(path) if folder else beside(path)
    )


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


@dataclass(frozen=True)
class _Parents:
    """What a file inherits from.

    Attributes:
      beside, chosen, own: as in `read_tree`.
      notes, missing: so far.
      used: groups of which another file was chosen.
    """

    beside: Beside
    chosen: Mapping[str, str]
    own: Container[str]
    notes: list[str]
    missing: list[str]
    used: set[str]

    def inherited(self, data: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        """A file's keys over those of the files that it names, of which the later ones win."""
        data = self._extended(data, depth)
        named = data.pop("defaults", None)
        parents = [named] if isinstance(named, str) else named
        if not isinstance(parents, list) or depth == FILES_DEEP:
            return data if named is None else {**data, "defaults": named}
        whole: dict[str, Any] = {}
        for path, group in self._named([*parents, *([] if "_self_" in parents else ["_self_"])]):
            whole = _merged(whole, data if path == "_self_" else self._read(path, group, depth))
        return whole

    def _extended(self, data: dict[str, Any], depth: int) -> dict[str, Any]:
        """The keys over those of the files that stand under `extends` and the like."""
        whole: dict[str, Any] = {}
        for key in PARENTS if depth < FILES_DEEP else ():
            value = data.get(key)
            paths = [value] if isinstance(value, str) else value
            if isinstance(paths, list) and paths and all(isinstance(path, str) for path in paths):
                data = {name: item for name, item in data.items() if name != key}
                for path in paths:
                    whole = _merged(whole, self._read(path, "", depth))
        return _merged(whole, data)

    def _named(self, parents: list[Any]) -> Iterator[tuple[str, str]]:
        """The files of a defaults list, each with the group that its keys go into."""
        for entry in parents:
            if isinstance(entry, str):
                yield entry, ""
            elif isinstance(entry, Mapping):
                for group, name in entry.items():
                    folder, _, place = str(group).removeprefix("override ").partition("@")
                    if folder in self.chosen:
                        self.used.add(folder)
                        name = self.chosen[folder]
                    if isinstance(name, str) and not folder.startswith(("hydra/", "optional ")):
                        yield f"{folder}/{name}", place or folder.replace("/", ".")

    def _read(self, path: str, group: str, depth: int) -> dict[str, Any]:
        """The keys of a file, in their group; none if it is not there, which is noted."""
        path = path if path.endswith(ENDINGS) else f"{path}.yaml"
        text = self.beside(path)
        if text is None:
            if path.rsplit("/", 1)[-1].removesuffix(".yaml") not in self.own:
                shown = path.removesuffix(".yaml")
                note = f"It inherits from {shown}, which is not beside it, so those keys are not known here."
                self.notes.append(note)
                self.missing.append(path)
            return {}
        inner = replace(self, beside=near(path, self.beside))
        found = inner.inherited(_mapping(_parsed(text, path)), depth + 1)
        return in_group(found, package_of(text, group))


def package_of(text: str, group: str) -> str:
    r"""The group that Hydra puts the keys of a file into: as the file says in its first lines, or that of its folder.

    >>> package_of("# @package _global_\nbeta: 0.1", "algorithm")
    ''
    """
    said = PACKAGE.match(text)
    return group if said is None else "" if said[1] == "_global_" else said[1]


def in_group(data: dict[str, Any], group: str) -> dict[str, Any]:
    """The keys inside of groups, named with dots."""
    for name in reversed(group.split(".") if group else []):
        data = {name: data}
    return data


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
