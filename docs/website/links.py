"""Turn the links between the files of the project into links between the pages of the site.

A link to a page leads to that page. A link to an exercise opens the exercise in the course in the browser, if
the course is part of the site. A link to another file or folder leads to its page of source. Pictures are
copied. A link that is not a path of the project stays as it is.
"""

import re
import shutil
from os.path import relpath
from pathlib import Path

from grpo_ref.course.contents import OURS
from grpo_ref.course.layout import file_of
from website.tree import EXPERIMENTS, PAGES, ROOT, SOURCES

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
EXERCISES = {f"exercises/{file_of(each).as_posix()}": each for each in OURS.ids}
"""Path of an exercise's file -> id of the exercise."""
COURSE = "course/index.html"
"""Page of the site in which the exercises are solved."""
LINKED = "linked.txt"
"""File among the sources that lists the files and folders that need a page of source."""


class Links:
    """Rewrites the links of pages, and records which files, folders and exercises they lead to.

    Attributes:
      has_course: whether the site contains the course in the browser.
      linked: files and folders that need a page of source.
      pages_on: id of an exercise -> the pages that link to it.
    """

    def __init__(self, *, has_course: bool = False) -> None:
        self.has_course = has_course
        self.linked: set[str] = set()
        self.pages_on: dict[str, set[str]] = {}

    def rewritten(self, text: str, *, path: str, page: str) -> str:
        """Return the text of a page with its links rewritten.

        Args:
          text: Markdown. Code blocks stay as they are.
          path: path of the file, from the root of the project.
          page: name of the page in the site.
        """
        parts = CODE.split(text)
        parts[::2] = (self._in_prose(part, path, page) for part in parts[::2])
        return "".join(parts)

    def _in_prose(self, text: str, path: str, page: str) -> str:
        return LINK.sub(lambda match: self._link(match, path, page), text)

    def _link(self, match: re.Match[str], path: str, page: str) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        file = (ROOT / path).parent / target if target else ROOT / path
        # The report of the experiments is split into pages, so its own anchors become pages too.
        within = not target and path != EXPERIMENTS
        if within or ":" in target or not file.exists():
            return match[0]
        place = file.resolve().relative_to(ROOT.resolve()).as_posix()
        return f"{mark}[{text}]({self._place(place, anchor, page)})"

    def _place(self, place: str, anchor: str, page: str) -> str:
        if place == EXPERIMENTS and anchor:
            return "project:" + _from(page, f"experiments/{anchor[1:]}.md")
        if place in PAGES:
            return "project:" + _from(page, f"{PAGES[place]}{Path(place).suffix}") + anchor
        if self.has_course and place in EXERCISES:
            self.pages_on.setdefault(EXERCISES[place], set()).add(page)
            return f"course:{_from(page, COURSE)}#{EXERCISES[place]}"
        if place.endswith(".png"):
            return _from(page, _copied(place))
        self.linked.add(place)
        folder = (ROOT / place).is_dir()
        return "source:" + _from(page, f"source/{place}{'/index' if folder else ''}.html")

    def save(self) -> None:
        """Write the list of files and folders that need a page of source."""
        (SOURCES / LINKED).write_text("\n".join(sorted(self.linked)), encoding="utf-8")


def _from(page: str, place: str) -> str:
    """Return the relative link from a page to a place in the site."""
    return relpath(place, Path(page).parent)


def _copied(place: str) -> str:
    """Copy a picture to the sources, and return its place there."""
    copy = SOURCES / "pictures" / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / place, copy)
    return f"pictures/{place}"
