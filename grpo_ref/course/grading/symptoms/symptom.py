"""`symptom` returns the sentence for a wrong answer that no known mistake explains."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.found_cases import changed
from grpo_ref.course.grading.input_checks import Candidate, Rights, domain_of, rights_of
from grpo_ref.course.grading.judge import agree, difference
from grpo_ref.course.grading.problem import Function, Problem, Raised, copied
from grpo_ref.course.grading.submission import ENDED, Call, Witness
from grpo_ref.course.grading.symptoms.features import Features, Given, of_call, of_entries
from grpo_ref.course.grading.symptoms.relations import likeness, relation
from grpo_ref.course.grading.symptoms.rules import Rule, rule_for

MORE = 60
"""Number of inputs of the domain that are tried to find out where an answer is wrong."""
NEARLY_ALL = 0.8
"""If more than this fraction of the calls is wrong, a rule would only describe inputs that are too simple to
be wrong.
"""
MOST = 0.5
"""A relation is reported only if more than this fraction of the calls is wrong."""
SURE, HARDLY_ANY, FEW = 0.95, 0.2, 0.5
"""An input is too simple for anything to be wrong if fewer than the second fraction of the known mistakes
show on it. If less than the first fraction of the samples that a rule covers is wrong, the third fraction is
used instead.
"""
MOST_ENTRIES = 200
"""Largest number of entries of one call that are examined."""
SAME, ROUNDED, TINY = 1e-9, 1e-6, 1e-13
"""An entry is right if its error is below the first fraction of the largest entry, and also below the second
fraction of its own size plus the third fraction of the largest entry.
"""
REMEMBERED = (
    "The same call gives the right value in a fresh process: your code remembers something from earlier"
    " calls, in a global variable, a default value or a cache."
)
WRONG = "It is wrong"
VALUE = "value"
RIGHT, RAISED, CHANGED, LENIENT = "right", "raised", "changed", "lenient"
VERBS = {
    CHANGED: "An input is changed",
    LENIENT: "Invalid input is accepted",
    "finite": "NaN or an infinity is returned",
    "shape": "The returned array has a wrong shape",
}


class Samples(NamedTuple):
    """The samples in which a rule is searched: calls, or entries of their results.

    Attributes:
      columns: name of a number, or a clause -> its value for each sample.
      wrong: for each sample, whether it is wrong.
      independent: how many of the wrong samples are independent of one another.
    """

    columns: Mapping[str, Floats | Bools]
    wrong: Bools
    independent: int


@dataclass(frozen=True)
class Judged:
    """A call with its verdict.

    Attributes:
      given: the arguments.
      call: the call with its result.
      expected: the right value, or the exception that the function must raise.
      verdict: RIGHT, RAISED, CHANGED, LENIENT, or the kind of the difference.
    """

    given: Given
    call: Call
    expected: Any
    verdict: str

    @property
    def is_wrong(self) -> bool:
        """True if anything about the call is wrong."""
        return self.verdict != RIGHT

    @property
    def values(self) -> tuple[Given, Any, Any]:
        """The arguments, the returned value and the right value, for `relation`."""
        return self.given, self.call.value, self.expected


def remembers(problem: Problem, witness: Witness, afresh: Callable[[], None]) -> bool:
    """Return whether the first wrong call gives the right value in a fresh process.

    Args:
      problem: an exercise with a domain.
      witness: the calls so far; one more call is made.
      afresh: starts a new process for the following calls.
    """
    if _cannot_be_asked(problem, witness):
        return False
    wrong = next((call for call in witness.calls if _is_wrong(problem, call)), None)
    if wrong is None:
        return False
    afresh()
    again = _tried(witness, wrong)
    return again is not None and not _is_wrong(problem, again)


def symptom(problem: Problem, witness: Witness, seed: int) -> str:
    """Return a sentence that is true of all calls on which the answer is wrong, or "" if none is found.

    Args:
      problem: an exercise with a domain.
      witness: the calls so far; more calls are made.
      seed: seed of the inputs of these calls.
    """
    if _cannot_be_asked(problem, witness):
        return ""
    judged = [each for call in witness.calls if (each := _judged(problem, call, False)) is not None]
    judged += _more(problem, witness, seed + 1)
    if not any(each.is_wrong for each in judged):
        return ""
    further = cache(lambda: list(_more(problem, witness, seed + 2)))
    return _related(problem, judged, further) or _where(
        problem, _telling(problem, judged), cache(lambda: _telling(problem, further()))
    )


def _related(problem: Problem, judged: Sequence[Judged], further: Callable[[], Sequence[Judged]]) -> str:
    """Return a sentence for one relation between returned and right values, in all calls or in simple ones.

    The relation must also be true in further calls.
    """
    if any(each.is_wrong and each.verdict != VALUE for each in judged):
        return ""
    simple = [(f"Where {symbol} is 1: ", symbol) for symbol in domain_of(problem).sizes]
    for start, symbol in [("", ""), *simple]:
        found = _relation(judged, symbol)
        if found and found == _relation(further(), symbol):
            return start + (found[0].lower() + found[1:] if start else found)
    return ""


def _relation(judged: Sequence[Judged], symbol: str) -> str:
    """Return the relation in the calls in which an axis has length 1, or in all calls if no axis is named.

    Right calls count as evidence too, unless the right value is all zeros.
    """
    such = [each for each in judged if not symbol or each.given.lengths.get(symbol) == 1]
    telling = [each for each in such if each.is_wrong or not _is_zero(each.expected)]
    wrong = sum(each.is_wrong for each in telling)
    return relation([each.values for each in telling]) if wrong > MOST * len(telling) else ""


def _is_zero(value: Any) -> bool:
    """Return whether any multiple of a right value equals it: it is all zeros, or an exception."""
    try:
        return not np.any(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        return isinstance(value, Exception)


def _cannot_be_asked(problem: Problem, witness: Witness) -> bool:
    """Return whether further calls are impossible: the problem has no domain, or a call ended the process."""
    return problem.domain is None or any(ENDED & set(call.kinds) for call in witness.calls)


def _is_wrong(problem: Problem, call: Call) -> bool:
    judged = _judged(problem, call, False)
    return judged is not None and judged.is_wrong


def _more(problem: Problem, witness: Witness, seed: int) -> Iterator[Judged]:
    """Yield further calls with inputs of the domain. If an answer is wrong, all right answers must agree on
    the input.
    """
    rights: Rights | None = None
    draws = [(draw, Call(draw.arguments, draw.keywords)) for draw in domain_of(problem).draws(seed, MORE)]
    witness.announce([(call.arguments, call.keywords) for _, call in draws])
    for draw, given in draws:
        call = _tried(witness, given)
        if call is None:
            return
        judged = _judged(problem, call, not call.raised and changed(witness.inputs_after(), call.arguments))
        if judged is not None and judged.is_wrong:
            rights = rights or rights_of(problem)
            judged = judged if isinstance(rights.candidate(draw), Candidate) else None
        if judged is not None:
            yield judged


def _tried(witness: Witness, call: Call) -> Call | None:
    """Make the call again and return its result; None if it ended the process."""
    try:
        witness(*call.arguments, **call.keywords)
    except Raised as raised:
        if ENDED & set(raised.kinds):
            return None
    return witness.calls[-1]


def _judged(problem: Problem, call: Call, is_changed: bool) -> Judged | None:
    """Return the call with its verdict; None if the reference cannot handle the input either."""
    expected: Any
    try:
        with np.errstate(all="ignore"):
            expected = problem.reference(*copied(call.arguments), **copied(call.keywords))
    except ValueError as error:
        expected = error
    except Exception:
        return None
    given = Given(domain_of(problem), call.arguments, call.keywords)
    return Judged(given, call, expected, _verdict(problem, call, expected, is_changed))


def _verdict(problem: Problem, call: Call, expected: Any, is_changed: bool) -> str:
    if isinstance(expected, Exception):
        return LENIENT if not call.raised else RIGHT if "ValueError" in call.kinds else RAISED
    if call.raised:
        return RAISED
    wrong = difference(call.value, expected, problem.rtol)
    if wrong is not None:
        return wrong.kind
    return CHANGED if is_changed else RIGHT


def _where(problem: Problem, judged: Sequence[Judged], more: Callable[[], Sequence[Judged]]) -> str:
    """Return the sentence of the rule that separates the wrong calls, or else the wrong entries, from the
    right ones.

    Args:
      problem: the exercise.
      judged: the calls in which a rule is searched.
      more: makes further calls, on which the rule is tested.
    """
    wrong = [each for each in judged if each.is_wrong]
    by_call = _rule(problem, judged, more, _calls) if len(wrong) <= NEARLY_ALL * len(judged) else None
    if by_call is not None and by_call.is_exact:
        return _rule_sentence(f"{_verb(wrong)} exactly where {by_call.text}", by_call, "calls", wrong)
    by_entry = _rule(problem, judged, more, _entries)
    if by_entry is not None:
        start = "Exactly those entries are wrong" if by_entry.is_exact else "Entries are wrong only"
        return _rule_sentence(f"{start} where {by_entry.text}", by_entry, "entries", wrong)
    if by_call is not None:
        return _rule_sentence(f"{_verb(wrong)} only where {by_call.text}", by_call, "calls", wrong)
    return _anywhere(judged, wrong)


def _rule(
    problem: Problem,
    judged: Sequence[Judged],
    further: Callable[[], Sequence[Judged]],
    samples: Callable[[Sequence[Judged]], Samples | None],
) -> Rule | None:
    """Return the rule for the samples, if it is not trivial and further samples do not refute it."""
    found = samples(judged)
    rule = None if found is None else rule_for(found.columns, found.wrong, found.independent)
    if rule is None or _is_trivial(problem, rule, judged):
        return None
    others = samples(further()) if further() else None
    return None if others is None else rule.tested(others.columns, others.wrong)


def _is_trivial(problem: Problem, rule: Rule, judged: Sequence[Judged]) -> bool:
    """Return whether the rule only describes inputs that are too simple for anything to be wrong.

    That is so if nearly all known mistakes give the right value on the inputs that the rule does not cover.
    """
    columns = _columns([of_call(each.given) for each in judged])
    if not problem.mutants or not all(each.noun in columns for each in rule.clauses):
        return False
    simple = [each for each, holds in zip(judged, rule.holds(columns), strict=True) if not holds]
    shows = [_shows(problem, mutant.function, each) for each in simple for mutant in problem.mutants]
    least = HARDLY_ANY if rule.precision >= SURE else FEW
    return bool(shows) and sum(shows) < least * len(shows)


def _telling(problem: Problem, judged: Sequence[Judged]) -> list[Judged]:
    """Omit the right calls on which no known mistake shows: nothing can be wrong there."""
    return [
        each
        for each in judged
        if each.is_wrong
        or not problem.mutants
        or any(_shows(problem, mutant.function, each) for mutant in problem.mutants)
    ]


def _shows(problem: Problem, function: Function, judged: Judged) -> bool:
    """Return whether a known mistake is wrong in a call."""
    call = judged.call
    try:
        with np.errstate(all="ignore"):
            value = function(*copied(call.arguments), **copied(call.keywords))
    except Exception:
        return not isinstance(judged.expected, Exception)
    return isinstance(judged.expected, Exception) or not agree(value, judged.expected, problem.rtol)


def _anywhere(judged: Sequence[Judged], wrong: Sequence[Judged]) -> str:
    """Return a sentence on what all wrong calls have in common, if no rule separates them; or ""."""
    verb, near = _verb(wrong), likeness([each.values for each in wrong])
    if verb == WRONG and not near:
        return ""
    such = f"in {len(wrong)} of {len(judged)} calls that were tried; the others are right."
    if len(wrong) == len(judged):
        such = "in all calls that were tried."
    return " ".join(filter(None, (f"{verb} {such}", near)))


def _rule_sentence(start: str, rule: Rule, unit: str, wrong: Sequence[Judged]) -> str:
    such = (
        f"{rule.wrong} of {rule.covered} such {unit}"
        if not rule.is_exact
        else f"all {rule.wrong} such {unit}"
    )
    sentence = f"{start}: in {such} that were tried, and in none of the {rule.others} others."
    return " ".join(filter(None, (sentence, likeness([each.values for each in wrong]))))


def _verb(wrong: Sequence[Judged]) -> str:
    """Return the beginning of a sentence that says what goes wrong."""
    verdicts = {each.verdict for each in wrong}
    if verdicts == {RAISED}:
        kinds = {each.call.kinds[0] for each in wrong}
        return f"{' or '.join(sorted(kinds))} is raised"
    return VERBS.get(verdicts.pop(), WRONG) if len(verdicts) == 1 else WRONG


def _calls(judged: Sequence[Judged]) -> Samples:
    """Return a sample for each call."""
    wrong = np.array([each.is_wrong for each in judged])
    return Samples(_columns([of_call(each.given) for each in judged]), wrong, int(wrong.sum()))


def _columns(samples: Sequence[Features]) -> Mapping[str, Floats | Bools]:
    """Return a column for each feature. A clause that does not apply to a sample is false there."""
    kinds = {name: isinstance(value, bool) for sample in samples for name, value in sample.items()}
    return {
        name: np.array([bool(sample.get(name, False)) for sample in samples])
        if is_clause
        else np.array([float(sample.get(name, np.nan)) for sample in samples])
        for name, is_clause in kinds.items()
    }


def _entries(judged: Sequence[Judged]) -> Samples | None:
    """Return a sample for each entry, if every wrong call returned an array of the right shape."""
    wrong, blocks, calls = [], [], 0
    for each in judged:
        off = _wrong_entries(each)
        if off is None:
            if each.is_wrong:
                return None
            continue
        seen = _seen(off)
        whole = {name: np.full(off.size, value) for name, value in of_call(each.given).items()}
        columns = {**whole, **of_entries(each.given, off.shape)}
        blocks.append({name: column[seen] for name, column in columns.items()})
        wrong.append(off.ravel()[seen])
        calls += bool(off.any())
    if not blocks:
        return None
    names = {name: column.dtype == bool for block in blocks for name, column in block.items()}
    joined = {
        name: np.concatenate(
            [_filled(block, name, len(off), is_clause) for block, off in zip(blocks, wrong, strict=True)]
        )
        for name, is_clause in names.items()
    }
    return Samples(joined, np.concatenate(wrong), calls)


def _seen(off: Bools) -> Any:
    """Choose the entries of a call that are examined; if there are many, evenly from the wrong and from the
    right ones.
    """
    kinds = [np.flatnonzero(off), np.flatnonzero(~off)]
    return np.concatenate([kind[:: len(kind) // (MOST_ENTRIES // 2) + 1] for kind in kinds])


def _filled(block: Mapping[str, Any], name: str, count: int, is_clause: bool) -> Any:
    return block.get(name, np.zeros(count, dtype=bool) if is_clause else np.full(count, np.nan))


def _wrong_entries(each: Judged) -> Bools | None:
    """Return a mask of the wrong entries of an array; None if the shape is wrong.

    If several arrays of one shape are returned, an entry is wrong if it is wrong in any of them.
    """
    if each.call.raised or isinstance(each.expected, Exception | str | Mapping):
        return None
    try:
        got, due = np.asarray(each.call.value, dtype=float), np.asarray(each.expected, dtype=float)
    except (TypeError, ValueError):
        return None
    is_several = isinstance(each.expected, tuple)
    if got.shape != due.shape or not due.size:
        return None
    if not each.is_wrong:
        return np.zeros(due.shape[is_several:], bool)
    with np.errstate(all="ignore"):
        error, largest = abs(got - due), abs(due).max()
        is_near = (error <= SAME * largest) & (error <= ROUNDED * abs(due) + TINY * largest)
    off = ~is_near & (got != due)
    return np.asarray(off.any(0) if is_several else off)
