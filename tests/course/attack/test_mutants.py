"""The wrong answers of an exercise: each text once, and each is a program that can be read."""

import numpy as np
import pytest

from grpo_ref.course.attack.mutants import wrong_answers
from grpo_ref.course.attack.operators import KINDS
from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.problem import Case, Problem

RIGHT = '''"""Text."""
import numpy as np

def scaled(values, mask, eps=0.5):
    """Text."""
    values = np.asarray(values, dtype=float)
    return np.where(np.asarray(mask) > 0, values, 0.0) / eps
'''
LOOP = """
import numpy as np

def scaled(values, mask, eps=0.5):
    return np.array([[v / eps if m else 0.0 for v, m in zip(*r)] for r in zip(values, mask)])
"""
DOMAIN = Domain(
    {"values": Real("N T", (-1, 1), padding="mask"), "mask": Mask("N T"), "eps": Scalar(0.5, (0.1, 1))},
    sizes={"N": (1, 2), "T": (1, 2)},
)
PROBLEM = Problem(
    id="toys/scaled",
    title="Scaled",
    function="scaled",
    reference=lambda values, mask, eps=0.5: np.where(np.asarray(mask) > 0, values, 0.0) / eps,
    checks=(Case("One", ([[1.0]], [[1]]), np.array([[2.0]]), why="by one half", shown=True),),
    mutants=(),
    hints=(),
    source="",
    domain=DOMAIN,
)
MADE = wrong_answers(PROBLEM, {"arrays": RIGHT, "a loop": LOOP})


def of(operator):
    return [wrong for wrong in MADE if wrong.operator == operator]


def value(wrong, *arguments, **keywords):
    namespace = {}
    exec(wrong.text, namespace)
    return namespace["scaled"](*arguments, **keywords)


def test_every_text_comes_once_and_none_is_right():
    texts = [wrong.text for wrong in MADE]
    assert len(set(texts)) == len(texts) > 100
    assert "'''" not in texts[0]
    assert {wrong.style for wrong in MADE} == {"arrays", "a loop"}
    assert {wrong.kind for wrong in MADE} <= set(KINDS)


def test_what_was_changed_is_told():
    changes = {wrong.change for wrong in of("multiplied by the condition")}
    line = "return {} / eps"
    before = line.format("np.where(np.asarray(mask) > 0, values, 0.0)")
    assert f"- {before}\n+ {line.format('values * (np.asarray(mask) > 0)')}" in changes


VALUES, ONES = np.array([[0.25, -0.5]]), np.ones((1, 2))
WRAPPED = {
    "an argument held in a range": ("values: held in a range", 0, [[0.5, -1.0]]),
    "the sign of an argument lost": ("values: without sign", 0, [[0.5, 1.0]]),
    "a mask inverted": ("mask: inverted", 0, [[0.0, 0.0]]),
    "a default frozen": ("eps: not used", 0, [[0.5, -1.0]]),
    "the result rounded to four digits": ("result: rounded", 0, [[0.5, -1.0]]),
    "the result with the other sign": ("result: the other sign", 0, [[-0.5, 1.0]]),
}


@pytest.mark.parametrize(("operator", "which", "expected"), WRAPPED.values(), ids=WRAPPED)
def test_a_wrapper_changes_what_it_says(operator, which, expected):
    np.testing.assert_allclose(value(of(operator)[which], VALUES, ONES), expected)


def test_a_frozen_default_shows_when_another_value_is_given():
    np.testing.assert_allclose(value(of("eps: not used")[0], VALUES, ONES, eps=0.1), [[0.5, -1.0]])


def test_a_memory_gives_the_first_result_for_other_numbers_of_the_same_shape():
    namespace = {}
    exec(of("remembered by shape")[0].text, namespace)
    namespace["scaled"](VALUES, ONES)
    np.testing.assert_allclose(namespace["scaled"](3 * VALUES, ONES), [[0.5, -1.0]])


def test_an_input_is_changed_in_place():
    values = VALUES.copy()
    value(of("values changed in place")[0], values, ONES)
    assert (values == 0).all()


def test_sentences_name_the_argument():
    assert of("eps: not used")[0].sentence == "Ignores the argument eps."
