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
    """Return the SHA-256 of a claim, its source, its tasks and its predictions, in hexadecimal digits."""
    return _hash(_content(experiment))


def write_predictions(experiment: Experiment, folder: Path, today: date) -> bool:
    """Write NAME.json, unless it exists with the same predictions; then it keeps its date.

    Args:
      experiment: the claim.
      folder: folder of the files; created if it is missing.
      today: date to write into the file.

    Returns:
      True if the file was written.
    """
    if recorded(experiment, folder)["written"]:
        return False
    found = {"written": today.isoformat(), "sha256": fingerprint(experiment), **_content(experiment)}
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / f"{experiment.name}.json", _text(found) + "\n")
    return True


def recorded(experiment: Experiment, folder: Path) -> dict[str, str]:
    """Return the hash and the date of an experiment's file.

    The source may be cited in other words than in the file, since the citation predicts nothing.

    Args:
      experiment: the claim.
      folder: folder of the files.

    Returns:
      "sha256" and "written". The date is "", and the hash is the fingerprint, if there is no file, if the
      file was edited, or if its claim, its tasks or its predictions differ.
    """
    new = {"sha256": fingerprint(experiment), "written": ""}
    try:
        found = json.loads((folder / f"{experiment.name}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return new
    day, kept = str(found.pop("written")), str(found.pop("sha256"))
    same = found == _content(experiment) | {"source": found["source"]}
    return {"sha256": kept, "written": day} if same and kept == _hash(found) else new


def _content(experiment: Experiment) -> dict[str, Any]:
    return {
        "claim": experiment.claim,
        "source": experiment.source,
        "family": experiment.family,
        "predictions": [one._asdict() for one in experiment.predictions],
    }


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()


def _text(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False)
