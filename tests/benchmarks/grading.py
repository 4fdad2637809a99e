"""How long does a student wait? One exercise and the whole course, all solved, each as its own command."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import heading, interleaved, spread

ROOT = Path(__file__).parents[2]
PROGRAM = "from grpo_ref.cli import main; main()"
TARGETS = {"one exercise": 0.5, "the whole course": 15.0}


def main() -> None:
    """Time the two in turn, each with the start of its own interpreter."""
    heading("grading, seconds")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "solutions", folder, dirs_exist_ok=True)
        grade = [sys.executable, "-c", PROGRAM, "grade", "--folder", folder]
        commands = {"one exercise": [*grade, "group_normalized"], "the whole course": grade}
        actions = {
            name: lambda command=command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            for name, command in commands.items()
        }
        for name, seconds in interleaved(actions, 5).items():
            print(f"  {name:16} {spread(seconds)}   (target: under {TARGETS[name]:g})")


if __name__ == "__main__":
    main()
