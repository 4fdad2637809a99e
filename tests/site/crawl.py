"""Reads the files of a built site: what they link to, what they load, and the anchors that they have."""

from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

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
"""The attributes for which a browser asks, by the name of the element."""


class Page(NamedTuple):
    """A page: the targets of its links, what it loads, and its anchors."""

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
    """What a file of HTML holds."""
    reader = _Reader()
    reader.feed(file.read_text(encoding="utf-8"))
    return reader.page


def crawl(site: Path) -> dict[Path, Page]:
    """Every page of a site."""
    return {file: read(file) for file in sorted(site.resolve().rglob("*.html"))}


def is_elsewhere(target: str) -> bool:
    """Whether a browser would ask another host for it."""
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def dead(file: Path, pages: dict[Path, Page]) -> list[str]:
    """The links of a page, and what it loads, that lead nowhere inside the site."""
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
    return bool(anchor) and found in pages and anchor not in pages[found].anchors
