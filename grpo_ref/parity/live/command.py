"""`grpo-ref parity --live`: run the installed trainer, and show where it differs from `explain` and from the paper."""

import json
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.files import replace_text
from grpo_ref.parity.live import functions
from grpo_ref.parity.live.cases import case_of
from grpo_ref.parity.live.environment import FUNCTIONS, Installed, NotRun, cases_of, find, run
from grpo_ref.parity.live.verdicts import Verdict, verdict


def live(
    trainer: str,
    *,
    python: Path | None,
    source: Path | None,
    release: str = "",
    patterns: tuple[str, ...],
    timeout: float,
    failures: bool,
    file: Path | None,
) -> int:
    """Run a trainer, print a line for each case and a summary, and return the exit status.

    Args:
      trainer: "trl", "verl", or a trainer in `environment.FUNCTIONS`.
      python, source: as in `environment.find`.
      release: the release that `explain` is asked about, or "" for the one that is found.
      patterns: patterns of the names of cases; empty for all.
      timeout: seconds that the child may take.
      failures: true to print only the cases that differ from what `explain` says.
      file: where the verdicts are written as JSON, or None.

    Returns:
      0 if `explain` and the trainer agree on every case, 1 if not, 2 if nothing could be run.
    """
    if trainer in FUNCTIONS:
        return _live_functions(
            trainer, python, source, release, patterns=patterns, timeout=timeout, failures=failures, file=file
        )
    entries = [entry for entry in cases_of(trainer) if _matches(entry["case"], patterns)]
    if not entries:
        click.echo(f"Error: --case: no case of {trainer} fits {', '.join(patterns)}", err=True)
        return 2
    try:
        installed = find(trainer, python, source)
        installed = installed._replace(release=release or installed.release)
        dialect, note = _dialect(installed)
        click.echo(
            f"Running {len(entries)} cases with {trainer} {installed.release} in {installed.python}.",
            err=True,
        )
        results, batches = run(installed, [entry["case"] for entry in entries], timeout)
    except NotRun as error:
        click.echo(f"Error: {error}", err=True)
        return 2
    verdicts = []
    for entry in entries:
        verdicts.append(verdict(dialect, case_of(entry), results[entry["case"]], batches))
        if verdicts[-1].status in ("differs", "stops") or not failures:
            click.echo("\n".join(lines_of(verdicts[-1])))
    click.echo("\n".join([*summary(verdicts, f"{trainer} {installed.release}"), *([note] if note else [])]))
    if file is not None:
        replace_text(file, json.dumps(document(installed, dialect, verdicts), indent=2) + "\n")
    counts = Counter(each.status for each in verdicts)
    if counts["agrees"] + counts["differs"] == 0:
        return 2
    return 1 if counts["differs"] else 0


def _live_functions(
    trainer: str,
    python: Path | None,
    source: Path | None,
    release: str,
    *,
    patterns: tuple[str, ...],
    timeout: float,
    failures: bool,
    file: Path | None,
) -> int:
    """Run the loss functions of a trainer, as `live` does the whole of TRL or verl."""
    inputs, every = functions.recorded_cases(trainer)
    cases = [case for case in every if _matches(case["id"], patterns)]
    if not cases:
        click.echo(f"Error: --case: no case of {trainer} fits {', '.join(patterns)}", err=True)
        return 2
    try:
        installed = find(trainer, python, source)
        installed = installed._replace(release=release or installed.release)
        click.echo(
            f"Running {len(cases)} cases with {trainer} {installed.release} in {installed.python}.", err=True
        )
        numbers, replaced = functions.run(
            installed, [functions.request(case, inputs, installed.release) for case in cases], timeout
        )
    except NotRun as error:
        click.echo(f"Error: {error}", err=True)
        return 2
    results = [functions.result(case, inputs, numbers[case["id"]], installed.release) for case in cases]
    for each in results:
        if each.status in ("explained", "differs", "stops") or not failures:
            click.echo(functions.line(each))
    click.echo("\n".join(functions.summary(installed, results, replaced)))
    if file is not None:
        written = functions.document(installed, results, replaced)
        replace_text(file, json.dumps(written, indent=2) + "\n")
    statuses = {each.status for each in results}
    if not statuses & {*functions.COMPARED}:
        return 2
    return 1 if statuses & {"differs", "stops"} else 0


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _dialect(installed: Installed) -> tuple[Dialect, str]:
    """Return the dialect of the installed release, or of the newest one with a note if it is not covered."""
    dialect = DIALECTS[installed.trainer]
    try:
        return dialect.at(installed.release), ""
    except ValueError:
        newest = dialect.history.releases[-1] if dialect.history.releases else dialect.release
        return (
            dialect.at(newest),
            f"explain does not cover {installed.trainer} {installed.release}; compared with {newest}.",
        )


def lines_of(each: Verdict) -> Iterator[str]:
    """Yield the lines on one case."""
    if each.problem or each.status in ("not run", "not explained"):
        yield f"{each.status:13} {each.case}" + (f": {each.problem}" if each.problem else "")
        return
    apart = "" if each.status == "agrees" else f", {_size(each.change)} from explain"
    paper = ""
    if each.paper:
        size = f"{_size(each.paper_change)} from" if each.paper_change else "equal to"
        paper = f", {size} the paper's {each.paper}"
    parts = f" ({', '.join(f'{name}: {text}' for name, text in each.parts.items())})" if each.parts else ""
    yield f"{each.status:13} {each.case}{apart}{paper}{parts}"
    for cause in each.causes:
        yield f"{'':13}   changed in {cause}"


def _size(change: float | None) -> str:
    """Write a relative difference.

    >>> _size(0.25), _size(0.0004), _size(float("inf"))
    ('25 %', '0.04 %', 'not finite')
    """
    if change is None or change == float("inf"):
        return "not finite"
    return f"{100 * change:.2g} %" if change < 10 else f"{change:.2g} times"


def summary(verdicts: list[Verdict], title: str) -> Iterator[str]:
    """Yield the lines of the summary."""
    counts = Counter(each.status for each in verdicts)
    compared = counts["agrees"] + counts["differs"]
    yield f"{title}: {compared} cases compared; {counts['agrees']} as explain says, {counts['differs']} not."
    others = [f"{count} {name}" for name, count in counts.items() if name not in ("agrees", "differs")]
    if others:
        yield f"Others: {', '.join(others)}."
    named = [each for each in verdicts if each.paper]
    if named:
        apart = [each for each in named if each.paper_change]
        yield (
            f"{len(named)} cases name an algorithm: {len(named) - len(apart)} equal the paper's form, {len(apart)} differ."
            " The paper's form is the recipe of that name, at the numbers of the case."
        )


def document(installed: Installed, dialect: Dialect, verdicts: list[Verdict]) -> dict[str, Any]:
    """Return the verdicts for a file: JSON has no infinity, so it is text."""
    return {
        "trainer": installed.trainer,
        "release": installed.release,
        "torch": installed.torch,
        "explained_as": dialect.version,
        "cases": [
            {
                name: str(value) if value in (float("inf"),) else value
                for name, value in each._asdict().items()
            }
            for each in verdicts
        ],
    }
