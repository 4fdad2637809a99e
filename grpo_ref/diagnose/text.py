"""Write a diagnosis as text, as Markdown or as data for JSON."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.diagnose.course_of_run import course_of_run
from grpo_ref.diagnose.relations import OF_RUN, RELATIONS
from grpo_ref.diagnose.results import Results, missing
from grpo_ref.diagnose.statements import Kind, Statement, more, statements

WIDTH = 100
IN_FULL = 3
"""Number of contradictions, violations and patterns that are shown with their evidence."""
MOST_REMARKS = 4
MARKS: Mapping[Kind, str] = {"contradiction": "!", "violation": "!", "pattern": "~", "remark": "="}
HEADINGS: Mapping[Kind, str] = {
    "contradiction": "the log differs from the configuration",
    "violation": "broken relations: a mistake in code, data or logging, or the named assumption does not hold",
    "pattern": "patterns in the curves: likely, not proved",
    "remark": "right, though it may look alarming",
}
"""The kinds of statements, in the order of the report."""
UNKNOWN = {
    "average": "the average of the loss over tokens",
    "completions": "the completions of a batch",
    "group_size": "the completions of a prompt",
    "kl_coef": "the weight of the KL",
    "on_policy": "the steps for each batch",
    "window": "the batches of a row",
    "weights": "the weights of the rewards",
    "budget": "the budget",
}
"""Facts that a launch file gives, in sentences."""


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
      in_full: number of contradictions, violations and patterns that are given with their lines; only a few remarks are
        given then. Default: everything, with a list of the relations and of the metrics that are not used.
    """
    shown = statements(diagnosis)
    certain = [each for each in shown if each.kind != "remark"]
    brief = [] if in_full is None else certain[in_full:]
    for kind, title in HEADINGS.items():
        entries = [
            Entry(MARKS[kind], each.title, () if each in brief else each.lines, each.page)
            for each in shown
            if each.kind == kind
        ]
        if kind == "remark" and in_full is not None:
            entries = entries[:MOST_REMARKS]
        if entries:
            yield Section(title, tuple(entries))
    tested = _tested(diagnosis) if in_full is not None else _tested_in_full(diagnosis)
    yield Section("what was tested", tuple(Entry("", line) for line in tested))


def heading(diagnosis: Results) -> str:
    """Return the first line of a report: the log, its steps, and the configuration."""
    log = diagnosis.log
    first, last = log.rows[0].step, log.rows[-1].step
    rows = "1 row" if len(log.rows) == 1 else f"{len(log.rows):,} rows"
    against = "configuration of the folder" if log.settings else "no configuration"
    if diagnosis.report:
        against = f"configuration read as {diagnosis.report.dialect.version}"
    releases = f" ({log.releases})" if log.releases else ""
    return f"{log.title} log{releases}, {rows}, steps {first} to {last}, {against}"


def summary(diagnosis: Results) -> str:
    """Return the course of the run in a sentence, and that no statement was made if there is none."""
    lines = [course_of_run(diagnosis.log)]
    if not (diagnosis.contradicted or diagnosis.violations or diagnosis.patterns):
        tested, all_ = (
            len(diagnosis.tested.counts),
            len(diagnosis.tested.counts) + len(diagnosis.tested.skipped),
        )
        hold = "and holds" if tested == 1 else "and all hold"
        were = "was tested" if tested == 1 else "were tested"
        relations = (
            f"{tested} of {all_} exact relations {were}, {hold}"
            if tested
            else "No exact relation could be tested"
        )
        lines.append(f"{relations}, and no pattern was found. This does not show that the run is healthy.")
    return "\n".join(filter(None, lines))


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
    lines += [each for line in first_line.splitlines() for each in _wrapped(line, "")]
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
    return written_in_markdown(heading(diagnosis), list(sections(diagnosis)), summary(diagnosis))


def written_in_markdown(title: str, parts: Sequence[Section], first_line: str = "") -> str:
    """Return a report as Markdown: its title, a sentence or "", and its sections."""
    lines = [f"# {title}"]
    for line in first_line.splitlines():
        lines += ["", line]
    for section in parts:
        lines += ["", f"## {section.heading[0].upper()}{section.heading[1:]}", ""]
        for entry in section.entries:
            lines.append(f"* **{entry.title}**" if entry.mark else f"* {entry.title}")
            lines += [f"  * {line}" for line in (*entry.lines, *more(entry.page))]
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
    skipped = diagnosis.tested.skipped
    if skipped:
        needs = {need for lacking in skipped.values() for need in lacking}
        unknown = [name for fact, name in UNKNOWN.items() if fact in needs]
        reason = "a metric is not logged or a fact is not known"
        if unknown and diagnosis.report is None and not diagnosis.log.settings:
            reason = (
                f"a metric is not logged, or without the launch file it is not known: {', '.join(unknown)}"
            )
        yield f"{len(skipped)} relations were not tested: {reason}."
    if diagnosis.log.replaced:
        steps = "1 step occurs" if diagnosis.log.replaced == 1 else f"{diagnosis.log.replaced:,} steps occur"
        yield f"{steps} again with other numbers (a restart, or several runs in one file): the last numbers count."
    if diagnosis.log.unknown:
        count = len(diagnosis.log.unknown)
        yield f"{count} logged metric{' is' if count == 1 else 's are'} not used; `--all` lists {'it' if count == 1 else 'them'}."
    helpful = missing(diagnosis)
    if helpful:
        yield f"Would help if logged: {'; '.join(helpful[:3])}."


def _tested_in_full(diagnosis: Results) -> Iterator[str]:
    yield from _tested(diagnosis)
    statements_ = {relation.code: relation.statement for relation in RELATIONS}
    statements_ |= {code: statement for code, statement, *_ in OF_RUN}
    for code, count in diagnosis.tested.counts.items():
        yield f"{code}: {statements_[code]}: {count:,} comparison{'s' * (count != 1)}."
    for statement, lacking in diagnosis.tested.skipped.items():
        yield f"Not tested: {statement}; needs {', '.join(UNKNOWN.get(each, each) for each in lacking)}."
    if diagnosis.log.unknown:
        yield f"Not used: {', '.join(diagnosis.log.unknown)}."


def _wrapped(line: str, indent: str) -> list[str]:
    return textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  " if not indent else indent
    ) or [""]
