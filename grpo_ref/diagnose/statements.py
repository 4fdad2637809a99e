"""Put the results of a diagnosis into statements, the most important first."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from grpo_ref.diagnose.advice import answer, check, key_of
from grpo_ref.diagnose.configuration import facts_of
from grpo_ref.diagnose.expected import Remark
from grpo_ref.diagnose.facts import Shown
from grpo_ref.diagnose.patterns import Pattern
from grpo_ref.diagnose.relations import Violation
from grpo_ref.diagnose.results import Results

Kind = Literal["contradiction", "violation", "pattern", "remark"]
SETTINGS = {
    "group_size": "completions per prompt",
    "completions": "completions per generation batch",
    "kl_coef": "weight of the KL",
    "loss_scale": "factor of the logged policy loss",
    "budget": "tokens of a completion",
}
"""Names of facts in sentences."""
SYMPTOMS = "docs/howto/symptoms.md"


class Statement(NamedTuple):
    """A statement on a run.

    Attributes:
      kind: "contradiction" if the log differs from the configuration, "violation" of an exact relation, "pattern" in the
        curves, or "remark" on a number that looks alarming and is right.
      name: name of the fact or pattern, or code of the relation; "" for a remark.
      title: the statement.
      lines: evidence, what to change, and the price of the change, each in whole sentences.
      step: the step at which it begins; None for a remark.
      page: anchor of the section on the symptom in `docs/howto/symptoms.md`, or "".
    """

    kind: Kind
    name: str
    title: str
    lines: tuple[str, ...]
    step: int | None
    page: str


def statements(results: Results) -> list[Statement]:
    """Return all statements on a run, the most important first.

    What contradicts the configuration comes first, then broken relations, those that are broken in most rows first, then
    patterns in the order of their severity, then remarks.
    """
    violations = sorted(results.violations, key=lambda each: -each.rows / each.of)
    return [
        *(_of_contradiction(results, fact) for fact in results.contradicted),
        *(_of_violation(each) for each in violations),
        *(_of_pattern(results, each) for each in results.patterns),
        *(_of_remark(each) for each in results.remarks),
    ]


def _of_contradiction(results: Results, fact: Shown) -> Statement:
    given = getattr(facts_of(results.report), fact.name) if results.report else None
    name = SETTINGS.get(fact.name, fact.name)
    value = f"{fact.value:.4g}" if isinstance(fact.value, float) else str(fact.value)
    evidence = f"{fact.formula[0].upper()}{fact.formula[1:]}."
    rows = f"One row shows it, at step {fact.step}."
    if fact.rows > 1:
        rows = f"{fact.rows} rows agree; the clearest is step {fact.step}."
    lines = [
        f"{evidence} {rows}",
        "A command line or a default of the program may have set the value that ran, or the file is of another run.",
    ]
    key = key_of(fact.name, results.report)
    if key:
        lines.append(f"Key: {key}.")
    title = f"the log says {name} = {value}, the configuration says {given}"
    return Statement("contradiction", fact.name, title, tuple(lines), fact.step, "")


def _of_violation(violation: Violation) -> Statement:
    otherwise = f"{violation.otherwise[0].lower()}{violation.otherwise[1:]}"
    evidence = (
        f"In {violation.rows} of {violation.of} rows, first at step {violation.step}: {violation.formula}."
    )
    if violation.of == 1:
        evidence = f"The numbers: {violation.formula}."
    to_check, page = check(violation.code)
    lines = (evidence, f"If this is not a mistake: {otherwise}", to_check)
    title = f"does not hold: {violation.statement} ({violation.code})"
    return Statement("violation", violation.code, title, tuple(filter(None, lines)), violation.step, page)


def _of_pattern(results: Results, pattern: Pattern) -> Statement:
    lines = [f"{pattern.evidence[0].upper()}{pattern.evidence[1:]}.", f"To change it: {pattern.advice}"]
    change = answer(pattern.name, results.log.trainer, results.report)
    if change is not None:
        if change.price:
            lines.append(f"Price: {change.price}")
        if change.keys:
            lines.append(f"Keys of {results.log.title}: {', '.join(change.keys)}.")
    is_whole = pattern.step == results.log.rows[0].step
    title = f"{pattern.title}, {'in the whole run' if is_whole else f'from step {pattern.step} on'}"
    return Statement("pattern", pattern.name, title, tuple(lines), pattern.step, pattern.page)


def _of_remark(remark: Remark) -> Statement:
    lines = (remark.reason, *([remark.advice] if remark.advice else []))
    return Statement("remark", "", remark.title, lines, None, remark.page)


def more(page: str) -> Iterator[str]:
    """Yield the line that leads to the section on a symptom, if there is one."""
    if page:
        yield f"More: {SYMPTOMS}#{page}"
