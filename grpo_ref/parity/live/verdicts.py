"""Compare the gradients of a trainer with those that `explain` predicts, and with the paper's form."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from grpo_conformance.releases.compare import HERE, Difference, difference, status_of, version_key

from grpo_ref.explain.dialect import Dialect
from grpo_ref.parity.live import trl, verl
from grpo_ref.parity.live.cases import Absent, Case, batch_of, numbers

LIVE: Mapping[str, Any] = {"trl": trl, "verl": verl}
"""The trainers that can be run, each with the module that computes what `explain` says of it."""


class Verdict(NamedTuple):
    """The result of one case.

    Attributes:
      case: name of the case.
      status: "agrees" or "differs" from what `explain` says; "stops" if the trainer raises an error, of
        which `explain` says nothing; "not run" if the release lacks what the case is about; "not explained" if `explain` has no objective for the release.
      change: difference from what `explain` says, relative to the largest number; None if there is none to compare.
      paper: name of the paper's form, or "".
      paper_change: difference from the paper's form.
      parts: the parts of the recipe that differ from the paper's form, with the trainer's.
      causes: what later releases changed for this case, if it differs from the paper or from `explain`.
      problem: a sentence if one of the two refuses the case and the other one does not.
    """

    case: str
    status: str
    change: float | None = None
    paper: str = ""
    paper_change: float | None = None
    parts: Mapping[str, str] = {}
    causes: tuple[str, ...] = ()
    problem: str = ""


def verdict(
    dialect: Dialect, case: Case, result: Mapping[str, Any], batches: Mapping[str, Mapping[str, Any]]
) -> Verdict:
    """Compare one case.

    Args:
      dialect: the trainer at the release that ran.
      case: the configuration.
      result: what the runner recorded: "batches", "absent" or "error".
      batches: "plain 0" and so on -> the arrays of a batch.
    """
    with np.errstate(all="ignore"):
        return _verdict(dialect, case, result, batches)


def _verdict(
    dialect: Dialect, case: Case, result: Mapping[str, Any], batches: Mapping[str, Mapping[str, Any]]
) -> Verdict:
    computes = LIVE[dialect.name]
    status = status_of(result)
    try:
        dialect.recipe()
    except ValueError:
        return Verdict(case.name, "not explained")
    inputs = [batch_of(number, batches[f"{case.on} {number}"]) for number in range(5)]
    try:
        predicted = [computes.gradient(dialect, case, batch) for batch in inputs]
    except (Absent, ValueError) as error:
        if status != "runs":
            return Verdict(case.name, "not run")
        return Verdict(case.name, "differs", problem=f"it runs, but explain refuses it: {error}")
    if status == "absent" and case.call:  # a function without such an argument tells nothing about keys
        return Verdict(case.name, "not run")
    if status != "runs":
        reason = result.get("error") or ", ".join(result.get("absent", ()))
        return Verdict(
            case.name, "stops" if "error" in result else "differs", problem=f"it does not run: {reason}"
        )
    computed = [numbers(batch["gradient"]) for batch in result["batches"]]
    apart = apart_from(computed, predicted, is_undefined(dialect, case))
    name, papers, parts = computes.paper(dialect, case, inputs)
    paper_apart = apart_from(computed, papers, is_undefined(dialect, case)) if name else None
    is_same = apart is None
    return Verdict(
        case.name,
        "agrees" if is_same else "differs",
        apart.change if apart else 0.0,
        name,
        None if not name else paper_apart.change if paper_apart else 0.0,
        parts if paper_apart else {},
        () if is_same and not paper_apart else causes(dialect.name, case.name, dialect.release),
    )


def apart_from(
    computed: Sequence[Any], predicted: Sequence[Any], overflows: bool = False
) -> Difference | None:
    """Return the difference of two gradients, or None if they agree up to the rounding of float32.

    PyTorch multiplies 0 by infinity where a number overflows, and by NaN after 0/0. The NaN is then in places that
    depend on the code, so only finite places are compared.

    Args:
      computed, predicted: (B, T) of each batch.
      overflows: true if log-ratios overflow in float32. A prediction that is not finite counts as well.
    """
    pairs = []
    for one, other in zip(computed, predicted, strict=True):
        kept = np.isfinite(one)
        if not kept.all() and (overflows or not np.isfinite(other).all()):
            pairs.append((np.where(kept, one, 0.0), np.where(kept, np.nan_to_num(other), 0.0)))
        else:
            pairs.append((one, other))
    return difference([one for one, _ in pairs], [other for _, other in pairs])


def is_undefined(dialect: Dialect, case: Case) -> bool:
    """Return true if a part of the gradient is not defined: float32 overflows, or a row without a token is 0/0."""
    rows = dialect.keys.table.get("rows_without_tokens")
    return case.on == "overflow" or (case.on == "empty" and rows is not None and rows.default == "0/0")


def causes(trainer: str, case: str, release: str) -> tuple[str, ...]:
    """Return what releases after this one changed for a case, the nearest first: "1.9.0: The loss ..."."""
    borders = tomllib.loads((HERE / f"{trainer}_borders.toml").read_text())["border"]
    return tuple(
        f"{border['release']}: {border['cause']}"
        for border in borders
        if version_key(border["release"]) > version_key(release)
        and border["transition"] == "changes"
        and case in border["cases"]
    )
