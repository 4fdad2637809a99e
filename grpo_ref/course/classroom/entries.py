"""The files of a folder or of an archive, as names and contents. Nothing is ever unpacked to the disk."""

import io
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

LARGEST = 1024**2
"""Largest file that is read, in bytes. No answer needs as many."""
LARGEST_ARCHIVE = 32 * 1024**2
"""Largest archive inside an archive that is read, in bytes."""
MOST = 100_000
"""Largest number of members of an archive that are examined."""
ENCRYPTED = 0x1
"""Flag of a member that needs a password."""
IGNORED = frozenset(("__pycache__", "__MACOSX"))
"""Folders that other programs create; they are ignored, like names that begin with a dot."""
ANSWERS, ARCHIVE = (".py", ".ipynb"), ".zip"
TOO_LARGE = f"is larger than {LARGEST // 1024**2} MiB"


class Unreadable(Exception):
    """A submission, or one of its files, cannot be read. The message gives the reason in a few words."""


@dataclass(frozen=True)
class Entry:
    """A file that may be an answer.

    Attributes:
      path: path of the file inside the submission.
      read: function that returns the content, or raises Unreadable.
    """

    path: PurePosixPath
    read: Callable[[], bytes]


def entries(place: Path) -> list[Entry]:
    """Return all files of a folder or a zip file that may be answers, sorted by path. Archives inside are
    searched too.

    Args:
      place: the folder, or the zip file.

    Raises:
      Unreadable: if the place is neither, or is a broken archive.
    """
    if place.is_dir():
        found = list(_in_folder(place))
    elif place.is_file() and place.suffix.lower() == ARCHIVE:
        found = list(_in_archive(_opened(place), PurePosixPath()))
    else:
        raise Unreadable(f"expected a folder or a zip file, got {place}")
    return sorted(found, key=lambda entry: entry.path)


def top_folders(place: Path) -> set[str]:
    """Return the folders directly in a folder or zip file, empty ones included, without those of other
    programs.
    """
    if place.is_dir():
        names = {readable(path.name) for path in place.iterdir() if path.is_dir() and not path.is_symlink()}
    else:
        parts = [member.filename.replace("\\", "/").split("/") for member in _opened(place).infolist()[:MOST]]
        names = {part[0] for part in parts if len(part) > 1}
    return {name for name in names if name not in ("", "..") and not _is_ignored(name)}


def readable(name: str) -> str:
    r"""Replace the bytes of a name that are not valid text, so that the name can be printed.

    >>> readable("caf\udce9.py")
    'caf\\xe9.py'
    """
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def content_of(place: Path, name: str) -> bytes | None:
    """Return the content of the file with this name, in a folder, or in a zip file or the one folder in it.

    Return None if there is no such file, or if it cannot be read.
    """
    try:
        if place.is_dir():
            return _content(place / name) if (place / name).is_file() else None
        archive = _opened(place)
        inside = [member for member in archive.infolist()[:MOST] if _is_near(member.filename, name)]
        return _unpacked(archive, inside[0]) if inside else None
    except (OSError, Unreadable):
        return None


def _is_near(path: str, name: str) -> bool:
    *folders, last = path.replace("\\", "/").split("/")
    return last == name and len(folders) <= 1


def _in_folder(folder: Path) -> Iterator[Entry]:
    """Yield the files of a folder. Links are reported and not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_ignored(name)]
        for name in names:
            path = Path(parent, name)
            inside = PurePosixPath(readable(path.relative_to(folder).as_posix()))
            if _is_ignored(name):
                continue
            if path.is_symlink() or not path.is_file():
                kind = "is a link" if path.is_symlink() else "is not a plain file"
                yield from [Entry(inside, partial(_refuse, kind))] * _may_be_answer(inside)
            else:
                yield from _of(inside, partial(_content, path), path.stat().st_size)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _limited(file.read(LARGEST_ARCHIVE + 1), path.suffix)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error


def _of(path: PurePosixPath, read: Callable[[], bytes], size: int, depth: int = 0) -> Iterator[Entry]:
    """Yield the file if it may be an answer; if it is an archive, yield its files, one level deep."""
    if _may_be_answer(path):
        yield Entry(path, read if size <= LARGEST else partial(_refuse, TOO_LARGE))
    elif path.suffix.lower() == ARCHIVE and depth == 0:
        try:
            yield from _in_archive(_opened(io.BytesIO(read())), path.with_suffix(""), depth=1)
        except Unreadable as error:
            yield Entry(path, partial(_refuse, str(error)))


def _opened(file: Path | io.BytesIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"is not a readable zip file ({error})") from error


def _in_archive(archive: zipfile.ZipFile, folder: PurePosixPath, depth: int = 0) -> Iterator[Entry]:
    """Yield the members of an archive. Nothing is unpacked to the disk, so their paths can do no harm."""
    for member in archive.infolist()[:MOST]:
        path = PurePosixPath(readable(member.filename.replace("\\", "/")))
        if not path.name or member.filename.endswith("/") or any(map(_is_ignored, path.parts)):
            continue
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            inside = folder.joinpath(*(part for part in path.parts if part not in ("/", "..")))
            why = partial(_refuse, "has a path that leads out of the archive")
            yield from [Entry(inside, why)] * _may_be_answer(path)
        elif stat.S_ISLNK(member.external_attr >> 16):
            yield Entry(folder / path, partial(_refuse, "is a link"))
        else:
            yield from _of(folder / path, partial(_unpacked, archive, member), member.file_size, depth)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's content, up to the largest allowed size, whatever size the archive states."""
    if member.flag_bits & ENCRYPTED:
        raise Unreadable("is protected by a password")
    try:
        with archive.open(member) as file:
            return _limited(file.read(LARGEST_ARCHIVE + 1), PurePosixPath(member.filename).suffix)
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, RuntimeError, NotImplementedError) as error:
        raise Unreadable(f"cannot be unpacked ({error})") from error
    except Exception as error:  # the libraries of compression have errors of their own
        raise Unreadable(f"cannot be unpacked ({type(error).__name__})") from error


def _limited(content: bytes, suffix: str) -> bytes:
    largest = LARGEST_ARCHIVE if suffix.lower() == ARCHIVE else LARGEST
    return content if len(content) <= largest else _refuse(TOO_LARGE)


def _refuse(why: str) -> bytes:
    raise Unreadable(why)


def _may_be_answer(path: PurePosixPath) -> bool:
    return path.suffix.lower() in ANSWERS


def _is_ignored(name: str) -> bool:
    return name in IGNORED or (name.startswith(".") and name != "..")
