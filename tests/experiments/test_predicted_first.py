"""The history of the repository: predictions were committed before the results that judge them."""

import re
import subprocess
from pathlib import Path

import pytest

from grpo_ref.experiments import EXPERIMENTS
from grpo_ref.experiments.framework.predictions import FOLDER, fingerprint, written_on
from grpo_ref.experiments.framework.summary import load

ROOT = Path(__file__).parents[2]
PAGE = Path("docs") / "experiments"


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *map(str, arguments)], capture_output=True, text=True)


def first_commits(path):
    """SHA-256 in a file, or in the files of a folder -> the commit that brought it in."""
    found, commit = {}, ""
    for line in git(
        "log", "--reverse", "--topo-order", "--format=commit %H", "-p", "--", path
    ).stdout.splitlines():
        if line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif sha := re.match(r'\+\s*"sha256": "(\w+)"', line):
            found.setdefault(sha[1], commit)
    return found


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_results_are_of_predictions_that_were_written_down(name):
    one = load(ROOT / PAGE / "results.json")["experiments"][name]["predicted"]
    experiment = EXPERIMENTS[name]
    assert one == {
        "sha256": fingerprint(experiment),
        "written": written_on(experiment, ROOT / PAGE / FOLDER),
    }
    assert one["written"]


def test_predictions_were_committed_before_their_results():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("this needs the whole history of the repository")
    predicted, judged = first_commits(PAGE / FOLDER), first_commits(PAGE / "results.json")
    for name, one in load(ROOT / PAGE / "results.json")["experiments"].items():
        sha = one["predicted"]["sha256"]
        assert sha in predicted, name
        if sha in judged:
            assert predicted[sha] != judged[sha], name
            assert git("merge-base", "--is-ancestor", predicted[sha], judged[sha]).returncode == 0, name
