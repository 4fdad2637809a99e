"""Store what the releases of one trainer compute, once for each span of releases that agree.

The folder `recorded` has a file for each project, and the package has these files. README.md describes them.
"""

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grpo_conformance.releases import trl_cases, verl_cases
from grpo_conformance.releases.compare import (
    HERE,
    RELATIVE,
    Span,
    difference,
    gradients,
    read_recorded,
    read_releases,
    read_spans,
    status_of,
)

RECORDED = HERE / "recorded"
SCHEMA = 1
DIGITS = 9
"""Significant digits of a stored number. The releases compute in float32."""
DESCRIBED: dict[str, Callable[[str], dict[str, Any]]] = {
    "trl": trl_cases.described,
    "verl": verl_cases.described,
}
"""Functions that describe a case: its keys, the batches that it runs on, and how a batch becomes steps."""


def store(
    project: str,
    recorded: Path,
    batches: Mapping[str, Mapping[str, Any]],
    platform: Mapping[str, str],
    folder: Path = RECORDED,
    folder_of_spans: Path = HERE,
) -> str:
    """Write the file of a project.

    The spans are those that `compare` has measured. Every recorded release of a span must have the numbers of the span.

    Args:
      project: "trl" or "verl".
      recorded: folder with one JSON file for each release: case -> result.
      batches: name of a variant and number of a batch, "holes 0" -> its arrays, as `scripted.batches` makes them.
      platform: name -> version of Python and the packages that ran the releases.
      folder: where the file is written.
      folder_of_spans: folder of PROJECT.csv and PROJECT_borders.toml.

    Returns:
      A summary for the terminal.

    Raises:
      ValueError: if a recorded release differs from its span, or if a span has no recorded release.
    """
    releases = read_releases(folder_of_spans / f"{project}_borders.toml")
    table = read_spans(folder_of_spans / f"{project}.csv")
    results = read_recorded(recorded)
    if project == "trl":  # it computes its advantages itself
        batches = {
            name: {field: value for field, value in arrays.items() if field != "advantages"}
            for name, arrays in batches.items()
        }
    cases = [stored_case(project, name, of_case, releases, results) for name, of_case in table.items()]
    used = {each["on"] for each in cases}
    document = {
        "schema": SCHEMA,
        "project": project,
        "platform": dict(platform),
        "releases": releases,
        "batches": {name: rounded(arrays) for name, arrays in batches.items() if name.split()[0] in used},
        "cases": cases,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{project}.json.gz"
    write(path, document)
    count = sum(len(case["spans"]) for case in cases)
    return f"{len(releases)} releases, {len(cases)} cases, {count} spans, {path.stat().st_size // 1024} KiB"


def stored_case(
    project: str,
    name: str,
    of_table: Sequence[Span],
    releases: Sequence[str],
    results: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the entry of one case: its description, and its numbers in each span of releases that agree."""
    described = DESCRIBED[project](name)
    entries = []
    for span in of_table:
        inside = releases[releases.index(span.first) : releases.index(span.last) + 1]
        of_span = {release: results[release][name] for release in inside if name in results.get(release, {})}
        _check_span(name, span, of_span)
        entry = {"from": span.first, "to": span.last, "status": span.status}
        entries.append(entry | (numbers([*of_span.values()], described) if of_span else {}))
    return {"case": name, **described, "spans": entries}


def _check_span(name: str, span: Span, results: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise a ValueError if a release of the span has other numbers than the newest one, or if none was run."""
    for release, result in results.items():
        if status_of(result) != span.status:
            raise ValueError(
                f"{name}: {release} {status_of(result)}, but {span.first} to {span.last} {span.status}"
            )
    if span.status != "runs":
        return
    if not results:
        raise ValueError(f"{name}: no release from {span.first} to {span.last} was run")
    *others, newest = results.values()
    last = [*results][-1]
    for release, result in zip(results, others, strict=False):
        if difference(gradients(result), gradients(newest)):
            raise ValueError(f"{name}: {release} differs from {last}, although no border is between them")


def numbers(results: Sequence[Mapping[str, Any]], described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a span of releases, from its newest release; or the reason why there are none.

    A loss or an advantage that the releases of the span do not agree on is None.
    """
    newest = results[-1]
    if "absent" in newest:
        return {"missing": newest["absent"]}
    if "error" in newest:
        return {"error": newest["error"]}
    batches = {}
    for place, batch in enumerate(newest["batches"]):
        of_batch = [result["batches"][place] for result in results]
        gradient = np.asarray(batch["gradient"], dtype=float)
        is_estimate = described.get("call") == "advantage"
        advantages = gradient if is_estimate else agreed([advantages_of(each) for each in of_batch])
        loss = agreed([loss_of(each, described["micro_batches"]) for each in of_batch])
        batches[str(place)] = rounded(
            {"advantages": advantages, "loss": loss, "gradient": None if is_estimate else gradient}
        )
    policies = {batch["on_policy"] for batch in newest["batches"] if "on_policy" in batch}
    return {**({"on_policy": policies.pop()} if len(policies) == 1 else {}), "batches": batches}


def advantages_of(batch: Mapping[str, Any]) -> Any:
    """Return the advantages that the loss was given, or None if the release computes them inside of the loss."""
    given = batch.get("advantages", [None])
    return None if None in given else np.asarray(given, dtype=float)


def loss_of(batch: Mapping[str, Any], micro_batches: int) -> Any:
    """Return the loss of a batch, or None if it has several micro-batches or its steps have different losses."""
    losses = np.asarray(batch.get("losses", []), dtype=float)
    if micro_batches != 1 or not losses.size or not agree(losses, np.full_like(losses, losses[-1])):
        return None
    return losses[-1]


def agreed(values: Sequence[Any]) -> Any:
    """Return the newest value, or None if there is none or the values differ. None among them is not compared."""
    known = [value for value in values if value is not None]
    return known[-1] if known and all(agree(known[-1], other) for other in known) else None


def agree(one: Any, other: Any) -> bool:
    """Return true if two numbers or arrays agree up to rounding in float32."""
    return np.allclose(one, other, rtol=RELATIVE, atol=1e-6, equal_nan=True)


def rounded(value: Any) -> Any:
    """Return arrays as lists, with numbers to 9 significant digits and non-finite ones as text.

    >>> rounded({"a": np.array([1 / 3, np.inf])})
    {'a': [0.333333333, 'inf']}
    """
    if isinstance(value, Mapping):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        return rounded(value.tolist())
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float):  # NumPy's float64 too
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(float(value))
    return value


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON document, compressed, so that the same document gives the same bytes."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    partial = path.with_suffix(".partial")
    partial.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    partial.replace(path)


def read(project: str, folder: Path = RECORDED) -> dict[str, Any]:
    """Read the file of a project."""
    document: dict[str, Any] = json.loads(gzip.decompress((folder / f"{project}.json.gz").read_bytes()))
    return document
