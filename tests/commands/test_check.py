"""`grpo-ref check`: a function of the user's own module."""

import sys

import pytest
from click.testing import CliRunner

from grpo_ref.check import FRAMEWORKS
from grpo_ref.cli import main

MODULE = """
import numpy as np

def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    a = advantages[:, None]
    gain = np.minimum(ratio * a, np.clip(ratio, 0.8, 1.28) * a)
    return -np.where(mask > 0, gain, 0.0).sum() / max(mask.sum(), 1.0)
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_trainer.py").write_text(MODULE)
    yield lambda *arguments: CliRunner().invoke(main, ["check", *arguments])
    sys.modules.pop("my_trainer", None)


def test_the_command_checks(run):
    right = run("my_trainer:loss", "--dialect", "trl", "--set", "epsilon_high=0.28")
    assert (right.exit_code, right.stdout) == (0, "loss and gradient: 200 of 200 batches agree\n")
    assert run("my_trainer:loss", "--recipe", "dapo", "--batches", "20").exit_code == 0
    wrong = run("my_trainer:loss", "--dialect", "trl", "--batches", "20")
    assert wrong.exit_code == 1
    assert "likely mistake: the clip is [1 - 0.2, 1 + 0.28]\n" in wrong.output


def test_the_trainers_own_budget_is_divided_by(run, tmp_path):
    text = MODULE.replace("0.8, 1.28", "0.8, 1.2").replace("max(mask.sum(), 1.0)", "(512 * len(mask))")
    (tmp_path / "my_trainer.py").write_text(text)
    result = run("my_trainer:loss", "--dialect", "trl", "--set", "loss_type=dr_grpo", "--batches", "15")
    assert result.exit_code == 0, result.output
    assert result.stderr == "divided by max_completion_length = 512\n"


FAILING = {
    "raise ValueError('oh')": "failed on the batch 'ragged, zeros in the padding': ValueError: oh (",
    "import sys; sys.exit(0)": "failed on the batch 'ragged, zeros in the padding': SystemExit: 0 (",
    "return None": "expected the loss as one number, or one loss per token, got None",
    "return mask.sum(0)": "expected the loss as one number, or one loss per token, got an array of shape (",
    "return 0.0, mask[0]": "expected a gradient of shape (6, ",
}


@pytest.mark.parametrize("body", FAILING)
def test_a_function_that_fails_is_told_so(run, tmp_path, body):
    arguments = "log_probs, old_log_probs, ref_log_probs, advantages, mask"
    (tmp_path / "my_trainer.py").write_text(f"def loss({arguments}):\n    {body}\n")
    result = run("my_trainer:loss", "--recipe", "dapo")
    assert result.exit_code == 2
    assert FAILING[body] in result.output
    assert "my_trainer.py:2)" in result.output or body.startswith("return")


def test_a_function_with_other_parameters_is_told_so(run, tmp_path):
    (tmp_path / "my_trainer.py").write_text("def loss(logits, labels):\n    return 0.0\nnumber = 3\n")
    result = run("my_trainer:loss", "--recipe", "dapo")
    assert result.exit_code == 2
    assert (
        "the parameter 'logits' is unknown; expected names are log_probs (per_token_logps, " in result.output
    )
    result = run("my_trainer:number", "--recipe", "dapo")
    assert "expected a function, got int" in result.output


STRANGE = {
    "no function": (
        ["my_trainer", "--recipe", "grpo"],
        "expected MODULE:FUNCTION or FILE.py:FUNCTION, got 'my_trainer'",
    ),
    "no such module": (["nowhere:loss", "--recipe", "grpo"], "nowhere:loss: No module named 'nowhere'"),
    "no such function": (["my_trainer:lose", "--recipe", "grpo"], "has no attribute 'lose'"),
    "nothing to compare with": (["my_trainer:loss"], "either --dialect or --recipe"),
    "two things to compare with": (
        ["my_trainer:loss", "--dialect", "trl", "--recipe", "grpo"],
        "either --dialect or --recipe",
    ),
    "a setting of a recipe": (
        ["my_trainer:loss", "--recipe", "dapo", "--set", "beta=0.1"],
        "--set changes a dialect; it needs --dialect",
    ),
    "an unknown key": (["my_trainer:loss", "--dialect", "trl", "--set", "x=1"], "trl has no key 'x'"),
}


@pytest.mark.parametrize(("arguments", "message"), STRANGE.values(), ids=STRANGE)
def test_mistakes_never_pass(run, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


METHODS = """
class Trainer:
    high = 1.28

    def loss(self, log_probs, old_log_probs, advantages, mask):
        ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
        a = advantages[:, None]
        gain = np.minimum(ratio * a, np.clip(ratio, 0.8, self.high) * a)
        return -np.where(mask > 0, gain, 0.0).sum() / max(mask.sum(), 1.0)

    @staticmethod
    def alone(per_token_logps, old_per_token_logps, advantages, completion_mask):
        return loss(per_token_logps, old_per_token_logps, None, advantages, completion_mask), {"kl": 0.0}

class Needy(Trainer):
    def __init__(self, config):
        self.config = config

trainer = Needy("of mine")
"""


@pytest.mark.parametrize(
    "name",
    [
        "my_trainer.py:loss",
        "./my_trainer.py:Trainer.loss",
        "my_trainer:Trainer.alone",
        "my_trainer:trainer.loss",
    ],
)
def test_files_and_methods_are_found(run, tmp_path, name):
    (tmp_path / "my_trainer.py").write_text(MODULE + METHODS)
    result = run(name, "--recipe", "dapo", "--batches", "8")
    assert result.exit_code == 0, result.output


def test_a_class_that_needs_arguments_is_told_so(run, tmp_path):
    (tmp_path / "my_trainer.py").write_text(MODULE + METHODS)
    result = run("my_trainer.py:Needy.loss", "--recipe", "dapo")
    assert result.exit_code == 2
    assert "Needy() cannot be made without arguments" in result.output


def test_batches_may_be_left_out_and_arrays_in_single_precision(run, tmp_path):
    text = MODULE.replace(
        "return -np.where(mask > 0, gain, 0.0).sum() / max(mask.sum(), 1.0)", "x = gain * mask\n    {}"
    )
    mean = "return -(x.sum(-1) / mask.sum(-1)).mean()"
    (tmp_path / "my_trainer.py").write_text(text.replace("{}", mean).replace("1.28", "1.2"))
    arguments = ("my_trainer:loss", "--dialect", "trl", "--set", "loss_type=grpo", "--batches", "24")
    refused = run(*arguments)
    assert refused.exit_code == 1
    assert "right, except for batches with an empty completion\n" in refused.output
    assert run(*arguments, "--no-empty").exit_code == 0
    assert run(*arguments, "--no-nan", "--no-empty", "--float32").exit_code == 0


def test_the_frameworks_are_named(run):
    assert f"--framework [{'|'.join(FRAMEWORKS)}]" in run("--help").output
    refused = run("my_trainer:loss", "--recipe", "dapo", "--framework", "pytorch")
    assert refused.exit_code == 2
    assert "no framework is called 'pytorch'. Did you mean 'torch'?" in refused.output
