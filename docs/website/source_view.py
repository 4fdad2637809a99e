"""Pages of source: one for each file that a page links to, with an anchor for each line, and a list for each
folder of these files.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from html import escape
from os.path import relpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import guess_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

from website.tree import PAGES, ROOT

FORMAT = HtmlFormatter(linespans="L", wrapcode=True)
LINK = re.compile(r'href="(?:\.\./)*source/([^"#]+)\.html')
Page = tuple[str, dict[str, str], str]


def setup(app: Any) -> dict[str, bool]:
    """Add the pages after all other pages."""
    app.connect("html-collect-pages", lambda app: _pages(Path(app.outdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _pages(site: Path) -> Iterator[Page]:
    linked = linked_places(site)
    files = {place for place in linked if (ROOT / place).is_file()}
    folders = {Path(place).parent for place in linked - files}
    folders = folders.union(*(_above(path) for path in (*map(Path, files), *folders)))
    for file in sorted(files):
        yield f"source/{file}", {"title": file, "body": _file(Path(file))}, "page.html"
    for folder in sorted(folders):
        yield f"source/{folder}/index", {"title": f"{folder}/", "body": _listing(folder, files)}, "page.html"


def linked_places(site: Path) -> set[str]:
    """Return what the pages of a site link to: paths of files, and `folder/index` for a folder."""
    return {
        unquote(place) for page in site.rglob("*.html") for place in LINK.findall(page.read_text("utf-8"))
    }


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
