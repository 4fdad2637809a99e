"""Summarize each experiment as plain numbers and texts, from which all tables are made."""

import hashlib
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grpo_ref.lab.framework.cache import described_arm
from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.predictions import recorded
from grpo_ref.lab.framework.verdicts import ClaimResult, verdict_text

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
      predictions: folder with a folder for each claim, in which its predictions are.
    """
    return {
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
