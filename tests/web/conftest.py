"""The pages in a real browser; without what that needs (see `make test-web`) their tests are skipped."""

import threading

import pytest
from in_page import CHROMIUM, LOADED, MINUTE, MISSING, OPTIONS

from grpo_ref.web import build, serve
from grpo_ref.web.statements import Group, Link


def pytest_addoption(parser):
    parser.addoption(
        "--every-answer", action="store_true", help="try every collected wrong answer in the page"
    )


@pytest.fixture
def every_answer(request):
    """Whether all wrong answers are tried, which takes a quarter of an hour."""
    return request.config.getoption("--every-answer", default=False)


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    """The folder of the course and the other pages, written once."""
    if MISSING:
        pytest.skip(f"the page in a browser needs {', '.join(MISSING)}")
    folder = tmp_path_factory.mktemp("course")
    also = [Group("Derivation", [Link("The KL in the loss", "../derivation/08.html")])]
    build.write(folder, build.Site("../", {"kl": "../chapters/04_kl.html"}, {"kl/k3": also}))
    return folder


@pytest.fixture(scope="session")
def browser(course):
    """One Chromium for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture
def address(course):
    """Where the course is served; a test may end the server."""
    server = serve.server(course, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{serve.HOST}:{server.server_port}/", server
    server.shutdown()
    server.server_close()


@pytest.fixture
def visit(browser, address):
    """Opens a page in a browser that has not seen it; nothing may go to the console or to another host."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    said = []

    def visited(name):
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on(
            "request", lambda asked: said.append(asked.url) if not asked.url.startswith(address[0]) else None
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(address[0] + name)
        page.wait_for_function(LOADED, timeout=3 * MINUTE)
        return page

    yield visited
    assert said == []
    context.close()


@pytest.fixture
def page(visit):
    """The page of the course."""
    return visit("")
