"""Links: what leads from file to file in the project leads from page to page in the site.

A link to a page leads to that page, one to another file or folder to the view of the source; pictures come
along. What is no path of the project is left alone.
"""

import re
import shutil
from os.path import relpath
from pathlib import Path

from website.tree import LABORATORY, PAGES, ROOT, SOURCES

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINKED = "linked.txt"
"""The file among the sources that lists what the view of the source has to show."""


class Links:
    """Rewrites the links of pages, and keeps what they lead to outside of the pages."""

    def __init__(self) -> None:
        self.linked: set[str] = set()

    def rewritten(self, text: str, *, path: str, page: str) -> str:
        """The text of a page with its links for the site.

        Args:
          text: Markdown; its blocks of code are left alone.
          path: of the file, from the root of the project.
          page: its name in the site.
        """
        parts = CODE.split(text)
        parts[::2] = (self._in_prose(part, path, page) for part in parts[::2])
        return "".join(parts)

    def _in_prose(self, text: str, path: str, page: str) -> str:
        return LINK.sub(lambda found: self._link(found, path, page), text)

    def _link(self, found: re.Match[str], path: str, page: str) -> str:
        mark, shown, target, anchor = found[1], found[2], found[3], found[4] or ""
        file = (ROOT / path).parent / target if target else ROOT / path
        within = not target and path != LABORATORY
        if within or ":" in target or not file.exists():
            return found[0]
        place = file.resolve().relative_to(ROOT.resolve()).as_posix()
        return f"{mark}[{shown}]({self._place(place, anchor, page)})"

    def _place(self, place: str, anchor: str, page: str) -> str:
        if place == LABORATORY and anchor:
            return "project:" + _from(page, f"laboratory/{anchor[1:]}.md")
        if place in PAGES:
            return "project:" + _from(page, f"{PAGES[place]}{Path(place).suffix}") + anchor
        if place.endswith(".png"):
            return _from(page, _carried(place))
        self.linked.add(place)
        folder = (ROOT / place).is_dir()
        return "source:" + _from(page, f"source/{place}{'/index' if folder else ''}.html")

    def save(self) -> None:
        """Write down what the view of the source has to show."""
        (SOURCES / LINKED).write_text("\n".join(sorted(self.linked)), encoding="utf-8")


def _from(page: str, place: str) -> str:
    """A relative link from a page to a place in the site."""
    return relpath(place, Path(page).parent)


def _carried(place: str) -> str:
    """Copy a picture to the sources; its place there."""
    copy = SOURCES / "pictures" / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / place, copy)
    return f"pictures/{place}"
