"""Run experiments: here and now, or cut into jobs for many processes, each result stored when it is there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.files import require_writable
from grpo_ref.lab.framework.cache import Cache, Job
from grpo_ref.lab.framework.experiment import Arm, Experiment, Grid, Measures
from grpo_ref.lab.framework.verdicts import ClaimResult, Scores, judged
from grpo_ref.parallel import each_done

CHUNK = 32
"""Seeds that run together as one array: enough to be quick, few enough to share the work."""
PER_TASK, OF_A_NETWORK = 4, 2
"""Seeds that learn the same task of a family, and where networks learn it, which takes long: more tasks tell
more than more seeds of each."""
TOGETHER = 8
"""Pieces of work on the same task that one process does: the more, the less is drawn twice."""
TUNING_TASKS, TUNING_BASE = 6, 500
"""How many pieces of work choose a setting, and their base seed, so that none of them is judged."""


def run_experiment(experiment: Experiment, *, seeds: int, seed: int = 0) -> ClaimResult:
    """Choose what is to be chosen and run all arms, here and now, without stored results or other processes.

    Args:
      experiment: the claim.
      seeds: number of independent runs of each arm; at least 2, and of a family at least two tasks.
      seed: base of their random numbers.
    """
    return _result(experiment, Job.run, seeds=seeds, seed=seed)


def jobs_of(experiment: Experiment, *, seeds: int, seed: int = 0) -> list[Job]:
    """The work of an experiment in pieces: at most `CHUNK` seeds, or one task of its family.

    Piece c draws from the base seed 1000 seed + c, so the seeds of all arms are paired, and adding seeds
    leaves the full pieces before them as they were. For every `PER_TASK` seeds there is a task of the family,
    which networks learn with fewer.
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
    return OF_A_NETWORK if experiment.beside else PER_TASK


def tuning_jobs(experiment: Experiment, *, seed: int = 0) -> list[Job]:
    """Every value of each setting that is to be chosen, on tasks or seeds that are not judged."""
    return [job for parts in _tuning(experiment, seed).values() for jobs in parts.values() for job in jobs]


def _tuning(experiment: Experiment, seed: int) -> dict[str, dict[Any, list[Job]]]:
    """Arm -> value of its setting -> the work that scores it."""
    bases = [1000 * seed + TUNING_BASE + task for task in range(TUNING_TASKS)]
    return {
        label: {
            value: [Job(experiment.name, label, one.at(value), _per_task(experiment), base) for base in bases]
            for value in one.tuning.values
        }
        for label, one in experiment.arms.items()
        if one.tuning
    }


def settled(
    experiment: Experiment, result_of: Callable[[Job], Measures], *, seed: int = 0
) -> tuple[Experiment, dict[str, Scores]]:
    """The experiment with the best value of each setting, and the scores that decided."""
    scores = {
        label: {value: _scores(jobs, experiment.arms[label], result_of) for value, jobs in parts.items()}
        for label, parts in _tuning(experiment, seed).items()
    }
    best = {label: max(found, key=lambda value: found[value].mean()) for label, found in scores.items()}
    arms = {label: one.at(best[label]) if one.tuning else one for label, one in experiment.arms.items()}
    return replace(experiment, arms=arms), scores


def at_middle(experiment: Experiment) -> Experiment:
    """The experiment with every setting at the middle of its grid: nothing is chosen, and it is quicker."""
    arms = {
        label: one.at(one.tuning.values[len(one.tuning.values) // 2]) if one.tuning else one
        for label, one in experiment.arms.items()
    }
    panels = tuple(panel for panel in experiment.panels if not isinstance(panel, Grid))
    said = f"{experiment.run} Nothing was chosen for the arms: their settings are the middle of each grid."
    return replace(experiment, arms=arms, panels=panels, run=said) if arms != experiment.arms else experiment


def _scores(jobs: Sequence[Job], one: Arm, result_of: Callable[[Job], Measures]) -> Floats:
    """(tasks,) the measure by which the arm's setting is chosen."""
    assert one.tuning is not None
    return np.array([result_of(job)[one.tuning.by].mean() for job in jobs])


def sweep_all(
    experiments: Sequence[Experiment],
    cache: Cache,
    *,
    seeds: int,
    seed: int = 0,
    workers: int = -1,
    scheduler: str | None = None,
) -> Iterator[Job]:
    """All work of some experiments by `sweep`: first what chooses their settings, then what is judged."""
    choosing = [job for one in experiments for job in tuning_jobs(one, seed=seed)]
    yield from sweep(choosing, cache, workers=workers, scheduler=scheduler)
    ready = [settled(one, cache.require, seed=seed)[0] for one in experiments]
    judging = [job for one in ready for job in jobs_of(one, seeds=seeds, seed=seed)]
    yield from sweep(judging, cache, workers=workers, scheduler=scheduler)


def sweep(
    jobs: Sequence[Job], cache: Cache, *, workers: int = -1, scheduler: str | None = None
) -> Iterator[Job]:
    """Do the jobs that the cache lacks, and yield each one that is done, in the order in which they end.

    Some arms of the same task are done by one process, which draws the task, and teaches a network to begin
    with it, once for all of them.

    Args:
      jobs: what to do; those in the cache are yielded first.
      cache: where results go; a sweep that is stopped continues from it.
      workers: processes here; -1 for one per core, 1 for none beside this one.
      scheduler: address of a Dask scheduler, as in "tcp://127.0.0.1:8786"; its workers need this package.
        The scheduler gives the work of a worker that died to another.

    Yields:
      Each job, after its measures were stored.

    Raises:
      ValueError: if the address is none.
      OSError: if nothing answers there, the scheduler has no workers, or the cache cannot be written.
    """
    missing = []
    for job in jobs:
        if cache.get(job) is None:
            missing.append(job)
        else:
            yield job
    if not missing:
        return
    require_writable(cache.folder)
    for done in each_done(_do, _of_one_task(missing), workers=workers, scheduler=scheduler):
        for job, measures in done:
            cache.put(job, measures)
            yield job


def _of_one_task(jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs of an experiment that draw the same task, up to `TOGETHER` of them together."""
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
    """Put the pieces of a finished sweep together and judge them.

    Raises:
      ValueError: if a piece is missing.
    """
    return _result(experiment, cache.require, seeds=seeds, seed=seed)


def _result(
    experiment: Experiment, result_of: Callable[[Job], Measures], *, seeds: int, seed: int
) -> ClaimResult:
    """The verdict, from whatever does the work or knows what came of it."""
    ready, tuning = settled(experiment, result_of, seed=seed)
    pieces: dict[str, list[Measures]] = {label: [] for label in ready.arms}
    for job in jobs_of(ready, seeds=seeds, seed=seed):
        measures = result_of(job)
        pieces[job.label].append(_of_task(measures) if experiment.family else measures)
    return judged(experiment, {label: _joined(parts) for label, parts in pieces.items()}, tuning)


def _of_task(measures: Measures) -> Measures:
    """The mean over the seeds of a task: tasks are what is drawn from the family, and what is counted."""
    return {name: values.mean(0, keepdims=True) for name, values in measures.items()}


def _joined(parts: Sequence[Measures]) -> Measures:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
