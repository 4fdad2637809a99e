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
    "max for min": ("np.minimum(x, y)", {"np.maximum(x, y)"}),
    "min for max": ("np.maximum(x, y)", {"np.minimum(x, y)"}),
    "sign of an exponent": ("np.exp(x)", {"np.exp(-x)"}),
    "another axis": ("x.mean(-1, keepdims=True)", {"x.mean(keepdims=True, axis=0)"}),
    "no axis": ("x.mean(-1, keepdims=True)", {"x.mean(keepdims=True, axis=None)"}),
    "keepdims": ("x.mean(-1, keepdims=True)", {"x.mean(-1)"}),
    **{
        f"{new} for {old}": (f"r.{old}(-1)", {f"np.{new}(r, -1)"})
        for old, news in OTHERS.items()
        for new in news
    },
    "ddof 1": ("r.std(-1)", {"r.std(-1, ddof=1)"}),
    "ddof 0": ("r.std(-1, ddof=1)", {"r.std(-1, ddof=0)"}),
    "mean over all for mean of means": ("(v.sum(-1) / n).mean()", {"v.sum() / n.sum()"}),
    "a mean divisor for all rows": ("(v.sum(-1) / n).mean()", {"(v.sum(-1) / n.mean()).mean()"}),
    "every number counted": ("v.sum() / n", {"v.mean()"}),
    "not divided": ("v.mean()", {"v.sum()"}),
    "divided by the rows": ("v.mean()", {"v.sum() / len(v)"}),
    "the largest for the mean": ("v.mean()", {"v.max()"}),
    "the median for the mean": ("v.mean()", {"np.median(v)"}),
    "the first row for all": ("v.mean()", {"v[0].mean()"}),
    "zeros not counted": (
        "x.mean(-1)",
        {"x.sum(-1) / np.maximum(1, np.count_nonzero(x, -1))"},
    ),
    "a small number in a divisor": ("x / y", {"x / (y + 1e-08)"}),
    "a small number in a logarithm": ("np.log(x)", {"np.log(x + 1e-08)", "np.log(np.maximum(x, 1e-08))"}),
    "a small number in a root": ("np.sqrt(x)", {"np.sqrt(x + 1e-08)"}),
    "a smallest divisor": ("x / y", {"x / np.maximum(y, 1e-08)", "x / np.where(y == 0, 1, y)"}),
    "a divisor one larger": ("x / y", {"x / (y + 1)"}),
    "the small number after the division": ("x / (s + e)", {"x / s + e"}),
    "the small number in both": ("x / (s + e)", {"(x + e) / (s + e)"}),
    "the small number under the root": ("x / (s + e)", {"x / np.sqrt(s ** 2 + e)"}),
    "the small number as a bound": ("x / (s + e)", {"x / np.maximum(s, e)"}),
    "nearly equal taken for equal": (
        "x == y",
        {"np.isclose(x, y)", "abs(x - y) < 1e-12", "abs(x - y) < 1e-06"},
    ),
    "multiplied by the condition": ("np.where(m, v, 0.0)", {"v * m"}),
    "ones where nothing counts": ("np.where(m, v, 0.0)", {"np.where(m, v, 1.0)"}),
    "branches exchanged": ("np.where(m, v, 0.0)", {"np.where(m, 0.0, v)"}),
    "a condition of its own": ("np.where(m, v, 0.0)", {"np.where(np.isnan(v), 0.0, v)"}),
    "other selections": ("np.where(m, v, 0.0)", {"np.nan_to_num(v) * m"}),
    "no lower bound": ("np.clip(r, l, h)", {"np.minimum(r, h)"}),
    "no upper bound": ("np.clip(r, l, h)", {"np.maximum(r, l)"}),
    "bounds exchanged": ("np.clip(r, l, h)", {"np.clip(r, h, l)"}),
    "one bound from the other": ("np.clip(r, l, h)", {"np.clip(r, 1 / h, h)", "np.clip(r, l, 2 - l)"}),
    "clipped logarithm": ("np.clip(r, l, h)", {"np.exp(np.clip(np.log(r), l - 1, h - 1))"}),
    "clipped product": ("np.clip(r, l, h) * a", {"np.clip(r * a, l, h)"}),
    "bounds multiplied": ("np.clip(r, l, h) * a", {"np.clip(r, l * a, h * a)"}),
    "the other factor clipped": ("np.clip(r, l, h) * a", {"r * np.clip(a, l, h)"}),
    "by the size": ("np.minimum(x, y)", {"np.where(abs(x) < abs(y), x, y)"}),
    "the mean of two": ("np.minimum(x, y)", {"(x + y) / 2"}),
    "exponent clipped": (
        "np.exp(x)",
        {"np.exp(np.clip(x, -10, 10))", "np.exp(np.clip(x, -20, 20))", "np.exp(np.clip(x, -50, 50))"},
    ),
    "digits lost near 0": ("np.expm1(x)", {"np.exp(x) - 1"}),
    "an exponential too early": ("np.exp(x - y)", {"np.exp(x) / np.exp(y)"}),
    "logarithms one by one": ("np.log(x / y)", {"np.log(x) - np.log(y)"}),
    "mean of squares": (
        "x.std(-1, keepdims=True)",
        {"np.sqrt((x ** 2).mean(-1, keepdims=True) - x.mean(-1, keepdims=True) ** 2)"},
    ),
    "no maximum subtracted": ("x - x.max(-1, keepdims=True)", {"x", "x - x.max()"}),
    "a step clipped": ("x = f(y)", {"x = np.clip(f(y), -20, 20)", "x = np.maximum(f(y), 0)"}),
    "a step rounded": (
        "x = f(y)",
        {"x = np.round(f(y), 8)", "x = np.where(np.abs(f(y)) < 1e-09, 0.0, f(y))"},
    ),
    "a step without zeros": (
        "x = f(y)",
        {"x = np.maximum(f(y), 1e-08)", "x = np.where(f(y) == 0, 1.0, f(y))"},
    ),
    "equal to one for positive": ("m > 0", {"m == 1"}),
    "half for zero": ("m > 0", {"m > 0.5"}),
    "negative counts too": ("m > 0", {"m", "m != 0"}),
    "an integer division": ("x / y", {"x // y"}),
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
    assert steps == {
        "a step clipped",
        "a step rounded",
        "a step without zeros",
        "other selections",
        "another type",
        "nearly equal taken for equal",
    }
    assert all(operator.sentence.endswith(".") for operator in FIELD if operator.name not in steps)
