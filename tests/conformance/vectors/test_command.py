"""The command, the option of pytest, and the messages."""

import subprocess
import sys

import numpy as np
import pytest
from grpo_conformance import assert_conforms, conforms, version
from grpo_conformance.command import main

from grpo_ref.version import __version__

RIGHT = """
import numpy as np

def gpg(log_probs, advantages, mask):
    return -(advantages[:, None] * log_probs * mask).sum() / max(mask.sum(), 1.0)

def wrong(log_probs, advantages, mask):
    return -gpg(log_probs, advantages, mask)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "losses_for_the_command.py").write_text(RIGHT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_version_is_that_of_grpo_ref():
    assert version.__version__ == __version__


STATUS = {
    "a loss that conforms": (["losses_for_the_command:gpg", "gpg"], 0),
    "a loss that does not": (["losses_for_the_command:wrong", "gpg"], 1),
    "no such function": (["losses_for_the_command:other", "gpg"], 2),
    "no such name": (["losses_for_the_command:gpg", "other"], 2),
}


@pytest.mark.parametrize(("arguments", "status"), STATUS.values(), ids=STATUS)
def test_the_exit_status_says_whether_the_loss_conforms(folder, arguments, status):
    assert main(arguments) == status


def test_the_option_of_pytest_adds_a_test(folder):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "grpo_conformance.plugin",
        "--rootdir",
        str(folder),
    ]
    options = [
        "--conformance",
        "losses_for_the_command:gpg=gpg",
        "--conformance",
        "losses_for_the_command:wrong=gpg",
    ]
    result = subprocess.run([*command, *options], capture_output=True, text=True)
    assert "1 failed, 1 passed" in result.stdout
    assert "wrong does not conform to gpg" in result.stdout


def test_an_assertion_that_fails_shows_no_source_of_the_package(folder):
    (folder / "test_of_a_user.py").write_text(
        "from grpo_conformance import assert_conforms\n"
        "from losses_for_the_command import wrong\n"
        "def test_loss():\n"
        "    assert_conforms(wrong, 'gpg')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "--rootdir", str(folder), "test_of_a_user.py"]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    assert "wrong does not conform to gpg" in output
    assert "raise AssertionError" not in output


def test_the_list_may_be_cut_short():
    """`| head` closes the pipe before the list is written."""
    command = [sys.executable, "-m", "grpo_conformance", "--list"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_the_list_defines_its_symbols(capsys):
    assert main(["--list"]) == 0
    legend = capsys.readouterr().out.partition("level 1")[0]
    assert [symbol for symbol in ("r =", "A =", "d =", "sg[x] =", "w =") if symbol not in legend] == []


def unknown(log_probs, advantages, mask, surprise):
    return 0.0


MESSAGES = {
    "an unknown name": ("dapo2", {}, "level 2: .*dapo.*Trainers: .*verl"),
    "a setting that the algorithm does not have": (
        "gpg",
        {"beta": 1.0},
        "gpg: unknown key 'beta'; it has no keys",
    ),
    "a misspelt setting": (
        "dapo",
        {"clip_hihg": 0.2},
        "unknown key 'clip_hihg', did you mean 'clip_high'\\?",
    ),
    "a trainer's name of a setting": (
        "grpo",
        {"beta": 0.0},
        "unknown key 'beta'; its name here is 'kl_coef'",
    ),
    "a value without a case": ("dapo", {"clip_high": 0.3}, "clip_high=0.3; recorded values: 0.28, 0.272, "),
    "values without a case together": (
        "grpo",
        {"clip_low": 0.1, "kl_coef": 0.04},
        "clip_high=0.2, kl_coef=0.04 together; the nearest are clip_low=",
    ),
    "a misspelt key of a trainer": ("trl", {"loss_typ": "dapo"}, "'loss_typ', did you mean 'loss_type'\\?"),
    "the last part of a key": ("openrlhf", {"eps_clip": 0.1}, "did you mean 'actor.eps_clip'\\?"),
    "a misspelt value of a trainer": ("trl", {"loss_type": "dap0"}, "did you mean 'dapo'\\?"),
    "a number that a trainer has no case of": (
        "openrlhf",
        {"actor.eps_clip": 0.7},
        "0.7; recorded values: 0.3, 0.2, ",
    ),
}


@pytest.mark.parametrize(("name", "settings", "message"), MESSAGES.values(), ids=MESSAGES)
def test_what_is_not_there_is_refused_with_the_nearest(name, settings, message):
    with pytest.raises(ValueError, match=message):
        conforms(unknown, name, **settings)


def test_a_parameter_without_an_input_is_named():
    with pytest.raises(TypeError, match="parameter 'surprise': no input of that name; expected log_probs"):
        conforms(unknown, "gpg")


def test_names_of_verl_are_known():
    def compute_policy_loss_gpg(log_prob, advantages, response_mask):
        assert advantages.shape == log_prob.shape
        return -(advantages * log_prob * response_mask).sum() / np.maximum(response_mask.sum(), 1.0), {"a": 1}

    assert_conforms(compute_policy_loss_gpg, "gpg")


def test_a_wrong_gradient_is_noticed(monkeypatch):
    monkeypatch.setattr("grpo_conformance.mistake.named", lambda *_: "")  # slow, and another test's subject

    def halved(log_probs, advantages, mask):
        gradient = -advantages[:, None] * mask / max(mask.sum(), 1.0)
        return (gradient * log_probs).sum(), gradient / 2.0

    report = conforms(halved, "gpg")
    assert {each.what for each in report.failed} == {"gradient"}
    assert report.smallest.vector.id == "on policy"


def test_a_trainer_is_compared_in_its_own_keys():
    def dapo(log_probs, old_log_probs, advantages, mask):
        ratio, gain = np.exp(log_probs - old_log_probs), advantages[:, None]
        surrogate = np.minimum(ratio * gain, np.clip(ratio, 0.8, 1.28) * gain)
        return -(surrogate * mask).sum() / max(mask.sum(), 1.0)

    assert_conforms(dapo, "trl", loss_type="dapo", epsilon=0.2, epsilon_high=0.28)
