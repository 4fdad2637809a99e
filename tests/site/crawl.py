"""Read the links, the loaded files and the anchors of the pages of a built site."""

from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from grpo_ref.course.contents import EXERCISES

LOADING = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "link": ("href",),
    "use": ("href", "xlink:href"),
    "form": ("action",),
}
"""Name of an element -> the attributes whose values a browser requests."""


class Page(NamedTuple):
    """A page: the targets of its links, the files that it loads, and its anchors."""

    links: set[str]
    loads: set[str]
    anchors: set[str]


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.page = Page(set(), set(), set())

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        self.page.anchors.update(values[name] for name in ("id", "name") if name in values)
        self.page.loads.update(values[name] for name in LOADING.get(tag, ()) if name in values)
        if tag == "a" and "href" in values:
            self.page.links.add(values["href"])


def read(file: Path) -> Page:
    """Read an HTML file."""
    reader = _Reader()
    reader.feed(file.read_text(encoding="utf-8"))
    return reader.page


def crawl(site: Path) -> dict[Path, Page]:
    """Read every page of a site."""
    return {file: read(file) for file in sorted(site.resolve().rglob("*.html"))}


def is_elsewhere(target: str) -> bool:
    """Return True if a browser would request the target from another host."""
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def dead(file: Path, pages: dict[Path, Page]) -> list[str]:
    """Return the links and loaded files of a page that do not exist in the site."""
    page = pages[file]
    return [target for target in page.links | page.loads if _leads_nowhere(file, target, pages)]


def _leads_nowhere(file: Path, target: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return False
    found = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not found.is_file():
        return True
    anchor = unquote(parts.fragment)
    if (found.parent / "course.json").is_file() and found.name == "index.html":
        return bool(anchor) and anchor not in {*EXERCISES, *pages[found].anchors}
    return bool(anchor) and found in pages and anchor not in pages[found].anchors
