"""Bytes and seconds that the pages take in Chromium: cold, in a browser that has kept nothing, and warm.

`make bench-page`, or `python tests/benchmarks/page.py [--rounds 3] [--json FILE]` after `make test-web`,
which installs what it needs. Bytes are those that the server sends until a page is of use. At 20 Mbit/s they
would take the seconds in the last column, in addition to the others.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from measure import heading
from playwright.sync_api import Page, sync_playwright

from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import model_answer
from grpo_ref.web import build, serve

sys.path.insert(0, str(Path(__file__).parents[1]))
from in_page import CHROMIUM, LOADED, OPTIONS

EXERCISE = "kl/k3"
READY = "!document.getElementById('run').disabled"
STATEMENT = "document.getElementById('statement').textContent.length > 100"
TRAINED = "document.getElementById('status').textContent.startsWith('Trained')"
EXPLAINED = "document.getElementById('status').textContent.startsWith('Explained')"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
SCIPY = "import scipy.special\n"
MOST = 180_000
"""Milliseconds that anything may take."""
SLOW = 20e6 / 8
"""Bytes per second of a slow network."""

Measured = dict[str, dict[str, list[float]]]
"""Name of a step -> "bytes" and "seconds", a number for each round."""


class Sent:
    """Bytes that the server has sent."""

    count = 0


class _Counting(serve._Handler):
    def copyfile(self, source: IO[bytes], outputfile: IO[bytes]) -> None:
        while part := source.read(2**16):
            outputfile.write(part)
            Sent.count += len(part)


def main() -> None:
    """Measure, print medians, and write every number."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    heading("the pages in Chromium")
    measured: Measured = defaultdict(lambda: {"bytes": [], "seconds": []})
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        build.write(Path(folder))
        serve._Handler = _Counting  # type: ignore[misc]
        server = serve.server(Path(folder), 0)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        for _ in range(chosen.rounds):
            for visit in VISITS:
                context = browser.new_context()
                for state in ("cold", "warm"):
                    page = context.new_page()
                    page.on("dialog", lambda dialog: dialog.accept())
                    clock = Clock(measured, state)
                    visit(page, f"http://{serve.HOST}:{server.server_port}/", clock)
                    page.close()
                context.close()
        browser.close()
        server.shutdown()
    for step, numbers in measured.items():
        size, seconds = (statistics.median(numbers[name]) for name in ("bytes", "seconds"))
        print(f"  {step:38} {size / 1e6:6.2f} MB  {seconds:6.2f} s  + {size / SLOW:5.1f} s at 20 Mbit/s")
    if chosen.json:
        chosen.json.write_text(json.dumps(measured, indent=1) + "\n")


class Clock:
    """Notes the bytes and seconds since it was made, under the name of a step."""

    def __init__(self, measured: Measured, state: str) -> None:
        self.measured, self.state = measured, state
        self.start()

    def start(self) -> None:
        """Start again."""
        self.begun, self.sent = time.perf_counter(), Sent.count

    def note(self, step: str) -> None:
        """Note the step."""
        numbers = self.measured[f"{step}, {self.state}"]
        numbers["seconds"].append(time.perf_counter() - self.begun)
        numbers["bytes"].append(Sent.count - self.sent)


def course(page: Page, address: str, clock: Clock) -> None:
    """Open an exercise, judge an answer, one that uses SciPy, and draw."""
    page.goto(f"{address}#{EXERCISE}")
    page.wait_for_function(STATEMENT, timeout=MOST)
    clock.note("course: statement")
    page.wait_for_function(LOADED, timeout=MOST)
    clock.note("course: Python is ready")
    answer = readable(model_answer(EXERCISE))
    _run(page, answer, "#run", "Passed")
    clock.note("course: first verdict")
    steps: dict[str, tuple[str, str, str]] = {
        "a further verdict": (answer, "#run", "Passed"),
        "then a verdict with SciPy": (SCIPY + answer, "#run", "Passed"),
        "then a figure": (PLOT, "#program", "The program has run"),
    }
    for step, arguments in steps.items():
        clock.start()
        _run(page, *arguments)
        clock.note(f"course: {step}")


def surrogates(page: Page, address: str, clock: Clock) -> None:
    """Open the page of the surrogates, which draws at once."""
    page.goto(f"{address}surrogates.html")
    page.wait_for_function(LOADED, timeout=MOST)
    clock.note("surrogates")


def explain(page: Page, address: str, clock: Clock) -> None:
    """Explain the configuration with which the page opens."""
    page.goto(f"{address}explain.html")
    page.wait_for_function(READY, timeout=MOST)
    page.click("#run")
    page.wait_for_function(EXPLAINED, timeout=MOST)
    clock.note("explain: first explanation")


def play(page: Page, address: str, clock: Clock) -> None:
    """Train ten updates, which a link asks for."""
    page.goto(f"{address}play.html#task=names&updates=10")
    page.wait_for_function(TRAINED, timeout=MOST)
    clock.note("play: ten updates")


VISITS: tuple[Callable[[Page, str, Clock], Any], ...] = (course, surrogates, explain, play)


def _run(page: Page, text: str, button: str, said: str) -> None:
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.click(button)
    page.wait_for_function(READY, timeout=MOST)
    if not page.inner_text("#status").startswith(said):
        raise RuntimeError(page.inner_text("#status"))


if __name__ == "__main__":
    main()
