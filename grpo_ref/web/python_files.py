"""Python for a page as four files: two that every page loads, and two that few programs need.

The functions and modules that pages call were recorded once (`tests/page_functions.py`). They make the first
two files. Everything else is loaded when it is needed, such as SciPy.
"""

import io
import json
import zipfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grpo_ref.course.grading import wasm
from grpo_ref.web.split import split

IMPORTED = ("numpy.random", "numpy.testing")
"""Modules that take long to import, and that every page needs. An interpreter starts with them."""
RECORDED = Path(__file__).parent / "called.json"
LIBRARY, MORE = "/usr/local/lib/python315.zip", "/usr/local/lib/more.zip"
"""Paths in a page's interpreter: of the modules that pages import, and of all others."""
SEARCH_MORE = """
import sys, zipimport
from importlib.machinery import PathFinder
class SearchMore:
    def find_spec(name, path=None, target=None):
        if name not in names:
            return None
        found = [each.replace(library, more) for each in path or () if each.startswith(library)]
        return PathFinder.find_spec(name, [more] if path is None else found, target)
sys.meta_path.append(SearchMore)
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()  # a page has other zip files
"""
"""Code that makes Python look for a module in the other file after it was found nowhere else.

Modules that no file has, such as `msvcrt`, are not looked for, since the page would load the file. It is not
on the path for imports either, where programs look for more than modules.
"""


class PythonFiles(NamedTuple):
    """Files of Python for a page.

    Attributes:
      program: the first half of a WebAssembly program (see `split`).
      rest: its second half.
      library: a zip file of the modules that pages import.
      more: a zip file of all other modules.
    """

    program: bytes
    rest: bytes
    library: bytes
    more: bytes


def python_files() -> PythonFiles:
    """Return the files of Python for a page.

    Raises:
      OSError: if the user's cache folder cannot be written to.
    """
    names = {"library": LIBRARY, "more": MORE, "names": dict.fromkeys(wasm.module_names())}
    made = wasm.files(
        IMPORTED, "".join(f"\n{name} = {value!r}" for name, value in names.items()) + SEARCH_MORE
    )
    halves = split(made.snapshot.read_bytes(), called_functions())
    library, more = _parted(made.stdlib_zip, set(_recorded()["modules"]))
    return PythonFiles(halves.first, halves.rest, library, more)


def called_functions() -> list[int]:
    """Return the recorded functions in ascending order, as numbers for `split`.

    The file has the first number, and then the distance from each number to the next.
    """
    numbers, last = [], 0
    for distance in _recorded()["functions"]:
        last += distance
        numbers.append(last)
    return numbers


@cache
def _recorded() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return recorded


def _parted(whole: Path, chosen: Collection[str]) -> tuple[bytes, bytes]:
    """Return a zip file of the chosen files of a zip file, and one of all others."""
    parts = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(whole) as archive:
        writers = [zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=9) for part in parts]
        for each in archive.infolist():
            writers[each.filename not in chosen].writestr(each, archive.read(each), zipfile.ZIP_DEFLATED, 9)
        for writer in writers:
            writer.close()
    library, more = parts
    return library.getvalue(), more.getvalue()
