"""Compare the files of a snapshot with the recorded hashes."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePosixPath

from watch.sources import Snapshot
from watch.tracked import TrackedFile, Trainer
from watch.trees import Named, definitions, difference, hash_of_text, hash_of_tree, identifiers

DIFF_LINES = 24
"""Largest number of changed lines that are shown of one function."""


class Kind(StrEnum):
    """Say what happened to a file or a function since it was recorded."""

    UNCHANGED = "unchanged"
    TEXT = "only comments, docstrings or layout changed"
    ELSEWHERE = "the tracked functions are the same, other code of the file changed"
    CHANGED = "the code changed"
    MOVED = "moved"
    GONE = "gone"
    UNKNOWN = "not compared"

    @property
    def counts(self) -> bool:
        """Return true if the objective may have changed."""
        return self in (Kind.CHANGED, Kind.GONE)


@dataclass(frozen=True)
class FunctionChange:
    """A tracked function that is not as it was.

    Attributes:
      name: the qualified name.
      kind: `CHANGED`, `MOVED` or `GONE`.
      place: the new path or name, for `MOVED`.
      lines: the changed lines, shortened; empty without the recorded source.
      identifiers: the names in the function now and before: the keys that it reads are among them.
    """

    name: str
    kind: Kind
    place: str = ""
    lines: tuple[str, ...] = ()
    identifiers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FileChange:
    """The comparison of one file.

    Attributes:
      file: the recorded file.
      kind: what happened to the file.
      place: the path where a moved file is now.
      functions: its functions that changed.
      note: the reason why the file was not compared.
    """

    file: TrackedFile
    kind: Kind
    place: str = ""
    functions: tuple[FunctionChange, ...] = ()
    note: str = ""

    @property
    def counts(self) -> bool:
        """Return true if the objective may have changed."""
        return self.kind.counts or any(each.kind.counts for each in self.functions)


def compare(trainer: Trainer, new: Snapshot, recorded: Snapshot | None = None) -> list[FileChange]:
    """Compare each file of a trainer with its recorded hashes.

    Args:
      trainer: the trainer with its hashes.
      new: the sources to compare.
      recorded: the sources at the recorded version, to show the changed lines; None without them.
    """
    return [_file(file, new, recorded) for file in trainer.files]


def _file(file: TrackedFile, new: Snapshot, recorded: Snapshot | None) -> FileChange:
    if not file.sha256:
        return FileChange(file, Kind.UNKNOWN, note=file.missing)
    text = new.read(file.path)
    if text is None:
        return _moved(file, new, recorded)
    if hash_of_text(text) == file.sha256:
        return FileChange(file, Kind.UNCHANGED)
    if not file.tree:
        before = recorded.read(file.path) if recorded else None
        lines = () if before is None else tuple(difference(before, text, lines=DIFF_LINES))
        return FileChange(
            file, Kind.CHANGED, functions=(FunctionChange("the file", Kind.CHANGED, lines=lines),)
        )
    return _python(file, text, new, recorded)


def _python(file: TrackedFile, text: str, new: Snapshot, recorded: Snapshot | None) -> FileChange:
    try:
        tree, named = ast.parse(text), definitions(text)
    except SyntaxError as error:
        return FileChange(file, Kind.UNKNOWN, note=f"this Python cannot parse the file: line {error.lineno}")
    if hash_of_tree(tree) == file.tree:
        return FileChange(file, Kind.TEXT)
    before = recorded.read(file.path) if recorded else None
    changes = tuple(_functions(file, text, named, before))
    if not changes:
        return FileChange(file, Kind.ELSEWHERE)
    if any(each.kind is Kind.GONE for each in changes):
        changes = tuple(_followed(each, file, new) for each in changes)
    kind = Kind.CHANGED if any(each.kind.counts for each in changes) else Kind.MOVED
    return FileChange(file, kind, functions=changes)


def _functions(
    file: TrackedFile, text: str, named: dict[str, Named], before: str | None
) -> Iterator[FunctionChange]:
    old = definitions(before) if before is not None else {}
    same = {hash_of_tree(node): name for name, node in named.items()}
    for name, recorded in file.functions.items():
        node = named.get(name)
        if node is None:
            if recorded in same:
                yield FunctionChange(name, Kind.MOVED, same[recorded])
            else:
                names = frozenset(identifiers(old[name])) if name in old else frozenset()
                yield FunctionChange(name, Kind.GONE, identifiers=names)
        elif hash_of_tree(node) != recorded:
            lines: tuple[str, ...] = ()
            read = identifiers(node)
            if before is not None and name in old:
                lines = tuple(difference(_code(old[name]), _code(node), lines=DIFF_LINES))
                read |= identifiers(old[name])
            yield FunctionChange(name, Kind.CHANGED, lines=lines, identifiers=frozenset(read))


def _code(node: Named) -> str:
    """Return the function's code in one layout and without docstrings, so that only changes of the code are shown."""
    copied = copy.deepcopy(node)
    for each in ast.walk(copied):
        if isinstance(each, Named) and ast.get_docstring(each, clean=False) is not None:
            each.body = each.body[1:] or [ast.Pass()]
    return ast.unparse(copied)


def _followed(change: FunctionChange, file: TrackedFile, new: Snapshot) -> FunctionChange:
    """Look for a function that is gone in the other files of its folder."""
    if change.kind is not Kind.GONE:
        return change
    last = change.name.rpartition(".")[2]
    for path in _beside(file.path, new):
        text = new.read(path) or ""
        if f"def {last}" in text or f"class {last}" in text:
            node = _parsed(text).get(change.name)
            if node is not None and hash_of_tree(node) == file.functions[change.name]:
                return replace(change, kind=Kind.MOVED, place=path)
    return change


def _beside(path: str, new: Snapshot) -> list[str]:
    folder = PurePosixPath(path).parent.as_posix() + "/"
    return [each for each in new.paths() if each.startswith(folder) and each != path]


def _parsed(text: str) -> dict[str, Named]:
    try:
        return definitions(text)
    except SyntaxError:
        return {}


def _moved(file: TrackedFile, new: Snapshot, recorded: Snapshot | None) -> FileChange:
    """Look for a file of the same name with some of the recorded functions."""
    name = PurePosixPath(file.path).name
    best, most = "", 0
    for path in new.paths():
        if PurePosixPath(path).name != name:
            continue
        text = new.read(path) or ""
        if hash_of_text(text) == file.sha256:
            return FileChange(file, Kind.MOVED, place=path)
        score = len(_parsed(text).keys() & file.functions.keys())
        if score > most:
            best, most = path, score
    if not best:
        return FileChange(file, Kind.GONE)
    text = new.read(best) or ""
    before = recorded.read(file.path) if recorded else None
    changes = tuple(_functions(file, text, _parsed(text), before))
    kind = Kind.CHANGED if any(each.kind.counts for each in changes) else Kind.MOVED
    return FileChange(file, kind, place=best, functions=changes)
