"""The bench on which wrong answers are tried: many in one sandboxed process, each call with a time limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from grpo_ref.course.grading import wire
from grpo_ref.course.grading.diagnosis import CHANGED, RAISED, RIGHT, UNKNOWN, symbol
from grpo_ref.course.grading.found_cases import Input
from grpo_ref.course.grading.judge import difference
from grpo_ref.course.grading.limits import Limits
from grpo_ref.course.grading.problem import Calls, Check, Problem, Raised
from grpo_ref.course.grading.sandbox import Reply, Sandbox

RUNNER = Path(__file__).with_name("runner.py")
SECONDS = 1.0
"""Time limit of one call, in seconds. A call that takes longer counts as hanging."""
START_SECONDS = 10.0
"""Time limit for loading a wrong answer with the libraries that it imports, in seconds."""
ENDLESS = float("inf")
MANY = 10**15
LIMITS = Limits(
    seconds=2 * SECONDS,
    impatient_seconds=2 * SECONDS,
    rest=ENDLESS,
    total=ENDLESS,
    received=MANY,
    values=MANY,
)
"""Limits of one call. Total time and size are unlimited, as thousands of wrong answers share a process."""
FIRST, BLOCK = 12, 200
"""Number of inputs that are tried with one message: few at first, because most wrong answers fail early."""
FAR = 10.0
"""A wrong answer counts as wrong on an input if it deviates by this many tolerances, so that there is no
doubt.
"""
AGREES, WRONG, UNTRIED = 0, 1, 2


@dataclass(frozen=True)
class Tried:
    """The result of trying one wrong answer on several inputs.

    Attributes:
      verdicts: one for each input: AGREES, WRONG, or UNTRIED after a hang or after enough wrong ones.
      nearest: largest deviation, relative to the largest expected magnitude, over the inputs judged right.
    """

    verdicts: tuple[int, ...]
    nearest: float

    @property
    def wrong_on(self) -> list[int]:
        """Indices of the inputs on which the answer is wrong."""
        return [position for position, verdict in enumerate(self.verdicts) if verdict == WRONG]


class Bench:
    """A sandbox for the wrong answers of one exercise. Use it in a `with` statement."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.sandbox = Sandbox(RUNNER, LIMITS)
        self.inputs: list[Input] = []
        self.texts: list[str] = []
        self.taught = False
        self.known: dict[tuple[int, str], tuple[int, float]] = {}

    def __enter__(self) -> Self:
        self.sandbox.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.sandbox.__exit__(kind, error, trace)

    def learn(self, inputs: Sequence[Input]) -> None:
        """Store these inputs for the following trials."""
        self.inputs, self.taught, self.known = list(inputs), False, {}
        self.texts = ["" if each.raises else wire.dumps(each.expected) for each in self.inputs]

    def first_failed(self, text: str, checks: Sequence[Check], seed: int) -> str | None:
        """Return the name of the first check that a wrong answer fails, or None if it passes all.

        A check that raises an exception counts as failed.
        """
        submission = _Submission(self, text)
        for check in checks:
            try:
                check.run(submission, self.problem, seed)
            except Exception:
                return check.name
        return None

    def trial(self, text: str, enough: int | None = None) -> Tried:
        """Return the verdicts on the stored inputs, up to the point at which `enough` of them are wrong."""
        enough = len(self.inputs) + 1 if enough is None else enough
        verdicts: list[int] = []
        deviations = [0.0]
        while len(verdicts) < len(self.inputs):
            first = len(verdicts)
            last = first + BLOCK if first else FIRST
            found = self._outcomes(text, first, min(last, len(self.inputs)))
            judged = [self._verdict(first + offset, outcome) for offset, outcome in enumerate(found)]
            verdicts += [verdict for verdict, _ in judged]
            deviations += [deviation for verdict, deviation in judged if verdict == AGREES]
            slow = not found or found[-1][0] == "slow"
            if slow or verdicts.count(WRONG) >= enough:
                break
        untried = [UNTRIED] * (len(self.inputs) - len(verdicts))
        return Tried((*verdicts, *untried), max(deviations))

    def symbols(self, text: str) -> list[str]:
        """Return a symbol for what the wrong answer returns on each stored input; unknown after a hang."""
        outcomes = self._outcomes(text, 0, len(self.inputs))
        signs = [self._symbol(given, each) for given, each in zip(self.inputs, outcomes, strict=False)]
        return signs + [UNKNOWN] * (len(self.inputs) - len(signs))

    def _symbol(self, given: Input, outcome: tuple[Any, ...]) -> str:
        if outcome[0] == "same":
            return RIGHT
        if outcome[0] == "slow":
            return UNKNOWN
        if outcome[0] == "raised":
            return RIGHT if given.raises in outcome[1] else RAISED
        if outcome[2]:
            return CHANGED
        return symbol(wire.loads(outcome[1]), given, self.problem.rtol)

    def begin(self, text: str) -> Reply:
        """Load a wrong answer, to be used by the following calls."""
        self.sandbox.seconds = START_SECONDS
        reply = self.sandbox.call("begin", (text, self.problem.function), {})
        self.sandbox.seconds = 2 * SECONDS
        return reply

    def _outcomes(self, text: str, first: int, last: int) -> list[tuple[Any, ...]]:
        """Return the outcomes of some inputs. A process that died or hung counts as slow at the first of
        them.
        """
        if not self.taught:
            inputs = [(each.arguments, dict(each.keywords)) for each in self.inputs]
            self.taught = self.sandbox.call("learn", (inputs, self.texts), {}).ok
        if first == 0 and not self.begin(text).ok:
            return [("raised", ["Exception"])] * (last - first)
        reply = self.sandbox.call("outcomes", (first, last, SECONDS), {})
        if reply.ok:
            return list(reply.value)
        self.taught = False
        return [("slow",)]

    def _verdict(self, position: int, outcome: tuple[Any, ...]) -> tuple[int, float]:
        """Return AGREES or WRONG, and the deviation."""
        given = self.inputs[position]
        if outcome[0] == "same":
            return AGREES, 0.0
        if outcome[0] == "slow":
            return WRONG, 0.0
        if outcome[0] == "raised":
            return (AGREES if given.raises in outcome[1] else WRONG), 0.0
        if given.raises or outcome[2]:
            return WRONG, 0.0
        known = self.known.get((position, outcome[1]))
        if known is None:
            got = wire.loads(outcome[1])
            wrong = difference(got, given.expected, FAR * self.problem.rtol)
            known = (WRONG, 0.0) if wrong else (AGREES, deviation(got, given.expected))
            self.known[position, outcome[1]] = known
        return known


class _Submission:
    """One wrong answer on the bench, with the interface that checks expect."""

    def __init__(self, bench: Bench, text: str) -> None:
        self.bench = bench
        self.reply: Reply | None = None
        self.begun = bench.begin(text)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if not self.begun.ok:
            raise Raised(self.begun.kinds, self.begun.message)
        reply = self.bench.sandbox.call("call", arguments, keywords)
        if "TimedOut" in reply.kinds or "Died" in reply.kinds:
            self.bench.taught = False
            self.begun = reply
        self.reply = reply
        if reply.ok:
            return reply.value
        raise Raised(reply.kinds, reply.message)

    def announce(self, calls: Calls) -> None:
        """Do nothing: calls are made one by one."""

    def inputs_after(self) -> Any:
        return None if self.reply is None else self.reply.inputs

    def forget(self) -> None:
        """Do nothing: no calls are stored."""


def deviation(got: Any, expected: Any) -> float:
    """Return the largest difference relative to the largest expected magnitude, or to 1 if all expected
    values are 0.

    >>> round(deviation([1.0, 4.0], np.array([1.0, 4.1])), 3)
    0.024
    """
    if isinstance(expected, tuple):
        return max(map(deviation, got, expected), default=0.0)
    if isinstance(expected, Mapping):
        return max((deviation(got[name], each) for name, each in expected.items()), default=0.0)
    if expected is None or isinstance(expected, str):
        return 0.0
    ours, theirs = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    finite = np.isfinite(theirs)
    largest = np.abs(theirs[finite]).max(initial=0.0)
    return float(np.abs(ours[finite] - theirs[finite]).max(initial=0.0) / (largest or 1.0))
