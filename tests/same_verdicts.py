"""Do a process and WebAssembly give the same verdicts? `python tests/same_verdicts.py [N]` tries both.

The answers are all right ones in every style, and the wrong ones that were written by hand; with a number,
only so many of each exercise, evenly chosen. Prints what differs; exit status 1 if anything does.
"""

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.attack.collected import collected
from grpo_ref.course.contents import source_of
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.process import Process
from grpo_ref.course.grading.report import Report
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.grading.wasm import Kept, Wasm
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.right_answers import right_answers
from grpo_ref.frontends.progress import ProgressBar


class Answer(NamedTuple):
    """An answer to try: the exercise, what it is, and its text."""

    exercise: str
    about: str
    text: str


def answers(most: int | None = None) -> list[Answer]:
    """All answers to all exercises, or so many to each of either kind."""
    return [answer for name in PROBLEMS for kind in _kinds(name) for answer in kind[:: _step(kind, most)]]


def _kinds(name: str) -> tuple[list[Answer], list[Answer]]:
    right = [Answer(name, style, text) for style, text in right_answers(PROBLEMS[name]).items()]
    return right, [
        Answer(name, each.sentence, each.text) for each in collected(name, source_of(name).checkout)
    ]


def _step(kind: list[Answer], most: int | None) -> int:
    return 1 if most is None else max(1, -(-len(kind) // most))


def differences(tried: list[Answer]) -> Iterator[str | None]:
    """What differs between the two verdicts on each answer, as a line; None where nothing does."""
    kept = Kept()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answer.py"
        for answer in tried:
            path.write_text(answer.text, encoding="utf-8")
            process = _verdict(answer, path, Process)
            wasm = _verdict(answer, path, partial(Wasm, kept=kept))
            if wasm != process:  # once more, in an interpreter of its own
                wasm = _verdict(answer, path, Wasm)
            same = wasm == process
            yield (
                None if same else f"{answer.exercise}: {answer.about}\n  process {process}\n  wasm    {wasm}"
            )
    kept.close()


def _verdict(answer: Answer, path: Path, make_room) -> tuple[str, list[str]]:
    """The status, and the tests that fail."""
    with Sandbox(path, make_room=make_room) as sandbox:
        report: Report = grade(PROBLEMS[answer.exercise], sandbox, explain=False)
    return report.status, [result.name for result in report.results if not result.passed]


def main() -> int:
    """Try them all."""
    tried = answers(int(sys.argv[1]) if len(sys.argv) > 1 else None)
    found = 0
    with ProgressBar("answers", "answer", len(tried)) as bar:
        for done, difference in enumerate(differences(tried), start=1):
            if difference is not None:
                found += 1
                print(difference, flush=True)
            bar.show(done, tried[done - 1].exercise)
    print(f"{len(tried)} answers, {found} with another verdict")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
