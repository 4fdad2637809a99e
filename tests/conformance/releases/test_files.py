"""The files about releases agree with their schema and with one another."""

import csv
import re
import tomllib
from fnmatch import fnmatchcase
from itertools import pairwise

import pytest
from grpo_conformance.releases.compare import HERE, KINDS
from grpo_conformance.releases.trl_cases import CASES as TRL_CASES
from grpo_conformance.releases.verl_cases import CASES as VERL_CASES

CASES = {"trl": TRL_CASES, "verl": VERL_CASES}
FIELDS = {"before", "release", "kind", "transition", "keys", "cause", "upstream", "cases"}
# From `pip index versions`. TRL has a GRPOTrainer since 0.14.0.
SERVED = {
    "trl": """0.14.0 0.15.0 0.15.1 0.15.2 0.16.0 0.16.1 0.17.0 0.18.0 0.18.1 0.18.2 0.19.0 0.19.1 0.20.0
        0.21.0 0.22.0 0.22.1 0.22.2 0.23.0 0.23.1 0.24.0 0.25.0 0.25.1 0.26.0 0.26.1 0.26.2 0.27.0 0.27.1
        0.27.2 0.28.0 0.29.0 0.29.1 1.0.0 1.1.0 1.2.0 1.3.0 1.4.0 1.5.0 1.5.1 1.6.0 1.7.0 1.7.1 1.8.0 1.9.0
        1.9.1 1.9.2 1.10.0 1.11.0 1.12.0 1.13.0 1.14.0 1.14.1 1.14.2 1.15.0 1.16.0""",
    "verl": """0.1 0.2 0.2.0.post1 0.2.0.post2 0.3.0.post0 0.3.0.post1 0.4.0 0.4.1 0.5.0 0.6.0 0.6.1 0.7.0
        0.7.1 0.8.0 0.9.0 0.9.1""",
}
REPOSITORY = {"trl": "huggingface/trl", "verl": "verl-project/verl"}


@pytest.fixture(params=CASES)
def project(request):
    return request.param


@pytest.fixture
def document(project):
    return tomllib.loads((HERE / f"{project}_borders.toml").read_text())


@pytest.fixture
def rows(project):
    with (HERE / f"{project}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_served_release_was_run_in_order(project, document):
    assert document["releases"] == SERVED[project].split()


def test_borders_have_the_documented_fields(project, document):
    assert document.keys() == {"project", "releases", "border"}
    assert document["project"] == project
    for border in document["border"]:
        assert border.keys() == FIELDS
        assert border["kind"] in KINDS
        assert border["transition"] in ("changes", "starts", "stops")
        assert all(isinstance(key, str) for key in border["keys"])
        pattern = rf"https://github\.com/{REPOSITORY[project]}/(pull|issues)/\d+"
        assert all(re.fullmatch(pattern, link) for link in border["upstream"])


def test_every_border_has_a_cause_in_sentences(document):
    for border in document["border"]:
        assert re.fullmatch(r"[A-Z`].{10,}\.", border["cause"]), border["cause"]


def test_borders_lie_between_neighbouring_releases(document):
    neighbours = set(pairwise(document["releases"]))
    assert all((border["before"], border["release"]) in neighbours for border in document["border"])


def test_sizes_fit_the_transition(document):
    for border in document["border"]:
        assert border["cases"]
        for size in border["cases"].values():
            if border["transition"] == "changes":
                assert {"change"} <= size.keys() <= {"change", "factor"}
                assert size["change"] > 0
            else:
                assert size.keys() == {"from", "to"}
                assert size["to" if border["transition"] == "starts" else "from"] == "runs"


def test_a_factor_explains_the_whole_change(document):
    # If b = c a, then |a - b| / max(|a|, |b|) is |1 - c| / max(1, |c|). Both numbers are rounded to 4 digits.
    for border in document["border"]:
        for case, size in border["cases"].items():
            if "factor" in size:
                factor = size["factor"]
                expected = abs(1 - factor) / max(1, abs(factor))
                assert size["change"] == pytest.approx(expected, abs=2e-3), (border["release"], case)


def test_cases_of_borders_exist(project, document):
    assert all(set(border["cases"]) <= set(CASES[project]) for border in document["border"])


def test_spans_cover_all_releases_without_a_gap(project, document, rows):
    releases = document["releases"]
    assert {row["case"] for row in rows} == set(CASES[project])
    for case in CASES[project]:
        of_case = [row for row in rows if row["case"] == case]
        covered = []
        for row in of_case:
            covered += releases[releases.index(row["first"]) : releases.index(row["last"]) + 1]
            assert row["status"] in ("runs", "absent", "refused")
            assert re.fullmatch(r"|inf|\d+(\.\d)?%", row["change"])
        assert covered == releases


def test_spans_and_borders_name_the_same_changes(document, rows):
    at_border = {(case, b["release"]) for b in document["border"] for case in b["cases"]}
    in_table = set()
    for before, after in pairwise(rows):
        if before["case"] == after["case"] and "runs" in (before["status"], after["status"]):
            in_table.add((after["case"], after["first"]))
    assert in_table == at_border


def test_causes_and_borders_agree(project, document):
    causes = tomllib.loads((HERE / f"{project}_causes.toml").read_text())["cause"]
    for cause, border in zip(causes, document["border"], strict=True):
        assert (cause["release"], cause["cause"], cause["kind"]) == (
            border["release"],
            border["cause"],
            border["kind"],
        )
        for pattern in cause["cases"]:
            assert any(fnmatchcase(case, pattern) for case in CASES[project]), pattern


def test_there_are_at_least_200_cases(project):
    assert len(CASES[project]) >= 200


# Changes that the projects' own issues describe with their size.
KNOWN = {
    # https://github.com/huggingface/trl/pull/6024: 3 steps per generation, 1 accumulated -> a third before
    "TRL divides by the whole generation": ("trl", "1.9.1", "dapo_spg", 3.0),
    # 6 accumulated, 3 steps per generation -> twice before
    "TRL accumulates two generations": ("trl", "1.9.1", "dapo_gasbig", 0.5),
    # https://github.com/verl-project/verl/issues/342: two epochs asked for, one run
    "verl ignores ppo_epochs": ("verl", "0.3.0.post0", "step token-mean_epochs", 2.0),
    # https://github.com/verl-project/verl/issues/3741: a sum over the 3 rows of a micro-batch, not the mean
    "verl sums over the micro-batch": ("verl", "0.7.1", "step seq-mean-token-sum-norm", 0.3333),
}


@pytest.mark.parametrize(("name", "release", "case", "factor"), KNOWN.values(), ids=KNOWN)
def test_known_bugs_have_the_size_that_follows_from_their_description(name, release, case, factor):
    borders = tomllib.loads((HERE / f"{name}_borders.toml").read_text())["border"]
    sizes = [b["cases"][case] for b in borders if b["release"] == release and case in b["cases"]]
    assert [size.get("factor") for size in sizes] == [factor]
