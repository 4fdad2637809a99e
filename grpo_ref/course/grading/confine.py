"""Keep a student's process from files, the network and other processes, as far as the system allows.

Three mechanisms of Linux are used if they are present; none of them has to be installed or run as root.
Landlock (since Linux 5.13) refuses access to files, TCP and signals. Namespaces hide the network and all
other processes, and give the process a small disk of its own. A filter of system calls refuses to start
further processes, to open sockets, to use memory that the memory limit does not count, and to change other
processes. Without these mechanisms, as on macOS, only the limits on time and memory remain. The student's
process reads this file too, so it imports nothing but the standard library.
"""

import contextlib
import ctypes
import errno
import os
import resource
import struct
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of Landlock's system calls, equal on every machine."""
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Version of Landlock -> number of kinds of file access that it controls. Later versions control as many as
version 5.
"""
SINCE_NETWORK, SINCE_SIGNALS = 4, 6
"""First versions of Landlock that refuse TCP, and signals to other processes."""
TCP, SCOPES = 3, 3
NO_NEW_PRIVILEGES, DEATH_SIGNAL, KILL = 38, 1, 9
SECCOMP, FILTER, ALLOW, ERROR = 22, 2, 0x7FFF0000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
"""Instructions of a filter of system calls: load a word of the call, compare it in one of three ways, return
a result.
"""
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Offsets of these words in the record of a system call, in bytes."""
CLONE3, A_THREAD, OTHER_NUMBERING = 435, 0x10000, 0x40000000
CALLS = {"x86_64": (0xC000003E, 56, 302, (57, 58)), "aarch64": (0xC00000B7, 220, 261, ())}
"""Machine -> its architecture code, and the numbers of `clone`, of `prlimit64`, and of `fork` and `vfork`."""
REFUSED = {
    "x86_64": (
        *(41, 53, 29, 64, 68, 240, 319),  # socket, socketpair, shmget, semget, msgget, mq_open, memfd_create
        *(101, 310, 311, 256, 279),  # ptrace, process_vm_readv and _writev, migrate_pages, move_pages
        *(141, 142, 144, 203, 314, 251),  # setpriority, four to set the scheduling, ioprio_set
        *(155, 161, 165, 166, 272, 308),  # pivot_root, chroot, mount, umount2, unshare, setns
        *(248, 249, 250, 298, 321, 323),  # add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd
    ),
    "aarch64": (
        *(198, 199, 194, 190, 186, 180, 279),
        *(117, 270, 271, 238, 239),
        *(140, 118, 119, 122, 274, 30),
        *(41, 51, 40, 39, 97, 268),
        *(217, 218, 219, 241, 280, 282),
    ),
}
"""Machine -> numbers of system calls that reach other programs, or memory and settings that outlive or escape
the limits of the process. The order is the same for both machines.
"""
REFUSED_EVERYWHERE = (
    *(425, 447),  # io_uring_setup, whose operations no filter sees; memfd_secret
    *(434, 438, 440, 448),  # pidfd_open, pidfd_getfd, process_madvise, process_mrelease
    *(428, 429, 430, 431, 432, 442),  # open_tree, move_mount, fsopen, fsconfig, fsmount, mount_setattr
)
"""Numbers of more such system calls, equal on every machine."""
Instruction = tuple[int, int, int, int]
"""Code, number of instructions to skip if a comparison is true, number to skip if it is false, operand."""
NEW_USER, NEW_PROCESSES, NEW_NETWORK, NEW_IPC = 0x10000000, 0x20000000, 0x40000000, 0x08000000
NEW_MOUNTS, NO_SET_USER, NO_DEVICES = 0x00020000, 0x2, 0x4
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
LARGEST_FILE = 64 * 1024**2
"""Largest size of a file that a student's code writes, and of all its files if it has its own disk."""
MOST_FILES = 10_000
"""Largest number of files on this disk."""


def set_apart() -> bool:
    """Leave the network and hide other processes, if the system allows it. Return whether it worked.

    The next process that is forked becomes the first process of the new namespaces. When it ends, every
    process in them ends.
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
    """Let this process be killed when its parent ends. This has an effect on Linux only."""
    if sys.platform.startswith("linux"):
        _libc().prctl(DEATH_SIGNAL, KILL, 0, 0, 0)


def own_disk(folder: str) -> bool:
    """Put a small disk in memory in the place of a folder, for this process only. Return whether it worked.

    Needs the namespaces of `set_apart`. The disk vanishes with the process, however many files are on it.
    """
    options = f"size={LARGEST_FILE},nr_inodes={MOST_FILES},mode=700".encode()
    libc, flags = _libc(), ctypes.c_ulong(NO_SET_USER | NO_DEVICES)
    if libc.unshare(NEW_MOUNTS) != 0:
        return False
    return bool(libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flags, options) == 0)


def limit(memory: int) -> bool:
    """Limit the memory and the size of written files, and forbid core dumps and further processes.

    Return whether the filter of system calls is active.
    """
    limits = {"AS": memory, "FSIZE": LARGEST_FILE, "CORE": 0}
    is_filtered = filter_calls()
    if not is_filtered:
        limits["NPROC"] = 0
    for name, most in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    return is_filtered


def filter_calls() -> bool:
    """Refuse system calls that start processes (threads are allowed) or reach other programs.

    RLIMIT_NPROC is not enough: it does not apply to root, and containers often grade as root. A file that
    forks in an endless loop would then keep the machine so busy that ending it takes long. Landlock is not
    enough either: it does not know UNIX sockets, which lead to Docker or an ssh agent.

    Returns:
      Whether the system supports such a filter.
    """
    if not sys.platform.startswith("linux") or os.uname().machine not in CALLS:
        return False
    mark, clone, limits, forks = CALLS[os.uname().machine]
    again, unknown, refuse = (ERROR | number for number in (errno.EAGAIN, errno.ENOSYS, errno.EPERM))
    filters = [
        _unless(ARCHITECTURE, EQUAL, mark, refuse),
        _if(NUMBER, AT_LEAST, OTHER_NUMBERING, refuse),
        *(_if(NUMBER, EQUAL, number, again) for number in forks),
        _if(NUMBER, EQUAL, CLONE3, unknown),  # its flags cannot be seen here; a library then takes clone
        *(_if(NUMBER, EQUAL, number, refuse) for number in REFUSED[os.uname().machine]),
        *(_if(NUMBER, EQUAL, number, refuse) for number in REFUSED_EVERYWHERE),
        [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 3, clone)],
        _unless(FIRST_ARGUMENT, ANY_BIT, A_THREAD, again),
        [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 3, limits)],
        _unless(FIRST_ARGUMENT, EQUAL, 0, refuse),  # the limits of another process
        [(RETURN, 0, 0, ALLOW)],
    ]
    instructions = [instruction for part in filters for instruction in part]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in instructions))
    given = struct.pack("HxxxxxxN", len(instructions), ctypes.addressof(program))
    libc = _libc()
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(libc.prctl(SECCOMP, FILTER, given, 0, 0) == 0)


def shut_in(readable: Iterable[str], writable: str, hidden: Iterable[str]) -> int:
    """Deny this process access to all files except a few.

    Args:
      readable: paths that may be read, beside Python's installation.
      writable: a folder in which the process may write.
      hidden: folders that must not be read, even if they are part of Python's installation.

    Returns:
      The version of Landlock, from which follows what else is refused, or 0 if Landlock is missing.
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


def sentence(version: int, *, apart: bool, filtered: bool, disk: bool) -> str:
    """Describe what a process was kept from and what not.

    Args:
      version: version of Landlock, 0 if it is missing.
      apart: whether the process was in namespaces of its own.
      filtered: whether the filter of system calls was active.
      disk: whether the process had a small disk of its own.

    >>> sentence(0, apart=True, filtered=True, disk=False)
    'kept from the network, UNIX sockets and other processes, not from other files and filling the disk'
    """
    guarded = {
        "other files": version > 0,
        "the network": apart or filtered or version >= SINCE_NETWORK,
        "UNIX sockets": filtered,
        "other processes": apart or version >= SINCE_SIGNALS,
        "filling the disk": disk,
    }
    kept = [name for name, holds in guarded.items() if holds]
    free = [name for name, holds in guarded.items() if not holds]
    texts = [f"kept from {_listed(kept)}"] * bool(kept) + [f"not from {_listed(free)}"] * bool(free)
    return ", ".join(texts) if kept else f"limited in time and memory, not kept from {_listed(free)}"


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _if(place: int, compare: int, word: int, result: int) -> list[Instruction]:
    """Return this result if the comparison with the word at this offset is true."""
    return [(LOAD, 0, 0, place), (compare, 0, 1, word), (RETURN, 0, 0, result)]


def _unless(place: int, compare: int, word: int, result: int) -> list[Instruction]:
    """Return this result if the comparison with the word at this offset is false."""
    return [(LOAD, 0, 0, place), (compare, 1, 0, word), (RETURN, 0, 0, result)]


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
    """Yield pairs of a path and the access allowed to it and to everything below it."""
    yield writable, everything & ~(EXECUTE | IOCTL)
    yield "/dev/null", READ_FILE | WRITE_FILE
    yield "/dev/urandom", READ_FILE
    for path in readable:
        yield path, READ
    yield from of_python(hidden)


@cache
def of_python(hidden: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """Return pairs of a path and the access allowed to it, for Python's installation. The folders are walked
    once.

    Args:
      hidden: folders that must not be read, even if they are part of the installation.
    """
    rules: list[tuple[str, int]] = []
    standard = sysconfig.get_path("stdlib")
    for folder in {standard, str(Path(standard).parent), *LIBRARIES}:
        rules += [(path, READ) for path in _around(hidden, folder)]
        if _holds(folder, hidden):
            rules.append((folder, READ_DIR))
    return tuple(rules)


def _around(hidden: tuple[str, ...], folder: str) -> Iterator[str]:
    """Yield the folder, or the parts of it that contain nothing hidden."""
    if os.path.realpath(folder) in hidden or not os.path.isdir(folder):
        return
    if not _holds(folder, hidden):
        yield folder
        return
    for entry in os.listdir(folder):
        yield from _around(hidden, os.path.join(folder, entry))


def _holds(folder: str, hidden: tuple[str, ...]) -> bool:
    """Return whether the folder contains something hidden."""
    return any(Path(each).is_relative_to(os.path.realpath(folder)) for each in hidden)


def _allow(rules: int, path: str, rights: int) -> None:
    """Add one rule. A path that does not exist needs no rule."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= OF_FILES
    rule = struct.pack("=Qi", rights, descriptor)
    _libc().syscall(ADD_RULE, rules, 1, rule, 0)
    os.close(descriptor)
