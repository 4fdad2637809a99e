"""Write a diagnosis as text, as Markdown or as data for JSON."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from grpo_ref.diagnose.facts import Shown
from grpo_ref.diagnose.results import Results, missing

WIDTH = 100
MOST_REMARKS = 4
SETTINGS = {
    "group_size": "completions per prompt",
    "completions": "completions per generation batch",
    "kl_coef": "weight of the KL",
    "loss_scale": "factor of the logged policy loss",
}
"""Names of facts in sentences."""


class Entry(NamedTuple):
    """A statement of the report.

    Attributes:
      mark: "!" for a broken relation or a contradiction, "~" for a pattern, "=" for a remark, "" for other lines.
      title: the statement.
      lines: what belongs to it, in whole sentences.
    """

    mark: str
    title: str
    lines: tuple[str, ...]


class Section(NamedTuple):
    """A section of the report: a heading and its entries."""

    heading: str
    entries: tuple[Entry, ...]


def sections(diagnosis: Results) -> Iterator[Section]:
    """Yield the sections of a report, the most important first. Empty sections are omitted."""
    if diagnosis.contradicted:
        yield Section(
            "the log differs from the configuration",
            tuple(_of_contradiction(diagnosis, fact) for fact in diagnosis.contradicted),
        )
    if diagnosis.violations:
        yield Section(
            "broken relations: these numbers cannot occur together if code, data and logging are right",
            tuple(
                Entry(
                    "!",
                    f"{each.statement} ({each.code})",
                    (
                        f"It is broken in {each.rows} of {each.of} rows, first at step {each.step}: {each.formula}.",
                        f"If this is not a mistake: {each.otherwise[0].lower()}{each.otherwise[1:]}",
                    ),
                )
                for each in diagnosis.violations
            ),
        )
    if diagnosis.patterns:
        yield Section(
            "patterns in the curves (not proofs; their error rates are in the documentation)",
            tuple(
                Entry(
                    "~",
                    f"{each.title}, from step {each.step} on",
                    (f"{each.evidence}.", f"To change it: {each.advice}"),
                )
                for each in diagnosis.patterns
            ),
        )
    if diagnosis.remarks:
        yield Section(
            "right, though it may look alarming",
            tuple(
                Entry("=", each.title, (each.reason, *([each.advice] if each.advice else [])))
                for each in diagnosis.remarks[:MOST_REMARKS]
            ),
        )
    yield Section("what was tested", tuple(Entry("", line, ()) for line in _tested(diagnosis)))


def heading(diagnosis: Results) -> str:
    """Return the first line of a report: the log, its steps, and the configuration."""
    log = diagnosis.log
    first, last = log.rows[0].step, log.rows[-1].step
    rows = "1 row" if len(log.rows) == 1 else f"{len(log.rows):,} rows"
    against = (
        f", configuration of {diagnosis.report.dialect.version}" if diagnosis.report else ", no configuration"
    )
    return f"{log.title} log, {rows}, steps {first} to {last}{against}"


def text(diagnosis: Results) -> str:
    """Return a report as plain text."""
    lines = [heading(diagnosis)]
    if not (diagnosis.contradicted or diagnosis.violations or diagnosis.patterns):
        tested = (
            "Nothing is broken"
            if sum(diagnosis.tested.counts.values())
            else "No exact relation could be tested"
        )
        lines += ["", f"{tested}, and no pattern was found."]
    for section in sections(diagnosis):
        lines += ["", section.heading]
        for entry in section.entries:
            lines += _wrapped(f"{entry.mark} {entry.title}".strip(), "" if entry.mark else "  ")
            for line in entry.lines:
                lines += _wrapped(line, "  ")
    return "\n".join(lines)


def markdown(diagnosis: Results) -> str:
    """Return a report as Markdown."""
    lines = [f"# {heading(diagnosis)}"]
    for section in sections(diagnosis):
        lines += ["", f"## {section.heading[0].upper()}{section.heading[1:]}", ""]
        for entry in section.entries:
            lines.append(f"* **{entry.title}**" if entry.mark else f"* {entry.title}")
            lines += [f"  {line}" for line in entry.lines]
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
        "violations": [each._asdict() for each in diagnosis.violations],
        "patterns": [each._asdict() for each in diagnosis.patterns],
        "remarks": [each._asdict() for each in diagnosis.remarks],
        "comparisons": dict(diagnosis.tested.counts),
        "not_tested": {statement: list(lacking) for statement, lacking in diagnosis.tested.skipped.items()},
        "unknown_metrics": dict(diagnosis.log.unknown),
        "would_help": missing(diagnosis),
    }


def _of_contradiction(diagnosis: Results, fact: Shown) -> Entry:
    from grpo_ref.diagnose.configuration import facts_of

    given = getattr(facts_of(diagnosis.report), fact.name) if diagnosis.report else None
    name = SETTINGS.get(fact.name, fact.name)
    value = f"{fact.value:.4g}" if isinstance(fact.value, float) else str(fact.value)
    title = f"the log says {name} = {value}, the configuration says {given}"
    return Entry("!", title, (f"{fact.formula}. {fact.rows} rows agree, the clearest is step {fact.step}.",))


def _tested(diagnosis: Results) -> Iterator[str]:
    counts = diagnosis.tested.counts
    broken = len(diagnosis.violations)
    comparisons = (
        f"{sum(counts.values()):,} comparisons of {len(counts)} exact relation{'s' * (len(counts) != 1)}"
    )
    yield (
        f"{comparisons}; {broken} relation{'s are' if broken != 1 else ' is'} broken."
        if broken
        else f"{comparisons}, all hold."
    )
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
    if diagnosis.report is None:
        yield "With the configuration (`grpo-ref diagnose LOG CONFIG`), more relations can be tested."
    if diagnosis.log.unknown:
        names = list(diagnosis.log.unknown)
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        yield f"Metrics without a known meaning: {', '.join(names[:5])}{more}."
    helpful = missing(diagnosis)
    if helpful:
        yield f"Not in the log: {'; '.join(each.rstrip('.') for each in helpful[:3])}."


def _wrapped(line: str, indent: str) -> list[str]:
    return textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  " if not indent else indent
    ) or [""]
