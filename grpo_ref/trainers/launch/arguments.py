"""The words behind a program's name: flags as argparse reads them and overrides as Hydra reads them."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from grpo_ref.trainers.launch.text import Text
from grpo_ref.trainers.launch.values import Unknown, parsed

FLAG = re.compile(r"--?[A-Za-z][\w.-]*(=.*)?", re.DOTALL)
OVERRIDE = re.compile(r"\+{0,2}[\w@./-]+=.*", re.DOTALL)
REMOVAL = re.compile(r"~[A-Za-z_][\w.]*(=.*)?", re.DOTALL)
"""A word that takes a key out of what the files say, as Hydra and torchtune read it; a path such as ~/a is none."""
FILES = ("config", "config_file", "cfg", "config_path", "config_name", "cfg_path", "override_config_file")
"""Flags and overrides that name a file of keys; the last is Tunix's."""


class Arguments(NamedTuple):
    """What the words say.

    Attributes:
      keys: with their values; of a key that is given twice the last value.
      files: of keys, as they are named.
      rest: words that are neither a flag nor an override.
      notes: what a reader has to know of the reading, in whole sentences.
    """

    keys: dict[str, Any]
    files: list[str]
    rest: list[str]
    notes: list[str]


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
            rest += [word.text for word in values]
        elif name in FILES:
            named[name] = values[0].text if values else ""
        else:
            value = _value(values)
            if name in keys and keys[name] != value:
                notes.append(f"{name} is given twice, {keys[name]} and {value}; the last one counts.")
            keys[name] = value
    return Arguments(keys, _files(named), rest, notes)


class _Word(NamedTuple):
    """A word, or what stands behind its "=".

    Attributes:
      text: with what is not known as it stands there.
      why: the holes in it are not known; "" if there are none.
      is_any: whether it may be several words of any kind, or none, such as "$EXTRA_ARGS" without quotes.
    """

    text: str
    why: str
    is_any: bool = False


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
        else:
            yield None, [word]


def _word(word: Text) -> _Word:
    why = " and ".join(f"{hole.name} {hole.why}" for hole in word.holes)
    return _Word(str(word), why, is_any=len(word.parts) == 1 and any(hole.splits for hole in word.holes))


def _taken(pending: list[_Word]) -> list[_Word]:
    """The words that follow a flag and are no flag or override themselves; -1 and 1e-3 are values.

    What may be any number of words is a value only where a flag has no other.
    """
    taken: list[_Word] = []
    while pending and not any(kind.fullmatch(pending[0].text) for kind in (FLAG, OVERRIDE, REMOVAL)):
        if taken and pending[0].is_any:
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
    paths = [path for flag, path in named.items() if flag not in ("config_path", "config_name")]
    name, folder = named.get("config_name", ""), named.get("config_path", "")
    if name:
        name = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
        paths.append(f"{folder}/{name}" if folder else name)
    elif folder:
        paths.append(folder)
    return [path for path in paths if path]
