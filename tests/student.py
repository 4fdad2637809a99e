"""A student's day in tests: the command line, a wrong answer, and what has been reached."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from grpo_ref.cli import main
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade

ROOT = Path(__file__).parents[1]
TOTAL = len(PROBLEMS)
WRONG = """
import numpy as np

def group_advantages(rewards, eps=1e-4):
    rewards = np.asarray(rewards, dtype=float)
    return (rewards - rewards.mean()) / (rewards.std() + eps)
"""


def _graded():
    """The report on the wrong answer."""
    namespace = {}
    exec(WRONG, namespace)
    return grade(PROBLEMS["advantages/group_normalized"], namespace["group_advantages"])


GRADED = _graded()
POINTS = f"{GRADED.points:g}"
SUM = f"{GRADED.points + 1:g}"
"""Points of the wrong answer, alone and with the one exercise that is solved; found cases change them."""


def run(*arguments, **settings):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **settings)


def facts(folder):
    """The lines of the progress file but its header and the digests."""
    lines = (folder / "progress.txt").read_text().splitlines()
    return [line for line in lines[1:] if " starter " not in line]


def pytest_in(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
