"""The comparison finds planted differences and factors, on gradients small enough to compare by hand."""

import json
import math

import numpy as np
import pytest
from grpo_conformance.releases.compare import (
    Change,
    Difference,
    Span,
    borders,
    changes,
    compare,
    difference,
    spans,
)

A = [[1.0, 2.0], [0.0, 4.0]]
NAN = math.nan

# Gradients of two batches before and after -> change, factor
DIFFERENCES = {
    "equal": ([A, A], [A, A], None),
    "rounding": ([A], [[[1.0, 2.0], [0.0, 4.0002]]], None),
    "one number of four": ([A], [[[1.0, 2.0], [0.0, 3.0]]], Difference(0.25, None)),
    "the largest batch counts": ([A, A], [A, [[1.0, 2.0], [0.0, 2.0]]], Difference(0.5, None)),
    "the first batch differs most": ([[[4.0]], [[4.0]]], [[[2.0]], [[3.0]]], Difference(0.5, None)),
    "twice, in both batches": (
        [[[1.0, 3.0]], [[5.0, 0.0]]],
        [[[2.0, 6.0]], [[10.0, 0.0]]],
        Difference(0.5, 2.0),
    ),
    "a third, with the other sign": ([[[3.0, 6.0]]], [[[-1.0, -2.0]]], Difference(8 / 6, -0.3333)),
    "twice, then half": ([[[1.0]], [[1.0]]], [[[2.0]], [[0.5]]], Difference(0.5, None)),
    "twice, and a batch without a gradient": ([[[1.0]], [[0.0]]], [[[2.0]], [[0.0]]], Difference(0.5, 2.0)),
    "becomes zero": ([[[1.0]]], [[[0.0]]], Difference(1.0, None)),
    "begins from zero": ([[[0.0]]], [[[1.0]]], Difference(1.0, None)),
    "NaN in the same place": ([[[NAN, 1.0]]], [[[NAN, 1.0]]], None),
    "NaN before": ([[[NAN, 1.0]]], [[[1.0, 1.0]]], Difference(math.inf, None)),
    "noise around zero": ([[[1e-8]]], [[[-1e-8]]], None),
}


@pytest.mark.parametrize(("before", "after", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_difference(before, after, expected):
    assert difference(before, after) == expected


def runs(*gradients):
    return {"batches": [{"gradient": gradient} for gradient in gradients]}


RESULTS = {
    "1.0": None,
    "1.1": {"error": "ValueError"},
    "1.2": runs([[1.0, 2.0]]),
    "1.3": runs([[1.0, 2.0]]),
    "1.10": runs([[3.0, 6.0]]),
    "2.0": {"absent": ["key"]},
}
STARTS = Change("plain", "1.1", "1.2", "refused", "runs", None)
TRIPLES = Change("plain", "1.3", "1.10", "runs", "runs", Difference(2 / 3, 3.0))
STOPS = Change("plain", "1.10", "2.0", "runs", "absent", None)


def test_changes_are_found_at_their_release():
    appears = Change("plain", "1.0", "1.1", "absent", "refused", None)
    assert changes("plain", RESULTS) == [appears, STARTS, TRIPLES, STOPS]


def test_spans_have_all_releases_once():
    found = changes("plain", RESULTS)
    assert spans(list(RESULTS), "absent", found) == [
        Span("1.0", "1.0", "absent", None),
        Span("1.1", "1.1", "refused", None),
        Span("1.2", "1.3", "runs", None),
        Span("1.10", "1.10", "runs", 2 / 3),
        Span("2.0", "2.0", "absent", None),
    ]


def cause(release, transition, cases=("*",)):
    return {
        "release": release,
        "transition": transition,
        "cases": list(cases),
        "kind": "behaviour",
        "cause": f"The cause of {release}.",
    }


def test_a_change_belongs_to_every_cause_that_matches():
    causes = [
        cause("1.2", "starts"),
        cause("1.10", "changes"),
        cause("1.10", "changes", ["pl*"]),
        cause("2.0", "stops"),
    ]
    entries = borders([STARTS, TRIPLES, STOPS], causes)
    assert [(entry["before"], entry["release"], entry["cases"]) for entry in entries] == [
        ("1.1", "1.2", {"plain": STARTS}),
        ("1.3", "1.10", {"plain": TRIPLES}),
        ("1.3", "1.10", {"plain": TRIPLES}),
        ("1.10", "2.0", {"plain": STOPS}),
    ]


MISMATCHES = {
    "no cause": ([], r"1\.10: plain changes"),
    "the cause of another case": ([cause("1.10", "changes", ["off"])], r"1\.10: plain changes"),
    "another transition": ([cause("1.10", "starts")], r"1\.10: The cause of 1\.10"),
    "another release": ([cause("1.10", "changes"), cause("1.3", "changes")], r"1\.3: The cause of 1\.3"),
}


@pytest.mark.parametrize(("causes", "message"), MISMATCHES.values(), ids=MISMATCHES)
def test_each_change_needs_a_cause_and_each_cause_a_change(causes, message):
    with pytest.raises(ValueError, match=message):
        borders([TRIPLES], causes)


def test_a_change_without_any_gradient_needs_no_cause():
    assert borders([Change("plain", "1.0", "1.1", "absent", "refused", None)], []) == []


def test_compare_reads_recorded_releases_and_writes_both_files(tmp_path):
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    for release, gradient in {"0.9": [[1.0, 2.0]], "0.10": [[2.0, 4.0]]}.items():
        (recorded / f"{release}.json").write_text(json.dumps({"plain": runs(gradient)}))
    (tmp_path / "trl_causes.toml").write_text(
        '[[cause]]\nrelease = "0.10"\nkind = "behaviour"\ncases = ["*"]\ncause = "It \\"doubles\\"."\n'
    )
    assert compare("trl", recorded, tmp_path) == "2 releases, 1 cases, 1 changed gradients, 1 borders"
    assert (tmp_path / "trl.csv").read_text() == (
        "case,first,last,status,change\nplain,0.9,0.9,runs,\nplain,0.10,0.10,runs,50%\n"
    )
    assert (tmp_path / "trl_borders.toml").read_text().splitlines()[1:] == [
        'project = "trl"',
        'releases = ["0.9", "0.10"]',
        "",
        "[[border]]",
        'before = "0.9"',
        'release = "0.10"',
        'kind = "behaviour"',
        'transition = "changes"',
        "keys = []",
        'cause = "It \\"doubles\\"."',
        "upstream = []",
        "[border.cases]",
        '"plain" = { change = 0.5, factor = 2.0 }',
    ]


def test_difference_does_not_change_its_inputs():
    before = np.array([[NAN, 1.0]])
    difference([before], [before * 2])
    assert np.isnan(before[0, 0])
