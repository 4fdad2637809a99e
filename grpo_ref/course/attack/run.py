"""The attack on one exercise, from right answers to the inputs that are frozen as hidden cases."""

import ast
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from grpo_ref.course.attack.bench import WRONG, Bench
from grpo_ref.course.attack.known import Show, known_mistakes
from grpo_ref.course.attack.mutants import WrongAnswer, wrong_answers
from grpo_ref.course.attack.operators import KINDS
from grpo_ref.course.attack.search import TIMES, cover, pool
from grpo_ref.course.attack.shrink import shrunk
from grpo_ref.course.attack.store import Store, fingerprint
from grpo_ref.course.attack.styles import module_file
from grpo_ref.course.grading import wire
from grpo_ref.course.grading.diagnosis import Mistake
from grpo_ref.course.grading.domain.domain import Draw
from grpo_ref.course.grading.drawn import own_checks
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.report import DEFAULT_SEED
from grpo_ref.course.grading.rights import Candidate, Rights

LEAST = 1e-14
"""A relative deviation up to this is rounding."""
ENOUGH = 12
"""A wrong answer that so many of the smaller inputs tell apart is not tried on the others."""
LONGEST_STRETCH = 32
"""The most calls in a row that are kept to catch a wrong answer that remembers."""


@dataclass(frozen=True)
class FrozenCase:
    """A found input.

    Attributes:
      candidate: the input with its right value.
      kind: the mistake that it was kept for; a key of `operators.KINDS`.
      tells_apart: operator -> how many of its wrong answers, that the checks let pass, it catches.
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
      killed: check -> how many it was the first to catch, found cases left out.
      survived: how many passed them all.
      cases: inputs that tell the survivors apart, by kind.
      missed: how many survivors fail on some input, but on no case.
      left: wrong answers that agree on every input tried.
      drawn: inputs drawn.
      tried: how many of them were fit to judge by.
      unfit: why others were not -> the inputs.
      mistakes: what every wrong answer that has a sentence returns on the cases, in the order of a report.
      seed: of the draws.
    """

    problem: Problem
    styles: Sequence[str]
    made: int
    killed: Mapping[str, int]
    survived: int
    cases: Sequence[FrozenCase]
    missed: int
    left: Sequence[Left]
    drawn: int
    tried: int
    unfit: Mapping[str, Sequence[Draw]] = field(default_factory=dict)
    mistakes: Sequence[Mistake] = ()
    seed: int = 0


def attack(
    problem: Problem, styles: Mapping[str, str], store: Store, *, seed: int, draws: int, show: Show
) -> Outcome:
    """Make wrong answers, see which ones today's checks miss, and find inputs that catch those.

    Args:
      problem: an exercise with a domain.
      styles: name -> text of each right answer, the model answer first.
      store: of results; an attack that was stopped goes on from it.
      seed: of the draws.
      draws: how many inputs are drawn.
      show: is told how far it is.
    """
    made = wrong_answers(problem, styles)
    rights = Rights(problem, styles)
    with Bench(problem) as bench:
        killed = _killed(problem, made, bench, store, show)
        survivors = [wrong for wrong in made if killed[wrong.text] is None]
        candidates, unfit = pool(rights, seed, draws)
        trials = _trials(survivors, candidates, bench, store, show)
        rounding = {name: bench.trial(text).nearest for name, text in styles.items()}
        cases = _cases(survivors, candidates, trials, rights, bench, show)
        cases += _sequences(_missed(survivors, cases, trials, bench), candidates, bench)
        missed = _missed(survivors, cases, trials, bench)
        cases = [case for kind in KINDS for case in cases if case.kind == kind]
        known = known_mistakes(problem, made, [case.candidate.input for case in cases], bench, show)
    return Outcome(
        problem=problem,
        styles=list(styles),
        made=len(made),
        killed=Counter(check for check in killed.values() if check is not None),
        survived=len(survivors),
        cases=cases,
        missed=len(missed),
        mistakes=known,
        left=[
            Left(wrong, trials[wrong.text][1], rounding[wrong.style])
            for wrong in survivors
            if not trials[wrong.text][0]
        ],
        drawn=draws,
        tried=len(candidates),
        unfit=unfit,
        seed=seed,
    )


def _killed(
    problem: Problem, made: Sequence[WrongAnswer], bench: Bench, store: Store, show: Show
) -> dict[str, str | None]:
    """Text -> the first check that catches it, None if it passes all."""
    context = _source_of(problem)
    result: dict[str, str | None] = {}
    for done, wrong in enumerate(made, start=1):
        key = fingerprint("checks", context, wrong.text)
        if (known := store.get(key)) is None:
            known = [bench.first_failed(wrong.text, own_checks(problem), DEFAULT_SEED)]
            store.put(key, known)
        result[wrong.text] = known[0]
        show("checks", done, len(made))
    return result


NO_MATTER = frozenset(("background", "task", "inputs", "output", "constraints", "notes", "example", "hints"))
"""Arguments of a problem on which no verdict depends."""


def _source_of(problem: Problem) -> str:
    """What the checks' verdicts depend on: the module without its domain and the words of its statement."""
    tree = ast.parse(module_file(problem).read_text(encoding="utf-8"))
    kept = [node for node in tree.body if "DOMAIN" not in map(ast.unparse, getattr(node, "targets", ()))]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        call.keywords = [each for each in call.keywords if each.arg not in NO_MATTER]
    return ast.unparse(ast.Module(kept, type_ignores=[]))


def _trials(
    survivors: Sequence[WrongAnswer], candidates: Sequence[Candidate], bench: Bench, store: Store, show: Show
) -> dict[str, tuple[list[int], float]]:
    """Text -> the inputs on which it is wrong, and its largest deviation on the others."""
    inputs = [each.input for each in candidates]
    context = wire.dumps([[each.arguments, dict(each.keywords), each.expected] for each in inputs])
    bench.learn(inputs)
    result: dict[str, tuple[list[int], float]] = {}
    for done, wrong in enumerate(survivors, start=1):
        key = fingerprint("trial", context, wrong.text)
        if (known := store.get(key)) is None:
            trial = bench.trial(wrong.text, ENOUGH)
            known = [trial.told_apart, trial.nearest]
            store.put(key, known)
        result[wrong.text] = known[0], known[1]
        show("search", done, len(survivors))
    return result


def _cases(
    survivors: Sequence[WrongAnswer],
    candidates: Sequence[Candidate],
    trials: Mapping[str, tuple[list[int], float]],
    rights: Rights,
    bench: Bench,
    show: Show,
) -> list[FrozenCase]:
    """The inputs kept, shrunk, each with what it tells apart."""
    kills = {wrong.text: trials[wrong.text][0] for wrong in survivors if trials[wrong.text][0]}
    chosen = cover(kills, [each.size for each in candidates])
    open_times = {text: min(TIMES, len(found)) for text, found in kills.items()}
    by_text = {wrong.text: wrong for wrong in survivors}
    cases: list[FrozenCase] = []
    for done, position in enumerate(chosen, start=1):
        served = [text for text, found in kills.items() if position in found and open_times[text] > 0]
        open_times |= {text: open_times[text] - 1 for text in served}
        candidate = shrunk(candidates[position], rights, _still(served, bench))
        kinds = Counter(by_text[text].kind for text in served)
        caught = Counter(by_text[text].operator for text, found in kills.items() if position in found)
        cases.append(FrozenCase(candidate, kinds.most_common(1)[0][0], caught))
        show("shrink", done, len(chosen))
    return cases


def _missed(
    survivors: Sequence[WrongAnswer],
    cases: Sequence[FrozenCase],
    trials: Mapping[str, tuple[list[int], float]],
    bench: Bench,
) -> list[WrongAnswer]:
    """Wrong answers that fail on an input of the domain, but on no case: they remember earlier calls."""
    bench.learn([case.candidate.input for case in cases])
    return [wrong for wrong in survivors if trials[wrong.text][0] and not bench.trial(wrong.text).told_apart]


def _sequences(
    missed: Sequence[WrongAnswer], candidates: Sequence[Candidate], bench: Bench
) -> list[FrozenCase]:
    """For wrong answers with a memory, the shortest stretches of inputs after which they are wrong."""
    cases: list[FrozenCase] = []
    for wrong in missed:
        bench.learn([case.candidate.input for case in cases])
        if not bench.trial(wrong.text).told_apart:
            stretch = _stretch(wrong, candidates, bench)
            cases += [FrozenCase(candidate, "state", {wrong.operator: 1}) for candidate in stretch]
    return cases


def _stretch(wrong: WrongAnswer, candidates: Sequence[Candidate], bench: Bench) -> Sequence[Candidate]:
    """The first so many inputs of the pool, twice as many each time until it is wrong."""
    length = 2
    while length <= LONGEST_STRETCH:
        bench.learn([each.input for each in candidates[:length]])
        if bench.trial(wrong.text).told_apart:
            return candidates[:length]
        length *= 2
    return []


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
