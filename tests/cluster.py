"""A real Dask scheduler with two worker processes on this machine, for the tests that need one."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import grpo_ref

HERE = Path(__file__).parent
PATIENCE = 60.0
"""Seconds in which it has to be there."""


@contextmanager
def running_cluster(folder):
    """Address of the scheduler, and the workers, each a process of its own."""
    import distributed

    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (HERE, Path(grpo_ref.__file__).parents[1]))),
        "PYTHONWARNINGS": "ignore",
    }
    place = folder / "scheduler.json"
    log = (folder / "log").open("w")

    def start(*arguments):
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)

    common = ("--scheduler-file", str(place))
    scheduler = start("dask_scheduler", *common, "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    worker = ("dask_worker", *common, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start(*worker) for _ in range(2)]
    deadline = time.monotonic() + PATIENCE
    while not place.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        with distributed.Client(scheduler_file=str(place), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
            address = client.scheduler.address
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        log.close()
