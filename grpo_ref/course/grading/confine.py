"""What the system can keep a student's process from: files, the network, other processes.

Two mechanisms of Linux are tried, and neither needs to be installed or to run as root: Landlock (since 5.13)
refuses files, TCP and signals to a process that asked for it, and namespaces show it no network and no other
processes. Where there is neither, as on macOS, only the limits on time and memory are left. This file is read
by the student's process too and imports nothing but the standard library.
"""

import contextlib
import ctypes
import os
import resource
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls of Landlock, the same on every machine."""
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Version of Landlock -> how many kinds of access to files it knows; later ones know as many as the fifth."""
SINCE_NETWORK, SINCE_SIGNALS = 4, 6
"""Versions of Landlock that also refuse TCP, and signals to other processes."""
TCP, SCOPES = 3, 3
NO_NEW_PRIVILEGES, DEATH_SIGNAL, KILL = 38, 1, 9
NEW_USER, NEW_PROCESSES, NEW_NETWORK, NEW_IPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
LARGEST_FILE = 64 * 1024**2


def set_apart() -> bool:
    """Leave the network and the sight of other processes, if the system allows it; whether it did.

    The next process that is forked is the first of a world of its own, and everything in it ends with it.
    """
    if not sys.platform.startswith("linux"):
        return False
    user, group = os.getuid(), os.getgid()
    if _libc().unshare(NEW_USER | NEW_PROCESSES | NEW_NETWORK | NEW_IPC) != 0:
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)
    return True


def end_with_parent() -> None:
    """Be killed when the parent ends; without effect on systems other than Linux."""
    if sys.platform.startswith("linux"):
        _libc().prctl(DEATH_SIGNAL, KILL, 0, 0, 0)


def limit(memory: int) -> None:
    """Limit memory and the size of a file; no core dump, and no further processes except for root."""
    limits = {"AS": memory, "FSIZE": LARGEST_FILE, "CORE": 0, "NPROC": 0}
    for name, most in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def shut_in(readable: Iterable[str], writable: str, hidden: Iterable[str]) -> int:
    """Keep this process from all files but a few.

    Args:
      readable: what may be read beside the installation of Python.
      writable: a folder in which it may write.
      hidden: folders that must not be read, even if they are a part of the installation.

    Returns:
      The version of Landlock, which also tells what else it refuses; 0 if there is none.
    """
    version = _version()
    if version == 0:
        return 0
    known = (1 << RIGHTS.get(version, RIGHTS[5])) - 1
    parts = [known, TCP, SCOPES][: 1 + (version >= SINCE_NETWORK) + (version >= SINCE_SIGNALS)]
    attributes = struct.pack(f"{len(parts)}Q", *parts)
    libc = _libc()
    rules = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return 0
    for path, rights in _rules(readable, writable, tuple(hidden), known):
        _allow(rules, path, rights & known)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    refused = libc.syscall(RESTRICT_SELF, rules, 0)
    os.close(rules)
    return 0 if refused else version


def sentence(version: int, apart: bool) -> str:
    """What a process was kept from, and what not, in words.

    Args:
      version: of Landlock, 0 for none.
      apart: whether it was in namespaces of its own.

    >>> sentence(0, True)
    'kept from the network and other processes, not from other files'
    """
    guarded = {
        "other files": version > 0,
        "the network": apart or version >= SINCE_NETWORK,
        "other processes": apart or version >= SINCE_SIGNALS,
    }
    kept = [name for name, holds in guarded.items() if holds]
    free = [name for name, holds in guarded.items() if not holds]
    texts = [f"kept from {_listed(kept)}"] * bool(kept) + [f"not from {_listed(free)}"] * bool(free)
    return ", ".join(texts) if kept else f"limited in time and memory, not kept from {_listed(free)}"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _version() -> int:
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def _rules(
    readable: Iterable[str], writable: str, hidden: tuple[str, ...], everything: int
) -> Iterator[tuple[str, int]]:
    """Path -> what is allowed there and below."""
    yield writable, everything & ~(EXECUTE | IOCTL)
    yield "/dev/null", READ_FILE | WRITE_FILE
    yield "/dev/urandom", READ_FILE
    for path in readable:
        yield path, READ
    yield from of_python(hidden)


@cache
def of_python(hidden: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Path -> what is allowed of the installation of Python; it is looked through once.

    Args:
      hidden: folders that must not be read, even if they are a part of the installation.
    """
    rules: list[tuple[str, int]] = []
    standard = sysconfig.get_path("stdlib")
    for folder in {standard, str(Path(standard).parent), *LIBRARIES}:
        rules += [(path, READ) for path in _around(hidden, folder)]
        if _holds(folder, hidden):
            rules.append((folder, READ_DIR))
    return tuple(rules)


def _around(hidden: tuple[str, ...], folder: str) -> Iterator[str]:
    """The folder, or what is in it, so that nothing hidden is among it."""
    if os.path.realpath(folder) in hidden or not os.path.isdir(folder):
        return
    if not _holds(folder, hidden):
        yield folder
        return
    for entry in os.listdir(folder):
        yield from _around(hidden, os.path.join(folder, entry))


def _holds(folder: str, hidden: tuple[str, ...]) -> bool:
    """Whether something hidden is in it."""
    return any(Path(each).is_relative_to(os.path.realpath(folder)) for each in hidden)


def _allow(rules: int, path: str, rights: int) -> None:
    """Add one rule; a path that does not exist needs none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= OF_FILES
    rule = struct.pack("=Qi", rights, descriptor)
    _libc().syscall(ADD_RULE, rules, 1, rule, 0)
    os.close(descriptor)
