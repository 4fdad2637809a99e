"""Install the releases of a trainer, run them, compare their gradients, and store the numbers.

python -m grpo_conformance.releases install trl
python -m grpo_conformance.releases run trl --release 0.22.0
python -m grpo_conformance.releases compare trl
python -m grpo_conformance.releases store trl
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grpo_conformance.releases.compare import compare, version_key
from grpo_conformance.releases.store import store

ROOT = Path(__file__).resolve().parents[3]
# One environment runs all releases. TRL 0.14 runs with this transformers, and so does the newest release.
REQUIREMENTS = (
    "torch==2.13.0",
    "transformers==4.57.6",
    "accelerate==1.15.0",
    "datasets==5.0.1",
    "tensordict==0.15.3",
    "omegaconf==2.4.0",
    "rich",
)
FIRST = {"trl": "0.14.0", "verl": "0.1"}  # TRL has had a GRPOTrainer since 0.14.0


def released(python: Path, project: str) -> list[str]:
    """List the releases that pip serves, oldest first."""
    command = [str(python), "-m", "pip", "index", "versions", project]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if line.startswith("Available versions:"))
    versions = sorted(line.removeprefix("Available versions:").replace(" ", "").split(","), key=version_key)
    return [version for version in versions if version_key(version) >= version_key(FIRST[project])]


def install(project: str, folder: Path, only: str | None) -> Iterator[str]:
    """Install the environment once, and each release into a folder of its own without its dependencies."""
    python = folder / "env" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
    for release in [only] if only else released(python, project):
        target = folder / project / release
        if target.exists():
            continue
        command = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", f"--target={target}"]
        done = subprocess.run([*command, f"{project}=={release}"], check=False)
        yield f"{release}: {'installed' if done.returncode == 0 else 'could not be installed'}"


def run(project: str, folder: Path, only: str | None) -> Iterator[str]:
    """Run the cases that have no result yet, with each installed release or with one."""
    work, recorded = folder / "work", folder / "recorded" / project
    work.mkdir(parents=True, exist_ok=True)
    recorded.mkdir(parents=True, exist_ok=True)
    installed = sorted((path.name for path in (folder / project).iterdir()), key=version_key)
    for release in [only] if only else installed:
        paths = (folder / project / release, ROOT / "conformance")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        module = f"grpo_conformance.releases.{project}_run"
        command = [str(folder / "env" / "bin" / "python"), "-m", module, str(recorded / f"{release}.json")]
        done = subprocess.run(command, cwd=work, env=environment, check=False)
        yield f"{release}: {'recorded' if done.returncode == 0 else 'stopped with an error'}"


VERSIONS = """
import json, platform
from importlib.metadata import version
print(json.dumps({"python": platform.python_version(), **{name: version(name) for name in %s}}))
"""
SHOWN = {"trl": ("torch", "transformers"), "verl": ("torch", "tensordict")}
REWARD = {"trl": 0, "verl": 1}
"""Number of the reward function that a project's cases read."""


def asked(python: Path, *arguments: str) -> Any:
    """Return the JSON that a command of the environment prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "conformance")}
    done = subprocess.run(
        [str(python), *arguments], check=True, env=environment, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def stored(project: str, folder: Path) -> str:
    """Write the file of recorded numbers. The environment has made the arrays, so it is asked for them again."""
    python = folder / "env" / "bin" / "python"
    batches = asked(python, "-m", "grpo_conformance.releases.scripted", str(REWARD[project]))
    platform = asked(python, "-c", VERSIONS % (SHOWN[project],))
    return store(project, folder / "recorded" / project, batches, platform)


def main() -> None:
    """Read the command line and run one step."""
    parser = argparse.ArgumentParser(
        prog="python -m grpo_conformance.releases",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("step", choices=("install", "run", "compare", "store"))
    parser.add_argument("project", choices=("trl", "verl"))
    parser.add_argument("--release", help="only this release (install and run)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "runs" / "releases",
        help="environment, releases and recorded gradients (3 GB; default: %(default)s)",
    )
    args = parser.parse_args()
    folder = args.folder.resolve()
    if args.step == "compare":
        print(compare(args.project, folder / "recorded" / args.project))
        return
    if args.step == "store":
        print(stored(args.project, folder))
        return
    for line in (install if args.step == "install" else run)(args.project, folder, args.release):
        print(line, flush=True)


if __name__ == "__main__":
    main()
