"""Find a trainer in an environment, and run its own code there in a child process."""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import grpo_conformance
from grpo_conformance.functions import trainers
from grpo_conformance.releases import trl_cases, verl_cases

DESCRIBED: dict[str, Any] = {"trl": trl_cases, "verl": verl_cases}
"""The cases of each trainer."""
FUNCTIONS: dict[str, Any] = trainers()
"""The trainers of which only the loss functions run, with their packages and functions."""
NEEDED = {
    "trl": ("torch", "numpy", "transformers", "accelerate", "datasets"),
    "verl": ("torch", "numpy", "tensordict", "omegaconf", "packaging"),
    **dict.fromkeys(FUNCTIONS, ("torch", "numpy")),
}
"""Packages that a runner imports. Other packages that a trainer imports are replaced by empty modules, but for TRL."""
REWARD = {"trl": 0, "verl": 1}
"""Number of the reward function that the cases of a trainer read."""
VERSION_FILES = ("{name}/VERSION", "VERSION", "{name}/version/version", "version.txt")
"""Files of a checkout that may hold its version."""
PROBE = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
def at(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
print(json.dumps({name: at(name) for name in sys.argv[1:]}))
"""


class NotRun(Exception):
    """Nothing could be run. The message says what to install or to change."""


class Installed(NamedTuple):
    """A trainer in an environment.

    Attributes:
      trainer: "trl", "verl", or a name in `FUNCTIONS`.
      release: its version; "checkout" if a checkout does not state one.
      python: the interpreter.
      source: folder of a checkout, or None for the installed package.
      torch: version of PyTorch.
    """

    trainer: str
    release: str
    python: Path
    source: Path | None
    torch: str


def cases_of(trainer: str) -> list[dict[str, Any]]:
    """Return the entries of all cases of a trainer."""
    module = DESCRIBED[trainer]
    return [{"case": name, **module.described(name)} for name in module.CASES]


def find(trainer: str, python: Path | None, source: Path | None) -> Installed:
    """Find a trainer.

    Args:
      trainer: "trl", "verl", or a name in `FUNCTIONS`.
      python: the interpreter of the environment; None for this one.
      source: folder of a checkout, or a folder that pip installed into with --target.

    Raises:
      NotRun: if `source` does not hold the trainer, if the interpreter does not start, or if the trainer or a package that the runner needs is missing.
    """
    # Absolute, since the runners start in another folder, but not resolved: the link leads to the environment.
    interpreter = Path(sys.executable) if python is None else python.absolute()
    if source is not None and trainer in FUNCTIONS and not _holds(trainer, source):
        raise NotRun(
            f"--source: expected a folder with the package {FUNCTIONS[trainer]['package']}, got {source}"
        )
    distribution = FUNCTIONS[trainer]["distribution"] if trainer in FUNCTIONS else trainer
    command = [str(interpreter), "-c", PROBE, distribution, *NEEDED[trainer]]
    try:
        done = subprocess.run(
            command, env=environment_of(source, None), capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NotRun(f"--python: {interpreter} does not start: {error}") from error
    versions = json.loads(done.stdout)
    release = _version_of(trainer, source) or versions.pop(distribution)
    missing = [name for name in NEEDED[trainer] if not versions[name]]
    if not release:
        missing.insert(0, distribution)
    if missing:
        raise NotRun(
            f"{interpreter} does not have {', '.join(missing)}: {interpreter} -m pip install {' '.join(missing)};"
            " or name another environment with --python"
        )
    return Installed(trainer, release, interpreter, source, versions["torch"])


def _version_of(trainer: str, source: Path | None) -> str:
    """Return the version that a folder states, with the commit if it is a clone, or ""."""
    if source is None:
        return ""
    files = (source / name.format(name=trainer) for name in VERSION_FILES)
    stated = next((file.read_text().strip() for file in files if file.is_file()), "")
    if trainer not in FUNCTIONS or (stated and not (source / ".git").exists()):
        return stated
    name = FUNCTIONS[trainer]["distribution"].replace("-", "_")
    for installed in source.glob(f"{name}-*.dist-info"):  # by pip install --target
        return installed.name.removesuffix(".dist-info").removeprefix(f"{name}-")
    project = source / "pyproject.toml"
    if not stated and project.is_file():
        stated = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("version", "")
    return " ".join(part for part in (stated, _commit(source)) if part) or "checkout"


def _holds(trainer: str, source: Path) -> bool:
    """Return true if a checkout has the package of a trainer."""
    about = FUNCTIONS[trainer]
    return any((source / folder / about["package"]).is_dir() for folder in (about["folder"], ""))


def _commit(source: Path) -> str:
    """Return the first nine digits of the commit that a clone is at, or ""."""
    if not (source / ".git").exists():
        return ""
    try:
        command = ["git", "-C", str(source), "rev-parse", "--short=9", "HEAD"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def environment_of(source: Path | None, package: Path | None, folder: str = "") -> dict[str, str]:
    """Return the variables of the child: the checkout and the runners come before what is installed.

    Args:
      source: folder of a checkout, or None.
      package: folder that holds grpo_conformance and nothing else, or None.
      folder: folder of the checkout that holds the trainer's package, if it is not the checkout itself.
    """
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep) if source is None and package is None else []
    inside = [source / folder] if source is not None and folder else []
    paths = [str(each.resolve()) for each in (*inside, source, package) if each is not None]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **threads, "PYTHONPATH": os.pathsep.join([*paths, *before])}


def package_in(folder: Path) -> Path:
    """Return a new folder that holds grpo_conformance and nothing else from this environment.

    The packages of this environment may be built for another Python than the trainer's.
    """
    package = folder / "package"
    package.mkdir()
    (package / "grpo_conformance").symlink_to(Path(grpo_conformance.__file__).resolve().parent)
    return package


def run(installed: Installed, names: Sequence[str], timeout: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run cases in a child process. The progress goes to standard error.

    Args:
      installed: the trainer.
      names: names of the cases.
      timeout: seconds after which the child is stopped.

    Returns:
      The result of each case by name, and the batches.

    Raises:
      NotRun: if the runner stops with an error, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="grpo-ref-live-") as name:
        folder = Path(name)
        environment = environment_of(installed.source, package_in(folder))
        start = [str(installed.python), "-m"]
        arrays = [*start, "grpo_conformance.releases.scripted", str(REWARD[installed.trainer])]
        out = folder / "results.json"
        runner = [*start, f"grpo_conformance.releases.{installed.trainer}_run", str(out), *names]
        try:
            made = subprocess.run(
                arrays, env=environment, cwd=folder, stdout=subprocess.PIPE, timeout=timeout, check=True
            )
            subprocess.run(
                runner, env=environment, cwd=folder, stdout=subprocess.DEVNULL, timeout=timeout, check=True
            )
        except subprocess.TimeoutExpired as error:
            raise NotRun(
                f"--timeout: the cases take more than {timeout:.0f} s; choose fewer with --case, or wait longer"
            ) from error
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotRun(f"{installed.trainer} {installed.release} could not be run: {error}") from error
        return json.loads(out.read_text()), json.loads(made.stdout)
