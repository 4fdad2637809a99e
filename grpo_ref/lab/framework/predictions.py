"""Write predictions with their hash into a file before the results are known."""

import hashlib
import json
from datetime import date
from pathlib import Path
from typing import Any

from grpo_ref.files import replace_text
from grpo_ref.lab.framework.experiment import Experiment

FOLDER = "predictions"
"""Folder of the predictions, beside the page about the experiments."""


def fingerprint(experiment: Experiment) -> str:
    """Return the SHA-256 of a claim, its distribution of tasks and its predictions, in hexadecimal digits."""
    return hashlib.sha256(_text(_predicted(experiment)).encode()).hexdigest()


def write_predictions(experiment: Experiment, folder: Path, today: date) -> bool:
    """Write NAME.json, unless it exists with the same predictions; then it keeps its date.

    Args:
      experiment: the claim.
      folder: folder of the files; created if it is missing.
      today: date to write into the file.

    Returns:
      True if the file was written.
    """
    if written_on(experiment, folder):
        return False
    found = {"written": today.isoformat(), "sha256": fingerprint(experiment), **_predicted(experiment)}
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / f"{experiment.name}.json", _text(found) + "\n")
    return True


def written_on(experiment: Experiment, folder: Path) -> str:
    """Return the date in an experiment's file, or "" if there is no file or its predictions differ."""
    try:
        found = json.loads((folder / f"{experiment.name}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    day, kept = str(found.pop("written")), found.pop("sha256")
    return day if kept == fingerprint(experiment) and found == _predicted(experiment) else ""


def _predicted(experiment: Experiment) -> dict[str, Any]:
    return {
        "claim": experiment.claim,
        "source": experiment.source,
        "family": experiment.family,
        "predictions": [one._asdict() for one in experiment.predictions],
    }


def _text(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False)
