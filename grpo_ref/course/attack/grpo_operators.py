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


def _axis(*axes: str) -> Rewrite:
    """Reduce along each of these axes instead."""

    def rewrite(node: ast.AST) -> Iterable[ast.AST]:
        reduction = _reduction(node)
        if reduction is None:
            return []
        call, data = reduction.call, reduction.data
        keywords = [each for each in call.keywords if each.arg != "axis"]
        now = [ast.unparse(each) for each in call.args[len(data) :]]
        now += [ast.unparse(each.value) for each in call.keywords if each.arg == "axis"]
        return [
            ast.Call(call.func, data, [*keywords, ast.keyword("axis", ast.parse(axis, mode="eval").body)])
            for axis in axes
            if axis not in (now or ["None"])
        ]

    return rewrite


def _keepdims(node: ast.AST) -> Iterable[ast.AST]:
    """Toggle `keepdims`."""
    reduction = _reduction(node)
    if reduction is None:
        return []
    call = reduction.call
    kept = [each for each in call.keywords if each.arg != "keepdims"]
    if len(kept) < len(call.keywords):
        return [ast.Call(call.func, call.args, kept)]
    keep = ast.keyword("keepdims", ast.Constant(True))
    return [ast.Call(call.func, call.args, kept), ast.Call(call.func, call.args, [*kept, keep])]


def _statistic(old: str, new: str) -> Rewrite:
    """Replace one statistic by another with the same axis."""

    def rewrite(node: ast.AST) -> Iterable[ast.AST]:
        reduction = _reduction(node)
        if reduction is None or reduction.name != old:
            return []
        others = reduction.call.args[len(reduction.data) :]
        return [
            ast.Call(
                ast.Attribute(ast.Name("np"), new), [*reduction.operand, *others], reduction.call.keywords
            )
        ]

    return rewrite


def _divisor(ddof: int) -> Rewrite:
    """Set the ddof of a standard deviation or a variance."""

    def rewrite(node: ast.AST) -> Iterable[ast.AST]:
        reduction = _reduction(node)
        if reduction is None or reduction.name not in ("std", "var"):
            return []
        call, others = reduction.call, [each for each in reduction.call.keywords if each.arg != "ddof"]
        return [ast.Call(call.func, call.args, [*others, ast.keyword("ddof", ast.Constant(ddof))])]

    return rewrite


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


MISTAKES: tuple[tuple[str, str, str, tuple[Rewrite, ...]], ...] = (
    ("another axis", "axis", "Takes a statistic along another axis.", (_axis("0", "1", "-1", "-2"),)),
    ("no axis", "axis", "Takes a statistic over all numbers at once, not along one axis.", (_axis("None"),)),
    (
        "keepdims",
        "axis",
        "Keeps an axis of length 1, or drops it, so that the next step combines other numbers.",
        (_keepdims,),
    ),
    (
        "ddof 1",
        "statistic",
        "Takes the sample standard deviation (ddof=1), which divides by one less than the number of values.",
        (_divisor(1),),
    ),
    (
        "ddof 0",
        "statistic",
        "Takes the population standard deviation (ddof=0), which divides by the number of values.",
        (_divisor(0),),
    ),
    (
        "mean over all for mean of means",
        "statistic",
        "Averages over everything at once; rows of different lengths then weigh differently.",
        (
            pattern("(A.sum(B) / C).mean()", "A.sum() / C.sum()"),
            pattern("A.sum() / B", "A.mean(-1).sum() / B"),
        ),
    ),
    (
        "a mean divisor for all rows",
        "statistic",
        "Divides every row by the same mean length.",
        (pattern("(A.sum(B) / C).mean()", "(A.sum(B) / C.mean()).mean()"),),
    ),
    (
        "every number counted",
        "statistic",
        "Divides a sum by the number of all entries.",
        (pattern("A.sum() / B", "A.mean()"),),
    ),
    ("not divided", "statistic", "Takes a sum where a mean is asked for.", (pattern("A.mean()", "A.sum()"),)),
    (
        "divided by the rows",
        "statistic",
        "Divides a sum by the number of rows.",
        (pattern("A.mean()", "A.sum() / len(A)"),),
    ),
    (
        "the largest for the mean",
        "statistic",
        "Takes the largest number for the mean.",
        (pattern("A.mean()", "A.max()"),),
    ),
    (
        "the median for the mean",
        "statistic",
        "Takes the median for the mean.",
        (pattern("A.mean()", "np.median(A)"),),
    ),
    (
        "the first row for all",
        "rows",
        "Averages over the first row only.",
        (pattern("A.mean()", "A[0].mean()"),),
    ),
    (
        "zeros not counted",
        "rows",
        "Does not count entries whose value is 0 in a mean.",
        (
            pattern("A.mean()", "A.sum() / max(1, np.count_nonzero(A))", "A[A != 0].mean()"),
            pattern("A.mean(B)", "A.sum(B) / np.maximum(1, np.count_nonzero(A, B))"),
            pattern(
                "A.mean(B, keepdims=True)",
                "A.sum(B, keepdims=True) / np.maximum(1, np.count_nonzero(A, B, keepdims=True))",
            ),
        ),
    ),
    (
        "a small number in a divisor",
        "epsilon",
        "Adds a small number to a divisor that has none in the formula.",
        (pattern("A / B", *(f"A / (B + {size!r})" for size in EVERY_SIZE)),),
    ),
    (
        "a small number in a logarithm",
        "epsilon",
        "Adds a small number inside a logarithm, or replaces smaller numbers by it.",
        (
            pattern("np.log(A)", *(f"np.log(A + {size!r})" for size in EVERY_SIZE)),
            pattern("np.log(A)", *(f"np.log(np.maximum(A, {size!r}))" for size in EVERY_SIZE)),
        ),
    ),
    (
        "a small number in a root",
        "epsilon",
        "Adds a small number inside a square root that has none in the formula.",
        (pattern("np.sqrt(A)", *(f"np.sqrt(A + {size!r})" for size in EVERY_SIZE)),),
    ),
    (
        "a smallest divisor",
        "epsilon",
        "Replaces small divisors by a larger number, or 0 by 1; the formula divides by the number itself.",
        (
            pattern("A / B", *(f"A / np.maximum(B, {size!r})" for size in (1e-8, 1e-4, 1.0))),
            pattern("A / B", "A / np.where(B == 0, 1, B)"),
        ),
    ),
    ("a divisor one larger", "epsilon", "Adds 1 to a divisor.", (pattern("A / B", "A / (B + 1)"),)),
    (
        "the small number after the division",
        "epsilon",
        "Adds the small number after the division, not to the divisor.",
        (pattern("A / (B + C)", "A / B + C"),),
    ),
    (
        "the small number in both",
        "epsilon",
        "Adds the small number to the numerator too.",
        (pattern("A / (B + C)", "(A + C) / (B + C)"),),
    ),
    (
        "the small number under the root",
        "epsilon",
        "Adds the small number to the square of the divisor and takes the root.",
        (pattern("A / (B + C)", "A / np.sqrt(B**2 + C)", "A / np.sqrt(B**2 + C**2)"),),
    ),
    (
        "the small number as a bound",
        "epsilon",
        "Uses the small number only where the divisor is small, instead of adding it everywhere.",
        (
            pattern(
                "A / (B + C)",
                "A / np.maximum(B, C)",
                "A / np.where(B > C, B, 1.0)",
                "A / np.where(B > 0, B, C)",
                "np.where(B > C, A / (B + C), 0.0)",
            ),
        ),
    ),
    (
        "nearly equal taken for equal",
        "near",
        "",
        (
            pattern("A == B", "np.isclose(A, B)", *(f"abs(A - B) < {size!r}" for size in THRESHOLDS)),
            pattern("A != B", "~np.isclose(A, B)", *(f"abs(A - B) > {size!r}" for size in THRESHOLDS)),
            pattern("A > B", *(f"A > B + {size!r}" for size in THRESHOLDS)),
            pattern("A < B", *(f"A < B - {size!r}" for size in THRESHOLDS)),
            pattern("A >= B", *(f"A >= B - {size!r}" for size in THRESHOLDS)),
            pattern("A <= B", *(f"A <= B + {size!r}" for size in THRESHOLDS)),
        ),
    ),
    (
        "multiplied by the condition",
        "padding",
        "Multiplies by a condition instead of selecting with np.where: 0 times NaN or infinity is NaN.",
        (pattern("np.where(A, B, C)", "B * A"),),
    ),
    (
        "ones where nothing counts",
        "padding",
        "Puts 1 where the condition is false.",
        (pattern("np.where(A, B, C)", "np.where(A, B, 1.0)"),),
    ),
    (
        "branches exchanged",
        "formula",
        "Exchanges the two branches of a condition.",
        (pattern("np.where(A, B, C)", "np.where(A, C, B)"),),
    ),
    (
        "a condition of its own",
        "padding",
        "Chooses by the values (NaN, or very large) instead of by the mask or condition.",
        (pattern("np.where(A, B, C)", "np.where(np.isnan(B), C, B)", "np.where(abs(B) < 1e6, B, C)"),),
    ),
    (
        "other selections",
        "padding",
        "",
        (
            pattern(
                "np.where(A, B, C)",
                "np.nan_to_num(B) * A",
                "np.where(A > 0.5, B, C)",
                "np.nan_to_num(np.where(A, B, C))",
            ),
        ),
    ),
    (
        "no lower bound",
        "formula",
        "Clips at the upper bound only.",
        (pattern("np.clip(A, B, C)", "np.minimum(A, C)"),),
    ),
    (
        "no upper bound",
        "formula",
        "Clips at the lower bound only.",
        (pattern("np.clip(A, B, C)", "np.maximum(A, B)"),),
    ),
    (
        "bounds exchanged",
        "formula",
        "Exchanges the lower and the upper bound of a clip.",
        (pattern("np.clip(A, B, C)", "np.clip(A, C, B)"),),
    ),
    (
        "one bound from the other",
        "formula",
        "Computes one bound of a clip from the other one.",
        (
            pattern(
                "np.clip(A, B, C)",
                "np.clip(A, 1 / C, C)",
                "np.clip(A, B, 1 / B)",
                "np.clip(A, 2 - C, C)",
                "np.clip(A, B, 2 - B)",
            ),
        ),
    ),
    (
        "clipped logarithm",
        "formula",
        "Clips the logarithm with bounds that belong to the number itself.",
        (pattern("np.clip(A, B, C)", "np.exp(np.clip(np.log(A), B - 1, C - 1))"),),
    ),
    (
        "clipped product",
        "formula",
        "Clips the product, not its factor.",
        (pattern("np.clip(A, B, C) * D", "np.clip(A * D, B, C)"),),
    ),
    (
        "bounds multiplied",
        "formula",
        "Multiplies the bounds of a clip, not the clipped number.",
        (pattern("np.clip(A, B, C) * D", "np.clip(A, B * D, C * D)"),),
    ),
    (
        "the other factor clipped",
        "formula",
        "Clips the other factor of a product.",
        (pattern("np.clip(A, B, C) * D", "A * np.clip(D, B, C)"),),
    ),
    (
        "by the size",
        "formula",
        "Compares absolute values where the signed values are to be compared.",
        (
            pattern("np.minimum(A, B)", "np.where(abs(A) < abs(B), A, B)"),
            pattern("np.maximum(A, B)", "np.where(abs(A) > abs(B), A, B)"),
        ),
    ),
    (
        "the mean of two",
        "formula",
        "Takes the mean of two numbers where the smaller is asked for.",
        (pattern("np.minimum(A, B)", "(A + B) / 2"),),
    ),
    (
        "exponent clipped",
        "saturation",
        "Limits a number before or after an exponential or a logarithm; the formula has no limit there.",
        (
            pattern("np.exp(A)", *(f"np.exp(np.clip(A, -{b}, {b}))" for b in BOUNDS)),
            pattern("np.exp(A)", *(f"np.minimum(np.exp(A), {10.0**b!r})" for b in (1, 2, 4, 8))),
            pattern("np.expm1(A)", *(f"np.expm1(np.clip(A, -{b}, {b}))" for b in BOUNDS)),
            pattern("np.log(A)", *(f"np.clip(np.log(A), -{b}, {b})" for b in BOUNDS)),
        ),
    ),
    (
        "digits lost near 0",
        "unstable",
        "Loses digits where a number is close to 0; np.expm1 and np.log1p keep them.",
        (pattern("np.expm1(A)", "np.exp(A) - 1"), pattern("np.log1p(A)", "np.log(1 + A)")),
    ),
    (
        "an exponential too early",
        "unstable",
        "Takes exponentials one by one, which overflow or become 0; subtract or add the logarithms first.",
        (
            pattern("np.exp(A - B)", "np.exp(A) / np.exp(B)"),
            pattern("np.exp(A.sum(B))", "np.prod(np.exp(A), B)"),
            pattern("A - B", "np.log(np.exp(A) / np.exp(B))", "np.log(np.exp(A)) - np.log(np.exp(B))"),
        ),
    ),
    (
        "logarithms one by one",
        "unstable",
        "Subtracts two logarithms where the quotient keeps more digits.",
        (pattern("np.log(A / B)", "np.log(A) - np.log(B)"),),
    ),
    (
        "mean of squares",
        "unstable",
        "Computes the standard deviation from the mean of the squares; a large mean costs digits.",
        (
            pattern(
                "A.std(-1, keepdims=True)",
                "np.sqrt((A**2).mean(-1, keepdims=True) - A.mean(-1, keepdims=True)**2)",
            ),
        ),
    ),
    (
        "no maximum subtracted",
        "unstable",
        "Does not subtract the largest number of each row before the exponential, which can overflow.",
        (pattern("A - A.max(-1, keepdims=True)", "A", "A - A.max()", "A - A.mean(-1, keepdims=True)"),),
    ),
    (
        "a step clipped",
        "saturation",
        "",
        (
            _intermediate(*(f"np.clip(A, -{bound}, {bound})" for bound in (*BOUNDS, 100, 1000))),
            _intermediate("np.maximum(A, 0)", "np.minimum(A, 1)", "np.nan_to_num(A)"),
        ),
    ),
    (
        "a step rounded",
        "near",
        "",
        (
            _intermediate("np.round(A, 8)", "np.asarray(A, dtype=np.float32)"),
            _intermediate(*(f"np.where(np.abs(A) < {size!r}, 0.0, A)" for size in THRESHOLDS)),
        ),
    ),
    (
        "a step without zeros",
        "epsilon",
        "",
        (_intermediate(*(f"np.maximum(A, {size!r})" for size in EVERY_SIZE), "np.where(A == 0, 1.0, A)"),),
    ),
    (
        "equal to one for positive",
        "formula",
        "Tests whether a number is 1 where any positive number counts.",
        (pattern("A > 0", "A == 1"),),
    ),
    (
        "half for zero",
        "formula",
        "Tests whether a number is above 0.5 where any positive number counts.",
        (pattern("A > 0", "A > 0.5"),),
    ),
    (
        "negative counts too",
        "formula",
        "Counts negative numbers like positive ones.",
        (pattern("A > 0", "A", "A != 0"),),
    ),
    (
        "an integer division",
        "type",
        "Divides integers with //, which drops the fraction.",
        (pattern("A / B", "A // B"),),
    ),
    (
        "another type",
        "type",
        "",
        (
            _types,
            pattern("A.sum(B)", "A.sum(B, dtype=np.uint8)"),
            pattern("A.cumsum(B)", "A.cumsum(B, dtype=np.int8)"),
            pattern("np.zeros(A)", "np.zeros(A, dtype=int)", "np.zeros(A, dtype=np.float32)"),
            pattern("np.zeros_like(A)", "np.zeros_like(A, dtype=int)"),
        ),
    ),
)
"""Name, kind, sentence and rules of each mistake. The sentence is "" if the effect depends on the place."""

FIELD = (
    *(Operator(name, kind, rules, sentence) for name, kind, sentence, rules in MISTAKES),
    *(
        Operator(
            f"{new} for {old}",
            "statistic",
            (_statistic(old, new),),
            f"Takes the {STATISTICS[new]} where the {STATISTICS[old]} is asked for.",
        )
        for old, news in OTHERS.items()
        for new in news
    ),
)
"""The operators of this field."""
