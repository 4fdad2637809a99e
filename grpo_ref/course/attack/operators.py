"""Mutation operators, and the general ones: mistakes that occur in every kind of program.

An operator is data: a name, the kind of mistake that it makes, the sentence for a student, and rules that
give the possible replacements of a node.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grpo_ref.course.attack.rewriting import Rewrite, pattern

KINDS = {
    "formula": ("The formula holds everywhere", "Every part of the formula counts on some input."),
    "axis": ("Along the right axis", "A statistic is taken along one axis; which one shows on few inputs."),
    "statistic": ("The statistic that is asked for", "On two-valued inputs, different statistics agree."),
    "epsilon": (
        "Small numbers only where the formula has them",
        "A small number added elsewhere changes small values.",
    ),
    "near": ("Nearly equal is not equal", "Values that differ a little are different."),
    "padding": ("Padding does not matter", "What stands where the mask is 0 must not reach the result."),
    "mask": ("Any mask that the statement allows", "Only the mask says what is a token."),
    "saturation": ("Very large and very small inputs", "Only the limits of the formula limit a value."),
    "unstable": ("Exact where rounding bites", "A form that is exact on paper may overflow or cancel."),
    "type": (
        "Whole numbers, lists and truth values",
        "Whole-number inputs have to be turned into floats first.",
    ),
    "argument": ("Every argument counts", "An argument is used as given, whatever its default."),
    "rows": ("All rows and all tokens", "Nothing is left out because of its position or its value."),
    "shape": ("Every shape that the statement allows", "The number of axes may differ from call to call."),
    "state": ("Each call stands for itself", "A second call must not remember the first, nor inputs change."),
}
"""Kind of mistake -> name and purpose of the check that consists of its cases, in the order of a report."""


@dataclass(frozen=True)
class Operator:
    """One way to make a right answer wrong.

    Attributes:
      name: name in a few words.
      kind: key of the mistake in `KINDS`.
      rules: functions that return the possible replacements of a node.
      sentence: explanation for a student whose answer returns the same values; "" if no sentence would help.
    """

    name: str
    kind: str
    rules: tuple[Rewrite, ...]
    sentence: str = ""


def _constants(node: ast.AST) -> Iterable[ast.AST]:
    """Make a number one larger or smaller, zero, twice as large or negative; scale a tiny number."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
        return []
    value = node.value
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    tiny = 0 < abs(value) < 1e-2
    others = (
        [0.0, 10 * value, value / 10, 1e4 * value] if tiny else [0 * value, value - 1, value + 1, 2 * value]
    )
    return [ast.Constant(other) for other in dict.fromkeys([*others, -value]) if other != value]


ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
LOGIC = (ast.BitAnd, ast.BitOr)


def _other_arithmetic(node: ast.AST) -> Iterable[ast.AST]:
    if not isinstance(node, ast.BinOp):
        return []
    family: Sequence[type[ast.operator]] = LOGIC if isinstance(node.op, LOGIC) else ARITHMETIC
    return [ast.BinOp(node.left, each(), node.right) for each in family if not isinstance(node.op, each)]


def _other_comparison(node: ast.AST) -> Iterable[ast.AST]:
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], COMPARISONS):
        return []
    return [
        ast.Compare(node.left, [each(), *node.ops[1:]], node.comparators)
        for each in COMPARISONS
        if not isinstance(node.ops[0], each)
    ]


def _other_logic(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.BoolOp):
        return [
            ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values),
            *node.values,
        ]
    return []


def _operand_dropped(node: ast.AST) -> Iterable[ast.AST]:
    return [node.left, node.right] if isinstance(node, ast.BinOp) else []


def _sign(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        return [node.operand]
    if isinstance(node, ast.Return) and node.value is not None:
        return [ast.Return(ast.UnaryOp(ast.USub(), node.value))]
    return []


def _negated(node: ast.AST) -> Iterable[ast.AST]:
    """Negate a condition."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        changed = {**dict(ast.iter_fields(node)), "test": ast.UnaryOp(ast.Not(), node.test)}
        return [type(node)(**changed)]
    return []


def _arguments(node: ast.AST) -> Iterable[ast.AST]:
    """Remove an argument of a call, exchange two, or replace the call by one of its arguments."""
    if not isinstance(node, ast.Call):
        return []
    given = node.args
    results: list[ast.AST] = [
        ast.Call(node.func, given[:i] + given[i + 1 :], node.keywords) for i in range(len(given))
    ]
    results += [
        ast.Call(node.func, given, node.keywords[:i] + node.keywords[i + 1 :])
        for i in range(len(node.keywords))
    ]
    for i in range(len(given) - 1):
        swapped = [*given[:i], given[i + 1], given[i], *given[i + 2 :]]
        results.append(ast.Call(node.func, swapped, node.keywords))
    return results + [each for each in given if not isinstance(each, ast.Starred)]


def _method_dropped(node: ast.AST) -> Iterable[ast.AST]:
    """Replace a method call by the object that the method was called on."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_value(node.func.value):
        return [node.func.value]
    return []


def _is_value(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Name) and node.id in ("np", "numpy", "math", "scipy"))


def _statement_dropped(node: ast.AST) -> Iterable[ast.AST]:
    dropped = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.Raise)
    results: list[ast.AST] = [ast.Pass()] if isinstance(node, dropped) else []
    if isinstance(node, ast.If):
        results.append(ast.If(ast.Constant(True), node.body, node.orelse))
    return results


def _early_return(node: ast.AST) -> Iterable[ast.AST]:
    """Return a value instead of assigning it."""
    return [ast.Return(node.value)] if isinstance(node, ast.Assign | ast.AugAssign) else []


def _subscript(node: ast.AST) -> Iterable[ast.AST]:
    return [node.value] if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else []


GENERAL = (
    Operator("constant", "formula", (_constants,)),
    Operator("arithmetic", "formula", (_other_arithmetic,)),
    Operator("comparison", "formula", (_other_comparison,)),
    Operator("logic", "formula", (_other_logic,)),
    Operator("operand dropped", "formula", (_operand_dropped,)),
    Operator("sign", "formula", (_sign,), "Has a sign the wrong way round."),
    Operator("condition negated", "formula", (_negated,), "Has a condition the wrong way round."),
    Operator("arguments dropped or swapped", "formula", (_arguments,)),
    Operator("method dropped", "formula", (_method_dropped,)),
    Operator("statement dropped", "formula", (_statement_dropped,)),
    Operator("early return", "formula", (_early_return,)),
    Operator("index dropped", "formula", (_subscript,)),
    Operator(
        "max for min",
        "formula",
        (pattern("np.minimum(A, B)", "np.maximum(A, B)"), pattern("min(A, B)", "max(A, B)")),
        "Takes the larger of two numbers where the smaller is asked for.",
    ),
    Operator(
        "min for max",
        "formula",
        (
            pattern("np.maximum(A, B)", "np.minimum(A, B)"),
            pattern("max(A, B)", "min(A, B)"),
            pattern("A.max(B)", "A.min(B)"),
        ),
        "Takes the smaller of two numbers where the larger is asked for.",
    ),
    Operator(
        "sign of an exponent",
        "formula",
        (pattern("np.exp(A)", "np.exp(-A)"), pattern("np.log(A)", "-np.log(A)")),
        "Has the wrong sign in an exponent or before a logarithm.",
    ),
)
"""The general operators."""
