"""Sweeps: the same numbers as here and now, nothing done twice, nothing lost."""

import numpy as np
import pytest
from toy_experiment import FAMILY, TOY, shifted

from grpo_ref.lab.framework.cache import Cache, Job
from grpo_ref.lab.framework.experiment import Grid, arm
from grpo_ref.lab.framework.sweep import (
    CHUNK,
    PER_TASK,
    TOGETHER,
    TUNING_TASKS,
    at_middle,
    collected,
    jobs_of,
    run_experiment,
    sweep,
    sweep_all,
    tuning_jobs,
)


def test_arms_are_paired_by_seed():
    result = run_experiment(TOY, seeds=8)
    first = result.findings[0].estimate
    assert first.mean == pytest.approx(1.0)
    assert first.high - first.low < 1e-12  # the noise is the same on both sides
    assert result.verdict == "supported"


def test_sweep_gives_what_running_here_gives_and_does_nothing_twice(tmp_path):
    cache, jobs = Cache(tmp_path), jobs_of(TOY, seeds=CHUNK + 4, seed=3)
    assert [(job.seeds, job.seed) for job in jobs[:2]] == [(CHUNK, 3000), (4, 3001)]
    assert sorted(job.key for job in sweep(jobs, cache, workers=1)) == sorted(job.key for job in jobs)
    stored = collected(TOY, cache, seeds=CHUNK + 4, seed=3)
    expected = np.concatenate(
        [shifted(by=1.0, seeds=n, seed=s)["level"] for n, s in [(CHUNK, 3000), (4, 3001)]]
    )
    assert np.array_equal(stored.measures["high"]["level"], expected)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    assert len(before) == len(jobs) == len(list(sweep(jobs, cache, workers=1)))
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}


def test_some_arms_of_the_same_task_are_done_by_the_same_process(tmp_path, monkeypatch):
    given = []

    def noted(work, items, **_):
        given.extend(items)
        yield from map(work, items)

    monkeypatch.setattr("grpo_ref.lab.framework.sweep.each_done", noted)
    assert len(list(sweep_all([FAMILY], Cache(tmp_path), seeds=2 * PER_TASK))) == sum(map(len, given))
    assert all(len({job.seed for job in jobs}) == 1 and len(jobs) <= TOGETHER for jobs in given)
    assert len(given) == TUNING_TASKS + 2  # six values of two arms, or two arms


def test_of_a_family_tasks_are_counted_and_each_arm_is_at_its_best(tmp_path):
    cache, tasks = Cache(tmp_path), 5
    work = list(sweep_all([FAMILY], cache, seeds=tasks * PER_TASK, workers=1))
    assert len(work) == len(tuning_jobs(FAMILY)) + len(FAMILY.arms) * tasks
    assert len(tuning_jobs(FAMILY)) == 2 * 3 * TUNING_TASKS
    assert {job.seeds for job in work} == {PER_TASK}
    result = collected(FAMILY, cache, seeds=tasks * PER_TASK)
    assert result.measures["high"]["level"].shape == (tasks,)
    assert all(job.arm.settings["rate"] == 0.3 for job in work[-len(FAMILY.arms) * tasks :])
    own = [0.1 * np.random.default_rng([task, 1]).normal(size=2)[1] for task in range(tasks)]
    assert result.findings[0].estimate.mean == pytest.approx(1.0 + np.mean(own))
    assert (result.findings[0].estimate.pairs, result.findings[0].share) == (tasks, 1.0)
    assert result.verdict == "supported"  # by its main prediction, although the other one fails
    assert run_experiment(FAMILY, seeds=tasks * PER_TASK).findings == result.findings


def test_at_the_middle_of_its_grid_nothing_is_chosen():
    quick = at_middle(FAMILY)
    assert tuning_jobs(quick) == []
    assert {one.settings["rate"] for one in quick.arms.values()} == {0.3}
    assert not any(isinstance(panel, Grid) for panel in quick.panels)
    assert "Nothing was chosen" in quick.run
    assert at_middle(TOY) is TOY


def test_no_task_is_both_tuned_on_and_judged():
    judged = {job.seed for job in jobs_of(FAMILY, seeds=400 * PER_TASK)}
    assert judged.isdisjoint(job.seed for job in tuning_jobs(FAMILY))


def test_stopped_sweep_continues(tmp_path):
    cache, jobs = Cache(tmp_path), jobs_of(TOY, seeds=8)
    some = sweep(jobs, cache, workers=1)
    next(some)
    some.close()
    with pytest.raises(ValueError, match="arm 'high' was not run with these settings"):
        collected(TOY, cache, seeds=8)
    (stored,) = tmp_path.rglob("*.npz")
    stored.write_bytes(stored.read_bytes()[:40])  # damaged: done again
    list(sweep(jobs, cache, workers=1))
    assert collected(TOY, cache, seeds=8).verdict == "supported"


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "foo bar", "http://127.0.0.1:8786", "tcp://127.0.0.1"])
def test_scheduler_without_a_proper_address_is_refused_at_once(tmp_path, address):
    with pytest.raises(ValueError, match="scheduler: expected an address as tcp:"):
        list(sweep(jobs_of(TOY, seeds=8), Cache(tmp_path), scheduler=address))


def must_not_run(*, seeds, seed):
    """An arm that is never reached."""
    raise AssertionError


def test_cache_that_cannot_be_written_is_named_before_any_work(tmp_path):
    (tmp_path / "file").write_text("mine")
    work = [Job("toy", "none", arm(must_not_run), 2, 0)]
    with pytest.raises(NotADirectoryError, match="file"):
        list(sweep(work, Cache(tmp_path / "file" / "cache"), workers=1))
