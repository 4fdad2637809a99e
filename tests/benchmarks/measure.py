"""What the benchmarks share: interleaved timing, and a description of the machine."""

import importlib.metadata
import importlib.util
import os
import platform
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.learning.state import Update

PAUSE = 0.02
"""Seconds between two actions."""


def last_of(updates: Iterable[Update]) -> Update:
    """Train to the end, holding one state at a time: a list of all of them can fill gigabytes."""
    return deque(updates, maxlen=1)[0]


def interleaved(
    actions: Mapping[str, Callable[[], Any]],
    rounds: int,
    warm: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each action in each round; they take turns, so that a drifting machine slows all alike.

    The turns are in another order each round, with a pause in between: the threads of other libraries go on
    spinning for a while, which would slow whoever is next. Each action runs `warm` times more after the
    pause, before it is timed, as it would in a loop without pauses.
    """
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        for name in rng.permutation(list(actions)).tolist():
            time.sleep(PAUSE)
            for _ in range(warm):
                actions[name]()
            begun = clock()
            actions[name]()
            seconds[name].append(clock() - begun)
    return seconds


def spread(values: list[float], digits: int = 3) -> str:
    """Median with minimum and maximum."""
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    info = Path("/proc/cpuinfo")
    models = [
        line.partition(":")[2].strip()
        for line in info.read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def versions(peers: Mapping[str, tuple[str, Any]]) -> dict[str, str]:
    """Of the libraries of some peers, name -> (module, how to prepare it), or that they are absent."""
    names = dict.fromkeys(module for module, _ in peers.values())
    return {
        name: importlib.metadata.version(name) if importlib.util.find_spec(name) else "not installed"
        for name in names
    }


def heading(title: str) -> None:
    """Print a title and the machine."""
    print(f"\n{title}\n" + ", ".join(f"{name} {value}" for name, value in machine().items()))
