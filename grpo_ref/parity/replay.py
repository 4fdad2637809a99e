"""Rebuild recorded cases of the trainers from their configurations and inputs, and compare the numbers.

conformance/RECORDINGS.md describes the format. Each case names its trainer, call and configuration, so no
case is special here. None of the recorded numbers is used to rebuild it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from grpo_conformance import RECORDINGS

from grpo_ref.arrays import Floats
from grpo_ref.explain.dialect import flat, one_of
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.parity.calls import CALLS_OF_TRAINER
from grpo_ref.parity.calls.common import CALLS
from grpo_ref.parity.measured import FLOAT32, Measured, Metric, Rounded
from grpo_ref.parity.metrics import METRICS_OF_TRAINER

RTOL = 1e-6
"""Default relative tolerance of a case."""
NEEDED = ("id", "trainer", "call", "config", "given")
"""Fields that every case must have."""
NUMBERS = ("loss", "grad_logp", "value")
"""Numbers that are compared, besides the metrics."""
UNGROUPED = ("weights", "num_items_in_batch")
"""Inputs of a case that are not per completion."""
PER_TOKEN = 3
"""Number of axes of values per token, (P, G, T)."""
PRECISIONS = ("float64", "float32")
"""Data types in which a case may be computed."""


class Verdict(NamedTuple):
    """The result of one case.

    Attributes:
      id: id of the case.
      trainer: name of the trainer.
      passed: true if all numbers agree.
      rtol: relative tolerance.
      error: largest difference, relative to the largest recorded magnitude; NaN if nothing was compared.
      problem: the reason why the case could not be compared, or "".
    """

    id: str
    trainer: str
    passed: bool
    rtol: float
    error: float
    problem: str = ""


def shipped() -> list[Path]:
    """Return the files of recorded cases in this package, in the order of the trainers."""
    folders = (RECORDINGS / "by_hand", RECORDINGS, RECORDINGS / "algorithms")
    files = (folder / f"{name}.json" for name in DIALECTS for folder in folders)
    return [file for file in files if file.is_file()]


def verdicts(path: Path) -> Iterator[Verdict]:
    """Rebuild and compare every case of a file.

    Args:
      path: path of the JSON file.

    Yields:
      Verdict of each case.

    Raises:
      ValueError: if the file does not have the format that README.md describes.
    """
    inputs, cases = read(path)
    for case in cases:
        yield verdict(case, inputs)


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the inputs and the cases of a file.

    Args:
      path: path of the JSON file. Its "inputs" may be the name of another file, relative to it.

    Raises:
      ValueError: if the file does not have the format; the message gives the reason.
    """
    recorded = _json(path)
    if not isinstance(recorded, dict) or not {"inputs", "cases"} <= set(recorded):
        raise ValueError(f"{path}: expected a JSON object with 'inputs' and 'cases'")
    inputs, cases = recorded["inputs"], recorded["cases"]
    if isinstance(inputs, str):
        inputs = _json(path.parent / inputs)
    if not isinstance(inputs, dict) or not isinstance(inputs.get("group_size"), int):
        raise ValueError(f"{path}: expected 'inputs' to be an object with a whole number as 'group_size'")
    if not isinstance(cases, list):
        raise ValueError(f"{path}: expected 'cases' to be a list, got {type(cases).__name__}")
    for place, case in enumerate(cases):
        if problem := _problem(case):
            raise ValueError(f"{path}: case {place}: {problem}")
    return inputs, cases


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ValueError(f"{path}: expected a JSON file: {error}") from error


def _problem(case: Any) -> str:
    """Return the reason why a case does not have the format, or ""."""
    if not isinstance(case, dict):
        return f"expected an object, got {type(case).__name__}"
    missing = [name for name in NEEDED if name not in case]
    return f"it has no {' and no '.join(missing)}" if missing else ""


@np.errstate(all="ignore")
def verdict(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
    """Rebuild one case and compare it with the recorded numbers. Extreme numbers raise no warning."""
    if "refused" in case:
        return _refusal(case, inputs)
    try:
        return compare(case, inputs, rebuild(case, inputs))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        told = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        rtol = case.get("rtol", RTOL)
        return Verdict(case["id"], case["trainer"], False, rtol, float("nan"), told)


def compare(case: Mapping[str, Any], inputs: Mapping[str, Any], ours: Mapping[str, Any]) -> Verdict:
    """Compare the recorded numbers of a case with the numbers that `rebuild` returned.

    Args:
      case: the case with its recorded numbers.
      inputs: the arrays of its file.
      ours: the rebuilt numbers.

    Raises:
      ValueError: if the case has no such number, or not as many.
    """
    rtol, worst = case.get("rtol", RTOL), _worst(case, ours, _counted(case, inputs))
    return Verdict(case["id"], case["trainer"], worst <= rtol, rtol, worst)


def _refusal(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> Verdict:
    """Check that a configuration that the trainer refuses is refused here too.

    It must not be refused here just because a key is unknown, unless the trainer's error names that key too.
    """
    dialect = one_of("trainer", case["trainer"], DIALECTS).at(case.get("release", ""))
    others = {key: None for key in flat(case["config"]) if not _is_named(key, case["refused"])}
    if told := ", ".join(dialect.unknown(others)):
        return Verdict(case["id"], case["trainer"], False, 0.0, float("nan"), f"no key {told}")
    try:
        rebuild(case, inputs)
    except ValueError:
        return Verdict(case["id"], case["trainer"], True, 0.0, 0.0)
    except (KeyError, TypeError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
    else:
        told = f"accepted here; the trainer says: {case['refused']}"
    return Verdict(case["id"], case["trainer"], False, 0.0, float("nan"), told)


def _is_named(key: str, error: str) -> bool:
    """Return true if a trainer's error has the name of a key in quotes, as for an unknown keyword."""
    return repr(key.split(".")[-1]) in error


def rebuild(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the numbers of a case.

    Args:
      case: a case with trainer, call, config and given, and optionally its own inputs, dtype, seed or release.
      inputs: the arrays of its file.

    Returns:
      "loss" and "grad_logp", or "value"; "logged": the metrics of the case that are known here; "sizes": the
      magnitude of their terms, if they are summed in float32.

    Raises:
      ValueError: if the trainer or the call is unknown, or an array is missing or has a wrong shape.
    """
    dialect = one_of("trainer", case["trainer"], DIALECTS).at(case.get("release", ""))
    call = one_of("call", case["call"], {**CALLS, **CALLS_OF_TRAINER.get(dialect.name, {})})
    record = record_of(case, {**inputs, **case.get("inputs", {})})
    numbers: dict[str, Any] = call(dialect, case["config"], record)
    metrics = METRICS_OF_TRAINER.get(dialect.name, {})
    if known := [name for name in case.get("metrics", {}) if name in metrics]:
        settings, recipe = dialect.settings(case["config"]), dialect.recipe(**case["config"])
        parts = [Measured(settings, recipe, *part) for part in numbers.get("parts", [(record, numbers)])]
        logged = {name: _logged(name, metrics[name], parts) for name in known}
        numbers = numbers | {"logged": {name: value for name, (value, _) in logged.items()}}
        numbers["sizes"] = {name: size for name, (_, size) in logged.items()}
    if "axes" in case:
        numbers["value"] = _laid_out(numbers["value"], case["axes"], record)
    return numbers


def _logged(name: str, metric: Metric, parts: list[Measured]) -> Rounded:
    """Return the mean of a metric over the parts of a call that log it; NaN if none does.

    A part that does not log the metric returns None. The terms of a metric that is not `Rounded` have size 0.

    Raises:
      ValueError: if the metric needs an input that the case does not have.
    """
    try:
        told = [value for part in parts if (value := metric(part)) is not None]
    except (AttributeError, KeyError) as error:
        missing = getattr(error, "name", None) or error.args[0]
        raise ValueError(f"metric {name!r}: it needs {missing!r}, which this case does not have") from error
    rounded = [each if isinstance(each, Rounded) else Rounded(each, 0.0) for each in told]
    values, sizes = zip(*rounded, strict=True) if rounded else ([float("nan")], [0.0])
    return Rounded(np.mean(values, axis=0), np.mean(sizes, axis=0))


def record_of(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> SimpleNamespace:
    """Return the inputs of a case: (P, G, ...) arrays under the names in `given`, and the seed."""
    size, fields = inputs["group_size"], {}
    precision = one_of("dtype", case.get("dtype", "float64"), {name: name for name in PRECISIONS})
    for name, source in case["given"].items():
        array = _numbers(one_of(f"given {name}", source, inputs)).astype(precision)
        if name in UNGROUPED:
            fields[name] = array
            continue
        if array.shape[0] % size:
            raise ValueError(
                f"{source}: {array.shape[0]} completions cannot be divided into groups of {size}"
            )
        fields[name] = array.reshape(-1, size, *array.shape[1:])
    return SimpleNamespace(**fields, seed=case.get("seed"))


def _laid_out(value: Floats, axes: list[str], record: SimpleNamespace) -> Floats:
    """Arrange (P, G) or (P, G, T) values on the trainer's axes: "completion", "token", or both in any order.

    Raises:
      ValueError: if values per completion must be spread over tokens and there is no mask.
    """
    by_token = value.ndim == PER_TOKEN
    if "token" not in axes:
        return (value[..., 0] if by_token else value).reshape(-1)
    if not by_token and not hasattr(record, "mask"):
        raise ValueError("axes: for values of each token, 'given' has to name a mask")
    tokens = value if by_token else value[..., None] * record.mask
    flat = tokens.reshape(-1, tokens.shape[-1])
    return flat if axes[0] == "completion" else flat.T


def _counted(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> Floats | None:
    """Return the mask on the axes of the value. Values on padding are not compared."""
    if "mask" not in case["given"] or "token" not in case.get("axes", ()):
        return None
    record = record_of(case, {**inputs, **case.get("inputs", {})})
    return _laid_out(record.mask, case["axes"], record)


def _worst(case: Mapping[str, Any], ours: Mapping[str, Any], mask: Floats | None) -> float:
    """Return the largest error of the recorded numbers, and of the metrics that have a counterpart."""
    errors = []
    for name in NUMBERS:
        if (name in ours) != (name in case):
            raise ValueError(f"this call gives {', '.join(sorted({*ours} & {*NUMBERS}))}; look at {name!r}")
        if name in ours:
            errors.append(_error(name, ours[name], case[name], mask if name == "value" else None))
    for name, value in ours.get("logged", {}).items():
        floor = FLOAT32 * ours["sizes"][name]
        errors.append(_error(name, value, case["metrics"][name], floor=floor))
    return max(errors)


def _error(name: str, value: Any, recorded: Any, mask: Floats | None = None, *, floor: float = 0.0) -> float:
    """Return the largest difference beyond the floor, relative to the largest magnitude.

    Non-finite values must be equal.
    """
    theirs = _numbers(recorded)
    if np.size(value) != theirs.size:
        raise ValueError(f"{name}: {np.size(value)} numbers, not {theirs.size}")
    ours = np.reshape(value, theirs.shape)
    if mask is not None:
        ours, theirs = ours[mask != 0.0], theirs[mask != 0.0]
    finite = np.isfinite(theirs)
    if (
        not np.array_equal(ours[~finite], theirs[~finite], equal_nan=True)
        or not np.isfinite(ours[finite]).all()
    ):
        return float("inf")
    scale = np.max(np.abs(theirs[finite]), initial=1e-9)
    apart = np.max(np.abs(ours[finite] - theirs[finite]), initial=0.0)
    return float(max(apart - floor, 0.0) / scale)


def _numbers(value: Any) -> Floats:
    """Convert lists of numbers to an array. Non-finite numbers are text, missing ones are None."""
    return np.array(value, dtype=np.float64)  # NumPy reads "inf", and None as NaN
