"""A package of exercises of an instructor's own in tests: begun by the command, filled, installed."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = Path(sys.executable).with_name("grpo-ref")
FEW = "    # at least six\n"
MUTANTS = """\
    Mutant("halved", _of(lambda x: x / 2), "This is half of it."),
    Mutant("squared", _of(lambda x: x**2), "This is the square."),
    Mutant("negated", _of(lambda x: -2.0 * x), "The sign is lost."),
    Mutant("of its size", _of(lambda x: 2.0 * abs(x) + (x < 0)), "A negative number stays negative."),
    Mutant("tripled", _of(lambda x: 3.0 * x), "This is three times as much."),
"""


def python(*arguments, at, site=None):
    """Run Python with this package, and what is installed in a folder, on its path."""
    path = os.pathsep.join(map(str, filter(None, (ROOT, site))))
    environment = os.environ | {"PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "120"}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, check=False)


def grpo_ref(*arguments, at, site=None):
    """Run the command line."""
    return python(SCRIPT, *arguments, at=at, site=site)


def begun(folder, chapter="growth", function="doubled"):
    """A package with one exercise that passes its proof: twice the numbers."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    name = f"{chapter}/{function}"
    new = grpo_ref("dev", "new", name, "--chapter-title", chapter.title(), "--root", folder, at=folder.parent)
    assert new.returncode == 0, new.stderr
    problem = next(folder.glob(f"*/exercises/{name}/wrong.py"))
    problem.write_text(problem.read_text().replace(FEW, MUTANTS))
    return folder


def installed(checkout, site):
    """What pip makes of a package: a copy without the checkout, and the note of its entry points."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    copied = {name: name for name in wheel["packages"]}
    for place, inside in copied.items():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / place, site / inside, dirs_exist_ok=True, ignore=ignored)
    points = project["project"]["entry-points"]["grpo_ref.course"]
    note(site, project["project"]["name"], points)
    return site


def note(site, name, points):
    """Note entry points of our group, as of something installed."""
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{point} = {place}" for point, place in points.items()]
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("\n".join(["[grpo_ref.course]", *lines, ""]))


def files_of(folder):
    """The files in a folder, without what Python leaves there."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path.relative_to(folder).as_posix() for path in paths}
