"""Wrong answers that do not change the source: a right answer with a changed argument or result.

There is one group for each axis of the domain: its answers behave as if that axis did not exist.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grpo_ref.course.grading.domain.arguments import REQUIRED, Argument, Made, Mask, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain

ARRAY = "np.asarray({x}, dtype=float)"


@dataclass(frozen=True)
class Wrapper:
    """One way to change an argument or the result.

    Attributes:
      name: name in a few words.
      kind: key of the mistake in `operators.KINDS`.
      codes: expressions that replace the argument {x}; {default} is its default.
      sentence: explanation for a student whose answer returns the same values.
    """

    name: str
    kind: str
    codes: tuple[str, ...]
    sentence: str


def _first_ones(count: int) -> str:
    """Return code that sets the numbers at positions from `count` on to 0."""
    kept = f"np.arange(np.shape({{x}})[-1]) < {count}"
    return f"np.where({kept}, {{x}}, 0 * {ARRAY}) if np.ndim({{x}}) else {{x}}"


def _first_rows(count: int) -> str:
    """Return code that sets the rows from index `count` on to 0."""
    kept = f"(np.arange(len({{x}})) < {count}).reshape([-1] + [1] * (np.ndim({{x}}) - 1))"
    return f"np.where({kept}, {{x}}, 0 * {ARRAY}) if np.ndim({{x}}) else {{x}}"


OF_REAL = (
    Wrapper(
        "held in a range",
        "saturation",
        tuple(
            f"np.clip({ARRAY}, {low}, {high})"
            for low, high in (
                (-1, 1),
                (-10, 10),
                (-20, 20),
                (-50, 50),
                (-100, 100),
                (-700, 700),
                (0, "np.inf"),
                ("-np.inf", 0),
                (1e-12, "np.inf"),
                (1e-8, "np.inf"),
                (1e-4, "np.inf"),
                (0.1, 10),
                (0.01, 100),
                ("-np.inf", 3),
            )
        ),
        "Limits {x} to a range; the statement allows numbers outside of it.",
    ),
    Wrapper(
        "rounded",
        "near",
        tuple(f"np.round({ARRAY}, {digits})" for digits in (3, 6, 8)),
        "Rounds {x}, so that small differences are lost.",
    ),
    Wrapper(
        "small is zero",
        "near",
        tuple(f"np.where(abs({ARRAY}) < {size}, 0.0, {ARRAY})" for size in (1e-300, 1e-12, 1e-9, 1e-6, 1e-3)),
        "Treats small numbers in {x} as 0.",
    ),
    Wrapper(
        "far out is zero",
        "saturation",
        tuple(f"np.where(abs({ARRAY}) > {size}, 0.0, {ARRAY})" for size in (5, 20, 100, 1000, 1e5)),
        "Treats large numbers in {x} as 0.",
    ),
    Wrapper("without sign", "formula", (f"abs({ARRAY})",), "Ignores the sign of {x}."),
    Wrapper(
        "zero is something else",
        "rows",
        tuple(f"np.where({ARRAY} == 0, {other}, {ARRAY})" for other in (1, -1, 1e-8)),
        "Treats 0 in {x} as another number.",
    ),
    Wrapper(
        "one is something else",
        "rows",
        (f"np.where({ARRAY} == 1, 0, {ARRAY})",),
        "Treats 1 in {x} as another number.",
    ),
    Wrapper(
        "negative is something else",
        "rows",
        tuple(f"np.where({ARRAY} < 0, {other}, {ARRAY})" for other in (-1, 1)),
        "Treats all negative numbers in {x} alike.",
    ),
    Wrapper(
        "the sign alone",
        "formula",
        (f"np.sign({ARRAY})",),
        "Uses only the sign of {x}, not its absolute value.",
    ),
    Wrapper(
        "single precision",
        "type",
        ("np.asarray({x}, dtype=np.float32)",),
        "Stores {x} as floats of 32 bits, which keep seven digits.",
    ),
    Wrapper(
        "integers",
        "type",
        (f"{ARRAY}.astype(int)", f"np.floor({ARRAY})", f"np.round({ARRAY})"),
        "Drops the fractional part of {x}.",
    ),
    Wrapper(
        "special numbers removed",
        "padding",
        (f"np.nan_to_num({ARRAY})", f"np.nan_to_num({ARRAY}, posinf=0.0, neginf=0.0)"),
        "Replaces NaN and infinity in {x} by numbers; only the mask says which places count.",
    ),
    Wrapper(
        "first ones only",
        "rows",
        tuple(_first_ones(count) for count in (1, 2, 3, 4, 16, 64)),
        "Uses only the first entries of each row of {x}.",
    ),
    Wrapper(
        "first rows only",
        "rows",
        tuple(_first_rows(count) for count in (1, 2, 3, 8, 16)),
        "Uses only the first rows of {x}.",
    ),
    Wrapper(
        "the first row for all",
        "rows",
        (f"np.broadcast_to({ARRAY}[:1], np.shape({{x}})) if np.ndim({{x}}) else {{x}}",),
        "Uses the first row of {x} for all rows.",
    ),
    Wrapper(
        "in another order",
        "rows",
        (
            f"np.sort({ARRAY}, axis=-1) if np.ndim({{x}}) else {{x}}",
            f"{ARRAY}[..., ::-1] if np.ndim({{x}}) else {{x}}",
        ),
        "Changes the order of {x}.",
    ),
    Wrapper(
        "one number of axes only",
        "shape",
        ("np.atleast_1d({x})", "np.atleast_2d({x})", "np.squeeze({x})", "np.ravel({x})"),
        "Removes or adds an axis of {x}.",
    ),
    Wrapper(
        "as given",
        "type",
        (
            "{x} if isinstance({x}, np.ndarray) else {x}[:]",
            "{x}.astype(float)",
            "{x} + 0.0",
            "np.array({x}) * 1",
        ),
        "Expects one type of {x}; it may be an array or nested lists, and hold integers.",
    ),
)
OF_MASK = (
    Wrapper(
        "taken for a prefix",
        "mask",
        (
            "np.arange(np.shape({x})[-1]) < np.sum({x}, -1, keepdims=True)",
            "np.cumprod(np.asarray({x}) > 0, axis=-1)",
            "np.asarray({x})[..., ::-1].cumsum(-1)[..., ::-1] > 0",
            "np.cumsum(np.asarray({x}, dtype=float), axis=-1) > 0",
        ),
        "Assumes that the ones of a row of the mask come first; zeros may be anywhere.",
    ),
    Wrapper(
        "the first row's for all",
        "mask",
        ("np.broadcast_to(np.asarray({x})[:1], np.shape({x}))",),
        "Uses the first row of the mask for all rows.",
    ),
    Wrapper("not used", "mask", ("np.ones(np.shape({x}))",), "Ignores the mask."),
    Wrapper(
        "inverted",
        "mask",
        ("1 - np.asarray({x}, dtype=float)",),
        "Uses the mask the wrong way round; 1 marks what counts.",
    ),
    Wrapper(
        "one type only",
        "type",
        (
            "np.asarray({x}) * 1 if np.asarray({x}).dtype.kind != 'b' else np.zeros(np.shape({x}))",
            "np.asarray({x}, dtype=np.int8) * np.asarray({x}, dtype=np.int8)",
            "np.asarray({x}) == True",
            "{x}.astype(bool)",
            "~np.logical_not({x}) if isinstance({x}, np.ndarray) else ~(~np.array({x}))",
        ),
        "Expects one type of mask; it may hold floats, integers or truth values.",
    ),
    Wrapper(
        "never empty",
        "mask",
        (
            "np.where(np.sum({x}, -1, keepdims=True) > 0, {x}, 1)",
            "np.asarray({x}) if np.any({x}) else np.ones(np.shape({x}))",
        ),
        "Treats a row without tokens, or a batch without any, as if all its entries were tokens.",
    ),
)
OF_SCALAR = (
    Wrapper(
        "0 taken for left out", "argument", ("{x} or {default}",), "Treats {x} = 0 as if {x} were omitted."
    ),
    Wrapper("not used", "argument", ("{default}",), "Ignores the argument {x}."),
    Wrapper("whole", "argument", ("int({x})", "round({x})"), "Drops the fractional part of {x}."),
    Wrapper(
        "held in a range",
        "argument",
        (
            "max({x}, 0)",
            "min({x}, 1)",
            "min({x}, 0.5)",
            "max({x}, 1e-8)",
            "max({x}, 1e-4)",
            "max({x}, 1)",
            "abs({x})",
        ),
        "Limits {x} to a range; the statement allows numbers outside of it.",
    ),
    Wrapper(
        "shifted", "argument", ("{x} + 1", "{x} - 1", "2 * {x}", "{x} ** 2"), "Changes {x} before using it."
    ),
)
OF_RESULT = (
    Wrapper(
        "single precision",
        "type",
        ("np.asarray({x}, dtype=np.float32)", "float(np.float32({x}))"),
        "Returns floats of 32 bits, which keep seven digits.",
    ),
    Wrapper(
        "rounded",
        "near",
        ("np.round({x}, 4)", "np.round({x}, 6)", "np.round({x}, 8)"),
        "Rounds the result.",
    ),
    Wrapper(
        "kept too small",
        "type",
        ("np.asarray({x}).astype(np.uint8)", "np.asarray({x}).astype(np.int8)"),
        "Returns a type of integer that cannot hold large numbers.",
    ),
    Wrapper("without sign", "formula", ("abs({x})",), "Returns the absolute value of the result."),
    Wrapper("never negative", "formula", ("np.maximum({x}, 0)",), "Returns 0 where the result is negative."),
    Wrapper("the other sign", "formula", ("-{x}",), "Returns the result with the wrong sign."),
    Wrapper(
        "held in a range",
        "saturation",
        tuple(f"np.clip({{x}}, -{bound}, {bound})" for bound in (1, 3, 5, 10, 20, 100, 1000, 1e6)),
        "Limits the result to a range; the formula has no such limit.",
    ),
    Wrapper(
        "a small number added",
        "epsilon",
        ("{x} + 1e-8", "{x} * (1 - 1e-7)"),
        "Adds a small number to the result.",
    ),
    Wrapper(
        "one number of axes only",
        "shape",
        ("np.atleast_1d({x})", "np.squeeze({x})", "np.ravel({x})", "np.atleast_2d({x})", "np.mean({x})"),
        "Returns a result with an axis too many or too few.",
    ),
    Wrapper(
        "special numbers removed",
        "saturation",
        ("np.nan_to_num({x})",),
        "Replaces NaN and infinity in the result by numbers.",
    ),
)
OF_WHOLES = (
    Wrapper(
        "kept too small",
        "type",
        tuple(f"np.asarray({{x}}).astype(np.{kind})" for kind in ("int8", "int16", "float16", "float32")),
        "Stores {x} in a type that cannot hold large numbers.",
    ),
    Wrapper(
        "held in a range",
        "saturation",
        tuple(f"np.minimum({{x}}, {bound})" for bound in (9, 99, 999)),
        "Limits large numbers in {x}.",
    ),
    Wrapper(
        "moved by one",
        "formula",
        ("np.asarray({x}) + 1", "np.maximum(np.asarray({x}) - 1, 0)"),
        "Takes {x} one too high or too low.",
    ),
)
STATES = {
    "remembered by shape": (
        "key = tuple(np.shape(each) for each in ({names}))\n"
        "if key not in _kept: _kept[key] = _right({names})\n"
        "return _kept[key]",
        "Returns a result of an earlier call again for other inputs of the same shape.",
    ),
    "remembered by sums": (
        "key = tuple((np.shape(each), round(float(np.sum(np.nan_to_num(each))), 6)) for each in ({names},))\n"
        "if key not in _kept: _kept[key] = _right({names})\n"
        "return _kept[key]",
        "Returns a result of an earlier call again for other inputs with the same sum.",
    ),
    "remembered by number of calls": (
        "_kept[len(_kept)] = _right({names})\nreturn _kept[len(_kept) - (2 if len(_kept) % 7 == 0 else 1)]",
        "Returns the result of the call before.",
    ),
    "remembered for ever": (
        "if 0 not in _kept: _kept[0] = _right({names})\nreturn _kept[0]",
        "Returns the result of the first call every time.",
    ),
    "defaults remembered": (
        "key = tuple(np.asarray(each, dtype=float).tobytes() for each in ({required}))\n"
        "if key not in _kept: _kept[key] = _right({names})\n"
        "return _kept[key]",
        "Returns a result of an earlier call again although an argument with a default has changed.",
    ),
}
IN_PLACE = (
    ("{x} *= 0", "Changes the array {x} of the caller after using it; work on a copy."),
    (
        "{x}[...] = np.sort({x}, axis=None).reshape({x}.shape)",
        "Sorts the array {x} of the caller in place; work on a copy.",
    ),
)


REMEMBERED = Wrapper(
    "of an earlier call",
    "state",
    ("_kept.setdefault('{x}', {x})", "_kept.setdefault(('{x}', np.shape({x})), {x})"),
    "Uses {x} of an earlier call again.",
)


def families(kind: Argument) -> tuple[Wrapper, ...]:
    """Return the wrappers for an argument of this kind."""
    if isinstance(kind, Real):
        return OF_REAL
    if isinstance(kind, Mask):
        return OF_MASK
    if kind.axes and isinstance(kind, Whole | Made):
        return OF_WHOLES
    if isinstance(kind, Scalar) or (isinstance(kind, Whole) and not kind.axes):
        return OF_SCALAR
    return ()


def on_arguments(domain: Domain) -> Iterator[tuple[str, Wrapper, str]]:
    """Yield the name, the wrapper and the assignment for each argument and each change."""
    for name, kind in domain.arguments.items():
        for wrapper in (*families(kind), REMEMBERED):
            for code in wrapper.codes:
                if "{default}" not in code or kind.default is not REQUIRED:
                    yield name, wrapper, f"{name} = {code.format(x=name, default=repr(kind.default))}"


def exchanged(domain: Domain) -> Iterator[tuple[str, str, str]]:
    """Yield two names and an assignment for each pair of arguments of one kind, of which one replaces the
    other.
    """
    for name, kind in domain.arguments.items():
        for other, its in domain.arguments.items():
            if name != other and type(kind) is type(its) and kind.axes == its.axes:
                yield name, other, f"{name} = {other}"
                if name < other:
                    yield name, other, f"{name}, {other} = {other}, {name}"


def kept_by(domain: Domain) -> Iterator[tuple[str, str, str]]:
    """Yield two names and an assignment for each argument that is remembered by a single number or word."""
    for name, other in itertools.permutations(domain.arguments, 2):
        if not domain.arguments[other].axes and not isinstance(domain.arguments[other], Real | Mask):
            yield (
                name,
                other,
                f"{name} = _kept.setdefault(({name!r}, np.shape({name}), repr({other})), {name})",
            )


def likened(domain: Domain) -> Iterator[tuple[str, str, str, str]]:
    """Yield two names, a sentence and an assignment for each pair of one shape, of which one is made more
    like the other.
    """
    for (name, kind), (other, its) in itertools.permutations(domain.arguments.items(), 2):
        if isinstance(kind, Real) and isinstance(its, Real) and kind.axes == its.axes:
            sentence = f"Treats {name} and {other} as equal where they differ a little."
            yield name, other, sentence, f"{name} = {other} if np.allclose({name}, {other}) else {name}"
            yield name, other, sentence, f"{name} = np.where(np.isclose({name}, {other}), {other}, {name})"
        if isinstance(kind, Scalar) and isinstance(its, Scalar):
            yield name, other, f"Converts {name} to the type of {other}.", f"{name} = type({other})({name})"


def masked(domain: Domain) -> Iterator[tuple[str, str]]:
    """Yield the names of each array of numbers with each mask of the same axes."""
    for name, kind in domain.arguments.items():
        for mask, other in domain.arguments.items():
            if isinstance(kind, Real) and isinstance(other, Mask) and kind.axes == other.axes:
                yield name, mask


def wrapped(function: str, domain: Domain, before: str = "", after: str = "", body: str = "") -> str:
    """Return code that follows a right answer and makes it wrong.

    Args:
      function: name of the function.
      domain: the domain with the arguments and their defaults.
      before: a statement to run before the right answer.
      after: an expression of {x}, the right result.
      body: the whole body of the new function; it replaces both.
    """
    names = ", ".join(domain.arguments)
    lines = body.splitlines() or [
        before,
        f"_result = _right({names})",
        f"return {after.format(x='_result') or '_result'}",
    ]
    header = f"_right, _kept = {function}, {{}}\n\ndef {function}({signature(domain)}):\n"
    return header + "\n".join(f"    {line}" for line in lines if line) + "\n"


def signature(domain: Domain) -> str:
    """Return the parameters as in the function's definition."""
    parts = [
        name if kind.default is REQUIRED else f"{name}={kind.default!r}"
        for name, kind in domain.arguments.items()
    ]
    return ", ".join(parts)


def required(names: Sequence[str], arguments: Mapping[str, Argument]) -> str:
    """Return the arguments without a default, as the items of a tuple."""
    return "".join(f"{name}, " for name in names if arguments[name].default is REQUIRED)
