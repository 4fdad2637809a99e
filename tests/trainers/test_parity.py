"""Parity: losses, gradients and tensors equal what trainers computed, rebuilt from their own keys.

data/README.md says how they were recorded.
"""

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from grpo_ref import policy_loss
from grpo_ref.frontends.cli import main
from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.replay import PREFIXES, Inputs, _config, rebuild, verdict

FILE = Path(__file__).parents[1] / "data" / "trainers.json"
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in RECORDED["cases"]}
INPUTS = Inputs(RECORDED["inputs"])


def test_no_recorded_case_is_left_out():
    assert len(CASES) == len(RECORDED["cases"]) == 126


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_reproduced(name):
    found = verdict(CASES[name], INPUTS)
    assert found.passed, found


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_rebuilt_without_its_numbers_and_a_changed_number_is_noticed(name):
    case = deepcopy(CASES[name])
    numbers = {key: case.pop(key) for key in ("loss", "grad_logp", "value") if key in case}
    rebuilt = rebuild(case, INPUTS)
    assert set(rebuilt) == set(numbers)
    key = "value" if "value" in numbers else "grad_logp"
    changed = np.array(numbers[key], dtype=float) + 1e-3
    assert not verdict(CASES[name] | {key: changed.tolist()}, INPUTS).passed


def test_padding_is_read_by_the_historical_bug_alone():
    """All padding of the inputs holds random values, so code that reads it gives itself away."""
    padding = INPUTS.flat("mask") == 0
    reading = {
        name
        for name, case in CASES.items()
        if case["kind"] == "loss"
        and np.any(np.reshape(rebuild(case, INPUTS)["grad_logp"], padding.shape)[padding] != 0.0)
    }
    assert reading == {"trl_luspo_token_SNAPSHOT_BUG"}


METRICS = {
    "clip_ratio/low_mean": lambda metrics: metrics["clip_low"],
    "clip_ratio/high_mean": lambda metrics: metrics["clip_high"],
    "clip_ratio/region_mean": lambda metrics: metrics["clip_low"] + metrics["clip_high"],
    "kl": lambda metrics: metrics["kl"],
    "clipfrac": lambda metrics: metrics["clip_low"] + metrics["clip_high"],
    "clip_ratio": lambda metrics: metrics["clip_low"] + metrics["clip_high"],
}
CLIPPED = {
    **{
        name: "clip_ratio/low_mean"
        for name in CASES
        if "clip_ratio/low_mean" in (CASES[name].get("metrics") or {})
    },
    **{name: "clipfrac" for name in CASES if name.startswith("oi_dapo_kl")},
    **{name: "clip_ratio" for name in CASES if name.startswith("orlhf_ppo")},
}
TOKEN_CLIPS = [
    name for name in CLIPPED if "delta" not in name and "sequence" not in name and "gspo" not in name
]


@pytest.mark.parametrize("name", TOKEN_CLIPS)
def test_metrics(name):
    """The trainer's own metrics, which it keeps in float32."""
    case, dialect = CASES[name], DIALECTS[PREFIXES[name.split("_")[0]]]
    config = _config(case, dialect)
    recipe = dialect.recipe(**config)
    ours = policy_loss(
        INPUTS.grouped("logp"),
        INPUTS.grouped("advantages"),
        INPUTS.grouped(case["mask"]),
        recipe=recipe,
        old_log_probs=None if "old_logp" in case["params"] else INPUTS.grouped("old_logp"),
        ref_log_probs=INPUTS.grouped("ref_logp") if recipe.kl_coef else None,
        rollout_log_probs=INPUTS.grouped("sampler_logp"),
        max_length=8,
        **({"entropies": INPUTS.grouped("entropy")} if "entropies" in recipe.reads else {}),
    ).metrics
    for key in METRICS.keys() & case["metrics"].keys():
        np.testing.assert_allclose(
            METRICS[key](ours), case["metrics"][key], rtol=1e-6, atol=1e-8, err_msg=key
        )


# ---- the command ----------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(main, ["parity", *map(str, arguments)])


def test_the_command_counts(tmp_path):
    whole = run(FILE)
    assert whole.exit_code == 0
    assert whole.output.endswith("126 passed, 0 failed\n")
    broken = deepcopy(RECORDED)
    broken["cases"] = broken["cases"][:3]
    broken["cases"][1]["loss"] += 1e-3
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(broken))
    result = run(path, "--failures")
    assert result.exit_code == 1
    assert result.output.startswith("FAIL  trl_bnpo_token")
    assert result.output.endswith("2 passed, 1 failed\n")


STRANGE = {
    "no JSON": ("{", 2),
    "no cases": ('{"inputs": {}}', 2),
    "nothing to compare": (json.dumps({"inputs": RECORDED["inputs"], "cases": []}), 1),
}


@pytest.mark.parametrize(("text", "status"), STRANGE.values(), ids=STRANGE)
def test_a_strange_file_never_passes(tmp_path, text, status):
    path = tmp_path / "strange.json"
    path.write_text(text)
    assert run(path).exit_code == status


def test_an_unknown_case_fails_and_says_why(tmp_path):
    path = tmp_path / "unknown.json"
    cases = [
        CASES["trl_grpo_token"] | {"id": "nobody_grpo"},
        CASES["trl_adv_group"] | {"id": "trl_adventure"},
    ]
    path.write_text(json.dumps({"inputs": RECORDED["inputs"], "cases": cases}))
    result = run(path)
    assert "nobody_grpo: expected an id that begins with one of trl, verl" in result.output
    assert "trl_adventure: no tensor of this name is known" in result.output
    assert result.output.endswith("0 passed, 2 failed\n")
