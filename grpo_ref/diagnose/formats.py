"""Read the formats in which trainers write their metrics: one record of numbers per line, dictionary or table row.

| format | example |
|---|---|
| trainer_state.json, a JSON list | `{"log_history": [{"step": 1, "loss": 0.1}]}` |
| JSON Lines, CSV | one record per line |
| printed dictionaries | `{'loss': 0.0, 'reward': 0.5}` of TRL and ms-swift, also with numbers as text |
| console lines | `step:3 - actor/pg_loss:0.01 - ...` of verl, behind the prefixes of Ray |
| numbered lines | `step 1: {...}` of slime and miles, `Global step 1: {...}` of OpenRLHF |
| bars | steps of prime-rl, whose fields (`Reward: 0.5`, or `Reward 0.5`) have bars between them |
| bullets | `• Avg Reward: 0.5` of NeMo-RL, below `== Step 1/50 ==` |
| notebooks | the table or the dictionaries in the output of a cell |

Text is read line by line, so that a long log needs little memory.
"""

import ast
import csv
import html
import io
import json
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Record = dict[str, float]
NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)"
WRAPPED = re.compile(rf"(?:np|numpy)\.\w+\(\s*({NUMBER})\s*\)|tensor\(\s*({NUMBER})[^)]*\)")
"""A number as NumPy or PyTorch prints it: `np.float64(0.5)`."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m|�\[[0-9;]*m")
RAY = re.compile(r"^\s*\(\w+ pid=\d+[^)]*\)\s?")
CONSOLE = re.compile(rf"(?:^|[\s-])([A-Za-z_][\w/@.+-]*(?:\([^)]*\))?):({NUMBER})(?=\s|$)")
STEP = re.compile(r"\bstep:\d+ - ")
CONTINUED = re.compile(rf"\s*-?\s*[\w/@.()-]+:{NUMBER}")
NUMBERED = re.compile(r"\b(?:step|rollout|perf|eval) (\d+): (\{.*\})")
BARS = re.compile(r"\bStep (\d+) \| (.*)")
BAR = re.compile(rf"\s*([A-Z][\w. -]*?):? +({NUMBER})(%?)")
HEADING = re.compile(r"=+ Step (\d+)/\d+ =+")
BULLET = re.compile(rf"\s*• (Loss|[A-Z][\w ]+|generation): ({NUMBER})")
ELIDED = re.compile(r",\s*\.\.\.\s*\}")
"""The end of a dictionary that somebody shortened by hand."""
KNOWN = (
    "'loss'",
    '"loss"',
    "'reward'",
    '"reward"',
    "train/loss",
    "rollout/",
    "objective/scores",
    "policy_loss",
)
"""A dictionary in a text is a record if it has one of these."""
HEADS = {"Training Loss": "loss", "Step": "step"}
"""Headings of the table that a notebook shows, with the names of the metrics."""
MOST_RECORDS = 20_000
"""Number of lines of JSON that are all parsed. Of further lines, fewer and fewer are: one in 200 of the last of a million."""
LONGEST = 20_000
"""Longest line, or dictionary over several lines, that is read, in characters."""


def records_of_file(path: Path) -> Iterator[Record]:
    """Yield the records of a file. Its ending gives the format.

    Raises:
      ValueError: if the file has no record, or is damaged in its format.
    """
    kind = path.suffix.lower()
    if kind in (".json", ".ipynb"):
        text = path.read_text(encoding="utf-8", errors="replace")
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            if kind == ".ipynb":
                raise ValueError(f"it is not valid JSON: {error}") from error
            yield from records_of_lines(text.splitlines())
            return
        yield from _of_notebook(data) if kind == ".ipynb" else _of_json(data)
        return
    with path.open(encoding="utf-8", errors="replace", newline=None) as lines:
        if kind == ".csv":
            yield from map(numbers, csv.DictReader(lines))
        else:
            yield from records_of_lines(lines)


def records_of_lines(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the records in the lines of a text: JSON Lines, console lines, or dictionaries between other text.

    Of more than `MOST_RECORDS` lines of JSON, a random part is parsed, the same at every call.
    """
    chosen = random.Random(0)
    seen = 0
    console: list[str] = []  # the lines of a step of verl
    opened: list[str] = []  # the lines of a dictionary that is not closed yet
    step: float | None = None  # the step of the heading above, in a log with bullets
    for line in lines:
        if len(line) > LONGEST:
            line = line[:LONGEST]
        if console or "step:" in line:
            clean = RAY.sub("", COLOUR.sub("", line))
            begins = STEP.search(clean)
            if begins or (console and not CONTINUED.match(clean)):
                yield from _of_console(console)
                console = []
            if begins or console:
                console.append(clean)
                continue
        if bars := BARS.search(line):
            fields = {
                name: float(value) / (100.0 if percent else 1.0) for name, value, percent in _bars(bars[2])
            }
            if fields:
                yield {"step": float(bars[1]), **fields}
            continue
        if heading := HEADING.search(line):
            step = float(heading[1])
        elif step is not None and (bullet := BULLET.match(RAY.sub("", COLOUR.sub("", line)))):
            yield {"step": step, bullet[1]: float(bullet[2])}
            continue
        if line.startswith("{") and not opened:
            seen += 1
            if seen > MOST_RECORDS and chosen.random() > MOST_RECORDS / seen / 4.0:
                continue
        if opened:
            opened.append(line)
            if "}" in line or sum(map(len, opened)) > LONGEST:
                yield from _of_dictionary("".join(opened))
                opened = []
        elif "{" in line:
            if "}" in line:
                yield from _of_dictionary(line)
            elif any(name in line for name in KNOWN):
                opened = [line]
    yield from _of_console(console)


def numbers(record: Mapping[str, Any]) -> Record:
    """Return the numbers of a record; Transformers 5 prints them as text. Other values are dropped.

    A dictionary named "metrics" inside a record, as in the files of slime, is part of the record.

    >>> numbers({"loss": "1.5e-3", "name": "run", "done": True, "kl": None})
    {'loss': 0.0015}
    """
    kept: Record = {}
    for name, value in record.items():
        if name == "metrics" and isinstance(value, dict):
            kept |= numbers(value)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                continue
        if isinstance(value, (int, float)) and not isinstance(value, bool) and isinstance(name, str):
            kept[HEADS.get(name, name)] = float(value)
    return kept


def _bars(text: str) -> list[tuple[str, str, str]]:
    """Return name, number and a percent sign of the fields between bars."""
    return [(match[1], match[2], match[3]) for part in text.split("|") if (match := BAR.match(part))]


def _of_json(data: Any) -> Iterator[Record]:
    """Yield the records of a JSON file: a list of records, or one with `log_history`."""
    if isinstance(data, dict):
        data = data.get("log_history", [data])
    for record in data if isinstance(data, list) else []:
        if isinstance(record, dict) and (kept := numbers(record)):
            yield kept


def _of_console(lines: list[str]) -> Iterator[Record]:
    """Yield the record of the lines that verl prints for one step."""
    if not lines:
        return
    text = WRAPPED.sub(lambda match: match[1] or match[2], " ".join(line.strip() for line in lines))
    begin = STEP.search(text)
    record = {name: float(value) for name, value in CONSOLE.findall(text[begin.start() :] if begin else text)}
    if len(record) > 1:
        yield record


def _of_dictionary(text: str) -> Iterator[Record]:
    """Yield the records of the dictionaries in a text, in Python's or JSON's notation."""
    stripped = text.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        try:
            data = json.loads(stripped)
        except json.JSONDecodeError:
            data = None
        if isinstance(data, dict) and (kept := numbers(data)):
            yield kept
            return
    if not any(name in text for name in KNOWN):
        return
    numbered = NUMBERED.search(text)
    for body in re.findall(r"\{[^{}]*\}", text):
        clean = WRAPPED.sub(lambda match: match[1] or match[2], ELIDED.sub("}", body.replace("\n", "")))
        record = _literal(clean)
        if len(record) > 1:
            yield {"step": float(numbered[1]), **record} if numbered else record


def _literal(text: str) -> Record:
    """Return the numbers of a printed dictionary. Trainers print `nan` and `inf`, which Python cannot read."""
    named = re.sub(r"(?<![\w'\"])(nan|inf)\b", r"'\1'", text)
    try:
        data = ast.literal_eval(named)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return numbers(data) if isinstance(data, dict) else {}


def _of_notebook(data: Any) -> Iterator[Record]:
    """Yield the records in the outputs of a notebook: those of a table, or else of printed dictionaries."""
    outputs = [
        output
        for cell in (data.get("cells", []) if isinstance(data, dict) else [])
        for output in cell.get("outputs", [])
    ]
    tables = [
        table for output in outputs for table in _tables("".join(output.get("data", {}).get("text/html", [])))
    ]
    if tables:
        yield from max(tables, key=len)
        return
    for output in outputs:
        yield from records_of_lines(io.StringIO("".join(output.get("text", []))))


def _tables(text: str) -> Iterator[list[Record]]:
    """Yield the tables of a cell's output that have a reward or a loss, each as records."""
    for table in re.findall(r"<table.*?</table>", text, flags=re.DOTALL):
        heads = _cells(table, "th")
        if not any("reward" in head.lower() or "Loss" in head for head in heads):
            continue
        flat = _cells(table, "td")
        rows = [flat[begin : begin + len(heads)] for begin in range(0, len(flat), len(heads))]
        names = [head.replace(" / ", "/") for head in heads]
        yield [numbers(dict(zip(names, row, strict=False))) for row in rows]


def _cells(table: str, tag: str) -> list[str]:
    cells = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", table, flags=re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in cells]


def precision(records: Iterable[Mapping[str, float]]) -> tuple[float, float]:
    """Return the relative precision of the numbers, and the absolute precision of the loss, as they were printed.

    Numbers with at most four significant digits are taken to be rounded to four; a loss with at most four decimals is
    taken to be rounded to four decimals, as Transformers 4 does.

    >>> precision([{"loss": 0.0123, "kl": 0.00012345678}, {"loss": -0.5, "kl": 0.33333333}])
    (1e-06, 5.1e-05)
    """
    others: list[float] = []
    losses: list[float] = []
    for record in records:
        losses += [
            value for name, value in record.items() if name in ("loss", "train/loss") and math.isfinite(value)
        ]
        others += [
            value for name, value in record.items() if name in ("kl", "entropy", "reward_std", "grad_norm")
        ]
    others = [value for value in others if math.isfinite(value) and value]
    is_short = len(others) >= 4 and all(float(f"{value:.3e}") == value for value in others)
    is_rounded = len(losses) >= 2 and all(round(value, 4) == value for value in losses)
    return (5e-4 if is_short else 1e-6), (5.1e-5 if is_rounded else 1e-6)
