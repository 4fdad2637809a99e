"""Right answers in other styles: every one passes its exercise, and stands alone in its text."""

import pytest

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.grade import grade
from grpo_ref.course.right_answers import right_answers, styles

FEWEST = 6
TEXT = """
import math
import numpy as np

def _helper(x):
    return math.fsum(x)

def with_fsum(x):
    return _helper(x)

def halved(x):
    return halved(x[:1]) + halved(x[1:]) if len(x) > 1 else np.asarray(x[0])
"""


def test_a_style_stands_alone_under_the_name_that_is_asked_for():
    made = styles(TEXT, "total")
    assert list(made) == ["with_fsum", "halved"]
    assert made["with_fsum"].count("def ") == 2
    assert "import numpy" not in made["with_fsum"]
    assert made["halved"].count("def ") == 1
    namespace = {}
    exec(made["halved"], namespace)
    assert namespace["total"]([1.0, 2.0, 4.0]) == 7.0


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_style_passes_in_the_sandbox(name, tmp_path):
    problem = PROBLEMS[name]
    for name, text in right_answers(problem).items():
        file = tmp_path / f"{name}.py"
        file.write_text(text)
        report = grade(problem, file)
        assert report.status == "passed", (name, [result for result in report.results if not result.passed])


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_exercise_has_right_answers_in_at_least_six_styles(name):
    assert len(right_answers(PROBLEMS[name])) > FEWEST
