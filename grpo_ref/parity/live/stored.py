"""The verdicts on recorded releases, from the numbers in `grpo_conformance`."""

from collections.abc import Iterator, Mapping
from typing import Any

from grpo_conformance.releases.store import read

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.parity.live.cases import case_of
from grpo_ref.parity.live.verdicts import Verdict, verdict


def recorded(trainer: str) -> dict[str, Any]:
    """Return the recorded numbers of all releases of a trainer."""
    return read(trainer)


def verdicts(document: Mapping[str, Any], release: str) -> Iterator[Verdict]:
    """Compare every case of a recorded release.

    Args:
      document: `recorded(trainer)`.
      release: one of its releases.
    """
    dialect, at = DIALECTS[document["project"]].at(release), document["releases"].index(release)
    for entry in document["cases"]:
        span = next(
            span
            for span in entry["spans"]
            if document["releases"].index(span["from"]) <= at <= document["releases"].index(span["to"])
        )
        yield verdict(dialect, case_of(entry), result_of(span), document["batches"])


def result_of(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of a span in the form in which a runner records a case. An estimator has its advantages."""
    if span["status"] != "runs":
        return (
            {"absent": span.get("missing", [])}
            if span["status"] == "absent"
            else {"error": span.get("error", "an error")}
        )
    numbers = span["batches"].values()
    return {"batches": [{"gradient": each["gradient"] or each["advantages"]} for each in numbers]}
