"""`symptom` describes a wrong answer that no known mistake explains."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.course.grading.input_checks import domain_of
from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import Function, Problem, copied, format_call
from grpo_ref.course.grading.submission import ENDED, Call, Witness
from grpo_ref.course.grading.symptoms.calls import LENIENT, RAISED, VALUE, Judged, further, judged, tried
from grpo_ref.course.grading.symptoms.changes import changes
from grpo_ref.course.grading.symptoms.features import not_padding, of_call
from grpo_ref.course.grading.symptoms.relations import likeness, relation
from grpo_ref.course.grading.symptoms.rules import Rule, rule_for
from grpo_ref.course.grading.symptoms.samples import Samples, columns_of, entries_of, of_calls

MORE, MORE_TESTS = 60, 60
"""Numbers of inputs of the domain that are tried to find a rule, and to test the rule."""
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
SHORT = 100
"""Largest number of characters of a call that a sentence shows."""
REMEMBERED = (
    "The same call gives the right value in a fresh process: your code remembers something from earlier"
    " calls, in a global variable, a default value or a cache."
)
WRONG, VALUE_WRONG = "The result is wrong", "The value is wrong"
VERBS = {
    VALUE: VALUE_WRONG,
    LENIENT: "Invalid input is accepted",
    "finite": "NaN or an infinity is returned",
    "shape": "The returned array has a wrong shape",
}


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
    again = tried(witness, wrong)
    return again is not None and not _is_wrong(problem, again)


def symptom(problem: Problem, witness: Witness, seed: int) -> str:
    """Return what is true of all calls on which the answer is wrong, and which arguments it changes; "" if
    neither is known.

    Args:
      problem: an exercise with a domain.
      witness: the calls so far; more calls are made.
      seed: seed of the inputs of these calls.
    """
    if _cannot_be_asked(problem, witness):
        return ""
    first = [each for call in witness.calls if (each := judged(problem, call)) is not None]
    more = list(further(problem, witness, seed + 1, MORE))
    tests = cache(lambda: list(further(problem, witness, seed + 2, MORE_TESTS)))
    changed = changes([*more, *tests()]) if any(each.changed for each in more) else ""
    calls = first + more
    if not any(each.is_wrong for each in calls):
        return changed
    pattern = _related(problem, calls, tests) or _where(problem, calls, tests)
    return " ".join(filter(None, (changed, pattern)))


def _related(problem: Problem, calls: Sequence[Judged], tests: Callable[[], Sequence[Judged]]) -> str:
    """Return a sentence for one relation between returned and right values, in all calls or in simple ones.

    The relation must also be true in further calls.
    """
    if any(each.is_wrong and each.verdict != VALUE for each in calls):
        return ""
    simple = [(f"Where {symbol} is 1, ", symbol) for symbol in domain_of(problem).sizes]
    for start, symbol in [("", ""), *simple]:
        pattern = _relation(calls, symbol)
        if pattern and pattern == _relation(tests(), symbol):
            return start + (pattern[0].lower() + pattern[1:] if start else pattern)
    return ""


def _relation(calls: Sequence[Judged], symbol: str) -> str:
    """Return the relation in the calls in which an axis has length 1, or in all calls if no axis is named.

    Right calls count as evidence too, unless the right value is all zeros.
    """
    such = [each for each in calls if not symbol or each.given.lengths.get(symbol) == 1]
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
    each = judged(problem, call)
    return each is not None and each.is_wrong


def _where(problem: Problem, calls: Sequence[Judged], tests: Callable[[], Sequence[Judged]]) -> str:
    """Return the sentence of the rule that separates the wrong calls, or else the wrong entries, from the
    right ones.

    The rule is searched in the calls on which a mistake can show. Its counts and bounds are those of all
    calls.

    Args:
      problem: the exercise.
      calls: the calls in which a rule is searched.
      tests: makes further calls, on which the rule is tested.
    """
    telling, telling_tests = _telling(problem, calls), cache(lambda: _telling(problem, tests()))
    wrong = [each for each in telling if each.is_wrong]

    def rule(samples: Callable[[Sequence[Judged]], Samples | None]) -> Rule | None:
        pattern = _rule(problem, telling, telling_tests, samples)
        every = None if pattern is None else samples([*calls, *tests()])
        return None if pattern is None or every is None else pattern.counted(every.columns, every.wrong)

    by_call = rule(of_calls) if len(wrong) <= NEARLY_ALL * len(telling) else None
    by_entry = None if by_call is not None and by_call.is_exact else rule(entries_of)
    everything = [*calls, *tests()]
    wrong = [each for each in everything if each.is_wrong]
    if by_entry is not None:
        is_single = all(np.size(each.expected) == 1 for each in wrong)
        start, unit = (VALUE_WRONG, "calls") if is_single else ("An entry is wrong", "entries")
        return _rule_sentence(start, by_entry, unit, wrong)
    if by_call is not None:
        return _rule_sentence(_start(wrong), by_call, "calls", wrong)
    return _anywhere(problem, everything, wrong)


def _rule(
    problem: Problem,
    telling: Sequence[Judged],
    tests: Callable[[], Sequence[Judged]],
    samples: Callable[[Sequence[Judged]], Samples | None],
) -> Rule | None:
    """Return the rule for the samples, if it is not trivial and the tests do not refute it."""
    pattern = samples(telling)
    rule = None if pattern is None else rule_for(pattern.columns, pattern.wrong, pattern.independent)
    if rule is None or _is_trivial(problem, rule, telling) or not tests():
        return None
    others = samples(tests())
    return None if others is None or rule.is_refuted(others.columns, others.wrong) else rule


def _is_trivial(problem: Problem, rule: Rule, calls: Sequence[Judged]) -> bool:
    """Return whether the rule only describes inputs that are too simple for anything to be wrong.

    That is so if it only says that padding is right, or if nearly all known mistakes give the right value on
    the inputs that the rule does not cover.
    """
    if [str(each) for each in rule.clauses] in [[noun] for noun in not_padding(domain_of(problem))]:
        return True
    columns = columns_of([of_call(each.given) for each in calls])
    if not problem.mutants or not all(each.noun in columns for each in rule.clauses):
        return False
    simple = [each for each, holds in zip(calls, rule.holds(columns), strict=True) if not holds]
    shows = [_shows(problem, mutant.function, each) for each in simple for mutant in problem.mutants]
    least = HARDLY_ANY if rule.precision >= SURE else FEW
    return bool(shows) and sum(shows) < least * len(shows)


def _telling(problem: Problem, calls: Sequence[Judged]) -> list[Judged]:
    """Omit the right calls on which no known mistake shows: nothing can be wrong there."""
    return [
        each
        for each in calls
        if each.is_wrong
        or not problem.mutants
        or any(_shows(problem, mutant.function, each) for mutant in problem.mutants)
    ]


def _shows(problem: Problem, function: Function, each: Judged) -> bool:
    """Return whether a known mistake is wrong in a call."""
    call = each.call
    try:
        with np.errstate(all="ignore"):
            value = function(*copied(call.arguments), **copied(call.keywords))
    except Exception:
        return not isinstance(each.expected, Exception)
    return isinstance(each.expected, Exception) or not agree(value, each.expected, problem.rtol)


def _anywhere(problem: Problem, calls: Sequence[Judged], wrong: Sequence[Judged]) -> str:
    """Return what the wrong calls have in common, if no rule separates them: the value that they return, or
    what goes wrong and the shortest such call; "" if it is neither.
    """
    start, near = _start(wrong), likeness([each.values for each in wrong])
    is_value = start in (WRONG, VALUE_WRONG)
    if is_value and not near:
        return ""
    if len(wrong) == len(calls):
        return " ".join(filter(None, (f"{start} in all calls that were tried.", near)))
    counts = f"{start} in {len(wrong)} of the {len(calls)} calls that were tried."
    if near:
        return f"{counts} {near}"
    shortest = _shortest(problem, wrong)
    return f"{counts} The shortest of these calls is `{shortest}`." if shortest else ""


def _shortest(problem: Problem, wrong: Sequence[Judged]) -> str:
    """Return the shortest wrong call as text; "" if it is long, or the first one, which the report shows."""
    texts = [format_call(problem.function, each.call.arguments, each.call.keywords) for each in wrong]
    whole = [text for text in texts if "<array" not in text and "..." not in text]
    shortest = min(whole, key=len, default="")
    return shortest if len(shortest) <= SHORT and shortest != texts[0] else ""


def _rule_sentence(start: str, rule: Rule, unit: str, wrong: Sequence[Judged]) -> str:
    """Return the rule with its counts, the numbers around a bound, and the likeness of wrong values.

    "exactly" claims both directions, and bounds that are known.
    """
    such = f"all {rule.wrong}" if rule.is_exact else f"{rule.wrong} of {rule.covered}"
    where = "exactly where" if rule.is_exact and rule.is_known else "only where" if rule.is_known else "where"
    sentence = (
        f"{start} {where} {rule.text}: in {such} such {unit} that were tried, and in none of the"
        f" {rule.others} other {unit}."
    )
    unknown = [each.unknown for each in rule.clauses if each.unknown]
    missing = f"The calls do not show what happens where {' or where '.join(unknown)}." if unknown else ""
    return " ".join(filter(None, (sentence, missing, likeness([each.values for each in wrong]))))


def _start(wrong: Sequence[Judged]) -> str:
    """Return the beginning of a sentence that says what goes wrong."""
    verdicts = {each.verdict for each in wrong}
    if verdicts == {RAISED}:
        kinds = {each.call.kinds[0] for each in wrong}
        return f"{' or '.join(sorted(kinds))} is raised"
    return VERBS.get(verdicts.pop(), VALUE_WRONG) if len(verdicts) == 1 else WRONG
