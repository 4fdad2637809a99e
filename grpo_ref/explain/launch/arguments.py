"""Read command-line arguments: flags as argparse reads them and overrides as Hydra reads them."""

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
"""Flags and overrides that name a file of keys. The last one is Tunix's."""
SHORT = {"cp": "config_path", "cn": "config_name", "cd": "config_dir"}
"""Hydra's short flags, with the long flags that they stand for."""
ENVIRONMENT = ("runtime_env", "runtime_env_json")
"""Keys whose value describes the environment of a run, also if it is a file."""
LAST_WORD = ("custom_config_path",)
"""Flags that name a file whose keys override all flags."""


class Arguments(NamedTuple):
    """The keys and files that the words of a command line give.

    Attributes:
      keys: the keys with their values. A key that is given twice has its last value.
      files: paths of the files of keys that the words name.
      last: paths of files whose keys override those of the words, by the flag that names the file.
      added: keys that a "+" adds to Hydra's configuration although the configuration does not have them.
      folders: folders in which Hydra looks for the files of its groups.
      rest: words that are neither a flag nor an override.
      notes: remarks for the reader about how the words were read, in whole sentences.
    """

    keys: dict[str, Any]
    files: list[str]
    rest: list[str]
    notes: list[str]
    last: Mapping[str, str] = MappingProxyType({})
    folders: Sequence[str] = ()
    added: frozenset[str] = frozenset()


def read_arguments(words: Sequence[Text]) -> Arguments:
    """Return the keys that flags and overrides give.

    Args:
      words: the words after the program's name.

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
    before = ""
    for name, values in _grouped(words):
        if name is None and before.endswith(ENVIRONMENT):
            continue  # the rest of a path with blanks, not a file of keys
        before = name or ""
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
    """A word of the command line, or the part of a word after its "=".

    Attributes:
      text: the word as written, with names such as "$MODEL" for unknown pieces.
      why: the reason why pieces of the word are unknown; "" if the whole word is known.
      is_any: true if the word may be any number of words, such as "$EXTRA_ARGS" without quotes.
      ways: the possible texts of the word, if they depend on a condition.
    """

    text: str
    why: str
    is_any: bool = False
    ways: tuple[str, ...] = ()

    @property
    def is_words(self) -> bool:
        """Return true if each possible text, or at least one of them, is a row of flags or overrides."""
        return self.is_any and any(_is_key(way) for way in self.ways)

    @property
    def is_open(self) -> bool:
        """Return true if the word may stand for keys that are unknown."""
        return self.is_any and not self.is_words


def _grouped(words: Sequence[Text]) -> Iterator[tuple[str | None, list[_Word]]]:
    """Yield each key with the words of its value. Words that belong to no key have the key None."""
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
    """Return true if a row of words begins with a flag or an override."""
    first = way.split()[:1]
    return bool(first) and bool(FLAG.fullmatch(first[0]) or OVERRIDE.fullmatch(first[0]))


def _of_ways(word: _Word) -> dict[str, Any]:
    """Return the keys of words that depend on a condition.

    A value that differs between the branches is unknown.
    """
    rows = [read_arguments([Text.of(each) for each in way.split()]).keys for way in word.ways]
    found: dict[str, Any] = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        values = [row.get(key, "not given") for row in rows]
        same = all(value == values[0] for value in values)
        told = " or ".join(dict.fromkeys(map(str, values)))
        found[key] = values[0] if same else Unknown(told, word.why)
    return found if word.is_words else {}


def _taken(pending: list[_Word]) -> list[_Word]:
    """Remove the words that follow a flag from the pending ones and return them as its value.

    Flags and overrides end the value, but -1 and 1e-3 are numbers. A word that may be any number of words
    belongs to the value only if the flag has no other value.
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
    """Return the paths of the files that flags name. Hydra's folder and file name make one path."""
    hydra = ("config_path", "config_name", "config_dir")
    paths = [path for flag, path in named.items() if flag not in hydra]
    name, folder = named.get("config_name", ""), named.get("config_dir", named.get("config_path", ""))
    if name:
        name = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
        paths.append(f"{folder}/{name}" if folder else name)
    elif folder:
        paths.append(folder)
    return [path for path in paths if path]
