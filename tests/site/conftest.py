"""Build the site once for all of its tests. Without the extra `docs` the tests are skipped."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from crawl import crawl
from in_page import CHROMIUM, MISSING, OPTIONS

ROOT = Path(__file__).parents[2]
NEEDED = ("sphinx", "pydata_sphinx_theme", "myst_nb", "sphinx_design", "latex2mathml")


class Built(NamedTuple):
    """A build: its folder, the output of Sphinx, its exit status and its pages."""

    folder: Path
    output: str
    status: int
    pages: dict


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Build the site with the committed outputs of the notebooks, which tests/test_notebooks.py checks."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        pytest.skip(f"the site needs {', '.join(missing)}: pip install -c constraints.txt -e '.[docs]'")
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("the site is built once, not by each worker: make test-site")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "website.build", "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT / "docs", capture_output=True, text=True)
    return Built(folder, done.stdout + done.stderr, done.returncode, crawl(folder))


@pytest.fixture(scope="module")
def page():
    """Open a page of Chromium."""
    if MISSING:
        pytest.skip(f"the site in a browser needs {', '.join(MISSING)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield browser.new_page()
        browser.close()
