"""Do the work on one student in a process of its own.

What a student hands in can be made to take any amount of time and memory: to unpack, to parse, to compare.
In a process of its own it uses up the limits of this student only, and ends nothing but this process.
Importing the grader takes half a second, so on Linux a server imports it once and forks a process for each
student. Elsewhere, where a process that has used NumPy must not fork, every student has a new process.
"""

import atexit
import gc
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from grpo_ref.files import remove_folder

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
START = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"
PRELOADED = ("parallel_grading", "alike")
"""Modules of this folder that a server imports before it forks."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment of a process that forks after it has imported NumPy."""
FREE: list["Server"] = []
LOCK = threading.Lock()
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
    folder = Path(tempfile.mkdtemp(prefix="grpo-ref-"))
    job, result = folder / "job", folder / "result"
    try:
        job.write_bytes(pickle.dumps((work, arguments)))
        for _ in range(TRIES):
            status = _status_of([str(job), str(result), memory, RESULT], seconds)
            if status == 0:
                value: Result = pickle.loads(result.read_bytes())  # from the grader's own code
                return value
            if status > 0:
                raise Ended(f"ended with exit status {status}")
    finally:
        remove_folder(folder)
    raise Ended(f"was killed {TRIES} times, the last time by signal {-status}")


class Server:
    """A process that does jobs, each in a process that it forks. Creating it does not wait for it."""

    def __init__(self) -> None:
        self.owner, self.is_late = os.getpid(), False
        self.process = subprocess.Popen(
            [sys.executable, "-c", START.format(path=sys.path, module=__name__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
        )

    def do(self, line: str) -> int:
        """Have a job done. Return the exit status of its process, or minus the number of a signal."""
        requests, replies = self.process.stdin, self.process.stdout
        if requests is None or replies is None:
            raise RuntimeError("the server was started without pipes")
        with suppress(BrokenPipeError):
            requests.write(line.encode() + b"\n")
            requests.flush()
        reply = replies.readline()
        return int(reply) if reply else self.process.wait()

    def stop(self) -> None:
        """End a job that takes too long, and the server with it."""
        self.is_late = True
        self.process.kill()

    def close(self) -> None:
        """End the server, if this process has started it."""
        if self.owner == os.getpid():
            self.process.kill()
            self.process.communicate()


def _status_of(job: list[Any], seconds: float) -> int:
    """Have a job done by a free server, or by a new one, within this time."""
    with LOCK:
        server = FREE.pop() if FREE else None
    if server is None or server.owner != os.getpid():
        server = Server()
    timer = threading.Timer(seconds, server.stop)
    timer.start()
    try:
        status = server.do(json.dumps(job))
    except BaseException:
        server.close()
        raise
    finally:
        timer.cancel()
    if server.is_late:
        server.close()
        raise Ended(f"was not done after {seconds:g} s")
    if server.process.poll() is None:
        with LOCK:
            FREE.append(server)
    else:
        server.close()
    return status


@atexit.register
def close_all() -> None:
    """End all free servers."""
    with LOCK:
        while FREE:
            FREE.pop().close()


def serve() -> None:
    """Do the jobs on standard input, one line each, and reply with the exit status of each one's process."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what is printed must not get into the replies
    _end_with_parent()
    for name in PRELOADED:
        import_module(f"{__package__}.{name}")
    gc.freeze()  # a forked process would copy all memory that the collector walks through
    for line in sys.stdin:
        if not sys.platform.startswith("linux"):
            sys.exit(_do(*json.loads(line)))
        process = os.fork()
        if process == 0:
            _end_with_parent()
            os._exit(_do(*json.loads(line)))
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), file=replies, flush=True)


def _do(job: str, result: str, memory: int, largest: int) -> int:
    """Do one job within limits. Return the exit status of the process."""
    from grpo_ref.course.grading import fork_server

    try:
        _limit(memory, largest)
        tempfile.tempdir = str(
            Path(job).parent
        )  # where everything is removed, even if this process is killed
        with open(job, "rb") as file:
            work, arguments = pickle.load(file)
        with open(result, "wb") as file:
            pickle.dump(work(*arguments), file)
    except BaseException:
        return 1
    finally:
        fork_server.close_all()  # a process that was forked does not do what is due at the exit
    return 0


def _limit(memory: int, largest: int) -> None:
    with suppress(ImportError):  # Windows has no such limits
        import resource

        for kind, most in (("DATA", memory), ("FSIZE", largest), ("CORE", 0)):
            with suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))


def _end_with_parent() -> None:
    if sys.platform.startswith("linux"):
        from grpo_ref.course.grading.confine import end_with_parent

        end_with_parent()
