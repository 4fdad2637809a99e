"""Write the recorded cases of a trainer to one JSON file."""

import json
import math
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).parents[3] / "conformance" / "grpo_conformance" / "recordings"
INPUTS = "inputs.json"
DIGITS = 12
"""Of a recorded number; a case is compared to at most eight."""


def given(name: str) -> Any:
    """An input of inputs.json, as nested lists with float("nan") for "nan"."""
    arrays = json.loads((RECORDINGS / INPUTS).read_text(encoding="utf-8"))
    return _numbers(arrays[name])


def write(trainer: str, cases: list[dict[str, Any]], about: dict[str, str]) -> Path:
    """Write the recordings of a trainer: where it was recorded, and the cases, one on a line."""
    names = [case["id"] for case in cases]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"cases of the same id: {', '.join(sorted(doubled))}")
    lines = ",\n".join(json.dumps(rounded({"trainer": trainer, **case})) for case in cases)
    path = RECORDINGS / f"{trainer}.json"
    head = json.dumps({"recorded": about, "inputs": INPUTS})[:-1]
    path.write_text(f'{head}, "cases": [\n{lines}\n]}}\n', encoding="utf-8")
    return path


def rounded(value: Any) -> Any:
    """The same with few digits, and with text for what JSON has no number for."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    return value


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return float(value) if isinstance(value, str) else value
