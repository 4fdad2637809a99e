"""Long, cut, mixed, binary and hostile logs: an answer, or an error in words that names the file."""

import json
import os
import time

import pytest

from grpo_ref.diagnose import lines, log
from grpo_ref.diagnose.diagnosis import read_log

ROWS = [{"step": step, "reward": 0.25, "reward_std": 0.125} for step in (1, 2, 3)]
STATE = json.dumps({"log_history": ROWS}, indent=2)
DEEP = "[" * 100_000

# name of the file -> its bytes
HOSTILE = {
    "binary.log": b"\x00\x01\x02" * 5000,
    "binary.json": b"\x00" * 100,
    "empty.jsonl": b"",
    "deep.json": DEEP.encode(),
    "deep.jsonl": (DEEP + "\n{" + DEEP + "}\n").encode(),
    "list.json": b"[1, 2, [3], null]",
    "cells.ipynb": b'{"cells": [1, {"outputs": [2, {"data": 3, "text": 4}]}, {"outputs": "x"}]}',
    "cut.ipynb": b'{"cells": [{"outputs": [',
    "quotes.csv": b'step,reward\n1,"' + b"x" * 200_000 + b"\n",
    "step.jsonl": b'{"step": NaN, "loss_": 1}\n{"step": Infinity, "x": -Infinity}\n',
    "names.jsonl": b"".join(b'{"m%d": 1}\n' % number for number in range(30_000)),
    "braces.log": b"{" * 50_000 + b"\n" + b"'loss'{" * 20_000,
    "bars.log": b"Step 1 | A" + b" " * 19_000 + b"\n",
    "console.log": b"step:1 - " + b"a-" * 9_000 + b"\n" + b"step:2 - a(" * 1500,
    "frame.log": (
        "│" * 15_000 + "\n├" + "─" * 15_000 + "\n╭ Metrics ╮\n│" + " | " * 5_000 + "\n╰\n"
    ).encode(),
    "tables.ipynb": json.dumps(
        {"cells": [{"outputs": [{"data": {"text/html": "<table><th>reward" * 20_000}}]}]}
    ).encode(),
    "run.wandb": b":W&B",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_words_that_name_it(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    started = time.monotonic()
    with pytest.raises(ValueError, match=name) as refused:
        read_log(path)
    assert len(str(refused.value)) < 600
    assert time.monotonic() - started < 10.0


def test_a_line_is_named_where_a_file_is_damaged(tmp_path):
    path = tmp_path / "trainer_state.json"
    path.write_text('{\n"log_history": [\n}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"trainer_state\.json: it is not valid JSON: .*line 3"):
        read_log(path)
    table = tmp_path / "history.csv"
    table.write_text('step,reward\n1,0.5\n2,"' + "x" * 200_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"history\.csv: line 3: it is not valid CSV"):
        read_log(table)


def test_a_cut_state_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "trainer_state.json"
    path.write_text(STATE[: STATE.index('"step": 3')], encoding="utf-8")
    assert [row.step for row in read_log(path).rows] == [1, 2]


def test_a_text_of_powershell_is_read(tmp_path):
    path = tmp_path / "run.log"
    path.write_text("".join(f"{row}\n" for row in ROWS), encoding="utf-16")
    assert len(read_log(path).rows) == 3


def test_metrics_between_other_things_are_read(tmp_path):
    path = tmp_path / "run.log"
    noise = b"\xff\xfe{'x': [}\n" + b"Traceback (most recent call last):\n" + b"{" * 50 + b"\n"
    path.write_bytes(b"start\n" + noise.join(f"{row}\n".encode() for row in ROWS) + noise)
    assert len(read_log(path).rows) >= 2


def test_a_long_log_is_thinned_evenly_and_by_whole_steps(tmp_path, monkeypatch):
    for module in (lines, log):
        monkeypatch.setattr(module, "MOST_RECORDS", 200)
    path = tmp_path / "run.log"
    text = (
        f"step {step}: {{'train/pg_loss': 0.5, 'train/loss': 0.25}}\n"
        f"rollout {step}: {{'rollout/raw_reward': 0.5, 'rollout/truncated': 0.25}}\n"
        for step in range(20_000)
    )
    path.write_text("".join(text), encoding="utf-8")
    rows = read_log(path).rows
    assert 50 < len(rows) <= 400
    assert sum(len(row.values) == 4 for row in rows) > 0.9 * len(rows)  # both lines of a step
    later = sum(row.step >= 10_000 for row in rows)
    assert later > 0.3 * len(rows)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device that never ends")
def test_a_device_is_refused():
    with pytest.raises(ValueError, match="/dev/zero: it is neither a file nor a folder"):
        read_log("/dev/zero")
