"""Choose the tests of a run that does not run all, by the time that each test function takes.

A test function with parameters is many tests. `times.json` has the CPU seconds of all tests of a function,
where these are at least `LEAST`; `make test-times` measures them. If a function takes longer than a run
allows, the run keeps one of every n of its tests:

    n = ceil(seconds of the function / seconds that the run allows)

`make test` (`pytest --quick`) always keeps the same tests. CI (`make test-share`, `pytest --share NUMBER`)
has a number from the commit, and keeps other tests for other numbers. With fewer than n tests, a function has
none in `make test`, and one in some shares only.
"""

import json
import math
from collections import Counter
from pathlib import Path
from zlib import crc32

TIMES = Path(__file__).parent / "times.json"
LEAST = 0.5
"""CPU seconds; faster functions are not in `TIMES`."""
QUICK = 1.0
"""CPU seconds of each function in `make test`, about."""
SHARE = 2.0
"""CPU seconds of each function in a share, on average over all shares."""


def function_of(nodeid):
    """Return a test's name without its parameters."""
    return nodeid.partition("[")[0]


def kept(nodeids, seconds, share=None):
    """Return which tests to run.

    Args:
      nodeids: names of all tests.
      seconds: name of a test function -> CPU seconds of all its tests. A missing function counts as 0.
      share: number of the share, at least 0; if omitted, the choice of `--quick`.

    Returns:
      The names of the tests to run, in their order.
    """
    sizes, seen, chosen = Counter(map(function_of, nodeids)), Counter(), []
    for nodeid in nodeids:
        name = function_of(nodeid)
        every = max(1, math.ceil(seconds.get(name, 0.0) / (QUICK if share is None else SHARE)))
        # Functions with a single long test take turns: the checksum gives each another share.
        offset = 0 if share is None else (share + crc32(name.encode())) % every
        if seen[name] % every == offset and not (share is None and every > sizes[name]):
            chosen.append(nodeid)
        seen[name] += 1
    return chosen


def measured():
    """Return the CPU seconds of the slow test functions."""
    return json.loads(TIMES.read_text(encoding="utf-8"))
