"""The files of a folder or of an archive, as names and contents. Nothing is ever unpacked to the disk."""

import io
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

LARGEST = 1024**2
"""Largest file that is read, in bytes. No answer needs as many."""
LARGEST_ARCHIVE = 32 * 1024**2
"""Largest archive inside an archive that is read, in bytes."""
MOST = 1000
"""Largest number of files of one student, or in one archive of a student, that are read."""
LONGEST_NAME, LONGEST_PATH = 255, 1000
"""Largest number of characters of a file's name and of its path. File systems allow no longer names."""
ENCRYPTED = 0x1
"""Flag of a member that needs a password."""
IGNORED = frozenset(("__pycache__", "__MACOSX"))
"""Folders that other programs create; they are ignored, like names that begin with a dot."""
ANSWERS, ARCHIVE = (".py", ".ipynb"), ".zip"
HIDDEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
"""Unicode categories of characters that steer a terminal or cannot be seen."""
JOINERS = "\u200c\u200d"
"""Invisible characters that some languages need in names."""


class Unreadable(Exception):
    """A submission, or one of its files, cannot be read. The message gives the reason in a few words."""


@dataclass(frozen=True)
class Entry:
    """A file or a folder.

    Attributes:
      path: path inside the submission.
      read: function that returns the content, or raises Unreadable; None for a folder.
      problem: reason why the file must not be read, in a few words, or "".
    """

    path: PurePosixPath
    read: Callable[[], bytes] | None = None
    problem: str = ""


def entries(place: Path | io.BytesIO) -> list[Entry]:
    """Return everything in a folder or a zip file, without the files of other programs, sorted by path.

    Links are not followed, and archives inside are not opened. Of each folder in a folder, the first files
    are enough: one more than are read.

    Args:
      place: the folder, or the zip file or its content.

    Raises:
      Unreadable: if the place is neither, or is a broken archive.
    """
    if isinstance(place, io.BytesIO):
        content = _in_archive(_opened(place))
    elif place.is_dir():
        content = _in_folder(place)
    elif place.is_file() and place.suffix.lower() == ARCHIVE:
        content = _in_archive(_opened(place))
    else:
        raise Unreadable(f"expected a folder or a zip file, got {place}")
    return sorted(content, key=lambda entry: entry.path)


def readable(name: str) -> str:
    r"""Escape the characters of a name that cannot be seen, steer a terminal or are not valid text.

    Backslashes are escaped too, so that different names stay different.

    >>> print(readable("caf\udce9.py"), readable("\x1b[2Janna"), readable("山田　太郎"))
    caf\xe9.py \x1b[2Janna 山田　太郎
    """
    return "".join(map(_shown, name))


def _shown(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that is not text, as Python decodes the names of files
        return f"\\x{ord(character) - 0xDC00:x}"
    is_hidden = unicodedata.category(character) in HIDDEN and character not in JOINERS
    return character.encode("unicode_escape").decode() if is_hidden or character == "\\" else character


def _in_folder(folder: Path) -> Iterator[Entry]:
    """Yield the content of a folder. Folders of any depth are walked without recursion."""
    for top in folder.iterdir():
        if not _is_ignored(top.name):
            yield from islice(_walked(folder, top), MOST + 1)


def _walked(folder: Path, top: Path) -> Iterator[Entry]:
    left = [top]
    while left:
        path = left.pop()
        inside = PurePosixPath(readable(path.relative_to(folder).as_posix()))
        try:
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                left += sorted((each for each in path.iterdir() if not _is_ignored(each.name)), reverse=True)
                yield Entry(inside)
            elif stat.S_ISLNK(mode):
                yield Entry(inside, problem="is a link")
            elif not stat.S_ISREG(mode):
                yield Entry(inside, problem="is not a plain file")
            else:
                yield Entry(inside, partial(_content, path))
        except OSError as error:
            yield Entry(inside, problem=f"cannot be read: {error.strerror or error}")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return _limited(file.read(LARGEST_ARCHIVE + 1), path.suffix)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error


def _opened(file: Path | io.BytesIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"is not a readable zip file ({error})") from error


def _in_archive(archive: zipfile.ZipFile) -> Iterator[Entry]:
    """Yield the members of an archive. Nothing is unpacked to the disk, so their paths can do no harm."""
    for member in archive.infolist():
        path = PurePosixPath(
            *map(readable, member.filename.replace("\\", "/")[: LONGEST_PATH + 1].split("/"))
        )
        if member.filename.startswith("/"):
            path = "/" / path
        inside = PurePosixPath(*(part for part in path.parts if part not in ("/", "..")))
        if not inside.name or any(map(_is_ignored, inside.parts)):
            continue
        if inside != path or (path.parts[0][1:2] == ":" and path.parts[0][0].isalpha()):
            yield Entry(inside, problem="has a path that leads out of the archive")
        elif len(member.filename) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in path.parts):
            yield Entry(_shortened(path), problem="has a name that is too long")
        elif member.is_dir():
            yield Entry(path)
        elif stat.S_ISLNK(member.external_attr >> 16):
            yield Entry(path, problem="is a link")
        else:
            yield Entry(path, partial(_unpacked, archive, member))


def _shortened(path: PurePosixPath) -> PurePosixPath:
    """Return the beginning of a path that is too long. Its first folder, which names the student, stays."""
    first, *rest = path.parts
    return PurePosixPath(first[:LONGEST_NAME], *(part[:LONGEST_NAME] for part in rest[:1]))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's content, up to the largest allowed size, whatever size the archive states."""
    if member.flag_bits & ENCRYPTED:
        raise Unreadable("is protected by a password")
    if member.compress_type == zipfile.ZIP_LZMA:  # the archive chooses how much memory unpacking takes
        raise Unreadable("is compressed with LZMA; use the usual compression")
    try:
        with archive.open(member) as file:
            return _limited(file.read(LARGEST_ARCHIVE + 1), PurePosixPath(member.filename).suffix)
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, RuntimeError, NotImplementedError) as error:
        raise Unreadable(f"cannot be unpacked ({error})") from error
    except Unreadable:
        raise
    except Exception as error:  # the libraries of compression have errors of their own
        raise Unreadable(f"cannot be unpacked ({type(error).__name__})") from error


def _limited(content: bytes, suffix: str) -> bytes:
    largest = LARGEST if suffix.lower() in ANSWERS else LARGEST_ARCHIVE
    if len(content) > largest:
        raise Unreadable(f"is larger than {largest // 1024**2} MiB")
    return content


def _is_ignored(name: str) -> bool:
    return name in IGNORED or name.startswith(".")
