"""Grade the students of a class side by side: each one's result comes as soon as it is there."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from grpo_ref.course.classroom.handed_in import HandedIn
from grpo_ref.course.classroom.student import Graded, grade_student, seed_of
from grpo_ref.course.grading import wasm
from grpo_ref.parallel import each_done


def prepare() -> None:
    """Verify the sandbox for strangers and have it compiled; what is compiled is kept for the next time.

    Raises:
      wasm.WasmMissing: if it is not there, or is another one.
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
    """Grade every student, and yield each one's result, in the order in which they are there.

    Args:
      handed_in: what each one handed in; read as they are needed.
      names: ids of the exercises of the course, in order.
      seed: of the class; the students' own seeds come from it.
      is_safe: whether the answers run in WebAssembly; else in processes, and no verdict is official.
      workers: processes here; -1 for one per core, 1 for none beside this one.
      scheduler: address of a Dask scheduler, whose workers then do it.
    """
    work = partial(_graded, names=tuple(names), seed=seed, is_safe=is_safe)
    yield from each_done(work, handed_in, workers=workers, scheduler=scheduler)


def _graded(handed_in: HandedIn, names: Sequence[str], seed: int, is_safe: bool) -> Graded:
    """One student's result; a fault of ours costs nobody else anything."""
    try:
        return grade_student(handed_in, names, seed=seed, is_safe=is_safe)
    except Exception as error:
        note = f"the grading stopped by a fault of its own ({type(error).__name__}: {error}); tell the course"
        own = seed_of(handed_in.student, seed)
        return Graded(handed_in.student, own, (), (), (*handed_in.notes, note), is_safe, 0.0)
