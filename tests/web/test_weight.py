"""Bytes that the pages load before they are of use. Their number does not depend on the machine."""

import pytest
from in_page import LOADED, MINUTE

SMALL, PYTHON = 1_500_000, 20_000_000
"""Most bytes before a page without Python is of use, and before a page with Python is."""
STATEMENT = "document.getElementById('statement').textContent.length > 100"
PARTS = ("rest.wasm.gz", "more.zip", "plots.zip")
"""Files that a page does not load by itself."""


@pytest.fixture
def loads(browser, address):
    """Open a page in a new browser; return the bytes of each file that it loads until it is of use."""
    context = browser.new_context(service_workers="block")

    def loaded(name, is_of_use):
        page = context.new_page()
        sizes = {}

        def note(response):
            sizes[response.url.rpartition("/")[2]] = int(response.headers["content-length"])

        page.on("response", note)
        page.goto(address[0] + name)
        page.wait_for_function(is_of_use, timeout=3 * MINUTE)
        return dict(sizes)

    yield loaded
    context.close()


def test_the_surrogates_need_little_and_no_python(loads):
    sizes = loads("surrogates.html", LOADED)
    assert sum(sizes.values()) < SMALL, sizes
    assert "python.wasm.gz" not in sizes


def test_a_statement_needs_little(loads):
    sizes = loads("#kl/k3", STATEMENT)
    before_python = {name: size for name, size in sizes.items() if not name.endswith((".gz", ".zip"))}
    assert sum(before_python.values()) < SMALL, sizes


@pytest.mark.parametrize("name", ["", "explain.html", "play.html", "diagnose.html"])
def test_a_page_with_python_loads_no_part_that_it_does_not_need(loads, name):
    sizes = loads(name, LOADED)
    assert sum(sizes.values()) < PYTHON, sizes
    assert not {*sizes} & {*PARTS}
