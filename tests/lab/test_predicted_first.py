"""The history of the repository: predictions were committed before the results that judge them."""

import re
import subprocess
from pathlib import Path

import pytest

from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.framework.claim import claim_name
from grpo_ref.lab.framework.predictions import recorded
from grpo_ref.lab.report import read_report

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "experiments"
REPORT = read_report(EXPERIMENTS, PAGES, PAGES)
RESULTS = {
    claim.experiments[policy].name: REPORT.results[name][policy]
    for name, claim in REPORT.claims.items()
    for policy in claim.experiments
    if policy in REPORT.results[name]
}
"""Name of an experiment -> its stored result."""
PREDICTED = ("docs/experiments/predictions", "docs/experiments/*/predictions.json")
JUDGED = ("docs/experiments/results.json", "docs/experiments/*/results.json")
"""Files with predictions and with results. Before each claim had a folder, they were in other places."""
HASH = r'^\+\s*"sha256": "(\w+)"'
"""Line of a diff with the hash of the predictions."""
DATED = r'^[ +]\s*"sha256": "(\w+)",\n(?:-.*\n)?\+\s*"written": "\d'
"""A result whose predictions had been written down, in a diff."""


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *map(str, arguments)], capture_output=True, text=True)


def first_commits(paths, brought):
    """SHA-256 of predictions -> the commit whose diff of some files brought it in."""
    found = {}
    log = git("log", "--reverse", "--topo-order", "--format=commit %H", "-p", "--", *paths).stdout
    for commit, diff in re.findall(r"^commit (\w+)\n(.*?)(?=^commit |\Z)", log, re.DOTALL | re.MULTILINE):
        for sha in re.findall(brought, diff, re.MULTILINE):
            found.setdefault(sha, commit)
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_of_predictions_that_were_written_down(name):
    predicted = RESULTS[name]["predicted"]
    assert predicted == recorded(EXPERIMENTS[name], PAGES)
    assert predicted["written"]


def test_predictions_were_committed_before_their_results():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("this needs the whole history of the repository")
    predicted, judged = first_commits(PREDICTED, HASH), first_commits(JUDGED, DATED)
    is_committed = git("diff", "--quiet", "HEAD", "--", PAGES).returncode == 0
    for name, one in RESULTS.items():
        sha = one["predicted"]["sha256"]
        assert sha in predicted, name
        assert sha in judged or not is_committed, name
        if sha in judged:
            assert predicted[sha] != judged[sha], name
            assert git("merge-base", "--is-ancestor", predicted[sha], judged[sha]).returncode == 0, name


def test_a_tag_has_the_predictions_that_name_it():
    tags = {one["predicted"]["tag"] for one in RESULTS.values()} - {""}
    for tag in tags & set(git("tag").stdout.split()):
        for name, one in RESULTS.items():
            if one["predicted"]["tag"] == tag:
                file = f"{tag}:docs/experiments/{claim_name(EXPERIMENTS[name])}/predictions.json"
                assert one["predicted"]["sha256"] in git("show", file).stdout, name
