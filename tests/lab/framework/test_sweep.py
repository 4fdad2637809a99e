"""Sweeps: the same numbers as here and now, nothing done twice, nothing lost."""

from dataclasses import replace

import numpy as np
import pytest
from toy_experiment import FAMILY, TOY, shifted, with_other

from grpo_ref.lab.framework.cache import Cache, Job
from grpo_ref.lab.framework.experiment import Grid, Tuning, arm
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


def test_a_grid_is_widened_until_its_best_value_is_inside(tmp_path):
    low = Tuning("rate", (0.01, 0.03, 0.1), by="level")  # the best rate of the task is 0.3
    narrow = replace(FAMILY, arms={label: replace(one, tuning=low) for label, one in FAMILY.arms.items()})
    work = list(sweep_all([narrow], Cache(tmp_path), seeds=2 * PER_TASK, workers=1))
    # 0.1 is best, so 0.3 is tried; 0.3 is best, so 1 is tried; then 0.3 is inside.
    assert sorted({job.arm.settings["rate"] for job in work}) == [0.01, 0.03, 0.1, 0.3, 1.0]
    result = collected(narrow, Cache(tmp_path), seeds=2 * PER_TASK)
    assert [one.best for one in result.tuning.values()] == [0.3, 0.3]
    assert result.findings[0].at_equal[1.0][0] == result.findings[0].at_equal[0.01][0]


def test_arms_that_are_tuned_by_other_measures_share_their_jobs(tmp_path):
    again = replace(FAMILY.arms["high"], tuning=FAMILY.arms["high"].tuning._replace(by="other"))
    both = replace(FAMILY, arms={**FAMILY.arms, "high by another": again})
    arms = {label: replace(one, run=with_other) for label, one in both.arms.items()}
    both = replace(both, arms=arms)
    list(sweep_all([both], Cache(tmp_path), seeds=2 * PER_TASK, workers=1))
    result = collected(both, Cache(tmp_path), seeds=2 * PER_TASK)
    # "other" falls with the rate: 0.1 is best, and the grid is widened by three values below it.
    assert {label: one.best for label, one in result.tuning.items()} == {
        "low": 0.3,
        "high": 0.3,
        "high by another": 0.003,
    }
    # Two arms share the jobs of three rates; three more rates of one arm, and two rates of the verdict.
    assert len(list(tmp_path.rglob("*.npz"))) == TUNING_TASKS * (3 + 3 + 3) + 2 * 3


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
