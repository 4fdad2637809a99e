"""Read the files in which trainers leave their metrics: one record of numbers per row, line or cell.

| file | contents |
|---|---|
| trainer_state.json | a JSON list of records, alone or as `log_history` |
| CSV | a record per row |
| notebook | the table or the dictionaries in the output of a cell |
| events.out.tfevents.* | the scalars of TensorBoard, read with the package tensorboard |
| any other | text, read line by line: see `grpo_ref.diagnose.lines` |

Text is read line by line, so that a long log needs little memory.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

from grpo_ref.diagnose.lines import MOST_RECORDS, STEPS, Record, Sample, numbers, pairs, records_of_lines

EVENTS = "events.out.tfevents.*"
EXPORT = (
    "export the history of the run as CSV or JSON Lines, on its page or with wandb.Api().run(...).history(), and give"
    " that file; or give files/output.log, which has what the trainer printed"
)
"""Advice for a run whose metrics are in W&B's own format."""


def records_of_file(path: Path) -> Iterator[Record]:
    """Yield the records of a file. Its ending gives the format.

    A damaged JSON file is read as text, line by line, and then as far as its innermost dictionaries are whole.

    Raises:
      ValueError: if the file is binary, or damaged in its format.
    """
    kind = path.suffix.lower()
    if path.match(EVENTS):
        yield from _of_events(path)
        return
    if kind == ".wandb":
        raise ValueError(f"it is in W&B's own format, for which there is no documented reader; {EXPORT}")
    with path.open(encoding=_encoding(path), errors="replace", newline=None) as lines:
        if kind == ".csv":
            yield from _of_csv(lines)
        elif kind in (".json", ".ipynb"):
            text = lines.read()
            try:
                data = json.loads(text)
            except (ValueError, RecursionError) as error:
                yield from _of_damaged(text, error)
            else:
                yield from _of_notebook(data) if kind == ".ipynb" else _of_json(data)
        else:
            yield from records_of_lines(lines)


def _of_events(path: Path) -> Iterator[Record]:
    """Yield a record for each step of an event file. Of very many steps, a part is read."""
    try:
        module = import_module("tensorboard.backend.event_processing.event_accumulator")
    except ImportError as error:
        raise ValueError('it is from TensorBoard; to read it, run: pip install "grpo-ref[logs]"') from error
    events = module.EventAccumulator(str(path), size_guidance={module.SCALARS: MOST_RECORDS})
    events.Reload()
    rows: dict[int, Record] = {}
    for tag in events.Tags()[module.SCALARS]:
        for event in events.Scalars(tag):
            rows.setdefault(event.step, {"step": float(event.step)})[tag] = event.value
    yield from rows.values()


def _encoding(path: Path) -> str:
    """Return the encoding of a text. PowerShell writes UTF-16.

    Raises:
      ValueError: if the file is binary.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        raise ValueError("it is a binary file")
    return "utf-8-sig"


def _of_csv(lines: Iterable[str]) -> Iterator[Record]:
    sample, rows = Sample(), csv.DictReader(lines)
    try:
        name = next((each for each in STEPS if each in (rows.fieldnames or ())), "")
        for row in rows:
            if sample.takes(numbers({name: row.get(name)}).get(name)):
                yield numbers(row)
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num + 1}: it is not valid CSV: {error}") from error


def _of_json(data: Any) -> Iterator[Record]:
    """Yield the records of a JSON file: a list of records, or one with `log_history`."""
    if isinstance(data, dict):
        data = data.get("log_history", [data])
    for record in data if isinstance(data, list) else []:
        if isinstance(record, dict) and (kept := numbers(record)):
            yield kept


def _of_damaged(text: str, error: Exception) -> Iterator[Record]:
    is_read = False
    for record in records_of_lines(io.StringIO(text)):
        is_read = True
        yield record
    if is_read:
        return
    for body in re.findall(r"\{[^{}]*\}", text):
        if record := dict(pairs(body)):
            is_read = True
            yield record
    if not is_read:
        raise ValueError(f"it is not valid JSON: {error}") from error


def _of_notebook(data: Any) -> Iterator[Record]:
    """Yield the records in the outputs of a notebook: those of its longest table, or else of printed dictionaries."""
    cells = _items(data, "cells")
    outputs = [output for cell in cells for output in _items(cell, "outputs") if isinstance(output, dict)]
    tables = Tables()
    for output in outputs:
        shown = output.get("data")
        tables.feed(_text(shown.get("text/html") if isinstance(shown, dict) else None))
        tables.close()
    records = [table.records() for table in tables.tables]
    if any(records):
        yield from max(records, key=len)
        return
    for output in outputs:
        yield from records_of_lines(io.StringIO(_text(output.get("text"))))


def _items(data: Any, key: str) -> list[Any]:
    """Return the list under a key; [] if there is none."""
    items = data.get(key) if isinstance(data, dict) else None
    return items if isinstance(items, list) else []


def _text(lines: Any) -> str:
    """Return the text of an output: a string, or a list of lines."""
    return "".join(line for line in lines if isinstance(line, str)) if isinstance(lines, (list, str)) else ""


class Table:
    """A table of a notebook: its headings and the texts of its cells."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.cells: list[str] = []

    def records(self) -> list[Record]:
        """Return the rows as records; [] if the table has no reward and no loss."""
        names = [head.strip().replace(" / ", "/") for head in self.heads]
        if not any("reward" in name.lower() or "Loss" in name for name in names):
            return []
        rows = (self.cells[begin : begin + len(names)] for begin in range(0, len(self.cells), len(names)))
        return [numbers(dict(zip(names, row, strict=False))) for row in rows]


class Tables(HTMLParser):
    """Collect the tables of an HTML text."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self._texts: list[str] | None = None  # the headings or the cells that the text belongs to

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Begin a table or a cell."""
        if tag == "table":
            self.tables.append(Table())
        elif tag in ("th", "td") and self.tables:
            self._texts = self.tables[-1].heads if tag == "th" else self.tables[-1].cells
            self._texts.append("")

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        if tag in ("th", "td", "table"):
            self._texts = None

    def handle_data(self, data: str) -> None:
        """Add a text to its cell."""
        if self._texts:
            self._texts[-1] += data
