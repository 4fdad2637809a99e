"""A class that nobody is in: results as `ClassResults` stores them, some of them hostile."""

import numpy as np

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.exercises import PROBLEMS

HOSTILE = (
    "<script>alert(1)</script>",
    "![x](http://evil.example/x.png) [y](javascript:alert(1)) http://evil.example www.evil.example",
    "# heading\n\n* item | cell | `code` **bold** ~~~ ``` &lt; <b>bold</b>",
    "\x00\x1b[31m\u202egnp.exe\ud800\u2028end",
    "</pre></code></details></td></table><img src=x onerror=alert(1)>",
    "````\n</textarea><style>*{display:none}</style>\n````",
    "1. one\n2) two\n---\n===\n    four blanks",
    "x" * 100_000,
    '" onmouseover="alert(1)',
    "",
)
"""Text that would be more than text on a page that takes no care."""


def outcome(name, passed, **more):
    """One test of an exercise."""
    test = {"called": "", "returned": "", "raised": False, "wrong": "", "why": "", "likely": ""}
    return {"name": name, "passed": passed, **test, "warnings": [], "printed": "", **more}


def failure(name, **more):
    """A test that an answer fails."""
    told = {"called": "f([1, 2])", "returned": "0.5", "wrong": "0.5 is too small: expected 1"}
    return outcome(name, False, **{**told, "why": "the mean of two", **more})


def exercise(name, tests, points=0.0, status="failed", **more):
    """One exercise of a result."""
    problem = PROBLEMS[name]
    told = {"diagnosis": "", "symptom": "", "printed": "", "warnings": [], "protection": ""}
    return {
        "id": name,
        "title": problem.title,
        "status": status,
        "points": points,
        "of": problem.points,
        "seed": 5,
        "official": True,
        "marking": "",
        **told,
        "tests": tests,
        **more,
    }


def result(student, exercises, notes=()):
    """The record of one student, with its marks in the exercises."""
    points, of = round(sum(each["points"] for each in exercises), 2), sum(each["of"] for each in exercises)
    part = {"name": "course", "points": points, "of": of, "weight": of, "days_late": 0, "lost": 0.0}
    return {
        "version": 2,
        "student": student,
        "key": "",
        "seed": 5,
        "official": True,
        "submitted": None,
        "points": points,
        "of": of,
        "percent": 100.0 * points / of if of else 0.0,
        "marking": [],
        "assignments": [part],
        "marks": {},
        "missing": [each["id"] for each in exercises if each["status"] == "not started"],
        "notes": list(notes),
        "exercises": exercises,
    }


def made_up_class(students, seed=0):
    """So many results: a student's skill and an exercise's difficulty decide what is passed."""
    generator = np.random.default_rng(seed)
    skills, hardness = generator.normal(0.8, 1.0, students), generator.normal(0.0, 0.8, len(EXERCISES))
    return [
        result(
            f"student {number:03}",
            [_drawn(name, skill - hard, generator) for name, hard in zip(EXERCISES, hardness, strict=True)],
            ["essay.py is the answer to no exercise"] if number % 9 == 4 else [],
        )
        for number, skill in enumerate(skills)
    ]


def _drawn(name, ease, generator):
    """One exercise of somebody to whom it is so easy."""
    problem, luck = PROBLEMS[name], generator.logistic() + ease
    checks = [check.name for check in problem.checks]
    if luck < -2.5:
        return exercise(name, [], status="not started")
    if luck < -2.2:
        wrong = "it could not be loaded: loading the file took more than 7 s"
        return exercise(name, [failure("The file can be loaded", called="", returned="", wrong=wrong)])
    if luck > 0:
        return exercise(name, [outcome(each, True) for each in checks], problem.points, "passed")
    tests = [
        outcome(each, True) if generator.random() < 0.6 else failure(each, printed="rows 3\n")
        for each in checks
    ]
    share = sum(test["passed"] for test in tests) / len(tests) / 2
    mutants = [mutant.tell for mutant in problem.mutants]
    tell = mutants[int(min(generator.geometric(0.4), len(mutants))) - 1] if generator.random() < 0.7 else ""
    return exercise(name, tests, round(problem.points * share, 2), diagnosis=tell)
