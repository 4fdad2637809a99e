"""grpo-ref parity: the command."""

import json
from collections import Counter
from copy import deepcopy

import pytest
from click.testing import CliRunner

from grpo_ref.parity.command import command
from grpo_ref.parity.replay import read, shipped

TRL = next(path for path in shipped() if path.stem == "trl")


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)])


def test_without_a_file_all_shipped_cases_are_compared_and_counted_by_trainer():
    result = run("--failures")
    assert result.exit_code == 0
    counts = Counter(case["trainer"] for path in shipped() for case in read(path)[1])
    lines = [f"{name:20} {count} passed, 0 failed\n" for name, count in counts.items()]
    assert result.output == "".join(lines) + f"{sum(counts.values())} passed, 0 failed\n"


def test_a_case_that_does_not_agree_is_shown(tmp_path):
    inputs, cases = deepcopy(read(TRL))
    cases[1]["loss"] += 1e-3
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({"inputs": inputs, "cases": cases[:3]}))
    result = run(path, "--failures")
    assert result.exit_code == 1
    assert result.output.startswith(f"FAIL  {cases[1]['id']}")
    assert result.output.endswith("2 passed, 1 failed\n")
    shown = [line[:4] for line in run(path).output.splitlines()]
    assert shown[:3] == ["PASS", "FAIL", "PASS"]


STRANGE = {
    "no JSON": ("{", 2),
    "no cases": ('{"inputs": {}}', 2),
    "the old format": (
        json.dumps({"inputs": {"group_size": 1}, "cases": [{"id": "trl_x", "kind": "loss", "params": {}}]}),
        2,
    ),
    "nothing to compare": (json.dumps({"inputs": {"group_size": 1}, "cases": []}), 1),
}


@pytest.mark.parametrize(("text", "status"), STRANGE.values(), ids=STRANGE)
def test_a_strange_file_never_passes(tmp_path, text, status):
    path = tmp_path / "strange.json"
    path.write_text(text)
    assert run(path).exit_code == status
