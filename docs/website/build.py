"""Build the site: `make site`.

The sources are written to `build/site-source`, and Sphinx turns them into `build/site`. Files that only a
developer's browser would request are removed. No page of the result loads anything from another host.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from grpo_ref.web import build as web
from website.access import repair
from website.chinese import make_chinese
from website.errata_page import write_errata
from website.experiments import write_experiments
from website.heads import SETTING, write_heads
from website.installation import with_installation
from website.kept import code_hash
from website.kernel_map import write_map
from website.layer_list import with_layers
from website.links import Links, has_course
from website.moving_picture import moving_picture
from website.notebooks import write_notebooks
from website.progress import sphinx, stage
from website.recipe_pages import write_recipes
from website.reference import write_reference
from website.search_index import write_index
from website.see_also import of_site, with_neighbours
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
PICTURE_MARK = "<!-- moving -->"
"""The comment on the start page that is replaced by the moving picture."""
NO_HEADINGS = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"


def write_sources() -> None:
    """Write everything that Sphinx reads."""
    links = Links()
    start = (HERE / "start.md").read_text(encoding="utf-8")
    start = with_installation(start).replace(COURSE_MARK, COURSE_LINKS if has_course() else "")
    start = start.replace(PICTURE_MARK, f"```{{raw}} html\n{moving_picture()}```")
    write("index.md", links.rewritten(start, path="README.md", page="index"))
    for path, page in COPIED.items():
        text = with_layers((ROOT / path).read_text(encoding="utf-8"))
        below = contents(BELOW.get(page, ()), hidden=True)
        head = NO_HEADINGS if page in WIDE else ""
        write(f"{page}.md", head + with_neighbours(links.rewritten(text, path=path, page=page), page) + below)
    write("more/index.md", "# More" + contents(MORE, hidden=False))
    write_experiments(links)
    write_reference()
    write_notebooks(links)
    with stage("the map of kernels"):
        write_map()
    nearest = nearest_of_all()
    with stage("recipes"):
        write_recipes(nearest, links)
    with stage("trainers"):
        write_trainers(code_hash("trainer_pages"), nearest)
        write_errata(links)


def make(site: Path, root: str = "") -> int:
    """Build the site into a folder, and return the exit status of Sphinx. A warning counts as an error.

    Args:
      site: the folder.
      root: address at which the site will be found, or "" if it is unknown.
    """
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    write_sources()
    options = ["-W", "--keep-going", "-E", "-j", "auto", "-d", str(site.with_name("site-doctrees"))]
    with stage("HTML"):
        status = sphinx(*options, "-c", str(HERE), str(SOURCES), str(site))
    status = status or make_chinese(site)
    prune(site)
    repair(site)
    with stage("index of the search"):
        write_index(site)
    if has_course():
        with stage("the course in the browser"):
            web.write(site / "course", of_site())
    with stage("titles, descriptions and addresses"):
        write_heads(site, root)
    return status


def prune(site: Path) -> None:
    """Remove the source maps of the theme's scripts, and Sphinx's notes for the next build."""
    for path in (*site.rglob("*.map"), *site.rglob("webpack-macros.html"), *site.glob(".buildinfo*")):
        path.unlink()


def main() -> int:
    """Build from the command line."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", type=Path, default=SITE)
    return make(parser.parse_args().out, os.environ.get(SETTING, ""))


if __name__ == "__main__":
    sys.exit(main())
