"""The operators of this field: mistakes with axes, masks, small numbers, rounding and clips."""

import ast
from collections.abc import Iterable
from typing import NamedTuple

from grpo_ref.course.attack.operators import Operator
from grpo_ref.course.attack.rewriting import Rewrite, pattern

REDUCTIONS = frozenset("sum mean std var max min prod median cumsum argmax argmin any all ptp".split())
EVERY_SIZE = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
BOUNDS = (10, 20, 50)
THRESHOLDS = (1e-12, 1e-9, 1e-6, 1e-3)


class Reduction(NamedTuple):
    """A call such as `x.mean(-1)` or `np.mean(x, -1)`.

    Attributes:
      call: the whole call.
      name: name of the statistic.
      data: the operand if it is an argument of the call, else empty.
      operand: the operand, whether it is an argument or not.
    """

    call: ast.Call
    name: str
    data: list[ast.expr]
    operand: list[ast.expr]


def _reduction(node: ast.AST) -> Reduction | None:
    """Return the node as a call of a reduction, or None."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr not in REDUCTIONS:
        return None
    of_numpy = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
    data = node.args[:1] if of_numpy else []
    return Reduction(node, node.func.attr, data, data or [node.func.value])


def _axis(node: ast.AST) -> Iterable[ast.AST]:
    """Reduce along each other axis and over everything, and toggle `keepdims`."""
    found = _reduction(node)
    if found is None:
        return []
    call, data = found.call, found.data
    keywords = [each for each in call.keywords if each.arg != "axis"]
    now = [ast.unparse(each) for each in call.args[len(data) :]]
    now += [ast.unparse(each.value) for each in call.keywords if each.arg == "axis"]
    results: list[ast.AST] = [
        ast.Call(call.func, data, [*keywords, ast.keyword("axis", ast.parse(axis, mode="eval").body)])
        for axis in ("None", "0", "1", "-1", "-2")
        if axis not in (now or ["None"])
    ]
    kept = [each for each in call.keywords if each.arg != "keepdims"]
    results.append(ast.Call(call.func, call.args, kept))
    if len(kept) == len(call.keywords):
        keep = ast.keyword("keepdims", ast.Constant(True))
        results.append(ast.Call(call.func, call.args, [*kept, keep]))
    return results


def _statistic(old: str, new: str) -> Rewrite:
    """Replace one statistic by another with the same axis."""

    def rewrite(node: ast.AST) -> Iterable[ast.AST]:
        found = _reduction(node)
        if found is None or found.name != old:
            return []
        others = found.call.args[len(found.data) :]
        return [ast.Call(ast.Attribute(ast.Name("np"), new), [*found.operand, *others], found.call.keywords)]

    return rewrite


def _divisor(node: ast.AST) -> Iterable[ast.AST]:
    """Toggle the ddof of a standard deviation or a variance."""
    found = _reduction(node)
    if found is None or found.name not in ("std", "var"):
        return []
    call, others = found.call, [each for each in found.call.keywords if each.arg != "ddof"]
    return [
        ast.Call(call.func, call.args, [*others, ast.keyword("ddof", ast.Constant(ddof))]) for ddof in (0, 1)
    ]


STATISTICS = {
    "mean": "mean",
    "median": "median",
    "sum": "sum",
    "prod": "product",
    "max": "largest number",
    "min": "smallest number",
    "std": "standard deviation",
    "var": "variance",
    "ptp": "difference of the largest and the smallest number",
}
OTHERS = {
    "mean": ("median", "sum", "max", "min"),
    "median": ("mean",),
    "std": ("var", "ptp"),
    "var": ("std", "ptp"),
    "sum": ("mean", "max", "prod"),
    "max": ("min", "mean", "sum"),
    "min": ("max", "mean"),
}


def _types(node: ast.AST) -> Iterable[ast.AST]:
    """Replace the type `float` of an argument `dtype`."""
    if isinstance(node, ast.keyword) and node.arg == "dtype":
        return [
            ast.keyword("dtype", ast.parse(text, mode="eval").body) for text in ("np.float32", "int", "None")
        ]
    return []


def _intermediate(*codes: str) -> Rewrite:
    """Change the value assigned to a name; A in the codes stands for the value."""
    change = pattern("A", *codes)

    def rewrite(node: ast.AST) -> Iterable[ast.AST]:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return []
        if isinstance(node.value, ast.Constant | ast.Name | ast.List | ast.Dict):
            return []
        return [
            ast.Assign(node.targets, value) for value in change(node.value) if isinstance(value, ast.expr)
        ]

    return rewrite


def _other_divisor() -> tuple[str, ...]:
    held = [f"A / np.maximum(B, {size!r})" for size in (1e-8, 1e-4, 1.0)]
    return (*held, "A / np.where(B == 0, 1, B)", "A / (B + 1)")


FIELD = (
    Operator(
        "axis",
        "axis",
        (_axis,),
        "A statistic is taken along another axis, over everything, or with an axis too many or too few left.",
    ),
    *(
        Operator(
            f"{new} for {old}",
            "statistic",
            (_statistic(old, new),),
            f"The {STATISTICS[new]} is taken where the {STATISTICS[old]} is asked for.",
        )
        for old, news in OTHERS.items()
        for new in news
    ),
    Operator(
        "ddof",
        "statistic",
        (_divisor,),
        "A standard deviation divides by G - 1 (ddof=1) where it has to divide by G, or the other way round.",
    ),
    Operator(
        "mean of means against mean",
        "statistic",
        (
            pattern("(A.sum(B) / C).mean()", "A.sum() / C.sum()", "(A.sum(B) / C.mean()).mean()"),
            pattern("A.sum() / B", "A.mean()", "A.mean(-1).sum() / B"),
            pattern("A.mean()", "A.sum()", "A.max()", "np.median(A)", "A.sum() / len(A)", "A[0].mean()"),
        ),
        "A mean is not the formula's: rows of different lengths weigh differently in it, or its sum is"
        " divided by another number.",
    ),
    Operator(
        "zeros not counted",
        "rows",
        (
            pattern("A.mean()", "A.sum() / max(1, np.count_nonzero(A))", "A[A != 0].mean()"),
            pattern("A.mean(B)", "A.sum(B) / np.maximum(1, np.count_nonzero(A, B))"),
            pattern(
                "A.mean(B, keepdims=True)",
                "A.sum(B, keepdims=True) / np.maximum(1, np.count_nonzero(A, B, keepdims=True))",
            ),
        ),
        "Members whose value is 0 are left out of a mean that counts them.",
    ),
    Operator(
        "a small number added",
        "epsilon",
        (
            pattern("A / B", *(f"A / (B + {size!r})" for size in EVERY_SIZE)),
            pattern("np.log(A)", *(f"np.log(A + {size!r})" for size in EVERY_SIZE)),
            pattern("np.log(A)", *(f"np.log(np.maximum(A, {size!r}))" for size in EVERY_SIZE)),
            pattern("np.sqrt(A)", *(f"np.sqrt(A + {size!r})" for size in EVERY_SIZE)),
        ),
        "A small number is added, or holds a value away from 0, where the formula has none.",
    ),
    Operator(
        "a divisor held",
        "epsilon",
        (pattern("A / B", *_other_divisor()),),
        "A divisor is not what the formula has: it is held away from 0, or is one larger.",
    ),
    Operator(
        "the small number elsewhere",
        "epsilon",
        (
            pattern(
                "A / (B + C)",
                "A / B + C",
                "(A + C) / (B + C)",
                "A / np.maximum(B, C)",
                "A / np.sqrt(B**2 + C)",
                "A / np.sqrt(B**2 + C**2)",
                "A / np.where(B > C, B, 1.0)",
                "A / np.where(B > 0, B, C)",
                "np.where(B > C, A / (B + C), 0.0)",
            ),
        ),
        "The small number stands in another place than in the formula.",
    ),
    Operator(
        "nearly equal taken for equal",
        "near",
        (
            pattern("A == B", "np.isclose(A, B)", *(f"abs(A - B) < {size!r}" for size in THRESHOLDS)),
            pattern("A != B", "~np.isclose(A, B)", *(f"abs(A - B) > {size!r}" for size in THRESHOLDS)),
            pattern("A > B", *(f"A > B + {size!r}" for size in THRESHOLDS)),
            pattern("A < B", *(f"A < B - {size!r}" for size in THRESHOLDS)),
            pattern("A >= B", *(f"A >= B - {size!r}" for size in THRESHOLDS)),
            pattern("A <= B", *(f"A <= B + {size!r}" for size in THRESHOLDS)),
        ),
        "Values that differ a little are treated as equal.",
    ),
    Operator(
        "multiplied by the mask",
        "padding",
        (
            pattern(
                "np.where(A, B, C)",
                "B * A",
                "np.nan_to_num(B) * A",
                "np.where(A, B, 1.0)",
                "np.where(A > 0.5, B, C)",
            ),
            pattern("np.where(A, B, C)", "np.nan_to_num(np.where(A, B, C))", "np.where(np.isnan(B), C, B)"),
            pattern("np.where(A, B, C)", "np.where(abs(B) < 1e6, B, C)", "np.where(A, C, B)"),
        ),
        "What the padding holds reaches the result: a product with 0 does not remove NaN or infinity.",
    ),
    Operator(
        "clip elsewhere",
        "formula",
        (
            pattern("np.clip(A, B, C)", "np.minimum(A, C)", "np.maximum(A, B)", "np.clip(A, C, B)"),
            pattern(
                "np.clip(A, B, C)", "np.clip(A, 1 / C, C)", "np.clip(A, B, 1 / B)", "np.clip(A, 2 - C, C)"
            ),
            pattern("np.clip(A, B, C)", "np.clip(A, B, 2 - B)", "np.exp(np.clip(np.log(A), B - 1, C - 1))"),
            pattern(
                "np.clip(A, B, C) * D",
                "np.clip(A * D, B, C)",
                "np.clip(A, B * D, C * D)",
                "A * np.clip(D, B, C)",
            ),
            pattern("np.minimum(A, B)", "np.where(abs(A) < abs(B), A, B)", "(A + B) / 2"),
            pattern("np.maximum(A, B)", "np.where(abs(A) > abs(B), A, B)"),
        ),
        "The clip is on another quantity, or has another bound.",
    ),
    Operator(
        "clamp",
        "saturation",
        (
            pattern("np.exp(A)", *(f"np.exp(np.clip(A, -{b}, {b}))" for b in BOUNDS)),
            pattern("np.exp(A)", *(f"np.minimum(np.exp(A), {10.0**b!r})" for b in (1, 2, 4, 8))),
            pattern("np.expm1(A)", *(f"np.expm1(np.clip(A, -{b}, {b}))" for b in BOUNDS)),
            pattern("np.log(A)", *(f"np.clip(np.log(A), -{b}, {b})" for b in BOUNDS)),
        ),
        "A value is held where the formula does not hold it.",
    ),
    Operator(
        "unstable form",
        "unstable",
        (
            pattern("np.expm1(A)", "np.exp(A) - 1"),
            pattern("np.log1p(A)", "np.log(1 + A)"),
            pattern("np.exp(A - B)", "np.exp(A) / np.exp(B)"),
            pattern("np.log(A / B)", "np.log(A) - np.log(B)"),
            pattern("np.exp(A.sum(B))", "np.prod(np.exp(A), B)"),
            pattern("A - B", "np.log(np.exp(A) / np.exp(B))", "np.log(np.exp(A)) - np.log(np.exp(B))"),
            pattern(
                "A.std(-1, keepdims=True)",
                "np.sqrt((A**2).mean(-1, keepdims=True) - A.mean(-1, keepdims=True)**2)",
            ),
            pattern("A - A.max(-1, keepdims=True)", "A", "A - A.max()", "A - A.mean(-1, keepdims=True)"),
        ),
        "Exact on paper; here it overflows, underflows or cancels.",
    ),
    Operator(
        "a step held in a range",
        "saturation",
        (
            _intermediate(*(f"np.clip(A, -{bound}, {bound})" for bound in (*BOUNDS, 100, 1000))),
            _intermediate("np.maximum(A, 0)", "np.minimum(A, 1)", "np.nan_to_num(A)"),
        ),
    ),
    Operator(
        "a step rounded",
        "near",
        (
            _intermediate("np.round(A, 8)", "np.asarray(A, dtype=np.float32)"),
            _intermediate(*(f"np.where(np.abs(A) < {size!r}, 0.0, A)" for size in THRESHOLDS)),
        ),
    ),
    Operator(
        "a step without zeros",
        "epsilon",
        (_intermediate(*(f"np.maximum(A, {size!r})" for size in EVERY_SIZE), "np.where(A == 0, 1.0, A)"),),
    ),
    Operator(
        "another condition",
        "formula",
        (pattern("A > 0", "A == 1", "A", "A > 0.5", "A != 0"),),
        "A condition on a number is another one: larger than 0 is neither equal to 1 nor different from 0.",
    ),
    Operator(
        "another type",
        "type",
        (
            _types,
            pattern("A / B", "A // B"),
            pattern("A.sum(B)", "A.sum(B, dtype=np.uint8)"),
            pattern("A.cumsum(B)", "A.cumsum(B, dtype=np.int8)"),
            pattern("np.zeros(A)", "np.zeros(A, dtype=int)", "np.zeros(A, dtype=np.float32)"),
            pattern("np.zeros_like(A)", "np.zeros_like(A, dtype=int)"),
        ),
        "Numbers are kept as integers, or in less than double precision.",
    ),
)
"""The operators of this field. Operators that may change any intermediate value have no sentence."""
