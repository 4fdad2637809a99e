"""Compare the gradients that the releases of one trainer compute, and write two files about the changes.

`PROJECT.csv` has a row for each case and span of neighbouring releases that agree, with the size of the
change from the span before. `PROJECT_borders.toml` has an entry for each cause of a change between two
releases. People write the causes, in `PROJECT_causes.toml`. Everything else in both files is measured.
"""

import csv
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

Status = Literal["runs", "absent", "refused"]
KINDS = ("behaviour", "default", "key appears", "bug fixed", "crash")
HERE = Path(__file__).parent

# A release computes in float32. Smaller relative changes are rounding, and so are absolute changes below the
# second bound: the gradient of a batch whose groups have equal rewards is zero up to rounding.
RELATIVE, ABSOLUTE = 1e-4, 1e-6


@dataclass(frozen=True)
class Difference:
    """Size of the difference of two gradients.

    Args:
      change: max |a - b| / max(|a|, |b|) of the batch that differs most. Infinity if one of them is NaN or
        infinite where the other is not.
      factor: c if b = c a in every batch, or None.
    """

    change: float
    factor: float | None


@dataclass(frozen=True)
class Span:
    """Neighbouring releases, `first` to `last`, in which a case has one result.

    Args:
      status: "runs", "absent" if the releases lack a key of the case, or "refused" if they raise an error.
      change: size of the change from the span before. None if one of the two spans has no gradient.
    """

    first: str
    last: str
    status: Status
    change: float | None


@dataclass(frozen=True)
class Change:
    """Difference of one case between two neighbouring releases."""

    case: str
    before: str
    release: str
    status_before: Status
    status: Status
    difference: Difference | None

    @property
    def transition(self) -> Literal["changes", "starts", "stops"]:
        """`starts` if only the later release has a gradient, `stops` if only the earlier one has."""
        return "changes" if self.difference else "starts" if self.status == "runs" else "stops"


def version_key(release: str) -> list[int]:
    """Return the numbers of a release, for sorting.

    >>> sorted(["0.10.0", "0.2.0.post2", "0.2", "0.9.1"], key=version_key)
    ['0.2', '0.2.0.post2', '0.9.1', '0.10.0']
    """
    return [int(number) for number in re.findall(r"\d+", release)]


def read_recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the results of all releases, oldest first: release -> case -> result."""
    paths = sorted(folder.glob("*.json"), key=lambda path: version_key(path.stem))
    return {path.stem: json.loads(path.read_text()) for path in paths}


def status_of(result: Mapping[str, Any] | None) -> Status:
    """Return the status of a recorded case. A case that was not recorded is absent."""
    if result is None or "absent" in result:
        return "absent"
    return "refused" if "error" in result else "runs"


def difference(before: Sequence[Any], after: Sequence[Any]) -> Difference | None:
    """Compare the gradients of one case, batch by batch.

    Args:
      before, after: an array-like for each batch.

    Returns:
      The difference, or None if the gradients agree up to rounding.
    """
    change, factors = 0.0, set()
    for one, other in zip(before, after, strict=True):
        a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
        if a.shape != b.shape or (np.isfinite(a) != np.isfinite(b)).any():
            return Difference(float("inf"), None)
        a, b = np.nan_to_num(a, posinf=0.0, neginf=0.0), np.nan_to_num(b, posinf=0.0, neginf=0.0)
        largest = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
        if largest <= ABSOLUTE:
            continue  # this batch has no gradient, and any factor would fit
        distance = np.abs(a - b).max()
        if distance > ABSOLUTE:
            change = max(change, float(distance / largest))
        # Least squares. The fit must be as close as two equal gradients are.
        factor = float((a * b).sum() / (a * a).sum()) if a.any() else 0.0
        fits = factor != 0.0 and np.abs(factor * a - b).max() <= RELATIVE * np.abs(b).max()
        factors.add(round(factor, 4) if fits else None)
    if change <= RELATIVE:
        return None
    return Difference(change, factors.pop() if len(factors) == 1 else None)


def gradients(result: Mapping[str, Any]) -> list[Any]:
    """Return the gradient of each batch of a recorded case."""
    return [batch["gradient"] for batch in result["batches"]]


def changes(case: str, results: Mapping[str, Mapping[str, Any] | None]) -> list[Change]:
    """List the releases in which a case's result differs from that of the release before.

    Args:
      case: name of the case.
      results: release -> recorded result, oldest release first.
    """
    changed = []
    for (before, a), (release, b) in pairwise(results.items()):
        statuses = status_of(a), status_of(b)
        size = None
        if a is not None and b is not None and statuses == ("runs", "runs"):
            size = difference(gradients(a), gradients(b))
        if size or statuses[0] != statuses[1]:
            changed.append(Change(case, before, release, *statuses, size))
    return changed


def spans(releases: Sequence[str], first_status: Status, changed: Sequence[Change]) -> list[Span]:
    """Return the spans of releases between the changes of one case.

    Args:
      releases: all releases, oldest first.
      first_status: status of the case in the oldest release.
      changed: the changes of the case, oldest first.
    """
    starts = [releases[0], *(change.release for change in changed)]
    ends = [*(change.before for change in changed), releases[-1]]
    statuses = [first_status, *(change.status for change in changed)]
    sizes = [None, *(change.difference.change if change.difference else None for change in changed)]
    return [Span(*fields) for fields in zip(starts, ends, statuses, sizes, strict=True)]


def percent(change: float) -> str:
    """Write a relative change.

    >>> percent(0.6666), percent(0.004), percent(float("inf"))
    ('67%', '0.4%', 'inf')
    """
    return f"{change:.0%}" if 0.01 <= change <= 1e3 else f"{change:.1%}" if change <= 1e3 else "inf"


def write_spans(path: Path, rows: Mapping[str, Sequence[Span]]) -> None:
    """Write the table of spans: a line for each case and span."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["case", "first", "last", "status", "change"])
        for case, case_spans in rows.items():
            for span in case_spans:
                size = "" if span.change is None else percent(span.change)
                table.writerow([case, span.first, span.last, span.status, size])


def read_spans(path: Path) -> dict[str, list[Span]]:
    """Read the table of spans: case -> its spans, without the sizes of the changes."""
    spans_of: dict[str, list[Span]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            status: Any = row["status"]
            spans_of.setdefault(row["case"], []).append(Span(row["first"], row["last"], status, None))
    return spans_of


def read_releases(path: Path) -> list[str]:
    """Read the releases that were run, oldest first, from the file of borders."""
    releases: list[str] = tomllib.loads(path.read_text())["releases"]
    return releases


def read_causes(path: Path) -> list[dict[str, Any]]:
    """Read the causes that people wrote. The order of the file is kept."""
    causes: list[dict[str, Any]] = tomllib.loads(path.read_text())["cause"]
    return causes


def borders(changed: Sequence[Change], causes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give each change its causes.

    A change belongs to every cause of its release that has the same transition and a pattern that matches the
    case. Changes between "absent" and "refused" are excluded, since neither has a gradient.

    Returns:
      A dictionary for each cause with a change, in the order of the causes.

    Raises:
      ValueError: if a change has no cause, or a cause has no change.
    """
    unexplained = [c for c in changed if "runs" in (c.status_before, c.status)]
    without_change, entries = [], []
    explained = set()
    for cause in causes:
        transition = cause.get("transition", "changes")
        cases = {}
        for change in unexplained:
            matches = any(fnmatchcase(change.case, pattern) for pattern in cause["cases"])
            if (change.release, change.transition) == (cause["release"], transition) and matches:
                explained.add(change)
                cases[change.case] = change
        if not cases:
            without_change.append(f"{cause['release']}: {cause['cause']}")
            continue
        entries.append(
            {
                "before": next(iter(cases.values())).before,
                "release": cause["release"],
                "kind": cause["kind"],
                "transition": transition,
                "keys": cause.get("keys", []),
                "cause": cause["cause"],
                "upstream": cause.get("upstream", []),
                "cases": cases,
            }
        )
    left = [f"{c.release}: {c.case} {c.transition}" for c in unexplained if c not in explained]
    if left or without_change:
        raise ValueError(
            "Every change needs a cause and every cause a change.\n"
            + "\n".join(["Changes without a cause:", *left, "Causes without a change:", *without_change])
        )
    return entries


def write_borders(
    path: Path, project: str, releases: Sequence[str], entries: Sequence[Mapping[str, Any]]
) -> None:
    """Write the borders as TOML, which the standard library reads but does not write."""

    def text(value: object) -> str:
        return json.dumps(
            value, ensure_ascii=False
        )  # strings and lists of strings are the same in JSON and TOML

    lines = [
        f"# Made by `python -m grpo_conformance.releases compare {project}`. Edit {project}_causes.toml instead.",
        f"project = {text(project)}",
        f"releases = {text(list(releases))}",
    ]
    for entry in entries:
        lines += ["", "[[border]]"]
        lines += [f"{name} = {text(entry[name])}" for name in entry if name != "cases"]
        lines.append("[border.cases]")
        for case, change in entry["cases"].items():
            if change.difference is None:
                size = f"from = {text(change.status_before)}, to = {text(change.status)}"
            else:
                size = f"change = {float(f'{change.difference.change:.4g}')}"
                if change.difference.factor is not None:
                    size += f", factor = {change.difference.factor}"
            lines.append(f"{text(case)} = {{ {size} }}")
    path.write_text("\n".join(lines) + "\n")


def compare(project: str, recorded: Path, folder: Path = HERE) -> str:
    """Compare all recorded releases and write both files.

    Args:
      project: "trl" or "verl".
      recorded: folder with one JSON file for each release: case -> result.
      folder: where the causes are read and the two files are written.

    Returns:
      A summary for the terminal.
    """
    results = read_recorded(recorded)
    releases = list(results)
    names = list(dict.fromkeys(case for result in results.values() for case in result))
    rows, changed = {}, []
    for case in names:
        of_case = {release: result.get(case) for release, result in results.items()}
        changed += changes(case, of_case)
        rows[case] = spans(releases, status_of(of_case[releases[0]]), [c for c in changed if c.case == case])
    write_spans(folder / f"{project}.csv", rows)
    entries = borders(changed, read_causes(folder / f"{project}_causes.toml"))
    write_borders(folder / f"{project}_borders.toml", project, releases, entries)
    different = sum(change.transition == "changes" for change in changed)
    return (
        f"{len(releases)} releases, {len(names)} cases, {different} changed gradients, {len(entries)} borders"
    )
