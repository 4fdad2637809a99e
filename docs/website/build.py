"""Build the site: `make site`.

The sources are written to `build/site-source`, Sphinx makes `build/site` of them, and what only a developer's
browser would ask for is left out. Nothing in the result is fetched from elsewhere.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from grpo_ref.web import build as web
from website.access import mend
from website.kernel_map import write_map
from website.laboratory import write_laboratory
from website.layer_list import with_layers
from website.learning_curves import learned_by_all
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
PLACE = "<!-- course -->"
"""Where the start page leads to the course."""
DOOR = (
    '<p><a class="sd-btn sd-btn-primary" href="course/index.html">Solve the course in your browser</a></p>\n'
    '<p>Beside it: <a href="course/play.html">a playground</a> that trains two recipes side by side,'
    ' <a href="course/surrogates.html">the surrogates</a> under a ratio that you drag, and'
    ' <a href="course/explain.html">what a trainer\'s configuration optimizes</a>.</p>'
)
MOVING = "<!-- moving -->"
"""Where the start page has its moving picture."""
NO_HEADINGS = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"


def write_sources() -> None:
    """Write everything that Sphinx reads."""
    links = Links()
    start = (HERE / "start.md").read_text(encoding="utf-8").replace(PLACE, DOOR if has_course() else "")
    start = start.replace(MOVING, f"```{{raw}} html\n{moving_picture()}```")
    write("index.md", links.rewritten(start, path="README.md", page="index"))
    for path, page in COPIED.items():
        text = with_layers((ROOT / path).read_text(encoding="utf-8"))
        below = contents(BELOW.get(page, ()), hidden=True)
        head = NO_HEADINGS if page in WIDE else ""
        write(f"{page}.md", head + links.rewritten(text, path=path, page=page) + below)
    write("more/index.md", "# More" + contents(MORE, hidden=False))
    write_laboratory(links)
    write_reference()
    write_map()
    code = code_hash("grpo_ref", "docs/website")
    nearest = nearest_of_all(code)
    write_recipes(code, nearest, learned_by_all(code))
    write_trainers(code, nearest)
    write_notebooks(links)
    links.linked |= {proof.file.relative_to(ROOT).as_posix() for proof in all_proofs()}
    links.save()


def has_course() -> bool:
    """Whether the programs of the course in the browser are there: `make page` builds them."""
    return (web.BUILT / "course.js").is_file()


def code_hash(*folders: str) -> str:
    """The hash of all modules that pictures, tables or notebooks are computed by."""
    modules = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()


def make(site: Path) -> int:
    """Build the site into a folder; the exit status of Sphinx, for which every warning is an error."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    write_sources()
    options = ["-q", "-W", "--keep-going", "-E", "-d", str(site.with_name("site-doctrees")), "-c", str(HERE)]
    done = subprocess.run([sys.executable, "-m", "sphinx", *options, str(SOURCES), str(site)])
    prune(site)
    mend(site)
    if has_course():
        web.write(site / "course")
    return done.returncode


def prune(site: Path) -> None:
    """Leave out what no reader needs: maps of the theme's scripts, and Sphinx's notes for the next build."""
    for path in (*site.rglob("*.map"), *site.rglob("webpack-macros.html"), *site.glob(".buildinfo*")):
        path.unlink()


def main() -> int:
    """Build from the command line."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", type=Path, default=SITE)
    return make(parser.parse_args().out)


if __name__ == "__main__":
    sys.exit(main())
