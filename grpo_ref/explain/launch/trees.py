"""Read configuration files: YAML, JSON and TOML, with references to other keys and to other files.

OmegaConf resolves references such as `${actor.clip_ratio}`. A reference becomes `Unknown` if it needs
something outside the files, such as `${oc.env:CLIP}`, or a function of the trainer, such as `${eval:...}`.
"""

import json
import posixpath
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import lazy_loader

from grpo_ref.explain.launch.arguments import DELETION, OVERRIDE
from grpo_ref.explain.launch.values import NoLaunch, Unknown, flat, read_yaml

tomllib = lazy_loader.load("tomllib")  # for those who write one

REFERENCE = re.compile(r"\$\{\s*(\.*[\w@/-][\w.@/\[\]-]*)\s*\}")
SELECTION = re.compile(r"\$\{oc\.select:[\w.]+(,[\w.-]*)?\}")
LONGEST, DEEPEST = 100_000, 40
FILES_DEEP = 6
ENDINGS = (".yaml", ".yml", ".json", ".toml")
PARENTS = ("extends", "inherits", "inherit_from", "_base_", "base_config", "toml_files")
"""Keys under which projects name parent files, whose keys are defaults for the file."""
PACKAGE = re.compile(r"\A(?:\s*#.*\n)*?\s*#\s*@package\s+(\S+)")
"""The comment of a file that names the group in which Hydra puts its keys."""
NOT_HERE = "references to other keys are not followed here"

Beside = Callable[[str], str | None]
"""A function that returns the text of a file by its path as another file names it; None if there is no such file."""


class Tree(NamedTuple):
    """The keys that a file holds.

    Attributes:
      keys: dotted keys with their values.
      notes: remarks for the reader about how the file was read, in whole sentences.
      missing: files that the file inherits from and that were not found.
      used: groups for which another file than the one in `defaults` was chosen.
    """

    keys: dict[str, Any]
    notes: list[str]
    used: Container[str] = ()
    missing: Sequence[str] = ()


def nowhere(path: str) -> str | None:
    """Find no other files."""
    return None


def read_tree(
    text: str,
    name: str = "",
    beside: Beside = nowhere,
    *,
    chosen: Mapping[str, str] | None = None,
    own: Container[str] = (),
) -> Tree:
    """Return the keys of a configuration file.

    Args:
      text: text of the file.
      name: name of the file. Its ending gives the format; without a name JSON and YAML are tried.
      beside: returns the text of a file that this one inherits from.
      chosen: the file to use for each of Hydra's groups, instead of the file that its `defaults` name.
      own: names of the trainer's own files, which hold its defaults. They may be missing.

    Raises:
      ValueError: if the file cannot be read, or holds no keys.
    """
    parents = _Parents(near(name, beside), chosen or {}, own, [], [], set())
    data = parents.inherited(_mapping(_parsed(text, name)))
    return Tree(flat(_resolved(_unwrapped(data))), parents.notes, parents.used, parents.missing)


def override_list(text: str, name: str = "") -> list[str]:
    r"""Return the overrides in a file that is a list of them, as Hydra writes to .hydra/overrides.yaml; else none.

    >>> override_list("- actor.clip=0.2\n- ~critic")
    ['actor.clip=0.2', '~critic']
    >>> override_list("actor: {clip: 0.2}")
    []
    """
    try:
        data = _parsed(text, name)
    except ValueError:
        return []
    items = data if isinstance(data, list) else []
    is_override = [
        isinstance(item, str) and bool(OVERRIDE.fullmatch(item) or DELETION.fullmatch(item)) for item in items
    ]
    return items if items and all(is_override) else []


def near(name: str, beside: Beside) -> Beside:
    """Return a finder of files that first looks in the folder of another file.

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
        raise NoLaunch(f"expected keys and values, as in beta: 0.04, got {type(data).__name__}")
    return {str(key): value for key, value in data.items()}


def _unwrapped(data: dict[str, Any]) -> dict[str, Any]:
    """Return the plain values of a file that Weights & Biases wrote, which wraps each as {value: ...}."""
    named = {key: value for key, value in data.items() if not key.startswith(("_wandb", "wandb_version"))}
    if named and all(isinstance(value, dict) and "value" in value for value in named.values()):
        return {key: value["value"] for key, value in named.items()}
    return data


@dataclass(frozen=True)
class _Parents:
    """Read the files that a file inherits from.

    Attributes:
      beside, chosen, own: as in `read_tree`.
      notes, missing: as in `Tree`, so far.
      used: groups for which another file was chosen, so far.
    """

    beside: Beside
    chosen: Mapping[str, str]
    own: Container[str]
    notes: list[str]
    missing: list[str]
    used: set[str]

    def inherited(self, data: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        """Return a file's keys merged over those of its parent files.

        Later parent files override earlier ones.
        """
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
        """Return the keys merged over those of the files named under `extends` and similar keys."""
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
        """Yield the files of a defaults list, each with the group that its keys go into."""
        for entry in parents:
            if isinstance(entry, str):
                path, _, mark = entry.partition("@")
                yield path, placed(mark, "")
            elif isinstance(entry, Mapping):
                for group, name in entry.items():
                    folder, _, place = str(group).removeprefix("override ").partition("@")
                    if folder in self.chosen:
                        self.used.add(folder)
                        name = self.chosen[folder]
                    if isinstance(name, str) and not folder.startswith(("hydra/", "optional ")):
                        yield f"{folder}/{name}", placed(place, folder.replace("/", "."))

    def _read(self, path: str, group: str, depth: int) -> dict[str, Any]:
        """Return the keys of a file, inside their group.

        If the file is missing, note that and return no keys.
        """
        path = path if path.endswith(ENDINGS) else f"{path}.yaml"
        text = self.beside(path)
        if text is None:
            shown = path.removesuffix(".yaml")
            if path.rsplit("/", 1)[-1].removesuffix(".yaml") in self.own:
                self.notes.append(
                    f"It inherits from {shown}, which is not beside it and is taken to be the trainer's own file."
                )
            else:
                note = f"It inherits from {shown}, which is not beside it, so those keys are not known here."
                self.notes.append(note)
                self.missing.append(path)
            return {}
        inner = replace(self, beside=near(path, self.beside))
        found = inner.inherited(_mapping(_parsed(text, path)), depth + 1)
        return in_group(found, package_of(text, group))


def package_of(text: str, group: str) -> str:
    r"""Return the group in which Hydra puts the keys of a file: the one in the file's first lines, else its folder's.

    >>> package_of("# @package _global_\nbeta: 0.1", "algorithm")
    ''
    """
    said = PACKAGE.match(text)
    return placed(said[1], group) if said else group


def placed(mark: str, group: str) -> str:
    """Return the group that one of Hydra's package marks names, relative to the file that has the mark.

    Args:
      mark: the mark, as in `name@mark` or `# @package mark`; "" if there is none.
      group: the group without a mark.

    >>> placed("_here_", "envs"), placed("_group_.inner", "envs"), placed("actor", "envs"), placed("", "envs")
    ('', 'envs.inner', 'actor', 'envs')
    """
    first, _, rest = mark.partition(".")
    if not mark:
        return group
    if first == "_group_":
        return ".".join(part for part in (group, rest) if part)
    return rest if first in ("_here_", "_global_") else mark


def in_group(data: dict[str, Any], group: str) -> dict[str, Any]:
    """Nest keys inside groups, which are named with dots."""
    for name in reversed(group.split(".") if group else []):
        data = {name: data}
    return data


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two trees. The second one wins, key by key."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _resolved(data: dict[str, Any]) -> dict[str, Any]:
    """Return the tree with its references resolved.

    Without OmegaConf, as in the web page, every reference is unknown.
    """
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
    """Return true if a value refers to another value, or must be given on the command line."""
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
    """Return the text; or a mark if it calls a function, so that every key that refers to it becomes unknown."""
    return HIDDEN if "${" in SELECTION.sub("", REFERENCE.sub("", text)) else text


def _resolve(config: Any, key: str, value: Any) -> Any:
    """Return the value of a key with its references resolved, or `Unknown` with the reason."""
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
    """Raise a ValueError if references make a value too long, as when each key doubles the one before."""
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
    """Return the full name of the key that a reference means. Each leading dot goes up one group."""
    name = reference.lstrip(".")
    ups = len(reference) - len(name)
    return ".".join([*key.split(".")[: -ups or None], name]) if ups else name
