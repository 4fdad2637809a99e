"""Run one function on many inputs: in processes of this machine, or by the workers of a Dask scheduler."""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import lazy_loader

joblib: Any = lazy_loader.load("joblib")

PATIENCE = 10
"""Seconds in which a scheduler has to answer, and a worker to be there."""
PATIENT_ROUNDS = 3
"""Number of times in a row that processes may be killed before any of them has finished a job."""
Item = TypeVar("Item")
Result = TypeVar("Result")


def each_done(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int = -1,
    scheduler: str | None = None,
) -> Iterator[Result]:
    """Do the work for every item, and yield what comes of it, in the order in which it ends.

    What a process was at when it was killed is done again by another.

    Args:
      work: a function that another process can import.
      items: what it is done for; they are taken as they are needed.
      workers: processes here; -1 for one per core, 1 for none beside this one.
      scheduler: address of a Dask scheduler, as in "tcp://127.0.0.1:8786"; its workers need this package.
        The scheduler gives the work of a worker that died to another.

    Raises:
      ValueError: if the address is none.
      OSError: if nothing answers there, or the scheduler has no workers; or if processes are killed again and
        again without anything being done.
    """
    numbered = enumerate(items)
    begun: dict[int, Item] = {}
    idle = 0
    with _backend(scheduler):
        while True:
            try:
                for number, result in _round(work, _taken(begun, numbered), workers):
                    del begun[number]
                    idle = 0
                    yield result
                return
            except BrokenExecutor as error:
                idle += 1
                if idle > PATIENT_ROUNDS:
                    raise OSError("the processes that do the work are killed again and again") from error


def _round(
    work: Callable[[Item], Result], items: Iterable[tuple[int, Item]], workers: int
) -> Iterator[tuple[int, Result]]:
    """Each result with the number of its item, until all are done or a process was killed."""
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")
    yield from parallel(joblib.delayed(_numbered)(work, number, item) for number, item in items)


def _numbered(work: Callable[[Item], Result], number: int, item: Item) -> tuple[int, Result]:
    return number, work(item)


def _taken(begun: dict[int, Item], numbered: Iterable[tuple[int, Item]]) -> Iterator[tuple[int, Item]]:
    """Yield the jobs begun before and not done, then start the others."""
    yield from list(begun.items())
    for number, item in numbered:
        begun[number] = item
        yield number, item


@contextmanager
def _backend(scheduler: str | None) -> Iterator[None]:
    """Processes of this machine, or a cluster, to which the connection is closed in the end."""
    if scheduler is None:
        yield
        return
    if not re.fullmatch(r"(tcp|tls|ws|wss|ucx)://\S+:\d+", scheduler):
        raise ValueError(f"scheduler: expected an address as tcp://127.0.0.1:8786, got {scheduler!r}")
    distributed: Any = importlib.import_module("distributed")
    with distributed.Client(scheduler, set_as_default=False, timeout=PATIENCE) as client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise OSError(f"the scheduler at {scheduler} has no workers") from None
        with joblib.parallel_config("dask", client=client):
            yield
