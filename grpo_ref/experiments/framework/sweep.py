"""Run experiments: here and now, or cut into jobs for many processes, each result stored when it is there."""

from collections.abc import Iterator, Sequence

import numpy as np

from grpo_ref.experiments.framework.cache import Cache, Job
from grpo_ref.experiments.framework.experiment import Experiment, Measures
from grpo_ref.experiments.framework.verdicts import ClaimResult, judged
from grpo_ref.files import require_writable
from grpo_ref.parallel import each_done

CHUNK = 32
"""Seeds that run together as one array: enough to be quick, few enough to share the work."""


def run_experiment(experiment: Experiment, *, seeds: int, seed: int = 0) -> ClaimResult:
    """Run all arms here and now, without stored results or other processes.

    Args:
      experiment: the claim.
      seeds: number of independent runs of each arm; at least 2.
      seed: base of their random numbers.
    """
    measures = {
        label: one.run(**one.settings, seeds=seeds, seed=seed) for label, one in experiment.arms.items()
    }
    return judged(experiment, measures)


def jobs_of(experiment: Experiment, *, seeds: int, seed: int = 0) -> list[Job]:
    """The work of an experiment in pieces of at most `CHUNK` seeds.

    Piece c draws from the base seed 1000 seed + c, so the seeds of all arms are paired, and adding seeds
    leaves the full pieces before them as they were.
    """
    return [
        Job(experiment.name, label, one, min(CHUNK, seeds - first), 1000 * seed + first // CHUNK)
        for label, one in experiment.arms.items()
        for first in range(0, seeds, CHUNK)
    ]


def sweep(
    jobs: Sequence[Job], cache: Cache, *, workers: int = -1, scheduler: str | None = None
) -> Iterator[Job]:
    """Do the jobs that the cache lacks, and yield each one that is done, in the order in which they end.

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
    for job, measures in each_done(_do, missing, workers=workers, scheduler=scheduler):
        cache.put(job, measures)
        yield job


def _do(job: Job) -> tuple[Job, Measures]:
    return job, job.arm.run(**job.arm.settings, seeds=job.seeds, seed=job.seed)


def collected(experiment: Experiment, cache: Cache, *, seeds: int, seed: int = 0) -> ClaimResult:
    """Put the pieces of a finished sweep together and judge them.

    Raises:
      ValueError: if a piece is missing.
    """
    pieces: dict[str, list[Measures]] = {label: [] for label in experiment.arms}
    for job in jobs_of(experiment, seeds=seeds, seed=seed):
        measures = cache.get(job)
        if measures is None:
            raise ValueError(f"{experiment.name}: arm {job.label!r} was not run with these settings")
        pieces[job.label].append(measures)
    return judged(experiment, {label: _joined(parts) for label, parts in pieces.items()})


def _joined(parts: Sequence[Measures]) -> Measures:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
