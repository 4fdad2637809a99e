"""The memory of the process: how much there is, and a setting of the C library that makes training faster."""

import math
import os
from functools import cache
from pathlib import Path

import numpy as np

CONTAINER = Path("/sys/fs/cgroup/memory.max")
"""The file in which Linux states the memory limit of a container."""


@cache
def keep_freed_memory() -> None:
    """Ask glibc to keep freed blocks of up to 31 MiB, instead of returning them to the system.

    Fetching them again, page by page, took a third of the time of a training run. glibc raises its threshold
    (mallopt(3), M_MMAP_THRESHOLD) when an array of this size is freed, so one such array is enough.
    """
    np.empty(31 << 20, dtype=np.uint8)


def machine_memory() -> float:
    """Return the bytes of memory that this process may use: the machine's, or less in a container.

    The result is infinite where the system does not say, as in a browser.
    """
    known = {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= getattr(os, "sysconf_names", {}).keys()
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else math.inf
    allowed = CONTAINER.read_text().strip() if CONTAINER.is_file() else ""
    return min(physical, int(allowed)) if allowed.isdigit() else physical
