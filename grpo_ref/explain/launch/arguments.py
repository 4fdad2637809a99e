"""The words behind a program's name: flags as argparse reads them and overrides as Hydra reads them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from grpo_ref.explain.launch.text import Text
from grpo_ref.explain.launch.values import Unknown, parsed

FLAG = re.compile(r"--?[A-Za-z][\w.-]*(=.*)?", re.DOTALL)
OVERRIDE = re.compile(r"\+{0,2}[\w@./-]+=.*", re.DOTALL)
ADDED = re.compile(r"\+{1,2}([\w@./-]+)=")
DELETION = re.compile(r"~([A-Za-z_][\w@./-]*)(=.*)?", re.DOTALL)
FILES = (
    "config",
    "config_file",
    "cfg",
    "config_path",
    "config_name",
    "cfg_path",
    "config_dir",
    "override_config_file",
)
"""Flags and overrides that name a file of keys; the last is Tunix's."""
SHORT = {"cp": "config_path", "cn": "config_name", "cd": "config_dir"}
"""What Hydra's short flags stand for."""
LAST_WORD = ("custom_config_path",)
"""Flags that name a file whose keys count before all other flags."""


class Arguments(NamedTuple):
    """What the words say.

    Attributes:
      keys: with their values; of a key that is given twice the last value.
      files: of keys, as they are named.
      last: files whose keys go before those of the words, by their flags.
      added: keys that Hydra adds to a configuration that does not have them, with a "+".
      folders: where Hydra looks for the files of its groups.
      rest: words that are neither a flag nor an override.
      notes: what a reader has to know of the reading, in whole sentences.
    """

    keys: dict[str, Any]
    files: list[str]
    rest: list[str]
    notes: list[str]
    last: Mapping[str, str] = MappingProxyType({})
    folders: Sequence[str] = ()
    added: frozenset[str] = frozenset()


def read_arguments(words: Sequence[Text]) -> Arguments:
    """Flags and overrides as keys.

    Args:
      words: behind the program's name.

    >>> line = "--beta 1e-3 --bf16 actor.clip_ratio=0.2 +n=8 --config a.yaml"
    >>> found = read_arguments([Text.of(word) for word in line.split()])
    >>> found.keys
    {'beta': 0.001, 'bf16': True, 'actor.clip_ratio': 0.2, 'n': 8}
    >>> found.files
    ['a.yaml']
    """
    keys: dict[str, Any] = {}
    named: dict[str, str] = {}
    rest: list[str] = []
    notes: list[str] = []
    for name, values in _grouped(words):
        if name is None:
            rest += [word.text for word in values if not word.is_words]
            notes += [
                f"What {word.text} adds to the command is not known here." for word in values if word.is_open
            ]
            keys |= {key: value for word in values for key, value in _of_ways(word).items()}
        elif (name := SHORT.get(name, name)) in (*FILES, *LAST_WORD):
            named[name] = values[0].text if values else ""
        else:
            value = _value(values)
            if name in keys and keys[name] != value:
                notes.append(f"{name} is given twice, {keys[name]} and {value}; the last one counts.")
            keys[name] = value
    folders = [named[flag] for flag in ("config_dir", "config_path") if named.get(flag)]
    last = {flag: named.pop(flag) for flag in LAST_WORD if flag in named}
    added = frozenset(found[1] for word in words if (found := ADDED.match(str(word))))
    return Arguments(keys, _files(named), rest, notes, last, folders, added)


DELETED = "it is taken out of the configuration, and what the trainer does without it is not known here"


class _Word(NamedTuple):
    """A word, or what stands behind its "=".

    Attributes:
      text: with what is not known as it stands there.
      why: the holes in it are not known; "" if there are none.
      is_any: whether it may be several words of any kind, or none, such as "$EXTRA_ARGS" without quotes.
      ways: what it may be, where that depends on a condition.
    """

    text: str
    why: str
    is_any: bool = False
    ways: tuple[str, ...] = ()

    @property
    def is_words(self) -> bool:
        """Whether it is known to stand for keys, one row of them or another."""
        return self.is_any and any(_is_key(way) for way in self.ways)

    @property
    def is_open(self) -> bool:
        """Whether it may stand for keys that nobody knows."""
        return self.is_any and not self.is_words


def _grouped(words: Sequence[Text]) -> Iterator[tuple[str | None, list[_Word]]]:
    """Each key with the words of its value; what belongs to none under None."""
    pending = [_word(word) for word in words]
    while pending:
        word = pending.pop(0)
        name, given, value = word.text.partition("=")
        if FLAG.fullmatch(word.text):
            yield (
                name.lstrip("-").replace("-", "_"),
                [word._replace(text=value)] if given else _taken(pending),
            )
        elif OVERRIDE.fullmatch(word.text):
            yield name.lstrip("+"), [word._replace(text=value)]
        elif deleted := DELETION.fullmatch(word.text):
            yield deleted[1], [_Word(word.text, DELETED)]
        else:
            yield None, [word]


def _word(word: Text) -> _Word:
    why = " and ".join(f"{hole.name} {hole.why}" for hole in word.holes)
    is_any = len(word.parts) == 1 and any(hole.splits for hole in word.holes)
    return _Word(str(word), why, is_any, word.holes[0].alternatives if is_any else ())


def _is_key(way: str) -> bool:
    """Whether a row of words begins with a flag or an override."""
    first = way.split()[:1]
    return bool(first) and bool(FLAG.fullmatch(first[0]) or OVERRIDE.fullmatch(first[0]))


def _of_ways(word: _Word) -> dict[str, Any]:
    """The keys of words that depend on a condition; their values are not known where they are not the same."""
    rows = [read_arguments([Text.of(each) for each in way.split()]).keys for way in word.ways]
    found: dict[str, Any] = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key, "not given") for row in rows]
        same = all(value == values[0] for value in values)
        told = " or ".join(dict.fromkeys(map(str, values)))
        found[key] = values[0] if same else Unknown(told, word.why)
    return found if word.is_words else {}


def _taken(pending: list[_Word]) -> list[_Word]:
    """The words that follow a flag and are no flag or override themselves; -1 and 1e-3 are values.

    What may be any number of words is a value only where a flag has no other.
    """
    taken: list[_Word] = []
    while pending and not any(kind.fullmatch(pending[0].text) for kind in (FLAG, OVERRIDE, DELETION)):
        if pending[0].is_words or (taken and pending[0].is_any):
            break
        taken.append(pending.pop(0))
    return taken


def _value(words: Sequence[_Word]) -> Any:
    if not words:
        return True
    values = [Unknown(word.text, word.why) if word.why else parsed(word.text) for word in words]
    return values[0] if len(values) == 1 else values


def _files(named: dict[str, str]) -> list[str]:
    """The files that flags name; Hydra's folder and name are one."""
    hydra = ("config_path", "config_name", "config_dir")
    paths = [path for flag, path in named.items() if flag not in hydra]
    name, folder = named.get("config_name", ""), named.get("config_dir", named.get("config_path", ""))
    if name:
        name = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
        paths.append(f"{folder}/{name}" if folder else name)
    elif folder:
        paths.append(folder)
    return [path for path in paths if path]
