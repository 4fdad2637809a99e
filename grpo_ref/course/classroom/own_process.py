"""Do the work on one student in a process of its own.

What a student hands in can be made to take any amount of time and memory: to unpack, to parse, to compare.
In a process of its own it uses up the limits of this student only, and ends nothing but this process.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, TypeVar

SECONDS = 240.0
"""Wall-clock time for all work on one student."""
MEMORY = 2 * 1024**3
"""Memory that the process may write to, in bytes. Linux enforces the limit, other systems may not."""
RESULT = 64 * 1024**2
"""Largest file that the process may write, in bytes; the result is such a file."""
TRIES = 3
"""Number of processes that may be killed from outside. The system kills processes if memory runs out, and
the student whose process it kills need not be the one who used the memory.
"""
START = "import sys; sys.path[:] = {path!r}; from {module} import main; main({memory}, {result})"
Result = TypeVar("Result")


class Ended(Exception):
    """The process ended without a result. The message gives the reason in a few words."""


def in_own_process(
    work: Callable[..., Result], *arguments: Any, seconds: float = SECONDS, memory: int = MEMORY
) -> Result:
    """Call a function in a new process, and return its result.

    Args:
      work: a function that another process can import.
      arguments: its arguments, which can be pickled like the result.
      seconds: wall-clock time of the process.
      memory: memory that the process may write to, in bytes.

    Raises:
      Ended: if the process used up its time or memory, or was killed three times.
    """
    for _ in range(TRIES):
        with tempfile.TemporaryFile() as job, tempfile.TemporaryFile() as result:
            pickle.dump((work, arguments), job)
            job.seek(0)
            status = _status_of(job, result, seconds, memory)
            if status == 0:
                result.seek(0)
                value: Result = pickle.load(result)  # the process runs the grader's code only
                return value
            if status > 0:
                raise Ended(f"ended with exit status {status}")
    raise Ended(f"was killed {TRIES} times, the last time by signal {-status}")


def _status_of(job: IO[bytes], result: IO[bytes], seconds: float, memory: int) -> int:
    """Return the exit status of a process that does the job; a negative one is the number of a signal."""
    code = START.format(path=sys.path, module=__name__, memory=memory, result=RESULT)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=job, stdout=result, stderr=subprocess.DEVNULL
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Ended(f"was not done after {seconds:g} s") from None
        finally:
            process.kill()


def main(memory: int, largest: int) -> None:
    """Do the job on standard input and write its result to standard output, within limits."""
    with os.fdopen(os.dup(1), "wb") as result:
        os.dup2(2, 1)  # what is printed must not get into the result
        _limit(memory, largest)
        work, arguments = pickle.load(sys.stdin.buffer)
        pickle.dump(work(*arguments), result)


def _limit(memory: int, largest: int) -> None:
    with suppress(ImportError):  # Windows has no such limits
        import resource

        from grpo_ref.course.grading.confine import end_with_parent

        end_with_parent()
        for kind, most in (
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_FSIZE, largest),
            (resource.RLIMIT_CORE, 0),
        ):
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, (most, most))
