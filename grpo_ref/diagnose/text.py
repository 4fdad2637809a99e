"""Write a diagnosis as text, as Markdown or as data for JSON."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.diagnose.results import Results, missing
from grpo_ref.diagnose.statements import SETTINGS, Kind, Statement, more, statements

WIDTH = 100
IN_FULL = 3
"""Number of contradictions, violations and patterns that are shown with their evidence."""
MOST_REMARKS = 4
MARKS: Mapping[Kind, str] = {"contradiction": "!", "violation": "!", "pattern": "~", "remark": "="}
HEADINGS: Mapping[Kind, str] = {
    "contradiction": "the log differs from the configuration",
    "violation": "broken relations: these numbers cannot occur together if code, data and logging are right",
    "pattern": "patterns in the curves (not proofs; their error rates are in the documentation)",
    "remark": "right, though it may look alarming",
}
"""The kinds of statements, in the order of the report."""


class Entry(NamedTuple):
    """An entry of the report.

    Attributes:
      mark: "!" for a broken relation or a contradiction, "~" for a pattern, "=" for a remark, "" for other lines.
      title: the statement.
      lines: what belongs to it, in whole sentences.
      page: anchor of the section on the symptom in `docs/howto/symptoms.md`, or "".
    """

    mark: str
    title: str
    lines: tuple[str, ...] = ()
    page: str = ""


class Section(NamedTuple):
    """A section of the report: a heading and its entries."""

    heading: str
    entries: tuple[Entry, ...]


def sections(diagnosis: Results, in_full: int | None = None) -> Iterator[Section]:
    """Yield the sections of a report, the most important first. Empty sections are omitted.

    Args:
      diagnosis: the results.
      in_full: number of contradictions, violations and patterns that are given with their lines. Default: all.
    """
    shown = statements(diagnosis)
    brief = [each.title for each in shown if each.kind != "remark"]
    brief = [] if in_full is None else brief[in_full:]
    for kind, title in HEADINGS.items():
        entries = [
            Entry(MARKS[kind], each.title, () if each.title in brief else each.lines, each.page)
            for each in shown
            if each.kind == kind
        ]
        if entries:
            yield Section(title, tuple(entries[:MOST_REMARKS] if kind == "remark" else entries))
    yield Section("what was tested", tuple(Entry("", line) for line in _tested(diagnosis)))


def heading(diagnosis: Results) -> str:
    """Return the first line of a report: the log, its steps, and the configuration."""
    log = diagnosis.log
    first, last = log.rows[0].step, log.rows[-1].step
    rows = "1 row" if len(log.rows) == 1 else f"{len(log.rows):,} rows"
    against = "configuration of the folder" if log.settings else "no configuration"
    if diagnosis.report:
        against = f"configuration of {diagnosis.report.dialect.version}"
    releases = f" ({log.releases})" if log.releases else ""
    return f"{log.title} log{releases}, {rows}, steps {first} to {last}, {against}"


def summary(diagnosis: Results) -> str:
    """Return the sentence that nothing is broken; "" if something is."""
    if diagnosis.contradicted or diagnosis.violations or diagnosis.patterns:
        return ""
    has_tested = sum(diagnosis.tested.counts.values())
    tested = "Nothing is broken" if has_tested else "No exact relation could be tested"
    return f"{tested}, and no pattern was found."


def text(diagnosis: Results, in_full: int | None = IN_FULL) -> str:
    """Return a report as plain text.

    Args:
      diagnosis: the results.
      in_full: number of contradictions, violations and patterns that are given with their evidence; None for all.
    """
    lines = [written(heading(diagnosis), list(sections(diagnosis, in_full)), summary(diagnosis))]
    count = len(diagnosis.contradicted) + len(diagnosis.violations) + len(diagnosis.patterns)
    if in_full is not None and count > in_full:
        hidden = "1 statement is" if count == in_full + 1 else f"{count - in_full} statements are"
        lines += _wrapped(f"{hidden} shown without evidence; `--all` shows everything.", "  ")
    return "\n".join(lines)


def written(title: str, parts: Sequence[Section], first_line: str = "") -> str:
    """Return a report as plain text: its title, a sentence or "", and its sections."""
    lines = [each for line in title.splitlines() for each in _wrapped(line, "")]
    lines += ["", first_line] if first_line else []
    for section in parts:
        lines += ["", section.heading]
        for entry in section.entries:
            lines += _wrapped(entry.title, "  ") if not entry.mark else block(entry)
    return "\n".join(lines)


def block(entry: Entry | Statement) -> list[str]:
    """Return a statement as lines: the mark and the title, then evidence and advice, indented."""
    mark = entry.mark if isinstance(entry, Entry) else MARKS[entry.kind]
    lines = _wrapped(f"{mark} {entry.title}", "")
    for line in (*entry.lines, *more(entry.page)) if entry.lines else ():
        lines += _wrapped(line, "  ")
    return lines


def markdown(diagnosis: Results) -> str:
    """Return a report as Markdown."""
    return written_in_markdown(heading(diagnosis), list(sections(diagnosis)))


def written_in_markdown(title: str, parts: Sequence[Section]) -> str:
    """Return a report as Markdown: its title and its sections."""
    lines = [f"# {title}"]
    for section in parts:
        lines += ["", f"## {section.heading[0].upper()}{section.heading[1:]}", ""]
        for entry in section.entries:
            lines.append(f"* **{entry.title}**" if entry.mark else f"* {entry.title}")
            lines += [f"  {line}" for line in (*entry.lines, *more(entry.page))]
    return "\n".join(lines)


def data(diagnosis: Results) -> Mapping[str, Any]:
    """Return a report as data for JSON."""
    return {
        "trainer": diagnosis.log.trainer,
        "rows": len(diagnosis.log.rows),
        "first_step": diagnosis.log.rows[0].step,
        "last_step": diagnosis.log.rows[-1].step,
        "configuration": diagnosis.report.dialect.version if diagnosis.report else None,
        "contradictions": [
            {
                "fact": fact.name,
                "log": fact.value,
                "formula": fact.formula,
                "step": fact.step,
                "rows": fact.rows,
            }
            for fact in diagnosis.contradicted
        ],
        "shown_by_the_log": [
            {"fact": fact.name, "value": fact.value, "formula": fact.formula} for fact in diagnosis.shown
        ],
        "statements": [each._asdict() for each in statements(diagnosis)],
        "violations": [each._asdict() for each in diagnosis.violations],
        "patterns": [each._asdict() for each in diagnosis.patterns],
        "remarks": [each._asdict() for each in diagnosis.remarks],
        "comparisons": dict(diagnosis.tested.counts),
        "not_tested": {statement: list(lacking) for statement, lacking in diagnosis.tested.skipped.items()},
        "unknown_metrics": dict(diagnosis.log.unknown),
        "would_help": missing(diagnosis),
    }


def _tested(diagnosis: Results) -> Iterator[str]:
    counts = diagnosis.tested.counts
    broken = len(diagnosis.violations)
    comparisons = (
        f"{sum(counts.values()):,} comparisons of {len(counts)} exact relation{'s' * (len(counts) != 1)}"
    )
    if not counts:
        yield "No exact relation."
    elif broken:
        yield f"{comparisons}; {broken} relation{'s are' if broken != 1 else ' is'} broken."
    else:
        yield f"{comparisons}, all hold."
    if diagnosis.tested.skipped:
        needs = {need for lacking in diagnosis.tested.skipped.values() for need in lacking}
        facts = sorted(
            needs & set(SETTINGS) | needs & {"on_policy", "average", "window", "budget", "weights"}
        )
        yield (
            f"{len(diagnosis.tested.skipped)} relations were not tested, because a metric is not logged or a fact is unknown"
            + (f" ({', '.join(facts)})" if facts and not diagnosis.report else "")
            + "."
        )
    if diagnosis.report is None and not diagnosis.log.settings:
        yield "With the configuration (`grpo-ref diagnose LOG CONFIG`), more relations can be tested."
    if diagnosis.log.unknown:
        names = list(diagnosis.log.unknown)
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        yield f"Metrics without a known meaning: {', '.join(names[:5])}{more}."
    helpful = missing(diagnosis)
    if helpful:
        yield f"Not in the log: {'; '.join(helpful[:3])}."


def _wrapped(line: str, indent: str) -> list[str]:
    return textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  " if not indent else indent
    ) or [""]
