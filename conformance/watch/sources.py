"""Sources of a trainer at one version: a commit in a Git repository, a folder, or an unpacked wheel."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from watch.tracked import Trainer

HOST = "https://github.com"
SECONDS = 300
"""Seconds after which one command of Git or pip is given up."""


class NotFetchedError(Exception):
    """The sources could not be had; the message says why."""


class Snapshot(Protocol):
    """The sources of a trainer at one version."""

    @property
    def version(self) -> str:
        """Return the commit, the release, or the folder's name, for readers."""

    def read(self, path: str) -> str | None:
        """Return the text of a file, or None if there is no such file."""

    def paths(self) -> list[str]:
        """Return the paths of all Python files."""

    def unpack(self, folder: Path) -> Path:
        """Return a folder with all files, which may be the given one after they were written into it."""


@dataclass(frozen=True)
class Commit:
    """One commit in a Git repository, which may be bare.

    Attributes:
      repository: the folder of the repository.
      commit: the hash, or a name such as HEAD.
    """

    repository: Path
    commit: str

    @property
    def version(self) -> str:
        """Return nine digits of the commit and its date."""
        return git(self.repository, "log", "-1", "--format=%h (%cs)", "--abbrev=9", self.commit).strip()

    def read(self, path: str) -> str | None:
        """Return the text of a file at this commit."""
        try:
            return git(self.repository, "show", f"{self.commit}:{path}")
        except NotFetchedError:
            return None

    def paths(self) -> list[str]:
        """Return the paths of all Python files."""
        listed = git(self.repository, "ls-tree", "-r", "--name-only", self.commit).splitlines()
        return [path for path in listed if path.endswith(".py")]

    def unpack(self, folder: Path) -> Path:
        """Write all files into the folder."""
        archive = folder.with_suffix(".zip")
        git(self.repository, "archive", "--format=zip", f"--output={archive}", self.commit)
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
        archive.unlink()
        return folder


@dataclass(frozen=True)
class Folder:
    """A folder with the files of a trainer.

    Attributes:
      root: the folder.
      version: the release or another name of the version.
      prefix: the folder of the repository that does not exist here, as `src/` in a wheel.
    """

    root: Path
    version: str
    prefix: str = ""

    def read(self, path: str) -> str | None:
        """Return the text of a file."""
        file = self.root / path.removeprefix(self.prefix)
        return file.read_text(encoding="utf-8") if file.is_file() else None

    def paths(self) -> list[str]:
        """Return the paths of all Python files."""
        paths = (path.relative_to(self.root).as_posix() for path in sorted(self.root.rglob("*.py")))
        return [self.prefix + path for path in paths]

    def unpack(self, folder: Path) -> Path:
        """Return the folder itself."""
        return self.root


# ---- from the network ---------------------------------------------------------------------------


def newest_commit(trainer: Trainer, work: Path) -> Commit:
    """Fetch the newest commit of the default branch, and the recorded one if the host still has it."""
    folder = work / trainer.name / "git"
    if not folder.exists():
        folder.mkdir(parents=True)
        git(folder, "init", "--quiet", "--bare")
    url = f"{HOST}/{trainer.repository}.git"
    git(folder, "fetch", "--quiet", "--depth=1", url, "HEAD")
    head = git(folder, "rev-parse", "FETCH_HEAD").strip()
    if trainer.commit:
        try:
            git(folder, "fetch", "--quiet", "--depth=1", url, trainer.commit)
        except NotFetchedError:  # a commit that nothing refers to anymore: only its hashes are left
            pass
    return Commit(folder, head)


def newest_release(trainer: Trainer, work: Path, release: str = "") -> Folder:
    """Download a release from the package index, the newest one if none is named, and unpack its wheel."""
    folder = work / trainer.name / (release or "newest")
    shutil.rmtree(folder, ignore_errors=True)
    wanted = f"{trainer.package}=={release}" if release else trainer.package
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    run([*command, "--disable-pip-version-check", f"--dest={folder}", wanted])
    (wheel,) = folder.glob("*.whl")
    return Folder(_unpacked(wheel, folder / "wheel"), wheel.name.split("-")[1], trainer.wheel_prefix)


def _unpacked(wheel: Path, folder: Path) -> Path:
    """Unpack a wheel and return the folder that holds its packages."""
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    # A wheel for one platform keeps its Python files in a folder of its own.
    return next(iter(folder.glob("*.data/purelib")), folder)


# ---- from a folder ------------------------------------------------------------------------------


def local(trainer: Trainer, folder: Path, work: Path) -> list[Snapshot]:
    """Return the snapshots of a trainer in a folder, which may hold several.

    Args:
      trainer: the trainer.
      folder: holds `NAME` (a Git repository, or a plain folder with the files of the repository) or wheels
        `PACKAGE-RELEASE-*.whl`. `NAME` is the trainer's name.
      work: a folder for what is unpacked.

    Raises:
      NotFetchedError: if the folder holds nothing of this trainer.
    """
    snapshots: list[Snapshot] = []
    place = folder / trainer.name
    if place.is_dir():
        is_git = (place / "HEAD").is_file() or (place / ".git").exists()
        snapshots.append(Commit(place, "HEAD") if is_git else Folder(place, "a folder"))
    package = trainer.package.replace("-", "_").replace(".", "_").lower()
    for wheel in sorted(folder.glob("*.whl")) if package else []:
        name, release, *_ = wheel.name.split("-")
        if name.lower() == package:
            unpacked = _unpacked(wheel, work / wheel.stem)
            snapshots.append(Folder(unpacked, release, trainer.wheel_prefix))
    if not snapshots:
        raise NotFetchedError(f"expected {trainer.name} or a wheel of it in {folder}, received neither")
    return snapshots


def recorded_in(snapshot: Snapshot, trainer: Trainer) -> Snapshot | None:
    """Return the recorded commit from the same repository, if it is there; its text shows what changed."""
    if isinstance(snapshot, Commit) and trainer.commit:
        try:
            git(snapshot.repository, "cat-file", "-e", f"{trainer.commit}^{{commit}}")
        except NotFetchedError:
            return None
        return Commit(snapshot.repository, trainer.commit)
    return None


# ---- commands -----------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    """Run Git in a folder and return what it prints."""
    return run(["git", "-C", str(folder), *arguments])


def run(command: Sequence[str]) -> str:
    """Run a command and return what it prints; raise a NotFetchedError with the last line of its error if it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotFetchedError(f"{command[0]}: {error}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"{command[0]} ended with status {done.returncode}"]
        raise NotFetchedError(lines[-1])
    return done.stdout
