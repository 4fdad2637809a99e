"""Summarize each experiment as plain numbers in JSON, from which all tables are made."""

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grpo_ref.files import replace_text
from grpo_ref.lab.framework.cache import described_arm
from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.predictions import recorded
from grpo_ref.lab.framework.verdicts import ClaimResult, verdict_text

FORMAT = "grpo_ref experiments 4"
ROUNDING = 1e-12
"""Numbers of smaller magnitude are printed as 0."""
Summary = dict[str, Any]


def summary(
    experiments: Mapping[str, Experiment],
    results: Mapping[str, ClaimResult],
    *,
    seeds: int,
    seed: int,
    predictions: Path,
) -> Summary:
    """Return verdicts, estimates and exhibits, with seeds and versions.

    Args:
      experiments: name -> experiment.
      results: name of the experiment -> result.
      seeds, seed: number of runs of each arm; base seed of their random numbers.
      predictions: folder of the predictions.
    """
    return {
        "format": FORMAT,
        "seeds": seeds,
        "seed": seed,
        "code": _arms_hash(experiments),
        "versions": {
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
        },
        "experiments": {
            name: _one(experiments[name], result, predictions) for name, result in results.items()
        },
    }


def _arms_hash(experiments: Mapping[str, Experiment]) -> str:
    """Return the hash of the code and the settings of all arms."""
    arms = [described_arm(arm) for experiment in experiments.values() for arm in experiment.arms.values()]
    return hashlib.sha256("\n".join(arms).encode()).hexdigest()[:16]


def findings_of(result: ClaimResult) -> list[dict[str, Any]]:
    """Return the predictions of a result with their estimates, as plain numbers and texts."""
    return [
        {
            "says": prediction.says,
            "measure": prediction.measure,
            "left": prediction.left,
            "right": prediction.right,
            "expect": prediction.expect,
            "margin": prediction.margin,
            "mean": estimate.mean,
            "low": estimate.low,
            "high": estimate.high,
            "p": estimate.p,
            "size": estimate.size if math.isfinite(estimate.size) else None,
            "outcome": outcome,
            "share": share,
            "main": prediction.main,
            "middle": list(middle) if middle else None,
            "choice": choice,
            "at_equal": {str(value): list(found) for value, found in at_equal.items()},
        }
        for prediction, estimate, outcome, share, middle, choice, at_equal in result.findings
    ]


def _one(experiment: Experiment, result: ClaimResult, predictions: Path) -> dict[str, Any]:
    tuning = {
        label: {
            "setting": tuned.setting,
            "by": tuned.by,
            "scores": {str(value): float(found.mean()) for value, found in tuned.scores.items()},
            "best": str(tuned.best),
            "alike": [str(value) for value in tuned.alike()],
        }
        for label, tuned in result.tuning.items()
    }
    pairs = result.findings[0].estimate.pairs
    exhibit = experiment.exhibit() if experiment.exhibit else ""
    return {
        "verdict": result.verdict,
        "decided_by": result.deciding,
        "clauses": [
            {"text": clause.text, "verdict": clause.verdict, "outcomes": clause.outcomes}
            for clause in result.clauses
        ],
        "predicted": recorded(experiment, predictions),
        "pairs": pairs,
        "findings": findings_of(result),
        "tuning": tuning,
        "exhibit": exhibit,
    }


def save(path: Path, found: Summary) -> None:
    """Write a summary as JSON."""
    replace_text(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def load(path: Path) -> Summary:
    """Read a summary.

    Raises:
      ValueError: if the file is not a summary.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ValueError(f"{path} is not a summary of experiments: its format is not {FORMAT!r}")
    return found


def chosen(tuning: Mapping[str, Any]) -> str:
    """Return the chosen value of each arm, with the values that score alike, or marked if it lies at an end.

    >>> scores = {"0.1": 0.2, "0.3": 0.5}
    >>> one = {"setting": "learning_rate", "scores": scores, "best": "0.3", "alike": ["0.3"]}
    >>> chosen({"grpo": one})
    'learning_rate: grpo 0.3 (at the end of the range tried)'
    >>> chosen({"grpo": {**one, "alike": ["0.1", "0.3"]}})
    'learning_rate: grpo 0.3 (flat from 0.1 to 0.3)'
    """
    by_setting: dict[str, list[str]] = {}
    for label, tuned in tuning.items():
        values, alike, best = list(tuned["scores"]), tuned["alike"], tuned["best"]
        note = ""
        if len(alike) > 1:
            note = f" (flat from {alike[0]} to {alike[-1]})"
        elif best in (values[0], values[-1]):
            note = " (at the end of the range tried)"
        by_setting.setdefault(tuned["setting"], []).append(f"{label} {best}{note}")
    return "; ".join(f"{setting}: {', '.join(arms)}" for setting, arms in by_setting.items())


def effect(mean: float, low: float, high: float) -> str:
    """Return mean and interval as text; rounding errors are printed as 0.

    >>> effect(0.25, -5e-17, 0.5)
    '0.25 [0, 0.5]'
    """
    mean, low, high = (0.0 if abs(value) < ROUNDING else value for value in (mean, low, high))
    return f"{mean:.3g} [{low:.3g}, {high:.3g}]"


def verdict_of(result: Mapping[str, Any], depends_on: str = "") -> str:
    """Return the stored verdict of an experiment in words.

    >>> verdict_of({"verdict": "mixed", "clauses": [], "decided_by": ["holds", "opposite"]})
    'mixed (1 opposite, 1 holds)'
    """
    parts = [clause["verdict"] for clause in result["clauses"]] or result["decided_by"]
    return verdict_text(result["verdict"], parts, depends_on)
