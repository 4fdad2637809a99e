"""How long does the course in a browser take: to open, to a first verdict, to each one after it, to a figure?

`python tests/benchmarks/page.py [ROUNDS]`, after `make test-web`, which brings what it needs. Each round
opens the page in a browser that has not seen it, and then again with what that browser has kept.
"""

import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

from measure import heading
from playwright.sync_api import BrowserContext, Page, sync_playwright

from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import model_answer
from grpo_ref.web import build, serve

sys.path.insert(0, str(Path(__file__).parents[1]))
from in_page import CHROMIUM, LOADED, OPTIONS

EXERCISE = "kl/k3"
READY = "!document.getElementById('run').disabled"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
WARM = 5
MOST = 180_000
"""Milliseconds that anything may take."""


def main() -> None:
    """Measure, and print medians with minimum and maximum."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    heading("the course in Chromium")
    times: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        build.write(Path(folder))
        server = serve.server(Path(folder), 0)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        for _ in range(rounds):
            context = browser.new_context()
            one_round(context, f"http://{serve.HOST}:{server.server_port}/#{EXERCISE}", times)
            context.close()
        browser.close()
        server.shutdown()
    for what, seconds in times.items():
        print(f"  {what:30} {statistics.median(seconds):6.2f} s  ({min(seconds):.2f} to {max(seconds):.2f})")


def one_round(context: BrowserContext, address: str, times: dict[str, list[float]]) -> None:
    """Visit the page twice in one browser; add the seconds of each step to its list."""
    for visit in ("first visit", "second visit"):
        page = context.new_page()
        begun = time.perf_counter()
        page.goto(address)
        page.wait_for_function(LOADED, timeout=MOST)
        times[f"{visit}: ready"].append(time.perf_counter() - begun)
        verdict(page)
        times[f"{visit}: first verdict"].append(time.perf_counter() - begun)
    times["a verdict after it"] += [verdict(page) for _ in range(WARM)]
    times["a first figure"].append(figure(page))
    times["a figure after it"].append(figure(page))


def verdict(page: Page) -> float:
    """Type the model answer and run the tests; seconds."""
    return _run(page, readable(model_answer(EXERCISE)), "#run", "Passed")


def figure(page: Page) -> float:
    """Run a program that draws; seconds."""
    return _run(page, PLOT, "#program", "The program has run")


def _run(page: Page, text: str, button: str, said: str) -> float:
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    begun = time.perf_counter()
    page.click(button)
    page.wait_for_function(READY, timeout=MOST)
    if not page.inner_text("#status").startswith(said):
        raise RuntimeError(page.inner_text("#status"))
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
