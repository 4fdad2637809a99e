"""Write the text of an issue: what changed upstream, and what here rests on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from watch.compare import FileChange, FunctionChange, Kind
from watch.depends import keys, recorded_cases, statements
from watch.rerun import Rerun
from watch.tracked import Trainer

MOST = 12
"""Largest number of names in a list."""


@dataclass(frozen=True)
class Comparison:
    """One snapshot of a trainer against the recorded hashes.

    Attributes:
      version: the commit or release that was compared.
      files: the comparison of each file.
      rerun: the cases that were recorded again; None if no file changed.
    """

    version: str
    files: Sequence[FileChange]
    rerun: Rerun | None = None

    @property
    def changed(self) -> bool:
        """Return true if the objective may have changed."""
        return any(each.counts for each in self.files)


@dataclass(frozen=True)
class Result:
    """All comparisons of one trainer.

    Attributes:
      trainer: the trainer.
      comparisons: its snapshots.
      new_release: a release that `tracked.toml` does not know; "" if there is none.
      problems: sources that could not be fetched, each with the reason.
    """

    trainer: Trainer
    comparisons: Sequence[Comparison] = ()
    new_release: str = ""
    problems: Sequence[str] = field(default=())

    @property
    def changed(self) -> bool:
        """Return true if there is something to look at."""
        return bool(self.new_release) or any(each.changed for each in self.comparisons)


def issue(results: Sequence[Result], day: str) -> str:
    """Return the text of the issue in Markdown.

    Args:
      results: one for each trainer.
      day: the date of the comparison.
    """
    changed = [each for each in results if each.changed]
    lines = [f"# Trainers that changed, {day}", ""]
    lines += [f"{count(len(changed), 'trainer')} of {len(results)} changed since the recorded version.", ""]
    lines += [
        "| trainer | recorded | compared | new release | code | text only |",
        "|---|---|---|---|---|---|",
    ]
    for result in results:
        lines += list(_rows(result))
    for result in changed:
        lines += ["", *_section(result)]
    if problems := [(each.trainer.name, text) for each in results for text in each.problems]:
        lines += ["", "## Not fetched", ""]
        lines += [f"- {name}: {text}" for name, text in problems]
    unknown = [
        (each.trainer.name, file)
        for each in results
        for comparison in each.comparisons
        for file in comparison.files
        if file.kind is Kind.UNKNOWN
    ]
    if unknown:
        lines += ["", "## Not compared", ""]
        lines += dict.fromkeys(f"- {name}: `{file.file.path}`: {file.note}" for name, file in unknown)
    return "\n".join(lines) + "\n"


def _rows(result: Result) -> Iterable[str]:
    trainer = result.trainer
    if not result.comparisons:
        yield f"| {trainer.name} | {trainer.recorded} | not fetched | {result.new_release or '-'} | - | - |"
    for each in result.comparisons:
        code = sum(file.counts for file in each.files)
        text = sum(file.kind in (Kind.TEXT, Kind.ELSEWHERE, Kind.MOVED) for file in each.files)
        new = result.new_release or "-"
        yield f"| {trainer.name} | {trainer.recorded} | {each.version} | {new} | {code} | {text} |"


def _section(result: Result) -> Iterable[str]:
    trainer = result.trainer
    yield f"## {trainer.name}"
    if result.new_release:
        yield ""
        known = f" The newest known one was {trainer.release}." if trainer.release else ""
        yield f"New release on the index: {result.new_release}.{known}"
    for comparison in result.comparisons:
        if comparison.changed:
            yield ""
            yield f"### {trainer.repository} {trainer.recorded} to {comparison.version}"
            for file in comparison.files:
                if file.kind is not Kind.UNCHANGED and file.kind is not Kind.UNKNOWN:
                    yield ""
                    yield from _file(trainer, file)
            yield ""
            yield from _rerun(comparison.rerun)


def _file(trainer: Trainer, change: FileChange) -> Iterable[str]:
    where = f", now `{change.place}`" if change.place else ""
    yield f"`{change.file.path}` ({change.file.part}): {change.kind}{where}."
    for function in change.functions:
        yield from _function(function)
    if change.counts:
        changed = [(each.name, each.identifiers) for each in change.functions if each.kind.counts]
        cases = recorded_cases(trainer.dialect, change.file.part)
        yield ""
        yield f"- recorded cases that rest on it: {listed(f'{number} of `{call}`' for call, number in cases.items())}"
        yield f"- statements of `explain`: {listed(f'“{name}”' for name in statements(trainer.dialect, changed))}"
        yield f"- keys in the changed functions: {listed(f'`{key}`' for key in keys(trainer.dialect, changed))}"


def _function(change: FunctionChange) -> Iterable[str]:
    where = f" to `{change.place}`" if change.place else ""
    yield ""
    yield f"- `{change.name}`: {change.kind}{where}"
    if change.lines:
        yield ""
        yield "  ```diff"
        yield from (f"  {line}" for line in change.lines)
        yield "  ```"
    elif change.kind is Kind.CHANGED:
        yield "  (without the recorded source there are no lines to compare)"


def _rerun(rerun: Rerun | None) -> Iterable[str]:
    if rerun is None:
        yield "Recorded cases: not rerun, as the command line asked for."
    elif rerun.problem:
        yield f"Recorded cases: not rerun: {rerun.problem}."
    else:
        yield f"Recorded cases: {count(rerun.cases, 'case')} rerun, largest difference {rerun.largest:.3g}."
        if rerun.apart:
            names = [f"`{name}` ({size:.3g})" for name, size in rerun.apart]
            yield f"{count(len(names), 'case')} with other numbers: {listed(names)}."
        if rerun.missing:
            yield f"{count(len(rerun.missing), 'case')} not there now: {listed(rerun.missing)}."


def listed(names: Iterable[str]) -> str:
    """Join names with commas; after the first ones say how many more there are."""
    all_names = list(names)
    rest = len(all_names) - MOST
    shown = ", ".join(all_names[:MOST]) or "none"
    return f"{shown} and {rest} more" if rest > 0 else shown


def count(number: int, noun: str) -> str:
    """Return a number with its noun: 1 case, 2 cases."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
