"""Read TOML files and report mistakes with their line."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from grpo_ref.listing import unknown

HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?")
LARGEST = 1e6
"""Largest number of points, days or minutes."""
A_TIME = "2027-03-01T23:59:00+01:00"


class TomlTable:
    """A table of a TOML file, read key by key. Mistakes are raised with their line.

    Args:
      path: path of the file, for messages.
      text: text of the file.
      data: the table's keys and values.
      place: name of the table, and its index among the tables of that name; ("", 0) for the keys at the top.
    """

    def __init__(self, path: Path, text: str, data: Mapping[str, Any], place: tuple[str, int]) -> None:
        self.path, self.text, self.data, self.place = path, text, data, place

    def tables(self, name: str) -> "list[TomlTable]":
        """Return the tables [[name]], in order.

        Raises:
          ValueError: if something else has that name.
        """
        found = self.data.get(name, [])
        if not (isinstance(found, list) and all(isinstance(each, dict) for each in found)):
            self.fail(name, f"expected tables [[{name}]]")
        return [TomlTable(self.path, self.text, each, (name, at)) for at, each in enumerate(found)]

    def table(self, name: str) -> "TomlTable":
        """Return the table [name], or an empty one."""
        found = self.data.get(name, {})
        if not isinstance(found, dict):
            self.fail(name, f"expected a table [{name}]")
        return TomlTable(self.path, self.text, found, (name, 0))

    def only(self, known: Iterable[str]) -> None:
        """Check that there are no other keys.

        Raises:
          ValueError: if there is an unknown key.
        """
        names = list(known)
        for key in self.data:
            if key not in names:
                self.fail(key, unknown("key", key, names))

    def string(self, key: str, default: str | None = None) -> str:
        """Return a text that is not empty. Without a default, the key is required."""
        value = self._value(key, default, "a text in quotes")
        if not isinstance(value, str) or not value.strip():
            self.fail(key, f"{key}: expected a text in quotes, got {value!r}")
        return value

    def number(self, key: str, default: float | None = None, *, most: float | None = None) -> float:
        """Return a number from 0 to `most`. Without a default, the key is required."""
        value = self._value(key, default, "a number")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= (LARGEST if most is None else most):
            limit = f"{LARGEST if most is None else most:.12g}"
            self.fail(key, f"{key}: expected a number from 0 to {limit}, got {value!r}")
        return float(value)

    def time(self, key: str) -> datetime | None:
        """Return a time with its offset from UTC, or None if the key is missing."""
        value = self.data.get(key)
        if value is not None and not (isinstance(value, datetime) and value.tzinfo is not None):
            self.fail(key, f"{key}: expected a date and time with its offset, as {A_TIME}, got {value!s}")
        return value

    def one_of(self, key: str, known: Sequence[str], default: str) -> str:
        """Return one of the known words."""
        value = self.string(key, default)
        if value not in known:
            self.fail(key, f"{key}: expected {' or '.join(map(repr, known))}, got {value!r}")
        return value

    def strings(self, key: str) -> list[str]:
        """Return a list of texts; an empty one if the key is missing."""
        value = self.data.get(key, [])
        if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            self.fail(key, f"{key}: expected a list of texts in quotes, got {value!r}")
        return value

    def fail(self, key: str, message: str, part: str | None = None) -> NoReturn:
        """Raise a ValueError that names the line.

        Args:
          key: the key, or the name of a table.
          message: what is wrong.
          part: the text in the key's value that is wrong, if it is a list.
        """
        raise ValueError(f"{self.path}, line {self.line(key, part)}: {message}")

    def _value(self, key: str, default: Any, expected: str) -> Any:
        if key not in self.data and default is None:
            self.fail(self.place[0], f"{key} is missing: expected {expected}")
        return self.data.get(key, default)

    def line(self, key: str, part: str | None = None) -> int:
        """Return the line of a key of this table, of a table of this name, or of the table's own header."""
        lines = self.text.splitlines()
        begins, name = self._begins(lines), re.escape(key)
        alone = re.compile(rf"\s*(\[\[?)?\s*[\"']?{name}[\"']?\s*(=|\])")
        within = re.compile(rf"(^|[\s\"'.{{,]){name}[\"']?\s*[.=]")
        places = [
            n for how in (alone.match, within.search) for n in range(begins, len(lines)) if how(lines[n])
        ]
        at = places[0] if places else max(begins - 1, 0)
        if part is not None:
            at = next((n for n in range(at, len(lines)) if part in lines[n]), at)
        return at + 1

    def _begins(self, lines: Sequence[str]) -> int:
        """Return the number of lines up to and including the table's header."""
        name, which = self.place
        headers = [
            n
            for n, line in enumerate(lines)
            if (found := HEADER.match(line)) and found[2].strip("\"'") == name
        ]
        return headers[which] + 1 if which < len(headers) else 0


def read_toml(path: Path) -> TomlTable:
    """Return the table at the top of a file.

    Raises:
      ValueError: if the file is not TOML; the message names the line.
      OSError: if it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        return TomlTable(path, text, tomllib.loads(text), ("", 0))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected a text in UTF-8 ({error})") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from error
