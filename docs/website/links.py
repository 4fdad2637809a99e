"""Turn the links between the files of the project into links between the pages of the site.

A link to a page leads to that page. A link to an exercise opens the exercise in the course in the browser, or
leads to the page of its chapter if the course is not part of the site. The id of an exercise in backticks
becomes such a link. The file name of a notebook in backticks becomes a link to the notebook, and a paper's
number on arXiv a link to the paper. Pictures are copied, and so are files of settings, which a link
downloads. A link to another file or folder leads to its page of source. A link that is not a path of the
project stays as it is.
"""

import re
import shutil
from os.path import relpath
from pathlib import Path

from grpo_ref.course.contents import OURS
from grpo_ref.course.layout import file_of
from grpo_ref.web.build import BUILT
from website.tree import PAGES, ROOT, SOURCES

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
EXERCISES = {f"exercises/{file_of(each).as_posix()}": each for each in OURS.ids}
"""Path of an exercise's file -> id of the exercise."""
CHAPTER_PAGES = {each: f"chapters/{file_of(each).parts[0]}" for each in OURS.ids}
"""Id of an exercise -> page of its chapter."""
ID = re.compile(rf"(?<!\[)`({'|'.join(map(re.escape, OURS.ids))})`")
"""An exercise's id in backticks that is not the text of a link."""
DOWNLOADS = (".toml", ".csv", ".zip", ".json")
"""Endings of files in `docs` that readers use rather than read."""
NOTEBOOK = re.compile(r"(?<!\[)`(\d\d_\w+\.ipynb)`")
"""The file name of a notebook in backticks that is not the text of a link."""
PAPER = re.compile(r"(?<![\[`/])arXiv:(\d{4}\.\d{5})(?![^\[\]]*\]\()")
"""The number of a paper that is not in the text of a link."""
COURSE = "course/index.html"
"""Page of the site in which the exercises are solved."""


def has_course() -> bool:
    """Return True if `make page` has built the programs of the course in the browser."""
    return (BUILT / "course.js").is_file()


def to_exercise(exercise: str) -> str:
    """Return the address, from the root of the site, at which an exercise can be solved or at least found."""
    return f"{COURSE}#{exercise}" if has_course() else f"{CHAPTER_PAGES[exercise]}.html"


def seen_from(page: str, address: str) -> str:
    """Return the relative address of a place in the site.

    >>> seen_from("derivation/04_clip", "course/index.html#ratios/clipped")
    '../course/index.html#ratios/clipped'
    """
    path, mark, fragment = address.partition("#")
    return relpath(path, Path(page).parent) + mark + fragment


def in_markdown(page: str, address: str) -> str:
    """Return the target of a link in Markdown to a place in the site that Sphinx does not know.

    >>> in_markdown("derivation/04_clip", "course/index.html#ratios/clipped")
    'line:../course/index.html#ratios/clipped'
    """
    return f"{'line' if '#' in address else 'source'}:{seen_from(page, address)}"


class Links:
    """Rewrites the links of pages."""

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
        text = LINK.sub(lambda match: self._link(match, path, page), text)
        text = PAPER.sub(r"[\g<0>](https://arxiv.org/abs/\1)", text)
        text = NOTEBOOK.sub(lambda match: self._notebook(match, page), text)
        return ID.sub(lambda match: f"[{match[0]}]({in_markdown(page, to_exercise(match[1]))})", text)

    def _link(self, match: re.Match[str], path: str, page: str) -> str:
        mark, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        file = (ROOT / path).parent / target if target else ROOT / path
        if not target or ":" in target or not file.exists():
            return match[0]
        place = file.resolve().relative_to(ROOT.resolve()).as_posix()
        return f"{mark}[{text}]({self._place(place, anchor, page)})"

    def _notebook(self, match: re.Match[str], page: str) -> str:
        place = f"notebooks/{match[1]}"
        return f"[{match[0]}]({self._place(place, '', page)})" if place in PAGES else match[0]

    def _place(self, place: str, anchor: str, page: str) -> str:
        if place in PAGES:
            return "project:" + seen_from(page, f"{PAGES[place]}{Path(place).suffix}") + anchor
        if place in EXERCISES:
            return in_markdown(page, to_exercise(EXERCISES[place]))
        if place.endswith((".png", ".svg")):
            return seen_from(page, _copied(place, "pictures"))
        if place.startswith("docs/") and place.endswith(DOWNLOADS):
            return "path:" + seen_from(page, _copied(place, "downloads"))
        folder = (ROOT / place).is_dir()
        return "source:" + seen_from(page, f"source/{place}{'/index' if folder else ''}.html")


def _copied(place: str, folder: str) -> str:
    """Copy a file into a folder of the sources, and return its place there."""
    copy = SOURCES / folder / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / place, copy)
    return f"{folder}/{place}"
