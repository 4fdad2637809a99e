"""Print what the build is doing, in whole lines, so that a file or a pipe shows them too."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter

PERCENTAGE = re.compile(r"(reading|writing|copying) (\w+)\.\.\. *\[ *(\d+)%\]")
"""A line of Sphinx about one file."""
STEP = 20
"""Difference between two percentages that are printed."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Print the name of a stage when it begins, and its seconds when it has ended."""
    print(f"{name} ...", flush=True)
    began = perf_counter()
    yield
    print(f"{name}: {perf_counter() - began:.0f} s", flush=True)


def sphinx(*options: str) -> int:
    """Run Sphinx, print how far it is, and return its exit status. Its warnings go to standard error."""
    command = [sys.executable, "-m", "sphinx", *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as running:
        for line in percentages(running.stdout or ()):
            print(line, flush=True)
    return running.returncode


def percentages(output: Iterable[str]) -> Iterator[str]:
    """Yield a few of the percentages that Sphinx prints, one for each file.

    >>> list(percentages(["reading sources... [  1%] a", "reading sources... [ 26%] b", "done"]))
    ['  reading sources: 0 %', '  reading sources: 20 %']
    """
    last = ("", -1)
    for line in output:
        if match := PERCENTAGE.match(line):
            now = (f"{match[1]} {match[2]}", int(match[3]) // STEP * STEP)
            if now != last:
                yield f"  {now[0]}: {now[1]} %"
            last = now
