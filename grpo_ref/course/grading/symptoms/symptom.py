"""`symptom`: the sentence for a wrong answer that no known mistake explains."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.found import changed
from grpo_ref.course.grading.judge import agree, difference
from grpo_ref.course.grading.problem import Function, Problem, Raised, copied
from grpo_ref.course.grading.rights import Candidate, Rights, domain_of, rights_of
from grpo_ref.course.grading.submission import ENDED, Call, Witness
from grpo_ref.course.grading.symptoms.features import Features, Given, of_call, of_entries
from grpo_ref.course.grading.symptoms.relations import likeness, relation
from grpo_ref.course.grading.symptoms.rules import Rule, rule_for

MORE = 60
"""Inputs of the domain that are tried to find out where an answer is wrong."""
NEARLY_ALL = 0.8
"""If a larger share of the calls is wrong, a rule would only say which inputs are too simple to be wrong."""
MOST = 0.5
"""A relation is only told of calls of which a larger share is wrong."""
SURE, HARDLY_ANY, FEW = 0.95, 0.2, 0.5
"""Where a smaller share of the known mistakes shows than the second number, an input is too simple for
anything to be wrong; or than the third, if a smaller share than the first of what a rule covers is wrong.
"""
MOST_ENTRIES = 200
"""Of one call, so many entries are looked at."""
SAME, ROUNDED, TINY = 1e-9, 1e-6, 1e-13
"""An entry is right that deviates by less than the first part of the largest entry, and by less than the
second part of its own size and the third of the largest one.
"""
REMEMBERED = (
    "The same call gives the right value in a fresh process: something is remembered from earlier calls, in a"
    " global variable, a default value or a cache."
)
WRONG = "It is wrong"
VALUE = "value"
RIGHT, RAISED, CHANGED, LENIENT = "right", "raised", "changed", "lenient"
VERBS = {
    CHANGED: "An input is changed",
    LENIENT: "Nothing is refused",
    "finite": "NaN or an infinity is returned",
    "shape": "What is returned has another shape",
}


class Samples(NamedTuple):
    """What a rule is looked for in: calls, or entries of what they returned.

    Attributes:
      columns: noun of a number, or a clause -> its value for each sample.
      wrong: for each sample, whether it is wrong.
      independent: how many of the wrong ones are independent of one another.
    """

    columns: Mapping[str, Floats | Bools]
    wrong: Bools
    independent: int


@dataclass(frozen=True)
class Judged:
    """A call with its verdict.

    Attributes:
      given: what the function was given.
      call: with what came of it.
      expected: the right value, or the exception that must come.
      verdict: RIGHT, RAISED, CHANGED, LENIENT, or the kind of the difference.
    """

    given: Given
    call: Call
    expected: Any
    verdict: str

    @property
    def is_wrong(self) -> bool:
        """Whether anything is wrong."""
        return self.verdict != RIGHT

    @property
    def values(self) -> tuple[Given, Any, Any]:
        """As a relation wants to have them."""
        return self.given, self.call.value, self.expected


def remembers(problem: Problem, witness: Witness, afresh: Callable[[], None]) -> bool:
    """Whether the first wrong call gives the right value in a fresh process.

    Args:
      problem: an exercise with a domain.
      witness: of the calls so far; one more is made.
      afresh: begins a new process for the calls to come.
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
    """What is true of all calls in which the answer is wrong, as far as it can be said in a sentence; or "".

    Args:
      problem: an exercise with a domain.
      witness: of the calls so far; some more are made.
      seed: of their inputs.
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
    """One relation between what is returned and what is right: in all calls, or in simple ones.

    It must also hold in further calls.
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
    """The relation in the calls in which an axis has the length 1, or in all of them if none is named.

    A call that is right bears witness too, unless nothing but zeros is due there.
    """
    such = [each for each in judged if not symbol or each.given.lengths.get(symbol) == 1]
    telling = [each for each in such if each.is_wrong or not _is_zero(each.expected)]
    wrong = sum(each.is_wrong for each in telling)
    return relation([each.values for each in telling]) if wrong > MOST * len(telling) else ""


def _is_zero(value: Any) -> bool:
    """Whether a right value is the same with any factor: zeros, or none at all."""
    try:
        return not np.any(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        return isinstance(value, Exception)


def _cannot_be_asked(problem: Problem, witness: Witness) -> bool:
    """Whether nothing is known of further inputs, or the process was ended by one."""
    return problem.domain is None or any(ENDED & set(call.kinds) for call in witness.calls)


def _is_wrong(problem: Problem, call: Call) -> bool:
    judged = _judged(problem, call, False)
    return judged is not None and judged.is_wrong


def _more(problem: Problem, witness: Witness, seed: int) -> Iterator[Judged]:
    """Further calls with inputs of the domain; where an answer is wrong, all right answers must agree."""
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
    """What comes of the same call now; None if the process was ended by it."""
    try:
        witness(*call.arguments, **call.keywords)
    except Raised as raised:
        if ENDED & set(raised.kinds):
            return None
    return witness.calls[-1]


def _judged(problem: Problem, call: Call, is_changed: bool) -> Judged | None:
    """The verdict on a call; None if the reference cannot take the input either."""
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
    """The sentence of the rule that sets the wrong calls apart, or else the wrong entries.

    Args:
      problem: the exercise.
      judged: the calls in which a rule is looked for.
      more: makes others, on which it is tested.
    """
    wrong = [each for each in judged if each.is_wrong]
    by_call = _rule(problem, judged, more, _calls) if len(wrong) <= NEARLY_ALL * len(judged) else None
    if by_call is not None and by_call.is_exact:
        return _told(f"{_verb(wrong)} exactly where {by_call.text}", by_call, "calls", wrong)
    by_entry = _rule(problem, judged, more, _entries)
    if by_entry is not None:
        start = "Exactly those entries are wrong" if by_entry.is_exact else "Entries are wrong only"
        return _told(f"{start} where {by_entry.text}", by_entry, "entries", wrong)
    if by_call is not None:
        return _told(f"{_verb(wrong)} only where {by_call.text}", by_call, "calls", wrong)
    return _anywhere(judged, wrong)


def _rule(
    problem: Problem,
    judged: Sequence[Judged],
    further: Callable[[], Sequence[Judged]],
    samples: Callable[[Sequence[Judged]], Samples | None],
) -> Rule | None:
    """The rule of some samples, if it is not trivial and further ones do not refute it."""
    found = samples(judged)
    rule = None if found is None else rule_for(found.columns, found.wrong, found.independent)
    if rule is None or _is_trivial(problem, rule, judged):
        return None
    others = samples(further()) if further() else None
    return None if others is None else rule.tested(others.columns, others.wrong)


def _is_trivial(problem: Problem, rule: Rule, judged: Sequence[Judged]) -> bool:
    """Whether the rule only says which inputs are too simple for anything to be wrong.

    It does if nearly all known mistakes give the right value on the inputs of which it does not hold.
    """
    columns = _columns([of_call(each.given) for each in judged])
    if not problem.mutants or not all(each.noun in columns for each in rule.clauses):
        return False
    simple = [each for each, holds in zip(judged, rule.holds(columns), strict=True) if not holds]
    shows = [_shows(problem, mutant.function, each) for each in simple for mutant in problem.mutants]
    least = HARDLY_ANY if rule.precision >= SURE else FEW
    return bool(shows) and sum(shows) < least * len(shows)


def _telling(problem: Problem, judged: Sequence[Judged]) -> list[Judged]:
    """Without the calls that are right, and on which no known mistake shows: nothing can be wrong there."""
    return [
        each
        for each in judged
        if each.is_wrong
        or not problem.mutants
        or any(_shows(problem, mutant.function, each) for mutant in problem.mutants)
    ]


def _shows(problem: Problem, function: Function, judged: Judged) -> bool:
    """Whether a known mistake is wrong in a call."""
    call = judged.call
    try:
        with np.errstate(all="ignore"):
            value = function(*copied(call.arguments), **copied(call.keywords))
    except Exception:
        return not isinstance(judged.expected, Exception)
    return isinstance(judged.expected, Exception) or not agree(value, judged.expected, problem.rtol)


def _anywhere(judged: Sequence[Judged], wrong: Sequence[Judged]) -> str:
    """What all wrong calls have in common, where no rule says which they are; or ""."""
    verb, near = _verb(wrong), likeness([each.values for each in wrong])
    if verb == WRONG and not near:
        return ""
    such = f"in {len(wrong)} of {len(judged)} calls that were tried; the others are right."
    if len(wrong) == len(judged):
        such = "in all calls that were tried."
    return " ".join(filter(None, (f"{verb} {such}", near)))


def _told(start: str, rule: Rule, unit: str, wrong: Sequence[Judged]) -> str:
    such = (
        f"{rule.wrong} of {rule.covered} such {unit}"
        if not rule.is_exact
        else f"all {rule.wrong} such {unit}"
    )
    told = f"{start}: in {such} that were tried, and in none of the {rule.others} others."
    return " ".join(filter(None, (told, likeness([each.values for each in wrong]))))


def _verb(wrong: Sequence[Judged]) -> str:
    """What goes wrong, as the beginning of a sentence."""
    verdicts = {each.verdict for each in wrong}
    if verdicts == {RAISED}:
        kinds = {each.call.kinds[0] for each in wrong}
        return f"{' or '.join(sorted(kinds))} is raised"
    return VERBS.get(verdicts.pop(), WRONG) if len(verdicts) == 1 else WRONG


def _calls(judged: Sequence[Judged]) -> Samples:
    """A sample for each call."""
    wrong = np.array([each.is_wrong for each in judged])
    return Samples(_columns([of_call(each.given) for each in judged]), wrong, int(wrong.sum()))


def _columns(samples: Sequence[Features]) -> Mapping[str, Floats | Bools]:
    """A column for each feature; a clause that is not asked of a sample does not hold there."""
    kinds = {name: isinstance(value, bool) for sample in samples for name, value in sample.items()}
    return {
        name: np.array([bool(sample.get(name, False)) for sample in samples])
        if is_clause
        else np.array([float(sample.get(name, np.nan)) for sample in samples])
        for name, is_clause in kinds.items()
    }


def _entries(judged: Sequence[Judged]) -> Samples | None:
    """A sample for each entry, if every wrong call returned an array of the right shape."""
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
    """Which entries of a call are looked at: of many, an even choice of the wrong and of the right ones."""
    kinds = [np.flatnonzero(off), np.flatnonzero(~off)]
    return np.concatenate([kind[:: len(kind) // (MOST_ENTRIES // 2) + 1] for kind in kinds])


def _filled(block: Mapping[str, Any], name: str, count: int, is_clause: bool) -> Any:
    return block.get(name, np.zeros(count, dtype=bool) if is_clause else np.full(count, np.nan))


def _wrong_entries(each: Judged) -> Bools | None:
    """Which entries of an array are wrong; of several of one shape, in any. None if the shape is wrong."""
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
