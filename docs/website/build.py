"""Build the site: `make site`.

The sources are written to `build/site-source`, and Sphinx turns them into `build/site`. Files that only a
developer's browser would request are removed. No page of the result loads anything from another host.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat

from grpo_ref.web import build as web
from website.access import repair
from website.experiments import write_experiments
from website.kernel_map import write_map
from website.layer_list import with_layers
from website.links import Links
from website.moving_picture import moving_picture
from website.notebooks import write_notebooks
from website.proofs import all_proofs
from website.recipe_pages import write_recipes
from website.reference import write_reference
from website.trainer_keys import nearest_of_all
from website.trainer_pages import write_trainers
from website.tree import BELOW, COPIED, MORE, ROOT, SITE, SOURCES, WIDE, contents, write

HERE = Path(__file__).parent
COURSE_MARK = "<!-- course -->"
"""The comment on the start page that is replaced by the links to the course."""
COURSE_LINKS = (
    '<p><a class="sd-btn sd-btn-primary" href="course/index.html">Solve the course in your browser</a></p>\n'
    '<p>Also in your browser: <a href="course/play.html">train two recipes side by side</a>,'
    ' <a href="course/surrogates.html">drag the ratio under a surrogate</a>,'
    ' <a href="course/explain.html">read what a trainer\'s configuration optimizes</a>, and'
    ' <a href="course/diagnose.html">see what happened in a training run</a>.</p>'
)
EXPLAINING = {"chapters": "Chapter", "derivation": "Derivation", "notebooks": "Notebook"}
"""Folder of pages to which the course links from an exercise -> word before the number of a page."""
PICTURE_MARK = "<!-- moving -->"
"""The comment on the start page that is replaced by the moving picture."""
NO_HEADINGS = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"


def write_sources() -> Links:
    """Write everything that Sphinx reads, and return the links between the pages."""
    links = Links(has_course=has_course())
    start = (HERE / "start.md").read_text(encoding="utf-8")
    start = start.replace(COURSE_MARK, COURSE_LINKS if has_course() else "")
    start = start.replace(PICTURE_MARK, f"```{{raw}} html\n{moving_picture()}```")
    write("index.md", links.rewritten(start, path="README.md", page="index"))
    for path, page in COPIED.items():
        text = with_layers((ROOT / path).read_text(encoding="utf-8"))
        below = contents(BELOW.get(page, ()), hidden=True)
        head = NO_HEADINGS if page in WIDE else ""
        write(f"{page}.md", head + links.rewritten(text, path=path, page=page) + below)
    write("more/index.md", "# More" + contents(MORE, hidden=False))
    write_experiments(links)
    write_reference()
    write_map()
    nearest = nearest_of_all()
    write_recipes(nearest, links)
    write_trainers(code_hash("grpo_ref", "docs/website"), nearest)
    write_notebooks(links)
    links.linked |= {proof.file.relative_to(ROOT).as_posix() for proof in all_proofs()}
    links.save()
    return links


def has_course() -> bool:
    """Return True if `make page` has built the programs of the course in the browser."""
    return (web.BUILT / "course.js").is_file()


def code_hash(*folders: str) -> str:
    """Return the hash of all modules in some folders, for the cache of slow computations."""
    modules = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()


def make(site: Path) -> int:
    """Build the site into a folder, and return the exit status of Sphinx. A warning counts as an error."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    links = write_sources()
    options = ["-q", "-W", "--keep-going", "-E", "-d", str(site.with_name("site-doctrees")), "-c", str(HERE)]
    done = subprocess.run([sys.executable, "-m", "sphinx", *options, str(SOURCES), str(site)])
    prune(site)
    repair(site)
    if has_course():
        web.write(site / "course", {each: read_more(pages) for each, pages in links.pages_on.items()})
    return done.returncode


def read_more(pages: Iterable[str]) -> list[web.Link]:
    """Return links from the course to the pages that explain an exercise, in the order of `EXPLAINING`."""
    return [
        web.Link(f"{word} {_title(page)}", f"../{page}.html")
        for folder, word in EXPLAINING.items()
        for page in sorted(pages)
        if page.startswith(f"{folder}/") and not page.endswith("/index")
    ]


def _title(page: str) -> str:
    """Return the first heading of a page, which is a notebook or Markdown."""
    path = SOURCES / f"{page}.ipynb"
    if not path.is_file():
        return heading(path.with_suffix(".md").read_text(encoding="utf-8"))
    return heading(nbformat.read(path, as_version=4).cells[0].source)


def heading(text: str) -> str:
    r"""Return the first heading of a text in Markdown.

    >>> heading("---\nkey: value\n---\n# The clip\n\nText")
    'The clip'
    """
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


def prune(site: Path) -> None:
    """Remove the source maps of the theme's scripts, and Sphinx's notes for the next build."""
    for path in (*site.rglob("*.map"), *site.rglob("webpack-macros.html"), *site.glob(".buildinfo*")):
        path.unlink()


def main() -> int:
    """Build from the command line."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", type=Path, default=SITE)
    return make(parser.parse_args().out)


if __name__ == "__main__":
    sys.exit(main())
