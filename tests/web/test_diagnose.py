"""The page that diagnoses gives the report of the library, or tells what is wrong with the files."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import grpo_ref
from grpo_ref.diagnose.text import heading, sections
from grpo_ref.web import diagnose
from grpo_ref.web.diagnose import diagnosed, example
from grpo_ref.web.symptoms import symptoms_html

ROWS = [
    {"step": 1, "reward": 1.875, "reward_std": 0.1, "rewards/format/mean": 0.05, "rewards/answer/mean": 0.1},
    {"step": 2, "reward": 1.5, "reward_std": 0.1, "rewards/format/mean": 0.1, "rewards/answer/mean": 0.05},
]


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_report_is_that_of_the_library(tmp_path):
    files = [written(tmp_path, f"{row['step']}.jsonl", json.dumps(row)) for row in ROWS]
    launch = written(tmp_path, "train.py", example()["launch"])
    report = diagnosed(files, launch)
    expected = grpo_ref.diagnose(ROWS, launch)
    assert report["heading"] == heading(expected)
    assert report["counts"]["violation"] == len(expected.violations) > 0
    assert report["sections"] == [
        {"heading": section.heading, "entries": [entry._asdict() for entry in section.entries]}
        for section in sections(expected)
    ]
    assert report["sections"][0]["entries"][0]["mark"] == "!"


def test_the_example_shows_a_relation_a_pattern_and_remarks(tmp_path):
    """The reward is 2 f + c in the log, and f + c with the weights of the launch file."""
    made = example()
    rows = [json.loads(line) for line in made["log"].splitlines()]
    for row in rows:
        parts = 2.0 * row["rewards/format/mean"] + row["rewards/correct/mean"]
        assert row["reward"] == pytest.approx(parts, abs=2e-6)
    report = diagnosed(
        [written(tmp_path, "run.log", made["log"])], written(tmp_path, "train.py", made["launch"])
    )
    assert report["counts"] == {"violation": 1, "pattern": 1, "remark": 2}
    assert [section["entries"][0]["mark"] for section in report["sections"]] == ["!", "~", "=", ""]


MISTAKES = {
    "no metric": ("run.log", "It is late.\n", None, "run.log: no metric of a known trainer is in this log"),
    "a broken notebook": ("a.ipynb", '{"cells": [', None, "a.ipynb: it is not valid JSON: Expecting value"),
    "an unreadable launch file": ("run.jsonl", json.dumps(ROWS[0]), "It is late.", "train.sh"),
}


@pytest.mark.parametrize(("name", "text", "launch", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_told_without_the_folders(tmp_path, name, text, launch, sentence):
    launched = written(tmp_path, "train.sh", launch) if launch else ""
    error = diagnosed([written(tmp_path, name, text)], launched)["error"]
    assert error.startswith(sentence)
    assert str(tmp_path) not in error


def test_a_log_beyond_the_memory_is_told(tmp_path, monkeypatch):
    def full(paths):
        raise MemoryError

    monkeypatch.setattr(diagnose, "read_log", full)
    assert "too large" in diagnosed(["run.log"], "")["error"]


def test_the_symptoms_have_an_anchor_for_each_section_and_no_link_leads_out():
    page = symptoms_html()
    source = (Path(__file__).parents[2] / "docs" / "howto" / "symptoms.md").read_text(encoding="utf-8")
    anchors = re.findall(r'<h2 id="([^"]+)">', page)
    assert len(anchors) == len(re.findall(r"^## ", source, re.MULTILINE))
    assert "reward_std-is-0" in anchors
    targets = re.findall(r'<a href="([^"]+)"', page)
    assert targets
    assert {target.removeprefix("#") for target in targets} <= set(anchors)


def test_the_page_needs_no_module_that_python_for_webassembly_lacks():
    """These are not there: locks of files, and the libraries for pictures, terminals and event files."""
    absent = ("fcntl", "matplotlib", "click", "rich", "tensorboard", "pandas", "markdown_it")
    code = f"import sys; sys.modules.update(dict.fromkeys({absent})); import grpo_ref.web.diagnose"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
