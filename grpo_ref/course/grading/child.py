"""The process in which a student's file runs: it loads the file, calls its functions and sends back data.

`fork_server.py` runs this file as a script. Its import path holds the standard library, NumPy and SciPy, and
nothing else. The script imports NumPy once. Then, for each student's file, it forks a process, which confines
itself and loads the file. That process reads requests from one descriptor and writes replies to another, so
that the replies are never mixed with what the student's code prints. No process here ever sees an expected
value.
"""

import contextlib
import gc
import importlib.util
import json
import os
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

PATIENCE = 0.5
"""Seconds that a process has to end by itself after it closed its channels."""


def main() -> None:
    """Serve the judge, in namespaces of its own if the system allows them."""
    settings = json.loads(sys.argv[1])
    sys.path[:] = [entry for entry in sys.path if entry not in ("", str(Path(__file__).parent))]
    sys.path += settings["path"]
    confine = _load("_confine", settings["confine"])
    apart = settings["apart"] and confine.set_apart()
    if apart and (first := os.fork()):
        os.waitpid(first, 0)
        return
    confine.end_with_parent()
    channel = socket.socket(fileno=settings["channel"])
    confine.of_python(tuple(settings["hidden"]))
    if settings["early"]:
        _load("_wire", settings["wire"])
        _load("_guest", settings["guest"])
    gc.freeze()  # a forked process would copy all memory that the collector walks through
    _serve(channel, settings | {"apart": apart})


def _serve(channel: socket.socket, settings: dict[str, Any]) -> None:
    """Run one process at a time, as the judge requests, until the judge closes the channel.

    The judge sends "begin" with three descriptors, "kill", or "wait" if the process seems to be ending by
    itself. Each message is answered with one line: the exit status of the process that ended, or an empty
    line if it had to be killed.
    """
    process = 0
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, 16, 3)
        ended = _end(process, PATIENCE if message == b"wait\n" else 0.0) if process else ""
        process = 0
        if not message:
            return
        if message == b"begin\n" and len(descriptors) == 3:
            process = os.fork()
            if process == 0:
                channel.close()
                _live(settings, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        channel.sendall(f"{ended}\n".encode())


def _end(process: int, patience: float) -> str:
    """End a process and everything that it started. Return its status, or "" if it had to be killed."""
    deadline = time.monotonic() + patience
    ended, status = os.waitpid(process, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        time.sleep(0.001)
        ended, status = os.waitpid(process, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
    if not ended:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return str(status) if ended else ""


def _live(settings: dict[str, Any], requests: int, replies: int, output: int) -> None:
    """Run one forked process: take over the descriptors, confine itself, load the file and serve requests."""
    try:
        os.setsid()
        for taken, given in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
            os.dup2(taken, given)
        os.close(output)
        with (
            os.fdopen(requests, encoding="utf-8") as lines,
            os.fdopen(replies, "w", encoding="utf-8") as answers,
        ):
            _answer(settings, lines, answers)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _answer(settings: dict[str, Any], requests: Any, replies: Any) -> None:
    """Report what this process is protected from, load the file, then answer each request with one line."""
    life = json.loads(requests.readline())
    wire, guest = (_load(f"_{name}", settings[name]) for name in ("wire", "guest"))
    confine = sys.modules["_confine"]
    disk = settings["apart"] and confine.own_disk(life["work"])
    os.chdir(life["work"])
    os.environ.update(dict.fromkeys(("HOME", "TMPDIR"), life["work"]))
    filtered = confine.limit(life["memory"])
    readable = [str(Path(life["submission"]).parent), *map(os.path.realpath, settings["libraries"])]
    version = confine.shut_in([*settings["path"], *readable], life["work"], settings["hidden"])
    protection = confine.sentence(version, apart=settings["apart"], filtered=filtered, disk=disk)
    _reply(replies, json.dumps(protection))
    submission, source = life["submission"], json.loads(requests.readline())
    _reply(replies, guest.load(wire, submission, source.encode("latin-1")))
    for line in requests:
        _reply(replies, guest.answer(wire, submission, line))


def _load(name: str, path: str) -> ModuleType:
    """Import one of the grader's own modules from its file, once."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _reply(replies: Any, line: str) -> None:
    sys.stdout.flush()
    replies.write(line + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
