"""`tracked.toml`: the recorded version of each trainer, its files, and the hashes of these files and functions."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TRACKED = Path(__file__).with_name("tracked.toml")
PARTS = ("settings", "rewards", "advantages", "filter", "correction", "penalty", "loss")
"""The parts of an objective that a function may decide."""


@dataclass(frozen=True)
class TrackedFile:
    """One file of a trainer.

    Attributes:
      path: the path in the trainer's repository.
      part: the part of the objective that the file decides, one of `PARTS`.
      sha256: the hash of the content; "" where the recorded content could not be had, with `missing` saying why.
      tree: the hash of the whole file's syntax tree; "" for a file that is not Python.
      functions: qualified name of each function and class that decides the objective, and the hash of its syntax tree.
      missing: the reason for an empty hash.
    """

    path: str
    part: str
    sha256: str
    functions: Mapping[str, str]
    tree: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Trainer:
    """One trainer.

    Attributes:
      name: the name of its table.
      dialect: its dialect in `grpo-ref explain`; by default the name of the table.
      repository: owner and name on the code host.
      commit: the recorded commit in full; "" if a release was recorded.
      package: the name on the package index; "" if it has none that holds the loss.
      release: the newest release that is known; a newer one is reported. The recorded one if there is no commit.
      wheel_prefix: the folder of the repository that a wheel leaves out, as `src/`.
      recorder: the script that records the trainer's cases, relative to the repository; "" if there is none.
      files: the files that decide the objective.
    """

    name: str
    repository: str
    dialect: str
    commit: str = ""
    package: str = ""
    release: str = ""
    wheel_prefix: str = ""
    recorder: str = ""
    files: tuple[TrackedFile, ...] = field(default=())

    @property
    def recorded(self) -> str:
        """Return the version that the hashes are of, for readers."""
        return self.commit[:9] if self.commit else self.release


TEXTS = ("repository", "dialect", "commit", "package", "release", "wheel_prefix", "recorder")


def read(path: Path = TRACKED) -> list[Trainer]:
    """Read the tracked trainers.

    Raises:
      ValueError: if the file does not have the form that `Trainer` describes. The message names the place.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return [_trainer(name, table) for name, table in tables.items()]


def _trainer(name: str, table: Any) -> Trainer:
    _keys(name, table, {*TEXTS, "files"}, {"repository", "files"})
    if not table.get("commit") and not table.get("release"):
        raise ValueError(f"{name}: expected a commit or a release that was recorded, received neither")
    files = tuple(_file(f"{name}.files[{place}]", each) for place, each in enumerate(table["files"]))
    texts = {key: _text(f"{name}.{key}", table.get(key, "")) for key in TEXTS}
    texts["dialect"] = texts["dialect"] or name
    return Trainer(name, files=files, **texts)


def _file(place: str, table: Any) -> TrackedFile:
    _keys(
        place, table, {"path", "part", "sha256", "tree", "functions", "missing"}, {"path", "part", "sha256"}
    )
    if table["part"] not in PARTS:
        raise ValueError(f"{place}.part: expected one of {', '.join(PARTS)}, received {table['part']!r}")
    if not table["sha256"] and not table.get("missing"):
        raise ValueError(f"{place}: sha256 is empty, so expected the reason in missing, received nothing")
    functions = {
        name: _text(f"{place}.functions.{name}", x) for name, x in table.get("functions", {}).items()
    }
    texts = {
        key: _text(f"{place}.{key}", table.get(key, ""))
        for key in ("path", "part", "sha256", "tree", "missing")
    }
    return TrackedFile(functions=functions, **texts)


def _keys(place: str, table: Any, allowed: set[str], needed: set[str]) -> None:
    if not isinstance(table, dict):
        raise ValueError(f"{place}: expected a table, received {table!r}")
    if unknown := sorted(table.keys() - allowed):
        raise ValueError(f"{place}: expected the keys {', '.join(sorted(allowed))}, received {unknown[0]!r}")
    if absent := sorted(needed - table.keys()):
        raise ValueError(f"{place}: expected the key {absent[0]!r}, received {', '.join(sorted(table))}")


def _text(place: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{place}: expected text, received {value!r}")
    return value


def dump(trainers: Iterable[Trainer]) -> str:
    """Return the text of `tracked.toml` for these trainers."""
    lines = ["# Made by `python -m watch record`. watch/tracked.py describes the keys."]
    for trainer in trainers:
        lines += ["", f"[{trainer.name}]"]
        texts = {key: getattr(trainer, key) for key in TEXTS}
        texts["dialect"] = "" if trainer.dialect == trainer.name else trainer.dialect
        lines += [f'{key} = "{text}"' for key, text in texts.items() if text]
        for file in trainer.files:
            lines += ["", f"[[{trainer.name}.files]]", f'path = "{file.path}"', f'part = "{file.part}"']
            lines += [f'sha256 = "{file.sha256}"'] + ([f'tree = "{file.tree}"'] if file.tree else [])
            lines += [f'missing = "{file.missing}"'] if file.missing else []
            if file.functions:
                lines += [f"[{trainer.name}.files.functions]"]
                lines += [f'"{name}" = "{value}"' for name, value in file.functions.items()]
    return "\n".join(lines) + "\n"
