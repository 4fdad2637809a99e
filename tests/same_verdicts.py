"""Do a process and WebAssembly give the same verdicts? `python tests/same_verdicts.py [--most N] [--made N]`.

The answers are all right ones in every style, the wrong ones that were written by hand, and with --made so
many wrong ones of each exercise that were made by machine; with --most, only so many of each kind and
exercise, evenly chosen. Prints what differs; exit status 1 if a verdict does. Where both fail, tests may.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.attack.handwritten import collected
from grpo_ref.course.attack.mutants import wrong_answers
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.process import Process
from grpo_ref.course.grading.report import Report
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.grading.wasm import Wasm
from grpo_ref.course.right_answers import right_answers
from grpo_ref.render.progress import ProgressBar


class Answer(NamedTuple):
    """An answer to try: the exercise, what it is, and its text."""

    exercise: str
    about: str
    text: str


class Verdict(NamedTuple):
    """What came of an answer: the status, and the tests that fail."""

    status: str
    failed: tuple[str, ...]


def answers(most: int | None = None, made: int = 0) -> list[Answer]:
    """All answers to all exercises, or so many to each of either kind."""
    return [
        answer for name in PROBLEMS for kind in _kinds(name, made) for answer in kind[:: _step(kind, most)]
    ]


def _kinds(name: str, made: int) -> list[list[Answer]]:
    problem, right = PROBLEMS[name], right_answers(PROBLEMS[name])
    machine = wrong_answers(problem, right, made) if made else []
    return [
        [Answer(name, style, text) for style, text in right.items()],
        [Answer(name, each.sentence, each.text) for each in collected(name)],
        [Answer(name, f"{each.style}: {each.operator}, {each.change}", each.text) for each in machine[:made]],
    ]


def _step(kind: list[Answer], most: int | None) -> int:
    return 1 if most is None else max(1, -(-len(kind) // most))


def both(tried: list[Answer]) -> Iterator[tuple[Verdict, Verdict]]:
    """The verdicts of a process and of WebAssembly on each answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answer.py"
        for answer in tried:
            path.write_text(answer.text, encoding="utf-8")
            yield _verdict(answer, path, Process), _verdict(answer, path, Wasm)


def _verdict(answer: Answer, path: Path, make_room) -> Verdict:
    with Sandbox(path, make_room=make_room) as sandbox:
        report: Report = grade(PROBLEMS[answer.exercise], sandbox, explain=False)
    return Verdict(report.status, tuple(result.name for result in report.results if not result.passed))


def main() -> int:
    """Try them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int)
    parser.add_argument("--made", type=int, default=0)
    options = parser.parse_args()
    tried = answers(options.most, options.made)
    other_tests = other_verdicts = 0
    with ProgressBar("answers", "answer", len(tried)) as bar:
        for done, (answer, (process, wasm)) in enumerate(zip(tried, both(tried), strict=True), start=1):
            if process != wasm:
                print(f"{answer.exercise}: {answer.about}\n  process {process}\n  wasm    {wasm}", flush=True)
            other_verdicts += process.status != wasm.status
            other_tests += process != wasm and process.status == wasm.status
            bar.show(done, answer.exercise)
    print(f"{len(tried)} answers, {other_verdicts} with another verdict, {other_tests} fail other tests")
    return int(other_verdicts > 0)


if __name__ == "__main__":
    sys.exit(main())
