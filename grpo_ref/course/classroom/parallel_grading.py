"""Grade the students of a class in parallel. Each result is yielded as soon as it is known."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial

from grpo_ref.course.classroom.handed_in import MOST_NOTES, Delivery
from grpo_ref.course.classroom.own_process import Ended, in_own_process
from grpo_ref.course.classroom.student import Graded, grade_student, seed_of
from grpo_ref.course.grading import wasm
from grpo_ref.parallel import each_done


@cache
def prepare() -> None:
    """Verify the sandbox for strangers and compile it, once. The compiled sandbox is kept for the next time.

    Raises:
      wasm.WasmMissing: if the sandbox is not installed, or is not the tested version.
    """
    wasm.verify()
    wasm.compile_once()


def grade_class(
    deliveries: Iterable[Delivery],
    names: Sequence[str],
    *,
    seed: int,
    is_safe: bool = True,
    workers: int = -1,
    scheduler: str | None = None,
) -> Iterator[Graded]:
    """Grade every student, and yield the results in the order in which they are finished.

    Each student's files are read and graded in a process of their own, with limits on time and memory. If it
    ends without a result, the student's result has a note that says so, and no exercises.

    Args:
      deliveries: the files of each student; fetched only when they are needed.
      names: ids of the exercises of the course, in order.
      seed: seed of the class, from which the students' own seeds are computed.
      is_safe: whether the answers run in WebAssembly; else they run in processes, and no verdict is official.
      workers: number of students that are graded at the same time; -1 for one per core.
      scheduler: address of a Dask scheduler, whose workers then grade.

    Raises:
      wasm.WasmMissing: if the sandbox is needed and cannot be prepared.
    """
    if is_safe:
        prepare()  # otherwise it would be compiled within the time of a student
    work = partial(_graded, names=tuple(names), seed=seed, is_safe=is_safe)
    yield from each_done(work, deliveries, workers=workers, scheduler=scheduler)


def _graded(delivery: Delivery, names: Sequence[str], seed: int, is_safe: bool) -> Graded:
    """Return one student's result."""
    try:
        return in_own_process(_grade, delivery, names, seed, is_safe)
    except Ended as ended:
        note = f"not graded: the process that reads and grades these files {ended}"
        return _without_result(delivery, note, seed, is_safe)


def _grade(delivery: Delivery, names: Sequence[str], seed: int, is_safe: bool) -> Graded:
    """Read and grade one student's files. An error of the grader is noted."""
    try:
        return grade_student(delivery.read(), names, seed=seed, is_safe=is_safe)
    except Exception as error:
        note = f"the grader failed ({type(error).__name__}: {error}); please report it to the course"
        return _without_result(delivery, note, seed, is_safe)


def _without_result(delivery: Delivery, note: str, seed: int, is_safe: bool) -> Graded:
    own = seed_of(delivery.student, seed)
    return Graded(delivery.student, own, (), (), (*delivery.notes[:MOST_NOTES], note), is_safe, 0.0)
