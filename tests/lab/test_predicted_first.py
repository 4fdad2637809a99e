"""The history of the repository: predictions were committed before the results that judge them."""

import re
import subprocess
from pathlib import Path

import pytest

from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.framework.predictions import FOLDER, recorded
from grpo_ref.lab.framework.summary import load

ROOT = Path(__file__).parents[2]
PAGE = Path("docs") / "experiments"


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *map(str, arguments)], capture_output=True, text=True)


WRITTEN = r'^\+\s*"sha256": "(\w+)"'
"""What was predicted, in a diff."""
JUDGED = r'^[ +]\s*"sha256": "(\w+)",\n(?:-.*\n)?\+\s*"written": "\d'
"""A result whose predictions had been written down, in a diff."""


def first_commits(path, brought):
    """SHA-256 of predictions -> the commit whose diff of a file or of a folder brought it in."""
    found = {}
    log = git("log", "--reverse", "--topo-order", "--format=commit %H", "-p", "--", path).stdout
    for commit, diff in re.findall(r"^commit (\w+)\n(.*?)(?=^commit |\Z)", log, re.DOTALL | re.MULTILINE):
        for sha in re.findall(brought, diff, re.MULTILINE):
            found.setdefault(sha, commit)
    return found


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_are_of_predictions_that_were_written_down(name):
    one = load(ROOT / PAGE / "results.json")["experiments"][name]["predicted"]
    assert one == recorded(EXPERIMENTS[name], ROOT / PAGE / FOLDER)
    assert one["written"]


def test_predictions_were_committed_before_their_results():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("this needs the whole history of the repository")
    predicted = first_commits(PAGE / FOLDER, WRITTEN)
    judged = first_commits(PAGE / "results.json", JUDGED)
    committed = git("diff", "--quiet", "HEAD", "--", PAGE / "results.json").returncode == 0
    for name, one in load(ROOT / PAGE / "results.json")["experiments"].items():
        sha = one["predicted"]["sha256"]
        assert sha in predicted, name
        assert sha in judged or not committed, name
        if sha in judged:
            assert predicted[sha] != judged[sha], name
            assert git("merge-base", "--is-ancestor", predicted[sha], judged[sha]).returncode == 0, name
