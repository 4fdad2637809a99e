"""docs/instructor.md: the walk to exercises of one's own is followed word by word, in an empty folder."""

import re
import shlex

from own_package import installed
from student import ROOT
from walks import STEP, follow, run

PAGE = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
(WALK,) = re.findall(r"^## Exercises of your own$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)


def run_with_packages(command, root):
    """With what was installed so far; pip would ask the network for what a package is built with."""
    program, *arguments = shlex.split(command)
    if program == "pip":
        installed(root / arguments[-1], root / "site")
    else:
        run(command, root, path=[ROOT, root / "site"])


def test_the_walk_leads_from_nothing_to_a_graded_exercise(tmp_path):
    steps = list(STEP.finditer(WALK))
    for step in steps:
        follow(step, tmp_path, run_with_packages)
    assert {"pip", "cp", "grpo-ref"} == {step["command"].split()[0] for step in steps if step["command"]}
    progress = (tmp_path / "my-exercises" / "progress.txt").read_text()
    assert "growth/doubled points 1\n" in progress
