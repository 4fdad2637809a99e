"""Run experiments directly, or as jobs for many processes, whose results are stored one by one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.files import require_writable
from grpo_ref.lab.framework.cache import Cache, Job
from grpo_ref.lab.framework.experiment import Experiment, Grid, Measures
from grpo_ref.lab.framework.tuning import MOST_WIDER, TunedArm, wider
from grpo_ref.lab.framework.verdicts import ClaimResult, judged
from grpo_ref.parallel import each_done

CHUNK = 32
"""Number of seeds that run together as one array: large enough to be fast, small enough to share work."""
PER_TASK, OF_A_NETWORK = 4, 2
"""Number of seeds per sampled task, for tables and for networks. Networks take long, and more tasks give more
information than more seeds per task."""
TOGETHER = 8
"""Number of jobs on the same task that one process does, so that the task is sampled less often."""
TUNING_TASKS, TUNING_BASE = 6, 500
"""Number of jobs that choose a setting, and their base seed, which differs from those of the verdict."""


def run_experiment(experiment: Experiment, *, seeds: int, seed: int = 0) -> ClaimResult:
    """Choose settings and run all arms in this process, without stored results.

    Args:
      experiment: the claim.
      seeds: number of independent runs of each arm; at least 2, and at least two tasks of a distribution.
      seed: base seed of the random numbers.
    """
    done: dict[str, Measures] = {}

    def once(job: Job) -> Measures:
        if job.key not in done:
            done[job.key] = job.run()
        return done[job.key]

    return _result(experiment, once, seeds=seeds, seed=seed)


def jobs_of(experiment: Experiment, *, seeds: int, seed: int = 0) -> list[Job]:
    """Divide an experiment into jobs: at most `CHUNK` seeds each, or one sampled task each.

    Job c has the base seed 1000 seed + c. So the seeds of all arms are paired, and adding seeds does not
    change the earlier jobs that are full. Every `PER_TASK` seeds learn one sampled task; networks use fewer
    seeds per task.
    """
    size = PER_TASK if experiment.family else CHUNK
    firsts = range(0, seeds, size)
    return [
        Job(experiment.name, label, one, _piece(experiment, seeds - first), 1000 * seed + first // size)
        for label, one in experiment.arms.items()
        for first in firsts
    ]


def _piece(experiment: Experiment, left: int) -> int:
    return _per_task(experiment) if experiment.family else min(CHUNK, left)


def _per_task(experiment: Experiment) -> int:
    return OF_A_NETWORK if experiment.policy == "network" else PER_TASK


def tuning_jobs(experiment: Experiment, *, seed: int = 0) -> list[Job]:
    """Return the jobs that choose settings, on tasks or seeds that are not used for the verdict."""
    return [
        job
        for label, one in experiment.arms.items()
        if one.tuning
        for value in one.tuning.values
        for job in _tuning_jobs(experiment, label, value, seed)
    ]


def _tuning_jobs(experiment: Experiment, label: str, value: Any, seed: int) -> list[Job]:
    """Return the jobs of one arm at one value of its setting, a job for each tuning task."""
    one = experiment.arms[label].at(value)
    bases = [1000 * seed + TUNING_BASE + task for task in range(TUNING_TASKS)]
    return [Job(experiment.name, label, one, _per_task(experiment), base) for base in bases]


def widened(
    experiment: Experiment, result_of: Callable[[Job], Measures], *, seed: int = 0, added: int = 0
) -> Experiment:
    """Return the experiment with one more value in each grid whose best value lies at an end, by `wider`.

    Args:
      experiment: the claim.
      result_of: function that runs a tuning job or looks up its result.
      seed: base seed.
      added: number of values that were added before.
    """
    arms = dict(experiment.arms)
    for label, one in experiment.arms.items():
        if one.tuning and (grid := one.tuning.values):
            arm = _on_tuning_tasks(experiment, label, result_of, seed)
            # An arm that was not widened in an earlier round will not be widened in this one.
            value = wider(grid, arm.scores, added)
            if value is not None:
                values = (value, *grid) if value < grid[0] else (*grid, value)
                arms[label] = replace(one, tuning=one.tuning._replace(values=values))
    return replace(experiment, arms=arms)


def _on_tuning_tasks(
    experiment: Experiment, label: str, result_of: Callable[[Job], Measures], seed: int
) -> TunedArm:
    """Return the numbers of an arm on the tuning tasks, at each value of its setting."""
    tuning = experiment.arms[label].tuning
    assert tuning is not None
    measures = {}
    for value in tuning.values:
        parts = [result_of(job) for job in _tuning_jobs(experiment, label, value, seed)]
        numbers = [name for name, values in parts[0].items() if values.ndim == 1]
        measures[value] = {name: np.array([part[name].mean() for part in parts]) for name in numbers}
    return TunedArm(tuning.setting, tuning.by, measures)


def settled(
    experiment: Experiment, result_of: Callable[[Job], Measures], *, seed: int = 0
) -> tuple[Experiment, dict[str, TunedArm]]:
    """Return the experiment with the best value of each setting, and the results on the tuning tasks."""
    for added in range(MOST_WIDER):
        wide = widened(experiment, result_of, seed=seed, added=added)
        if wide.arms == experiment.arms:
            break
        experiment = wide
    tuning = {
        label: _on_tuning_tasks(experiment, label, result_of, seed)
        for label, one in experiment.arms.items()
        if one.tuning
    }
    arms = {
        label: one.at(tuning[label].best) if one.tuning else one for label, one in experiment.arms.items()
    }
    return replace(experiment, arms=arms), tuning


def at_middle(experiment: Experiment) -> Experiment:
    """Return the experiment with each tuned setting at the middle of its values, which is quicker."""
    arms = {
        label: one.at(one.tuning.values[len(one.tuning.values) // 2]) if one.tuning else one
        for label, one in experiment.arms.items()
    }
    panels = tuple(panel for panel in experiment.panels if not isinstance(panel, Grid))
    said = f"{experiment.run} Nothing was chosen for the arms: their settings are the middle of each grid."
    return replace(experiment, arms=arms, panels=panels, run=said) if arms != experiment.arms else experiment


def sweep_all(
    experiments: Sequence[Experiment],
    cache: Cache,
    *,
    seeds: int,
    seed: int = 0,
    workers: int = -1,
    scheduler: str | None = None,
) -> Iterator[Job]:
    """Run all jobs of some experiments: first those that choose settings, then those of the verdict.

    Grids are widened between, by at most `MOST_WIDER` values. Each job is yielded once, when it is done.
    """
    wide, seen = list(experiments), set[tuple[str, str]]()
    for added in range(MOST_WIDER + 1):
        choosing = [job for one in wide for job in tuning_jobs(one, seed=seed)]
        new = [job for job in choosing if (job.experiment, job.key) not in seen]
        seen.update((job.experiment, job.key) for job in new)
        yield from sweep(new, cache, workers=workers, scheduler=scheduler)
        wide = [widened(one, cache.require, seed=seed, added=added) for one in wide]
    ready = [settled(one, cache.require, seed=seed)[0] for one in experiments]
    judging = [job for one in ready for job in jobs_of(one, seeds=seeds, seed=seed)]
    yield from sweep(judging, cache, workers=workers, scheduler=scheduler)


def sweep(
    jobs: Sequence[Job], cache: Cache, *, workers: int = -1, scheduler: str | None = None
) -> Iterator[Job]:
    """Run the jobs that are not in the cache, and yield each job when it is done.

    One process runs several arms of the same task, so that it samples the task, and pretrains its network,
    only once.

    Args:
      jobs: jobs to run; those in the cache are yielded first.
      cache: store of the results. A sweep that is stopped continues from it.
      workers: number of processes on this machine; -1 for one per core, 1 for this process only.
      scheduler: address of a Dask scheduler, as in "tcp://127.0.0.1:8786". Its workers need this package. If
        a worker dies, the scheduler gives its job to another worker.

    Yields:
      Each job, after its measures are stored.

    Raises:
      ValueError: if the scheduler's address is not valid.
      OSError: if nothing answers at the address, the scheduler has no workers, or the cache cannot be
        written.
    """
    missing: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        if cache.get(job) is None:
            missing.setdefault((job.experiment, job.key), []).append(job)
        else:
            yield job
    if not missing:
        return
    require_writable(cache.folder)
    different = [same[0] for same in missing.values()]
    for done in each_done(_do, _of_one_task(different), workers=workers, scheduler=scheduler):
        for job, measures in done:
            cache.put(job, measures)
            yield from missing[
                job.experiment, job.key
            ]  # arms that differ only in the measure of their tuning share a job


def _of_one_task(jobs: Sequence[Job]) -> list[list[Job]]:
    """Group the jobs that sample the same task, at most `TOGETHER` in a group."""
    by_task: dict[tuple[str, int], list[Job]] = {}
    for job in jobs:
        by_task.setdefault((job.experiment, job.seed), []).append(job)
    return [
        of_task[first : first + TOGETHER]
        for of_task in by_task.values()
        for first in range(0, len(of_task), TOGETHER)
    ]


def _do(jobs: Sequence[Job]) -> list[tuple[Job, Measures]]:
    return [(job, job.run()) for job in jobs]


def collected(experiment: Experiment, cache: Cache, *, seeds: int, seed: int = 0) -> ClaimResult:
    """Combine the jobs of a finished sweep and return the verdict.

    Raises:
      ValueError: if a job is missing.
    """
    return _result(experiment, cache.require, seeds=seeds, seed=seed)


def _result(
    experiment: Experiment, result_of: Callable[[Job], Measures], *, seeds: int, seed: int
) -> ClaimResult:
    """Return the verdict, given a function that runs a job or looks up its result."""
    ready, tuning = settled(experiment, result_of, seed=seed)
    pieces: dict[str, list[Measures]] = {label: [] for label in ready.arms}
    for job in jobs_of(ready, seeds=seeds, seed=seed):
        measures = result_of(job)
        pieces[job.label].append(_of_task(measures) if experiment.family else measures)
    return judged(experiment, {label: _joined(parts) for label, parts in pieces.items()}, tuning)


def _of_task(measures: Measures) -> Measures:
    """Return the mean over the seeds of a task, since tasks are the independent samples."""
    return {name: values.mean(0, keepdims=True) for name, values in measures.items()}


def _joined(parts: Sequence[Measures]) -> Measures:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
