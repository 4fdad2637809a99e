"""The attack on one exercise, from right answers to the inputs that are stored as hidden cases."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grpo_ref.course.attack.known import Show, is_right, known_mistakes, signatures
from grpo_ref.course.attack.mutants import MOST, WrongAnswer, wrong_answers
from grpo_ref.course.attack.operators import KINDS
from grpo_ref.course.attack.search import TIMES, cover, pool
from grpo_ref.course.attack.shrink import shrunk, turned
from grpo_ref.course.attack.store import Store, fingerprint
from grpo_ref.course.attack.trials import WRONG, Bench
from grpo_ref.course.grading import wire
from grpo_ref.course.grading.diagnosis import RIGHT, Mistake
from grpo_ref.course.grading.domain.domain import Draw
from grpo_ref.course.grading.found_cases import Input, compared_inputs
from grpo_ref.course.grading.input_checks import Candidate, Rights, domain_of
from grpo_ref.course.grading.problem import Case, Problem
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.sampled_check import own_checks
from grpo_ref.course.layout import exercise_folder

LEAST = 1e-14
"""A relative deviation of at most this is rounding."""
ENOUGH = 12
"""Number of inputs on which a wrong answer must fail before the remaining, larger inputs are skipped."""
HARDEST = 6
"""Number of wrong answers that must still fail while a case is shrunk."""
MOST_PAIRS = 40
"""Number of the smaller inputs that are tried a second time in the opposite order."""
LONGEST_STRETCH = 32
"""Largest number of consecutive calls that are stored to catch an answer that remembers earlier calls."""


@dataclass(frozen=True)
class FrozenCase:
    """A found input.

    Attributes:
      candidate: the input with its right value.
      kind: key in `operators.KINDS` of the mistake that the input was chosen for.
      tells_apart: operator -> number of its wrong answers that the input was chosen for.
    """

    candidate: Candidate
    kind: str
    tells_apart: Mapping[str, int]


@dataclass(frozen=True)
class Left:
    """A wrong answer that is right on every tried input of the domain.

    Attributes:
      wrong: the wrong answer.
      deviation: its largest relative deviation over all tried inputs.
      rounding: largest relative deviation of the right answer from which it was made.
    """

    wrong: WrongAnswer
    deviation: float
    rounding: float

    @property
    def is_rounding(self) -> bool:
        """True if the deviation is as small as that of right answers."""
        return self.deviation <= max(2.0 * self.rounding, LEAST)


@dataclass(frozen=True)
class Outcome:
    """The result of an attack.

    Attributes:
      problem: the exercise.
      styles: names of the right answers.
      made: number of wrong answers.
      cases: inputs that catch them, by kind.
      caught: kind of the first case that catches a wrong answer -> number of wrong answers.
      by_checks: the author's checks -> number of wrong answers that they catch and no input of the domain
        does.
      missed: number of wrong answers that fail on some input of the domain, but on no case.
      left: wrong answers that agree on every tried input and pass every check.
      most: largest number of wrong answers that was allowed.
      drawn: number of sampled inputs.
      tried: number of these that were fit to judge by.
      unfit: reason why inputs were not fit to judge by -> the inputs.
      mistakes: the values that each wrong answer with a sentence returns on the cases, in the order of a
        report.
      seed: seed of the sampled inputs.
    """

    problem: Problem
    styles: Sequence[str]
    made: int
    cases: Sequence[FrozenCase]
    caught: Mapping[str, int]
    by_checks: Mapping[str, int]
    missed: int
    left: Sequence[Left]
    most: int
    drawn: int
    tried: int
    unfit: Mapping[str, Sequence[Draw]] = field(default_factory=dict)
    mistakes: Sequence[Mistake] = ()
    seed: int = 0


def attack(
    problem: Problem,
    styles: Mapping[str, str],
    store: Store,
    *,
    seed: int,
    draws: int,
    show: Show,
    most: int = MOST,
) -> Outcome:
    """Make wrong answers, find inputs that catch them, and find the checks that catch the others.

    Args:
      problem: an exercise with a domain.
      styles: name -> text of each right answer, the model answer first.
      store: stored results; an attack that was stopped continues from them.
      seed: seed of the sampled inputs.
      draws: number of sampled inputs.
      show: called with the progress.
      most: largest number of wrong answers.
    """
    made = wrong_answers(problem, styles, most)
    rights = Rights(problem, styles)
    with Bench(problem) as bench:
        candidates, unfit = pool(rights, seed, draws)
        trials = _trials(made, candidates, bench, store, show)
        rounding = {name: bench.trial(text).nearest for name, text in styles.items()}
        cases = _cases(made, candidates, trials, rights, bench, show)
        forgetful = [wrong for wrong in made if wrong.kind == "state"]
        cases += _sequences(forgetful, candidates, cases, rights, bench)
        signs = signatures(made, _inputs(cases), bench, show)
        missed = [wrong for wrong in made if trials[wrong.text][0] and is_right(signs[wrong.text])]
        if missed:
            cases += _unshrunk(missed, candidates, trials)
            signs = signatures(made, _inputs(cases), bench, show)
        equal = [wrong for wrong in made if not trials[wrong.text][0] and is_right(signs[wrong.text])]
        checks = _by_checks(problem, equal, bench, store, show)
        own = [each for check in problem.checks if isinstance(check, Case) for each in compared_inputs(check)]
        before = signatures(made, own, bench, show)
        compared = {text: (*before[text], *its) for text, its in signs.items()}
    cases = _by_kind(cases)
    return Outcome(
        problem=problem,
        styles=list(styles),
        made=len(made),
        cases=cases,
        caught=_caught(signs, cases),
        by_checks=Counter(check for check in checks.values() if check is not None),
        missed=sum(bool(trials[wrong.text][0]) and is_right(signs[wrong.text]) for wrong in made),
        left=[
            Left(wrong, trials[wrong.text][1], rounding[wrong.style])
            for wrong in equal
            if checks[wrong.text] is None
        ],
        most=most,
        drawn=draws,
        tried=len(candidates),
        unfit=unfit,
        mistakes=known_mistakes(problem, made, compared, [*own, *_inputs(cases)]),
        seed=seed,
    )


def _inputs(cases: Sequence[FrozenCase]) -> list[Input]:
    """Return the calls of the cases, in the order of a report."""
    return [case.candidate.input for case in _by_kind(cases)]


def _by_kind(cases: Sequence[FrozenCase]) -> list[FrozenCase]:
    """Sort the cases in the order of a report."""
    return [case for kind in KINDS for case in cases if case.kind == kind]


def _caught(signs: Mapping[str, Sequence[str]], cases: Sequence[FrozenCase]) -> Counter[str]:
    """Return, for each kind, the number of wrong answers that one of its cases is the first to catch."""
    first = (
        next((case.kind for case, sign in zip(cases, its, strict=True) if sign != RIGHT), None)
        for its in signs.values()
    )
    return Counter(kind for kind in first if kind is not None)


def _by_checks(
    problem: Problem, wrong: Sequence[WrongAnswer], bench: Bench, store: Store, show: Show
) -> dict[str, str | None]:
    """Return, for each text, the first of the author's checks that catches it, or None."""
    context = _source_of(problem)
    result: dict[str, str | None] = {}
    for done, each in enumerate(wrong, start=1):
        key = fingerprint("checks", context, each.text)
        if (known := store.get(key)) is None:
            known = [bench.first_failed(each.text, own_checks(problem), DEFAULT_SEED)]
            store.put(key, known)
        result[each.text] = known[0]
        show("checks", done, len(wrong))
    return result


def _source_of(problem: Problem) -> str:
    """Return the code that determines the checks' verdicts: the tests without the domain."""
    tree = ast.parse((exercise_folder(problem.id) / "tests.py").read_text(encoding="utf-8"))
    kept = [node for node in tree.body if "DOMAIN" not in map(ast.unparse, getattr(node, "targets", ()))]
    return ast.unparse(ast.Module(kept, type_ignores=[]))


def _trials(
    made: Sequence[WrongAnswer], candidates: Sequence[Candidate], bench: Bench, store: Store, show: Show
) -> dict[str, tuple[list[int], float]]:
    """Return, for each text, the inputs on which it is wrong, and its largest deviation on the others."""
    inputs = [each.input for each in candidates]
    context = wire.dumps([[each.arguments, dict(each.keywords), each.expected] for each in inputs])
    bench.learn(inputs)
    result: dict[str, tuple[list[int], float]] = {}
    for done, wrong in enumerate(made, start=1):
        key = fingerprint("trial", context, wrong.text)
        if (known := store.get(key)) is None:
            trial = bench.trial(wrong.text, ENOUGH)
            known = [trial.wrong_on, trial.nearest]
            store.put(key, known)
        result[wrong.text] = known[0], known[1]
        show("search", done, len(made))
    return result


def _cases(
    made: Sequence[WrongAnswer],
    candidates: Sequence[Candidate],
    trials: Mapping[str, tuple[list[int], float]],
    rights: Rights,
    bench: Bench,
    show: Show,
) -> list[FrozenCase]:
    """Return the chosen inputs, shrunk, each with the wrong answers that it catches."""
    kills = {wrong.text: trials[wrong.text][0] for wrong in made if trials[wrong.text][0]}
    chosen = cover(kills, [each.size for each in candidates])
    open_times = {text: min(TIMES, len(found)) for text, found in kills.items()}
    by_text = {wrong.text: wrong for wrong in made}
    cases: list[FrozenCase] = []
    for done, position in enumerate(chosen, start=1):
        served = [text for text, found in kills.items() if position in found and open_times[text] > 0]
        open_times |= {text: open_times[text] - 1 for text in served}
        hardest = sorted(served, key=lambda text: len(kills[text]))[:HARDEST]
        candidate = shrunk(candidates[position], rights, _still(hardest, bench))
        cases.append(_frozen(candidate, [by_text[text] for text in hardest]))
        show("shrink", done, len(chosen))
    return cases


def _frozen(candidate: Candidate, hardest: Sequence[WrongAnswer]) -> FrozenCase:
    """Return a case with the most common kind among the wrong answers that it was chosen for."""
    kinds = Counter(wrong.kind for wrong in hardest)
    return FrozenCase(candidate, kinds.most_common(1)[0][0], Counter(wrong.operator for wrong in hardest))


def _unshrunk(
    missed: Sequence[WrongAnswer],
    candidates: Sequence[Candidate],
    trials: Mapping[str, tuple[list[int], float]],
) -> list[FrozenCase]:
    """Return inputs as they were sampled, for wrong answers that no shrunk input catches."""
    kills = {wrong.text: trials[wrong.text][0] for wrong in missed}
    chosen = cover(kills, [each.size for each in candidates], times=1)
    return [
        _frozen(candidates[position], [wrong for wrong in missed if position in kills[wrong.text]])
        for position in chosen
    ]


def _sequences(
    forgetful: Sequence[WrongAnswer],
    candidates: Sequence[Candidate],
    before: Sequence[FrozenCase],
    rights: Rights,
    bench: Bench,
) -> list[FrozenCase]:
    """Return short sequences of inputs for answers that remember earlier calls and fail on no case."""
    cases: list[FrozenCase] = []
    for wrong in forgetful:
        bench.learn(_inputs([*before, *cases]))
        if not bench.trial(wrong.text).wrong_on:
            stretch = _stretch(wrong, candidates, rights, bench)
            cases += [FrozenCase(candidate, "state", {wrong.operator: 1}) for candidate in stretch]
    return cases


def _stretch(
    wrong: WrongAnswer, candidates: Sequence[Candidate], rights: Rights, bench: Bench
) -> Sequence[Candidate]:
    """Return two inputs with the same numbers, or else the shortest tried start of the pool that fails."""
    for pair in _turned(candidates, rights):
        bench.learn([each.input for each in pair])
        if bench.trial(wrong.text).wrong_on:
            return pair
    length = 2
    while length <= LONGEST_STRETCH:
        bench.learn([each.input for each in candidates[:length]])
        if bench.trial(wrong.text).wrong_on:
            return candidates[:length]
        length *= 2
    return []


def _turned(candidates: Sequence[Candidate], rights: Rights) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield each input with at least two numbers, followed by the input reversed along one axis."""
    domain = domain_of(rights.problem)
    for candidate in candidates[:MOST_PAIRS]:
        for draw in turned(candidate.draw, domain):
            other = rights.candidate(draw)
            if isinstance(other, Candidate):
                yield candidate, other


def _still(texts: Sequence[str], bench: Bench) -> Callable[[list[Candidate]], list[bool]]:
    """Return a function that decides which of some inputs catch all these wrong answers."""

    def still_works(candidates: list[Candidate]) -> list[bool]:
        bench.learn([each.input for each in candidates])
        works = [True] * len(candidates)
        for text in texts:
            verdicts = bench.trial(text).verdicts
            works = [sofar and verdict == WRONG for sofar, verdict in zip(works, verdicts, strict=True)]
        return works

    return still_works


def survivors_of(wrong: Sequence[WrongAnswer], problem: Problem, show: Show) -> list[WrongAnswer]:
    """Return the wrong answers that pass every check, including the found cases."""
    with Bench(problem) as bench:
        passed = []
        for done, each in enumerate(wrong, start=1):
            if bench.first_failed(each.text, problem.checks, DEFAULT_SEED) is None:
                passed.append(each)
            show("found cases", done, len(wrong))
        return passed
