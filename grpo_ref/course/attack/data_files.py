"""Write the results of an attack into the folder of the exercise: hidden cases, known mistakes, answers that
are left.
"""

import json
from pathlib import Path
from typing import Any

from grpo_ref.course.attack.operators import KINDS
from grpo_ref.course.attack.run import FrozenCase, Left, Outcome
from grpo_ref.course.grading.diagnosis import MISTAKES
from grpo_ref.course.grading.found_cases import CASES, frozen
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import exercise_folder
from grpo_ref.files import replace_text

LEFT = "left.json"
WIDTH = 108


def file_of_cases(problem: Problem) -> Path:
    """Return the path of the hidden cases of an exercise."""
    return exercise_folder(problem.id) / CASES


def file_of_left(problem: Problem) -> Path:
    """Return the path of the list of wrong answers that are right on every tried input of the domain."""
    return exercise_folder(problem.id) / LEFT


def freeze(outcome: Outcome) -> None:
    """Write the three files. Reasons that an author gave for answers on the list are kept."""
    left = file_of_left(outcome.problem)
    reasons = reasons_of(left)
    replace_text(left, readable([_left(each, reasons) for each in outcome.left]) + "\n")
    replace_text(file_of_cases(outcome.problem), readable(_data(outcome)) + "\n")
    replace_text(exercise_folder(outcome.problem.id) / MISTAKES, readable(_mistakes(outcome)) + "\n")


def _mistakes(outcome: Outcome) -> dict[str, Any]:
    """Return the distinct sentences, and for every behavior the index of its sentence and its symbols."""
    sentences = list(dict.fromkeys(each.sentence for each in outcome.mistakes))
    known = [[sentences.index(each.sentence), "".join(each.symbols)] for each in outcome.mistakes]
    return {"sentences": sentences, "mistakes": known}


def most_of(problem: Problem) -> int:
    """Return the largest number of wrong answers that the search for the stored cases allowed."""
    return int(json.loads(file_of_cases(problem).read_text(encoding="utf-8"))["search"]["most"])


def reasons_of(path: Path) -> dict[str, str]:
    """Return, for each change, the reason why it is not a mistake, or "" if none is given."""
    left = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return {each["change"]: each.get("reason", "") for each in left}


def _data(outcome: Outcome) -> dict[str, Any]:
    kinds = {
        kind: {
            "name": name,
            "why": why,
            "cases": [_case(each) for each in outcome.cases if each.kind == kind],
        }
        for kind, (name, why) in KINDS.items()
    }
    rounding = sum(each.is_rounding for each in outcome.left)
    return {
        "about": f"made by: grpo-ref dev attack {outcome.problem.id}",
        "counts": {
            "right answers": len(outcome.styles),
            "made": outcome.made,
            "caught by hidden cases": sum(outcome.caught.values()),
            "caught by drawn inputs only": outcome.missed,
            "caught by the author's checks only": sum(outcome.by_checks.values()),
            "left, equal to rounding": rounding,
            "left, within the tolerance": len(outcome.left) - rounding,
            "cases": len(outcome.cases),
        },
        "search": {
            "seed": outcome.seed,
            "most": outcome.most,
            "drawn": outcome.drawn,
            "fit to judge by": outcome.tried,
        },
        "first caught by": dict(outcome.caught),
        "caught only by": dict(outcome.by_checks),
        "unfit": {reason: len(draws) for reason, draws in outcome.unfit.items()},
        "kinds": {kind: data for kind, data in kinds.items() if data["cases"]},
    }


def _case(case: FrozenCase) -> dict[str, Any]:
    given = case.candidate.input
    data: dict[str, Any] = {
        "arguments": [frozen(value) for value in given.arguments],
        "keywords": {name: frozen(value) for name, value in given.keywords.items()},
    }
    data |= {"raises": given.raises} if given.raises else {"expected": frozen(given.expected)}
    return {**data, "tells apart": dict(case.tells_apart)}


def _left(left: Left, reasons: dict[str, str]) -> dict[str, Any]:
    wrong = left.wrong
    data = {
        "operator": wrong.operator,
        "from": wrong.style,
        "change": wrong.change,
        "deviation": float(f"{left.deviation:.1e}"),
        "equal to rounding": left.is_rounding,
    }
    reason = reasons.get(wrong.change)
    return data | ({"reason": reason} if reason else {})


def readable(value: Any, depth: int = 0) -> str:
    """Format JSON with one line for each value that fits on a line, and for each case."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + depth <= WIDTH or depth >= 4 or not isinstance(value, dict | list):
        return line
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, dict):
        items = [f"{json.dumps(name)}: {readable(item, depth + 1)}" for name, item in value.items()]
        return "{" + indent + f",{indent}".join(items) + "\n" + " " * depth + "}"
    return (
        "["
        + indent
        + f",{indent}".join(readable(item, depth + 1) for item in value)
        + "\n"
        + " " * depth
        + "]"
    )
