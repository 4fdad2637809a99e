"""`grpo-ref parity --live`: the comparison, the messages, and the exit status, without a trainer."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from grpo_ref.parity.command import LIVE, command
from grpo_ref.parity.live import command as live
from grpo_ref.parity.live import verdicts
from grpo_ref.parity.live.environment import FUNCTIONS, Installed, NotRun, find
from grpo_ref.parity.live.stored import recorded, result_of
from grpo_ref.parity.live.trl import entropy, entropy_slope, tempered
from grpo_ref.parity.live.verdicts import apart_from, causes


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)])


def result(release, name):
    document = recorded("trl")
    entry = next(entry for entry in document["cases"] if entry["case"] == name)
    span = next(span for span in reversed(entry["spans"]) if span["to"] == release)
    return result_of(span)


@pytest.fixture
def scripted(monkeypatch):
    """Let the trainer be TRL 1.8.0, with its recorded numbers or those of the test."""

    def script(results, release="1.8.0"):
        monkeypatch.setattr(
            live, "find", lambda *_: Installed("trl", release, Path("python"), None, "2.13.0")
        )
        monkeypatch.setattr(live, "run", lambda *_: (results, recorded("trl")["batches"]))

    return script


def test_the_command_and_the_comparison_know_the_same_trainers():
    assert (*verdicts.LIVE, *FUNCTIONS) == LIVE


def test_a_trainer_that_computes_what_explain_says(scripted, tmp_path):
    scripted({"dapo_truncacc": result("1.8.0", "dapo_truncacc")})
    file = tmp_path / "verdicts.json"
    shown = run("--live", "trl", "--case", "dapo_truncacc", "--json", file)
    assert shown.exit_code == 0
    # 1.9.0 mended the denominator: the paper's form does not count truncated tokens, this release did.
    assert "agrees        dapo_truncacc, " in shown.output
    assert "changed in 1.9.0: " in shown.output
    assert "1 cases compared; 1 as explain says, 0 not." in shown.output
    (case,) = json.loads(file.read_text())["cases"]
    assert (case["status"], case["paper"], case["parts"]) == (
        "agrees",
        "dapo",
        {"admit": "ended_completions"},
    )
    assert case["paper_change"] > 0.1


def test_a_trainer_that_computes_something_else(scripted):
    other = result("1.8.0", "dapo_truncacc")
    other = {
        "batches": [{"gradient": (1.25 * np.array(each["gradient"])).tolist()} for each in other["batches"]]
    }
    scripted({"dapo_truncacc": other})
    shown = run("--live", "trl", "--case", "dapo_truncacc")
    assert shown.exit_code == 1
    # |1.25 g - g| / (1.25 g) = 20 %
    assert "differs       dapo_truncacc, 20 % from explain" in shown.output


def test_a_trainer_that_stops_is_neither(scripted):
    scripted({"dapo_truncacc": {"error": "RuntimeError: no such device"}})
    shown = run("--live", "trl", "--case", "dapo_truncacc")
    assert shown.exit_code == 2  # nothing was compared
    assert "stops         dapo_truncacc: it does not run: RuntimeError: no such device" in shown.output


def test_a_release_that_explain_does_not_cover(scripted):
    scripted({"plain": result("1.16.0", "plain")}, release="99.0.0")
    shown = run("--live", "trl", "--case", "plain")
    assert shown.exit_code == 0
    assert "explain does not cover trl 99.0.0; compared with 1.16.0." in shown.output


def test_an_environment_without_the_trainer_is_told_what_to_install(tmp_path):
    shown = run("--live", "verl", "--python", sys.executable)
    assert shown.exit_code == 2
    assert "-m pip install verl" in shown.output
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    with pytest.raises(NotRun, match="does not start"):
        find("trl", script, None)


def test_a_pattern_that_fits_nothing():
    shown = run("--live", "trl", "--case", "nothing*")
    assert shown.exit_code == 2
    assert "no case of trl fits nothing*" in shown.output


@pytest.mark.parametrize("arguments", [("--case", "plain"), ("--source", "."), ("--json", "x.json")])
def test_options_of_a_live_run_need_one(arguments):
    assert "need --live" in run(*arguments).output


def test_the_temperature_of_the_scripted_model():
    # Logits 2x and 2r with x = log 0.5 and 31 others of r = log(0.5/31): p = 0.25 / (0.25 + 31 (0.5/31)^2).
    after, slope = tempered(np.log([0.5]), 0.5)
    assert np.exp(after) == pytest.approx(0.25 / (0.25 + 0.25 / 31))
    step = 1e-6
    moved = tempered(np.log([0.5]) + step, 0.5)[0]
    assert slope == pytest.approx((moved - after) / step, rel=1e-4)


def test_the_entropy_of_the_scripted_model():
    # One token of 1/2 and 31 of 1/62: (log 2 + log 62) / 2.
    assert entropy(np.log([0.5])) == pytest.approx((np.log(2) + np.log(62)) / 2)
    step = 1e-6
    change = entropy(np.log([0.5]) + step) - entropy(np.log([0.5]))
    assert entropy_slope(np.log([0.5])) == pytest.approx(change / step, rel=1e-4)


ONE = np.array([[1.0, 2.0]])
NAN = np.array([[1.0, np.nan]])


def test_places_that_are_not_finite_count_unless_the_prediction_overflows():
    assert apart_from([NAN], [ONE]).change == np.inf
    assert apart_from([NAN], [ONE], overflows=True) is None
    assert apart_from([NAN], [2 * ONE], overflows=True).change == 0.5
    assert apart_from([ONE], [NAN]).change == np.inf


def test_causes_are_those_of_later_releases():
    assert [cause.split(":")[0] for cause in causes("trl", "dapo_truncacc", "0.22.0")] == ["0.22.2", "1.9.0"]
    assert causes("trl", "dapo_truncacc", "1.9.0") == ()
