"""Write predictions with their hash into the folder of a claim before the results are known."""

import hashlib
import json
from datetime import date
from pathlib import Path
from typing import Any

from grpo_ref.files import replace_text
from grpo_ref.lab.framework.claim import POLICIES, claim_name
from grpo_ref.lab.framework.experiment import Experiment

FILE = "predictions.json"
"""Name of the file in the folder of a claim: policy -> its predictions."""


def fingerprint(experiment: Experiment) -> str:
    """Return the SHA-256 of a claim, its source, its tasks and its predictions, in hexadecimal digits."""
    return _hash(_content(experiment))


def write_predictions(experiment: Experiment, folder: Path, today: date, tag: str = "") -> bool:
    """Write the predictions of an experiment, unless the file has them already; then they keep their date.

    Args:
      experiment: the experiment.
      folder: folder with a folder for each claim; created if it is missing.
      today: date to write into the file.
      tag: Git tag under which the predictions will be committed, or "" to keep the tag of the file.

    Returns:
      True if the predictions are new.
    """
    entries, policy = _read(experiment, folder), experiment.policy
    is_new = not recorded(experiment, folder)["written"]
    if is_new:
        content = {"sha256": fingerprint(experiment), **_content(experiment)}
        entries[policy] = {"written": today.isoformat(), "tag": tag, **content}
    elif tag:
        entries[policy]["tag"] = tag
    path = _path(experiment, folder)
    text = _text({policy: entries[policy] for policy in POLICIES if policy in entries}) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
    return is_new


def recorded(experiment: Experiment, folder: Path) -> dict[str, str]:
    """Return the hash, the date and the Git tag of an experiment's predictions in the file of its claim.

    The source may be cited in other words than in the file, since the citation predicts nothing.

    Args:
      experiment: the experiment.
      folder: folder with a folder for each claim.

    Returns:
      "sha256", "written" and "tag". Date and tag are "", and the hash is the fingerprint, if there is no
      file, if the file was edited, or if its claim, its tasks or its predictions differ.
    """
    new = {"sha256": fingerprint(experiment), "written": "", "tag": ""}
    found = _read(experiment, folder).get(experiment.policy)
    if found is None:
        return new
    day, tag, kept = (str(found.pop(key)) for key in ("written", "tag", "sha256"))
    same = found == _content(experiment) | {"source": found["source"]}
    return {"sha256": kept, "written": day, "tag": tag} if same and kept == _hash(found) else new


def _path(experiment: Experiment, folder: Path) -> Path:
    return folder / claim_name(experiment) / FILE


def _read(experiment: Experiment, folder: Path) -> dict[str, dict[str, Any]]:
    try:
        entries: dict[str, dict[str, Any]] = json.loads(_path(experiment, folder).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return entries


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
