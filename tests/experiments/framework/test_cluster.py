"""A sweep on a real Dask scheduler with two worker processes, one of which is killed in the middle."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import toy_experiment
from toy_experiment import slow_square

import grpo_ref
from grpo_ref.experiments.framework.cache import Cache, Job
from grpo_ref.experiments.framework.experiment import arm
from grpo_ref.experiments.framework.sweep import sweep

distributed = pytest.importorskip("distributed", reason="extra sweep is not installed")
PATIENCE = 60.0


@pytest.fixture
def cluster(tmp_path):
    """Address of a scheduler with two workers, each a process of its own."""
    paths = (Path(toy_experiment.__file__).parent, Path(grpo_ref.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONWARNINGS": "ignore"}
    place = tmp_path / "scheduler.json"
    log = (tmp_path / "log").open("w")

    def start(*arguments):
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=tmp_path)

    common = ("--scheduler-file", str(place))
    scheduler = start("dask_scheduler", *common, "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    worker = ("dask_worker", *common, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start(*worker) for _ in range(2)]
    deadline = time.monotonic() + PATIENCE
    while not place.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    with distributed.Client(scheduler_file=str(place), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        address = client.scheduler.address
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()
    log.close()


def test_sweep_survives_a_killed_worker(cluster, tmp_path):
    address, workers = cluster
    jobs = [Job("squares", str(number), arm(slow_square, number=number), 2, 0) for number in range(24)]
    done, processes, both = Counter(), set(), {float(worker.pid) for worker in workers}
    cache = Cache(tmp_path / "cache")
    for job in sweep(jobs, cache, scheduler=address):
        done[job.key] += 1
        processes.add(cache.get(job)["process"][0])
        if processes == both:
            workers[0].send_signal(signal.SIGKILL)
    assert workers[0].wait(timeout=PATIENCE) == -signal.SIGKILL
    assert done == Counter(job.key for job in jobs)
    assert [float(cache.get(job)["square"][0]) for job in jobs] == [number**2.0 for number in range(24)]
    assert processes == both


def test_scheduler_without_workers_is_named(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.parallel.PATIENCE", 2)
    address, workers = cluster
    for worker in workers:
        worker.kill()
        worker.wait()
    jobs = [Job("squares", "1", arm(slow_square, number=1), 2, 0)]
    with pytest.raises(OSError, match=f"the scheduler at {address} has no workers"):
        list(sweep(jobs, Cache(tmp_path / "cache"), scheduler=address))
