"""Processes that have imported NumPy and fork a fresh process for each student's file.

Importing NumPy takes longer than grading most files, so it is done once. A fork server runs one student's
process at a time, and ends it, with everything that it started, before the next one. To run several at the
same time, there are several fork servers.
"""

import atexit
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path

LIBRARIES = ("numpy", "scipy")
HERE = Path(__file__).parent
PATIENCE = 30.0
"""Seconds that a server may take to import NumPy, or to answer."""
FREE: list["ForkServer"] = []
LOCK = threading.Lock()


class ForkServerError(RuntimeError):
    """The process that starts the students' processes does not answer."""


class ForkServer:
    """The judge's side of a server. Creating it starts the process and does not wait for it."""

    def __init__(self) -> None:
        self.owner, self.asked = os.getpid(), 0
        self.folder = Path(tempfile.mkdtemp(prefix="grpo-ref-"))
        ours, theirs = socket.socketpair()
        ours.settimeout(PATIENCE)
        self.channel = ours
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", str(HERE / "child.py"), self._settings(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=_environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def begin(self, requests: int, replies: int, output: int) -> None:
        """Fork a process that reads, replies and prints to these descriptors. Do not wait for it."""
        self._settle()
        self._ask(b"begin\n", [requests, replies, output])

    def end(self, *, dying: bool = False) -> int | None:
        """End the current process. Return its status, as from os.waitpid, if it had ended by itself, else
        None.

        Args:
          dying: whether the process seems to be about to end by itself.
        """
        self._settle()
        self._ask(b"wait\n" if dying else b"kill\n", [])
        status = self._settle()
        return int(status) if status else None

    def close(self) -> None:
        """End the server with everything in it."""
        self.channel.close()
        if self.owner == os.getpid():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1.0)
            self.process.kill()
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, message: bytes, descriptors: list[int]) -> None:
        try:
            socket.send_fds(self.channel, [message], descriptors)
        except OSError as error:
            raise ForkServerError(str(error)) from error
        self.asked += 1

    def _settle(self) -> str:
        """Wait for the answers that are still due. Return the last one."""
        answer = b"\n"
        while self.asked:
            try:
                answer = self.channel.recv(64)
            except OSError as error:
                raise ForkServerError(str(error)) from error
            if not answer:
                raise ForkServerError("it has ended")
            self.asked -= answer.count(b"\n")
        return answer.decode().strip()

    def _settings(self, channel: int) -> str:
        folders = [_linked(name, self.folder) for name in LIBRARIES]
        settings = {
            "channel": channel,
            "path": [str(self.folder)],
            "libraries": [str(path) for paths in folders for path in paths],
            **{name: str(HERE / f"{name}.py") for name in ("wire", "guest", "confine")},
            "hidden": _hidden(),
            "apart": True,
            "early": sys.platform.startswith(
                "linux"
            ),  # elsewhere a process that has used NumPy must not fork
        }
        return json.dumps(settings)


def take() -> ForkServer:
    """Return a free server, or a new one."""
    with LOCK:
        while FREE:
            server = FREE.pop()
            if server.owner == os.getpid() and server.process.poll() is None:
                return server
            server.close()
    return ForkServer()


def give_back(server: ForkServer) -> None:
    """Return a server to the free ones."""
    with LOCK:
        FREE.append(server)


@atexit.register
def close_all() -> None:
    """End all free nurseries."""
    with LOCK:
        while FREE:
            FREE.pop().close()


def _hidden() -> list[str]:
    """Return the folders that students must not read: this package, and all others that packages are imported
    from.

    Exercises may be in any of these folders. Python's own folders, and folders that contain Python itself,
    are not among them.
    """
    standard = Path(sysconfig.get_path("stdlib")).resolve()
    searched = {Path(entry).resolve() for entry in sys.path} - {standard / "lib-dynload"}
    others = [path for path in sorted(searched) if path.is_dir() and not standard.is_relative_to(path)]
    return [str(path) for path in (HERE.parents[1].resolve(), *others)]


def _linked(name: str, folder: Path) -> list[Path]:
    """Link one library into the folder, with the shared objects that wheels keep beside it, to make it
    importable.
    """
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed, but students may import it")
    package = Path(spec.origin).parent
    paths = [path for path in (package, package.with_name(name + ".libs")) if path.exists()]
    for path in paths:
        (folder / path.name).symlink_to(path, target_is_directory=True)
    return paths


def _environment() -> dict[str, str]:
    """Return the environment variables: none of the judge's, and one thread, so that several files can be
    graded at once.
    """
    return {"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
