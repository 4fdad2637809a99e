"""Grade the students of a class in parallel. Each result is yielded as soon as it is known."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from grpo_ref.course.classroom.handed_in import HandedIn
from grpo_ref.course.classroom.student import Graded, grade_student, seed_of
from grpo_ref.course.grading import wasm
from grpo_ref.parallel import each_done


def prepare() -> None:
    """Verify the sandbox for strangers and compile it. The compiled sandbox is kept for the next time.

    Raises:
      wasm.WasmMissing: if the sandbox is not installed, or is not the tested version.
    """
    wasm.verify()
    wasm.compile_once()


def grade_class(
    handed_in: Iterable[HandedIn],
    names: Sequence[str],
    *,
    seed: int,
    is_safe: bool = True,
    workers: int = -1,
    scheduler: str | None = None,
) -> Iterator[Graded]:
    """Grade every student, and yield the results in the order in which they are finished.

    Args:
      handed_in: the answers of each student; read only when they are needed.
      names: ids of the exercises of the course, in order.
      seed: seed of the class, from which the students' own seeds are computed.
      is_safe: whether the answers run in WebAssembly; else they run in processes, and no verdict is official.
      workers: number of processes; -1 for one per core, 1 for this process only.
      scheduler: address of a Dask scheduler, whose workers then grade.
    """
    work = partial(_graded, names=tuple(names), seed=seed, is_safe=is_safe)
    yield from each_done(work, handed_in, workers=workers, scheduler=scheduler)


def _graded(handed_in: HandedIn, names: Sequence[str], seed: int, is_safe: bool) -> Graded:
    """Return one student's result. An error of the grader does not affect the other students."""
    try:
        return grade_student(handed_in, names, seed=seed, is_safe=is_safe)
    except Exception as error:
        note = f"the grader failed ({type(error).__name__}: {error}); please report it to the course"
        own = seed_of(handed_in.student, seed)
        return Graded(handed_in.student, own, (), (), (*handed_in.notes, note), is_safe, 0.0)
