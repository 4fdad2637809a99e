"""The grader's reports as JSON follow their schema."""

import json
from pathlib import Path

import jsonschema
import pytest
from student import GRADED, SUM, run

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.rendering.report_json import SCHEMA


def test_the_report_as_json_follows_its_schema(folder):
    (folder / "04_kl/03_k3.py").write_text("print('hello')\ndef k3(: pass")
    result = run("grade", "--json", "report.json")
    report = json.loads(Path("report.json").read_text())
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert (report["version"], report["solved"], report["points"]) == (2, 1, float(SUM))
    by_id = {exercise["id"]: exercise for exercise in report["exercises"]}
    assert list(by_id) == list(PROBLEMS)
    assert by_id["probabilities/entropy"]["status"] == "passed"
    assert by_id["kl/estimators"]["tests"] == []
    assert by_id["kl/k3"]["tests"][0]["name"] == "The file can be loaded"
    wrong = by_id["advantages/group_normalized"]
    assert wrong["diagnosis"].startswith("Computes mean and standard deviation over the whole batch")
    assert [test["passed"] for test in wrong["tests"]] == [each.passed for each in GRADED.results]
    assert "FAIL  Groups do not mix" in result.output


def test_a_schema_that_is_not_followed_is_noticed():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": 1}, json.loads(SCHEMA.read_text()))
