"""Pages of source: one for each file, with an anchor for each line, and a list for each folder."""

import inspect
import sys
from collections.abc import Iterator
from html import escape
from os.path import relpath
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import guess_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

from website.links import LINKED
from website.tree import PAGES, ROOT, SOURCES

FORMAT = HtmlFormatter(linespans="L", wrapcode=True)
ANSWERS = "grpo_ref/course/exercises/"
Page = tuple[str, dict[str, str], str]


def setup(app: Any) -> dict[str, bool]:
    """Add the pages after all other pages."""
    app.connect("html-collect-pages", lambda app: _pages())
    return {"parallel_read_safe": True}


def _pages() -> Iterator[Page]:
    files = shown_files()
    linked = {Path(place) for place in _linked() if (ROOT / place).is_dir()}
    folders = linked.union(*(_above(path) for path in (*map(Path, files), *linked)))
    for file in sorted(files):
        yield f"source/{file}", {"title": file, "body": _file(Path(file))}, "page.html"
    for folder in sorted(folders):
        yield f"source/{folder}/index", {"title": f"{folder}/", "body": _listing(folder, files)}, "page.html"


def shown_files() -> set[str]:
    """Return the files that have a page: linked files, and the package without the answers to exercises."""
    places = (path.relative_to(ROOT).as_posix() for path in (ROOT / "grpo_ref").rglob("*.py"))
    modules = {place for place in places if not place.startswith(ANSWERS)}
    return modules | {place for place in _linked() if (ROOT / place).is_file()}


def _linked() -> list[str]:
    return (SOURCES / LINKED).read_text(encoding="utf-8").split()


def _head(path: Path, seen_from: Path) -> str:
    """Return the path of a file or folder as a heading with links to the folders above it."""
    steps = [f'<a href="{relpath(above, seen_from)}/index.html">{above.name}</a>' for above in _above(path)]
    return f'<h1 class="path">{" / ".join([*steps, path.name])}</h1>'


def _above(path: Path) -> list[Path]:
    """Return the folders that contain a file or folder, from the root of the project down."""
    return list(path.parents)[-2::-1]


def _file(place: Path) -> str:
    """Return the heading and the lines of a file, as HTML."""
    path = ROOT / place
    text = path.read_text(encoding="utf-8")
    try:
        lexer = guess_lexer_for_filename(path.name, text)
    except ClassNotFound:
        lexer = TextLexer()
    region = '<div class="source" tabindex="0" role="region" aria-label="source">'
    return f"{_head(place, place.parent)}{region}{highlight(text, lexer, FORMAT)}</div>"


def _listing(folder: Path, files: set[str]) -> str:
    inside = sorted((ROOT / folder).iterdir(), key=lambda path: (path.is_file(), path.name))
    names = [path for path in inside if path.name != "__pycache__"]
    entries = "".join(f"<li>{_entry(path, folder, files)}</li>" for path in names)
    return f"{_head(folder, folder)}<ul>{entries}</ul>"


def _entry(path: Path, folder: Path, files: set[str]) -> str:
    place = path.relative_to(ROOT).as_posix()
    if place in files:
        return f'<a href="{path.name}.html">{path.name}</a>'
    if place in PAGES:
        return f'<a href="{relpath(PAGES[place], f"source/{folder}")}.html">{path.name}</a>'
    if any(file.startswith(f"{place}/") for file in files):
        return f'<a href="{path.name}/index.html">{path.name}/</a>'
    return escape(path.name) + "/" * path.is_dir()


def resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the URL of the source of a documented name, seen from a page of the reference."""
    value: Any = sys.modules.get(info["module"])
    for part in info["fullname"].split(".") if value else ():
        value = getattr(value, part, None)
    value = inspect.unwrap(getattr(value, "fget", value))
    try:
        path, (_, line) = Path(inspect.getfile(value)), inspect.getsourcelines(value)
    except TypeError:
        return None
    if not path.is_relative_to(ROOT / "grpo_ref"):
        return None
    return f"../source/{path.relative_to(ROOT).as_posix()}.html#L-{max(line, 1)}"
