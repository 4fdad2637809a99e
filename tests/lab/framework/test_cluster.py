"""A sweep on a real Dask scheduler with two worker processes, one of which is killed in the middle."""

import signal
from collections import Counter

import pytest
from cluster import PATIENCE, running_cluster
from toy_experiment import slow_square

from grpo_ref.lab.framework.cache import Cache, Job
from grpo_ref.lab.framework.experiment import arm
from grpo_ref.lab.framework.sweep import sweep

distributed = pytest.importorskip("distributed", reason="extra sweep is not installed")


@pytest.fixture
def cluster(tmp_path):
    """Address of a scheduler with two workers, each a process of its own."""
    with running_cluster(tmp_path) as found:
        yield found


def test_sweep_survives_a_killed_worker(cluster, tmp_path):
    address, workers = cluster
    jobs = [Job("squares", str(number), arm(slow_square, number=number), 2, number) for number in range(24)]
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
