"""The attack on one exercise, from right answers to the inputs that are frozen as hidden cases."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grpo_ref.course.attack.bench import WRONG, Bench
from grpo_ref.course.attack.known import Show, is_right, known_mistakes, signatures
from grpo_ref.course.attack.mutants import MOST, WrongAnswer, wrong_answers
from grpo_ref.course.attack.operators import KINDS
from grpo_ref.course.attack.search import TIMES, cover, pool
from grpo_ref.course.attack.shrink import shrunk, turned
from grpo_ref.course.attack.store import Store, fingerprint
from grpo_ref.course.grading import wire
from grpo_ref.course.grading.diagnosis import RIGHT, Mistake
from grpo_ref.course.grading.domain.domain import Draw
from grpo_ref.course.grading.drawn import own_checks
from grpo_ref.course.grading.found import Input
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.rights import Candidate, Rights, domain_of
from grpo_ref.course.layout import problem_file

LEAST = 1e-14
"""A relative deviation up to this is rounding."""
ENOUGH = 12
"""A wrong answer that so many of the smaller inputs tell apart is not tried on the others."""
HARDEST = 6
"""While a case is shrunk, so many of the wrong answers that it is kept for must go on failing."""
MOST_PAIRS = 40
"""So many of the smaller inputs are tried once more in the opposite order."""
LONGEST_STRETCH = 32
"""The most calls in a row that are kept to catch a wrong answer that remembers."""


@dataclass(frozen=True)
class FrozenCase:
    """A found input.

    Attributes:
      candidate: the input with its right value.
      kind: the mistake that it was kept for; a key of `operators.KINDS`.
      tells_apart: operator -> how many of the wrong answers that it was kept for.
    """

    candidate: Candidate
    kind: str
    tells_apart: Mapping[str, int]


@dataclass(frozen=True)
class Left:
    """A wrong answer that no input of the domain told from a right one.

    Attributes:
      wrong: the answer.
      deviation: the largest relative one over all inputs tried.
      rounding: that of the right answer from which it was made.
    """

    wrong: WrongAnswer
    deviation: float
    rounding: float

    @property
    def is_rounding(self) -> bool:
        """Whether it is no further from the reference than right answers are."""
        return self.deviation <= max(2.0 * self.rounding, LEAST)


@dataclass(frozen=True)
class Outcome:
    """What an attack found.

    Attributes:
      problem: the exercise.
      styles: names of the right answers.
      made: how many wrong answers there were.
      cases: inputs that tell them apart, by kind.
      caught: kind of the first case that catches a wrong answer -> how many.
      by_checks: the author's checks -> how many they catch of those that no input of the domain tells apart.
      missed: how many fail on some input of the domain, but on no case.
      left: wrong answers that agree on every input tried and pass every check.
      most: how many wrong answers were allowed.
      drawn: inputs drawn.
      tried: how many of them were fit to judge by.
      unfit: why others were not -> the inputs.
      mistakes: what every wrong answer that has a sentence returns on the cases, in the order of a report.
      seed: of the draws.
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
    """Make wrong answers, find inputs that catch them, and see which of the others the checks catch.

    Args:
      problem: an exercise with a domain.
      styles: name -> text of each right answer, the model answer first.
      store: of results; an attack that was stopped goes on from it.
      seed: of the draws.
      draws: how many inputs are drawn.
      show: is told how far it is.
      most: how many wrong answers are made at most.
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
        mistakes=known_mistakes(problem, made, signs, _inputs(cases)),
        seed=seed,
    )


def _inputs(cases: Sequence[FrozenCase]) -> list[Input]:
    """What the cases call with, in the order of a report."""
    return [case.candidate.input for case in _by_kind(cases)]


def _by_kind(cases: Sequence[FrozenCase]) -> list[FrozenCase]:
    """In the order of a report."""
    return [case for kind in KINDS for case in cases if case.kind == kind]


def _caught(signs: Mapping[str, Sequence[str]], cases: Sequence[FrozenCase]) -> Counter[str]:
    """Kind -> of how many wrong answers one of its cases is the first to catch."""
    first = (
        next((case.kind for case, sign in zip(cases, its, strict=True) if sign != RIGHT), None)
        for its in signs.values()
    )
    return Counter(kind for kind in first if kind is not None)


def _by_checks(
    problem: Problem, wrong: Sequence[WrongAnswer], bench: Bench, store: Store, show: Show
) -> dict[str, str | None]:
    """Text -> the first of the author's checks that catches it, None if it passes all."""
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


NO_MATTER = frozenset(("background", "task", "inputs", "output", "constraints", "notes", "example", "hints"))
"""Arguments of a problem on which no verdict depends."""


def _source_of(problem: Problem) -> str:
    """What the checks' verdicts depend on: the module without its domain and the words of its statement."""
    tree = ast.parse(problem_file(problem.id).read_text(encoding="utf-8"))
    kept = [node for node in tree.body if "DOMAIN" not in map(ast.unparse, getattr(node, "targets", ()))]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        call.keywords = [each for each in call.keywords if each.arg not in NO_MATTER]
    return ast.unparse(ast.Module(kept, type_ignores=[]))


def _trials(
    made: Sequence[WrongAnswer], candidates: Sequence[Candidate], bench: Bench, store: Store, show: Show
) -> dict[str, tuple[list[int], float]]:
    """Text -> the inputs on which it is wrong, and its largest deviation on the others."""
    inputs = [each.input for each in candidates]
    context = wire.dumps([[each.arguments, dict(each.keywords), each.expected] for each in inputs])
    bench.learn(inputs)
    result: dict[str, tuple[list[int], float]] = {}
    for done, wrong in enumerate(made, start=1):
        key = fingerprint("trial", context, wrong.text)
        if (known := store.get(key)) is None:
            trial = bench.trial(wrong.text, ENOUGH)
            known = [trial.told_apart, trial.nearest]
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
    """The inputs kept, shrunk, each with what it tells apart."""
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
    """A case, of the kind of most of the wrong answers that it was kept for."""
    kinds = Counter(wrong.kind for wrong in hardest)
    return FrozenCase(candidate, kinds.most_common(1)[0][0], Counter(wrong.operator for wrong in hardest))


def _unshrunk(
    missed: Sequence[WrongAnswer],
    candidates: Sequence[Candidate],
    trials: Mapping[str, tuple[list[int], float]],
) -> list[FrozenCase]:
    """Inputs as they were drawn, for what no shrunk one catches."""
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
    """For wrong answers with a memory, the shortest stretches of inputs after which they are wrong."""
    cases: list[FrozenCase] = []
    for wrong in forgetful:
        bench.learn(_inputs([*before, *cases]))
        if not bench.trial(wrong.text).told_apart:
            stretch = _stretch(wrong, candidates, rights, bench)
            cases += [FrozenCase(candidate, "state", {wrong.operator: 1}) for candidate in stretch]
    return cases


def _stretch(
    wrong: WrongAnswer, candidates: Sequence[Candidate], rights: Rights, bench: Bench
) -> Sequence[Candidate]:
    """Two inputs with the same numbers; or the first ones of the pool, ever more until it is wrong."""
    for pair in _turned(candidates, rights):
        bench.learn([each.input for each in pair])
        if bench.trial(wrong.text).told_apart:
            return pair
    length = 2
    while length <= LONGEST_STRETCH:
        bench.learn([each.input for each in candidates[:length]])
        if bench.trial(wrong.text).told_apart:
            return candidates[:length]
        length *= 2
    return []


def _turned(candidates: Sequence[Candidate], rights: Rights) -> Iterator[tuple[Candidate, Candidate]]:
    """Inputs with at least two numbers, each before the same one in the opposite order along an axis."""
    domain = domain_of(rights.problem)
    for candidate in candidates[:MOST_PAIRS]:
        for draw in turned(candidate.draw, domain):
            other = rights.candidate(draw)
            if isinstance(other, Candidate):
                yield candidate, other


def _still(texts: Sequence[str], bench: Bench) -> Callable[[list[Candidate]], list[bool]]:
    """Which of some inputs tell all these wrong answers apart."""

    def still_works(candidates: list[Candidate]) -> list[bool]:
        bench.learn([each.input for each in candidates])
        works = [True] * len(candidates)
        for text in texts:
            verdicts = bench.trial(text).verdicts
            works = [sofar and verdict == WRONG for sofar, verdict in zip(works, verdicts, strict=True)]
        return works

    return still_works


def survivors_of(wrong: Sequence[WrongAnswer], problem: Problem, show: Show) -> list[WrongAnswer]:
    """Those that pass every check, found cases included."""
    with Bench(problem) as bench:
        passed = []
        for done, each in enumerate(wrong, start=1):
            if bench.first_failed(each.text, problem.checks, DEFAULT_SEED) is None:
                passed.append(each)
            show("found cases", done, len(wrong))
        return passed
