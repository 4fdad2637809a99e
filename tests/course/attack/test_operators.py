"""The operators, general ones and those of the field: each makes the mistake that it is named for."""

import ast

import pytest

from grpo_ref.course.attack.grpo_operators import FIELD, OTHERS
from grpo_ref.course.attack.operators import GENERAL, KINDS
from grpo_ref.course.attack.rewriting import rewritten

OPERATORS = {operator.name: operator for operator in (*GENERAL, *FIELD)}
MADE = {
    "constant": ("x + 1", {"x + 0", "x + 2", "x + -1"}),
    "arithmetic": ("x - y", {"x + y", "x * y", "x / y", "x ** y"}),
    "comparison": ("x < y", {"x <= y", "x > y", "x == y"}),
    "logic": ("x and y", {"x or y", "x", "y"}),
    "operand dropped": ("x - y", {"x", "y"}),
    "sign": ("-x", {"x"}),
    "condition negated": ("x if y else z", {"x if not y else z"}),
    "arguments dropped or swapped": ("f(x, y, k=z)", {"f(y, x, k=z)", "f(x, y)", "f(x, k=z)", "x"}),
    "method dropped": ("x.sum(-1)", {"x"}),
    "statement dropped": ("x = y", {"pass"}),
    "early return": ("x = y", {"return y"}),
    "index dropped": ("x[0]", {"x"}),
    "min for max": ("np.minimum(x, y)", {"np.maximum(x, y)"}),
    "axis": (
        "x.mean(-1, keepdims=True)",
        {"x.mean(-1)", "x.mean(keepdims=True, axis=0)", "x.mean(keepdims=True, axis=None)"},
    ),
    **{
        f"{new} for {old}": (f"r.{old}(-1)", {f"np.{new}(r, -1)"})
        for old, news in OTHERS.items()
        for new in news
    },
    "ddof": ("r.std(-1)", {"r.std(-1, ddof=0)", "r.std(-1, ddof=1)"}),
    "mean of means against mean": ("(v.sum(-1) / n).mean()", {"v.sum() / n.sum()"}),
    "zeros not counted": (
        "x.mean(-1)",
        {"x.sum(-1) / np.maximum(1, np.count_nonzero(x, -1))"},
    ),
    "a small number added": ("x / y", {"x / (y + 1e-08)"}),
    "a divisor held": ("x / y", {"x / np.maximum(y, 1e-08)", "x / np.where(y == 0, 1, y)", "x / (y + 1)"}),
    "the small number elsewhere": (
        "x / (s + e)",
        {"x / s + e", "x / np.sqrt(s ** 2 + e)", "x / np.maximum(s, e)"},
    ),
    "nearly equal taken for equal": (
        "x == y",
        {"np.isclose(x, y)", "abs(x - y) < 1e-12", "abs(x - y) < 1e-06"},
    ),
    "multiplied by the mask": ("np.where(m, v, 0.0)", {"v * m", "np.nan_to_num(v) * m"}),
    "clip elsewhere": ("np.clip(r, l, h) * a", {"np.clip(r * a, l, h)", "np.minimum(r, h) * a"}),
    "clamp": (
        "np.exp(x)",
        {"np.exp(np.clip(x, -10, 10))", "np.exp(np.clip(x, -20, 20))", "np.exp(np.clip(x, -50, 50))"},
    ),
    "a step held in a range": ("x = f(y)", {"x = np.clip(f(y), -20, 20)", "x = np.maximum(f(y), 0)"}),
    "a step rounded": (
        "x = f(y)",
        {"x = np.round(f(y), 8)", "x = np.where(np.abs(f(y)) < 1e-09, 0.0, f(y))"},
    ),
    "a step without zeros": (
        "x = f(y)",
        {"x = np.maximum(f(y), 1e-08)", "x = np.where(f(y) == 0, 1.0, f(y))"},
    ),
    "unstable form": ("np.expm1(x)", {"np.exp(x) - 1"}),
    "another condition": ("m > 0", {"m == 1", "m", "m > 0.5", "m != 0"}),
    "another type": (
        "np.asarray(x, dtype=float)",
        {"np.asarray(x, dtype=np.float32)", "np.asarray(x, dtype=int)"},
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_makes_its_mistake(name):
    text, expected = MADE[name]
    tree = ast.parse(text)
    made = {each for rule in OPERATORS[name].rules for each in rewritten(tree, tree, rule)}
    assert expected <= made
    assert text not in made


def test_every_operator_belongs_to_a_kind():
    assert {operator.kind for operator in OPERATORS.values()} <= set(KINDS)


def test_the_operators_of_the_field_have_a_sentence_for_the_student():
    steps = {operator.name for operator in FIELD if not operator.sentence}
    assert steps == {"a step held in a range", "a step rounded", "a step without zeros"}
    assert all(operator.sentence.endswith(".") for operator in FIELD if operator.name not in steps)
