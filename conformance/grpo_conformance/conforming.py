"""`assert_conforms`: compare a function with what the trainers computed, and say what differs."""

import difflib
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from grpo_conformance import mistake, trainer
from grpo_conformance.arguments import NAMES, SETTINGS, ParameterError, parameters_of
from grpo_conformance.choices import Configuration, not_recorded
from grpo_conformance.comparison import Outcome, compared
from grpo_conformance.detection import detected
from grpo_conformance.frameworks import (
    DOUBLE,
    DTYPES,
    FRAMEWORKS,
    Call,
    Result,
    ReturnError,
    ShapeError,
    result_of,
)
from grpo_conformance.vector import PLACES, Floats, Vector, document, full_name, names, vectors

Function = Callable[..., Any]
DIGITS = 7
WIDTH = 110
ROUNDINGS_TO_A_SIDE = 8
"""Change of the log-probabilities that moves a ratio away from a bound, as a multiple of their rounding."""
NEARLY_0 = 1e-9
"""Size up to which the share of a number says nothing."""
NO_GRADIENT = "no gradient reaches your loss in any case: is there .item(), .detach() or no_grad on the way?"
"""Said if the gradient is 0 in every case."""
SHOWN = 12
"""Number of vectors that a message lists."""


@dataclass(frozen=True)
class Report:
    """Result of comparing a function with vectors.

    Attributes:
      name: what the function was compared with, such as "dapo" or "trl==1.9.0".
      settings: the settings of the vectors.
      outcomes: a result for each vector, the smallest vectors first.
      mistake: name of the mistake, if it is known.
      defaults: keys of a trainer that were not given, and their values.
    """

    name: str
    settings: dict[str, Any]
    outcomes: tuple[Outcome, ...]
    mistake: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def conforms(self) -> bool:
        """True if at least one vector was compared, and no vector differs."""
        return not self.failed and bool(self.passed)

    @property
    def failed(self) -> list[Outcome]:
        """The vectors on which the function differs."""
        return [each for each in self.outcomes if each.what]

    @property
    def passed(self) -> list[Outcome]:
        """The vectors on which the function agrees."""
        return [each for each in self.outcomes if each.passed]

    @property
    def skipped(self) -> list[Outcome]:
        """The vectors on which the function could not be called."""
        return [each for each in self.outcomes if each.skipped]

    @property
    def smallest(self) -> Outcome | None:
        """The failure with the smallest arrays, and of these with the fewest tokens.

        A case with an empty completion is taken only if no other case fails.
        """
        return min(self.failed, key=lambda each: (_has_empty(each.vector), *_size(each.vector)), default=None)

    def __str__(self) -> str:
        head = ", ".join([self.name, *(f"{name}={value!r}" for name, value in self.settings.items())])
        compared = len(self.passed) + len(self.failed)
        lines = [f"{head}: {len(self.passed)} of {compared} vectors agree"]
        if self.passed and not any(each.result.gradient is not None for each in self.passed if each.result):
            lines += ["the gradient was not compared"] * ("loss" in self.passed[0].vector.expected)
        reasons = Counter(each.problem for each in self.skipped)
        lines += [f"{number} vectors skipped: {reason}" for reason, number in reasons.items()]
        if self.smallest:
            lines += [f"likely mistake: {self.mistake}"] * bool(self.mistake)
            lines += _not_given(self.defaults)
            lines += _formula(self.smallest.vector)
            lines += [NO_GRADIENT] * _no_gradient(self.outcomes)
            lines += [
                "",
                *_shown(self.smallest),
                "",
                *_listed("fail", self.failed),
                *_listed("pass", self.passed),
            ]
        return "\n".join(lines)


def assert_conforms(
    function: Function,
    name: str,
    *,
    framework: str = "",
    dtype: str = "float64",
    only: Callable[[Vector], bool] | None = None,
    **settings: Any,
) -> None:
    """Raise an AssertionError that describes the difference, unless a function computes what the trainers computed.

    Args:
      function: your function. The names of its parameters decide which inputs it gets: those of TRL, verl, OpenRLHF
        and plain ones (`grpo_conformance.arguments.NAMES`). A parameter for a setting gets its value. A loss returns
        the loss, (loss, metrics) or (loss, gradient); other functions return an array.
      name: an algorithm such as "dapo" or "group_normalized", a trainer such as "trl", or a release such as
        "trl==1.9.0".
      framework: "numpy", "torch" or "jax"; default: the one that the function uses.
      dtype: precision of the arrays that your function gets, "float64" or "float32". In single precision, numbers may
        differ by 2.4e-5 of the largest one.
      only: choose vectors: a function that returns true for those to compare.
      settings: settings of the algorithm, or the trainer's own keys; default: the published ones.

    Raises:
      AssertionError: with the smallest case that differs, what was expected and computed, and which vectors agree.
      ValueError: if the name or a setting is unknown, or nothing was recorded for the combination.
      TypeError: if a parameter of the function has an unknown name, or the function returns something else.

    >>> import numpy as np
    >>> def reinforce(log_probs, advantages, mask):
    ...     return -(advantages[:, None] * log_probs * mask).sum() / max(mask.sum(), 1.0)
    >>> assert_conforms(reinforce, "gpg")
    """
    __tracebackhide__ = True  # pytest shows the message, and not the source of this function
    report = conforms(function, name, framework=framework, dtype=dtype, only=only, **settings)
    if not report.conforms:
        raise AssertionError(f"{_name_of(function)} does not conform to {report}")
    if report.skipped:
        reasons = "; ".join(dict.fromkeys(each.problem for each in report.skipped))
        total = len(report.outcomes)
        warnings.warn(
            f"{name}: {len(report.skipped)} of {total} vectors were skipped: {reasons}", stacklevel=2
        )


def conforms(
    function: Function,
    name: str,
    *,
    framework: str = "",
    dtype: str = "float64",
    only: Callable[[Vector], bool] | None = None,
    **settings: Any,
) -> Report:
    """Compare a function with what the trainers computed, and return the report. The arguments are `assert_conforms`'s.

    Raises:
      ValueError: if the name, a setting, the framework or the dtype is unknown, or nothing was recorded.
      TypeError: if a parameter of the function has an unknown name, or the function returns something else.
    """
    for what, value, known in (("framework", framework, ("", *FRAMEWORKS)), ("dtype", dtype, DTYPES)):
        if value not in known:
            raise ValueError(f"{what}: expected one of {', '.join(filter(None, known))}, got {value!r}")
    chosen, used = chosen_vectors(name, settings)
    if only is not None:
        chosen = [vector for vector in chosen if only(vector)]
    parameters = parameters_of(function)
    calls = [Call(function, parameters, vector, dtype) for vector in sorted(chosen, key=_size)]
    framework = framework or detected(function, calls[0].on_numpy if calls else None)
    defaults = trainer.defaults_of(name) if trainer.is_trainer(name) else {}
    defaults = {key: value for key, value in defaults.items() if key not in used}
    report = Report(name, used, tuple(_outcome(call, framework) for call in calls), defaults=defaults)
    if report.failed:
        report = replace(report, mistake=mistake.named(function, report.outcomes, framework, dtype))
    return report


def chosen_vectors(name: str, settings: dict[str, Any]) -> tuple[list[Vector], dict[str, Any]]:
    """Return the vectors of a name with these settings, and all settings of them.

    Raises:
      ValueError: if the name or a setting is unknown, or nothing was recorded; the message says what there is.
    """
    if trainer.is_trainer(name):
        return trainer.vectors_of(name, settings), settings
    defaults = document(_known(name))["settings"]
    for key in settings:
        if key not in defaults and (ours := [each for each in defaults if key in SETTINGS.get(each, ())]):
            raise ValueError(f"{name}: unknown key {key!r}; its name here is {ours[0]!r}")
    wanted = {**defaults, **settings}
    chosen = [vector for vector in vectors(name=name) if vector.settings == wanted]
    if not chosen:
        recorded = [Configuration(vector.settings, vector.settings) for vector in vectors(name=name)]
        raise not_recorded(name, wanted, recorded)
    return chosen, wanted


def _known(name: str) -> str:
    """Return the full name, or raise a ValueError that lists the names of vectors and of trainers."""
    try:
        return full_name(name)
    except ValueError as error:
        near = difflib.get_close_matches(name.lower(), [*names(), *trainer.TRAINERS], n=1)
        hint = f"unknown name {name!r}; did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"{hint}{error}. Trainers: {', '.join(trainer.TRAINERS)}") from None


def _outcome(call: Call, framework: str) -> Outcome:
    """Call the function on a vector, and compare. A function that refuses a mask of numbers gets one of bool."""
    if reason := _skipped(call):
        return Outcome(call.vector, problem=reason, skipped=True)
    problems: list[Exception] = []
    for mask_dtype in ("", "bool", "int64"):
        try:
            outcome = _compared(replace(call, mask_dtype=mask_dtype), framework)
            return replace(outcome, given=call.given(call.inputs)) if outcome.what else outcome
        except (ImportError, ParameterError, ReturnError):
            raise  # the function is not one that can be compared, on any vector
        except ShapeError as error:
            return _failure(call, str(error))
        except Exception as error:
            problems.append(error)
    return _failure(call, f"your function failed: {type(problems[0]).__name__}: {problems[0]}")


def _failure(call: Call, problem: str) -> Outcome:
    return Outcome(
        call.vector, what="error", size=float("inf"), problem=problem, given=call.given(call.inputs)
    )


def _compared(call: Call, framework: str) -> Outcome:
    """Compare a function on a vector. In single precision, a gradient may be that of the other side of a kink."""
    outcome = compared(call.vector, result := result_of(call, framework))
    if outcome.what != "gradient" or result.precision <= DOUBLE or result.gradient is None:
        return outcome
    # Some ratios are at a bound of the clip. Rounding decides on which side of the bound they are, and JAX returns the
    # mean of both sides. A few roundings further on, the gradient is that of one side.
    expected, gradient = call.vector.expected["gradient"], result.gradient
    first, at = next(iter(call.vector.inputs.items()))
    step = ROUNDINGS_TO_A_SIDE * result.precision * np.maximum(1.0, np.abs(at))
    for moved in (at + step, at - step):
        vector = replace(call.vector, inputs={**call.vector.inputs, first: moved})
        beside = result_of(replace(call, vector=vector), framework).gradient
        if beside is not None:
            closer = np.abs(beside - expected) < np.abs(gradient - expected)
            gradient = np.where(closer, beside, gradient)
    return compared(call.vector, result._replace(gradient=gradient))


def _skipped(call: Call) -> str:
    """Return why a function cannot be called on a vector, or ""."""
    inputs = call.vector.inputs
    length = inputs.get("max_length")
    takes = any(name in call.parameters for name in ("max_length", *NAMES["max_length"]))
    if length is not None and not takes and length != inputs["mask"].shape[-1]:
        return "the function has no parameter max_length, and the arrays are not that long"
    if merged := [name for name, value in inputs.items() if np.ndim(value) and _merge(value, call.dtype)]:
        return f"different numbers of {merged[0]} are equal in {call.dtype}"
    return ""


def _merge(value: Floats, dtype: str) -> bool:
    """Return true if rounding makes different numbers equal, such as 3 and 3.0000001 in single precision."""
    return len(np.unique(value.astype(dtype))) < len(np.unique(value))


# ---- the message -----------------------------------------------------------------------------------


def _shown(outcome: Outcome) -> list[str]:
    """Return the lines that show a failure: the inputs, and what was expected and computed."""
    vector, result = outcome.vector, outcome.result
    lines = [f"the smallest case that differs, {vector.id!r} ({vector.tokens} tokens):", ""]
    for name, value in outcome.given.items():
        if isinstance(value, dict):
            lines += [f"    {name}[{key!r}] = {_code(each)}" for key, each in value.items()]
        else:
            lines.append(f"    {name} = {_code(value)}")
    lines.append("")
    if outcome.problem:
        lines.append(f"    {outcome.problem}")
    elif result is not None:
        lines += _numbers(outcome, result)
    who = "; ".join(dict.fromkeys(f"{each['trainer']} ({each['version']})" for each in vector.origins))
    lines += textwrap.wrap(
        f"expected: computed by {who}", WIDTH, initial_indent="    ", subsequent_indent="      "
    )
    return lines


def _numbers(outcome: Outcome, result: Result) -> list[str]:
    vector = outcome.vector
    if "value" in vector.expected:
        lines = [
            f"    expected value = {_code(vector.expected['value'])}",
            f"    computed value = {_code(result.value)}",
        ]
    else:
        lines = [
            f"    expected loss = {vector.expected['loss']:.{DIGITS + 1}g}",
            f"    computed loss = {result.loss:.{DIGITS + 1}g}",
        ]
    if "gradient" in vector.expected and result.gradient is not None:
        lines.append(f"    expected gradient = {_code(vector.expected['gradient'])}")
        how = "  # by central differences; nan at kinks and on padding" if result.numerical else ""
        lines.append(f"    computed gradient = {_code(result.gradient)}{how}")
    return [*lines, f"    {_difference(outcome, result)}"]


def _difference(outcome: Outcome, result: Result) -> str:
    """Return what differs, as a sentence: the size relative to the largest number, unless that is 0 or not finite."""
    what = outcome.what
    expected = np.asarray(outcome.vector.expected[what])
    computed = np.asarray(getattr(result, what))
    if not np.isfinite(outcome.size):
        return _not_finite(what, computed, outcome.vector)
    if not np.any(np.abs(expected) > NEARLY_0):
        mask = outcome.vector.inputs.get("mask")
        if mask is not None and computed.shape == mask.shape:
            expected, computed = expected[mask > 0], computed[mask > 0]
        largest = computed.flat[np.nanargmax(np.abs(computed))]
        return f"the {what} differs: expected {_code(np.max(expected))}, computed {_code(largest)}"
    return f"the {what} differs by {outcome.size:.1e} of the largest number; {outcome.rtol:.0e} is allowed"


def _not_finite(what: str, computed: Floats, vector: Vector) -> str:
    """Return the sentence for a difference that is not finite, with the likely division by 0."""
    mask = vector.inputs.get("mask")
    divisor = ""
    if mask is not None and not mask.any():
        divisor = "mask.sum() = 0"
    elif mask is not None and not mask.any(axis=-1).all():
        divisor = "mask.sum(-1) = 0, the length of an empty completion"
    if np.isnan(computed).any():
        hint = f": is there a division by {divisor}?" if divisor else ""
        return f"your {what} is nan{hint}" if computed.ndim == 0 else f"your {what} has nan{hint}"
    return (
        f"your {what} is infinite"
        if computed.ndim == 0
        else f"your {what} and the expected one are not finite in the same places"
    )


def _formula(vector: Vector) -> list[str]:
    """Return the lines with the formula and the mean, as in the list of names; none for a trainer."""
    about = document(vector.name) if vector.level in PLACES.values() else {}
    return [f"{key}: {about[key]}" for key in ("formula", "mean") if key in about]


def _no_gradient(outcomes: Sequence[Outcome]) -> bool:
    """Return true if no gradient reached the function in any case that has one."""
    reached = [
        bool(np.any(each.result.gradient))
        for each in outcomes
        if each.result is not None
        and each.result.gradient is not None
        and not each.result.numerical
        and np.any(each.vector.expected.get("gradient", 0.0))
    ]
    return bool(reached) and not any(reached)


def _not_given(defaults: Mapping[str, Any]) -> list[str]:
    """Return the lines that name the keys in force, those of the clip and of the KL penalty first."""
    if not defaults:
        return []
    known = {alias for aliases in SETTINGS.values() for alias in aliases}
    ordered = sorted(defaults, key=lambda key: key.rpartition(".")[2] not in known)
    shown = ", ".join(f"{key}={defaults[key]!r}" for key in ordered[:SHOWN])
    more = f", and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    return textwrap.wrap(f"keys you did not give: {shown}{more}", WIDTH, subsequent_indent="      ")


def _size(vector: Vector) -> tuple[int, int]:
    """Return the number of places of the first array, and the number of tokens."""
    return int(np.size(next(iter(vector.inputs.values())))), vector.tokens


def _has_empty(vector: Vector) -> bool:
    """Return true if a completion has no tokens."""
    return "mask" in vector.inputs and not vector.inputs["mask"].any(axis=-1).all()


def _code(value: Any) -> str:
    """Return an array as nested lists with few digits; other values are written as in Python."""
    if isinstance(value, np.ndarray):
        return "[" + ", ".join(_code(each) for each in value) + "]"
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    number = float(value) + 0.0  # 0 in place of -0
    return f"{number:.{DIGITS}g}"


def _listed(verb: str, outcomes: Sequence[Outcome]) -> list[str]:
    if not outcomes:
        return [f"{verb}: none"]
    shown = "; ".join(each.vector.id for each in outcomes[:SHOWN])
    more = f"; and {len(outcomes) - SHOWN} more" if len(outcomes) > SHOWN else ""
    return textwrap.wrap(f"{verb}: {shown}{more}", WIDTH, subsequent_indent="      ")


def _name_of(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)


__all__ = ["Outcome", "Report", "Vector", "assert_conforms", "conforms", "names"]
