"""`grpo-ref parity --live` with a trainer's loss functions: made-up modules that have the same signatures."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from grpo_conformance.functions import signatures

from grpo_ref.parity.command import command
from grpo_ref.parity.live import command as live
from grpo_ref.parity.live import functions
from grpo_ref.parity.live.environment import FUNCTIONS, Installed, NotRun, find

ROOT = Path(signatures.__file__).parents[2]


# ---- signatures -----------------------------------------------------------------------------------


def takes(log_probs, mask, scale=1.0):
    return log_probs, mask, scale


def swallows(log_probs, **others):
    return log_probs, others


# function, arguments -> the message, or "" if the function is called
SIGNATURES = {
    "as recorded": (takes, {"log_probs": 1, "mask": 2}, ""),
    "with a default": (takes, {"log_probs": 1, "mask": 2, "scale": 3}, ""),
    "a parameter is gone": (takes, {"log_probs": 1, "mask": 2, "clip": 3}, "takes takes no clip"),
    "a parameter is new": (takes, {"log_probs": 1}, "takes takes another argument: mask"),
    "renamed": (takes, {"logps": 1, "mask": 2}, "takes takes no logps and another argument: log_probs"),
    "swallowed": (swallows, {"log_probs": 1, "clip": 2}, "swallows takes no clip"),
}


@pytest.mark.parametrize(("function", "arguments", "message"), SIGNATURES.values(), ids=SIGNATURES)
def test_a_changed_signature_is_noticed(function, arguments, message):
    if not message:
        assert signatures.call(function, **arguments)[:2] == (1, 2)
        return
    with pytest.raises(signatures.SignatureChanged) as raised:
        signatures.call(function, **arguments)
    assert str(raised.value) == message


def test_arguments_for_kwargs_are_named_as_such():
    assert signatures.call(swallows, also={"kind": "grpo"}, log_probs=1) == (1, {"kind": "grpo"})


@pytest.mark.parametrize("trainer", FUNCTIONS)
def test_the_table_names_the_functions_that_are_called(trainer):
    """SkyRL and RLinf choose some of them by the configuration."""
    tree = ast.parse((ROOT / "grpo_conformance" / "functions" / f"{trainer}.py").read_text())
    called = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and ast.unparse(node.value) == "trainer"
        and isinstance(node.slice, ast.Constant)
    }
    assert called
    assert called <= FUNCTIONS[trainer]["functions"].keys()


# ---- packages that are missing --------------------------------------------------------------------

LOSS = """
from dataclasses import dataclass
import gpu_kernels.attention as attention
from gpu_kernels import fused, Base
import needs_a_gpu
from .helper import two
from .cluster import Worker

@fused(block=16)
class Config(Base):
    low: int | Base = 1

@attention.jit
def loss():
    return two() if not attention.is_initialized() else 0
"""


@pytest.fixture
def checkout(tmp_path):
    """Write a trainer that imports a package that is missing and one that does not load."""
    trainer, broken = tmp_path / "trainer", tmp_path / "needs_a_gpu"
    for folder in (trainer, broken):
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    (trainer / "loss.py").write_text(LOSS)
    (trainer / "helper.py").write_text("import library\n\ndef two():\n    return 2 if library.PLAIN else 3\n")
    (trainer / "cluster.py").write_text("raise RuntimeError('no cluster')\n")
    (broken / "__init__.py").write_text("raise OSError('no GPU')\n")
    (tmp_path / "library.py").write_text(
        "try:\n    import speedups\n    PLAIN = False\nexcept ImportError:\n    PLAIN = True\n"
    )
    return tmp_path


def loaded(checkout, without):
    script = (
        "import sys; from grpo_conformance.functions.absent import load;"
        f"names = load('trainer', ['trainer.loss'], {without!r}); import trainer.loss;"
        "print(*names, trainer.loss.loss())"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": f"{checkout}:{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_missing_and_broken_packages_of_the_trainer_are_replaced(checkout):
    """A library that goes on without a package learns that the package is missing."""
    done = loaded(checkout, ["trainer.cluster"])
    assert (done.stdout, done.stderr) == ("gpu_kernels needs_a_gpu trainer.cluster 2\n", "")


def test_an_error_of_the_trainer_itself_is_not_hidden(checkout):
    done = loaded(checkout, [])
    assert done.returncode == 1
    assert "RuntimeError: no cluster" in done.stderr


# ---- comparing ------------------------------------------------------------------------------------

CASE = {
    "id": "one token",
    "trainer": "slime",
    "call": "loss",
    "config": {"n_samples_per_prompt": 1, "eps_clip_c": 3.0},
    "given": {"log_probs": "new", "old_log_probs": "old", "advantages": "bad", "mask": "one"},
    # The ratio is 4 and the advantage -1: the dual clip limits the loss to 3, and the gradient is 0.
    "loss": 3.0,
    "grad_logp": [[0.0]],
}
INPUTS = {
    "group_size": 1,
    "new": [[-1.0]],
    "old": [[-2.386294361119891]],
    "bad": [-1.0],
    "one": [[1]],
}  # log 4
CLIPPED = {"loss": 3.0, "grad_logp": [[0.0]]}
UNCLIPPED = {"loss": 4.0, "grad_logp": [[4.0]]}  # before August 2026 slime did not pass eps_clip_c on
# numbers of the child, release -> status
COMPARED = {
    "as recorded": (CLIPPED, "checkout", "agrees"),
    "as explain says of July": (UNCLIPPED, "2026-07", "explained"),
    "the same at the recorded version": (UNCLIPPED, "checkout", "differs"),
    "another signature": ({"changed": "loss takes no clip"}, "checkout", "signature changed"),
    "not of the functions": ({"outside": "the call 'advantages'"}, "checkout", "outside"),
    "an error": ({"error": "ValueError: no"}, "checkout", "stops"),
    "numbers of another shape": ({"loss": 3.0, "grad_logp": [[0.0, 0.0]]}, "checkout", "stops"),
}


@pytest.mark.parametrize(("numbers", "release", "status"), COMPARED.values(), ids=COMPARED)
def test_the_status_of_a_case(numbers, release, status):
    assert functions.result(CASE, INPUTS, numbers, release).status == status


def test_a_release_without_the_key_is_not_compared():
    case = CASE | {"config": CASE["config"] | {"use_tis": False, "use_opsm": False}}
    result = functions.result(case, INPUTS, CLIPPED, "2025-07")
    assert (result.status, "use_opsm" in result.problem) == ("outside", True)


def test_a_request_has_all_settings_by_both_names():
    case = {
        "id": "x",
        "trainer": "skyrl",
        "call": "loss",
        "config": {"trainer.algorithm.clip_ratio_c": 2.0},
        "given": {"mask": "tokens"},
    }
    asked = functions.request(case, {"group_size": 2, "tokens": [[1], [1]]}, "checkout")
    settings = asked["settings"]
    assert settings["trainer.algorithm.clip_ratio_c"] == settings["clip_ratio_c"] == 2.0
    assert asked["arrays"] == {"mask": [[1], [1]]}
    # SkyRL's default of the bound was another one until July 2026.
    before = functions.request(case, {"group_size": 2, "tokens": [[1], [1]]}, "2026-06")
    assert settings["cispo_eps_clip_high"] == 4.0 != before["settings"]["cispo_eps_clip_high"]


@pytest.mark.parametrize("trainer", FUNCTIONS)
def test_every_trainer_has_recorded_cases(trainer):
    inputs, cases = functions.recorded_cases(trainer)
    assert any(case["call"] == "loss" for case in cases)
    assert functions.request(cases[0], inputs, "checkout")["arrays"]


# ---- the command ----------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)])


@pytest.fixture
def scripted(monkeypatch):
    """Let slime have one case, and the child return the numbers of the test."""

    def script(numbers):
        monkeypatch.setattr(
            live, "find", lambda *_: Installed("slime", "checkout", Path("python"), Path("."), "2.13.0")
        )
        monkeypatch.setattr(functions, "recorded_cases", lambda _: (INPUTS, [CASE]))
        monkeypatch.setattr(functions, "run", lambda *_: ({"one token": numbers}, ["megatron"]))

    return script


def test_functions_that_compute_the_recorded_numbers(scripted, tmp_path):
    scripted(CLIPPED)
    shown = run("--live", "slime", "--json", tmp_path / "results.json")
    assert shown.exit_code == 0
    assert "slime checkout: 1 case compared; 1 as recorded at 624b824a" in shown.output
    assert "replaced by empty modules: megatron." in shown.output
    written = json.loads((tmp_path / "results.json").read_text())
    assert (written["replaced"], written["cases"][0]["status"]) == (["megatron"], "agrees")


def test_functions_that_changed(scripted):
    scripted(UNCLIPPED)
    shown = run("--live", "slime", "--failures")
    assert shown.exit_code == 1
    assert "differs           one token: " in shown.output
    shown = run("--live", "slime", "--failures", "--release", "2026-07")
    assert shown.exit_code == 0
    assert "explained         one token: " in shown.output


def test_nothing_to_compare(scripted):
    scripted({"changed": "loss_function takes no logits"})
    shown = run("--live", "slime")
    assert shown.exit_code == 2
    assert "signature changed: 1 case: loss_function takes no logits" in shown.output
    assert run("--live", "slime", "--case", "two*").exit_code == 2


# ---- finding a checkout ---------------------------------------------------------------------------


@pytest.fixture
def interpreter(tmp_path):
    """Write an interpreter that has PyTorch and NumPy, as far as its answer says."""
    script = tmp_path / "python"
    script.write_text('#!/bin/sh\necho \'{"torch": "2.13.0", "numpy": "2.4", "openrlhf": ""}\'\n')
    script.chmod(0o755)
    return script


# file of the checkout, its text -> release
VERSIONS = {
    "version.txt": ("version.txt", "0.11.0\n", "0.11.0"),
    "pyproject.toml": ("pyproject.toml", '[project]\nversion = "0.8.0"\n', "0.8.0"),
    "pip install --target": ("openrlhf-0.11.2.dist-info", "", "0.11.2"),
    "none": ("README.md", "", "checkout"),
}


@pytest.mark.parametrize(("file", "text", "release"), VERSIONS.values(), ids=VERSIONS)
def test_the_version_of_a_checkout(tmp_path, interpreter, file, text, release):
    source = tmp_path / "checkout"
    (source / "openrlhf").mkdir(parents=True)
    (source / file).write_text(text)
    assert find("openrlhf", interpreter, source).release == release


def test_a_relative_interpreter_is_found_from_every_folder(tmp_path, interpreter, monkeypatch):
    """It is not resolved: the interpreter of an environment is a link to one outside."""
    source = tmp_path / "checkout"
    (source / "openrlhf").mkdir(parents=True)
    (tmp_path / "link").symlink_to(interpreter)
    monkeypatch.chdir(tmp_path)
    assert find("openrlhf", Path("link"), source).python == tmp_path / "link"


def test_a_folder_without_the_trainer_is_refused(tmp_path):
    with pytest.raises(NotRun, match="--source: expected a folder with the package openrlhf, got "):
        find("openrlhf", None, tmp_path)


# ---- the whole way, with PyTorch ------------------------------------------------------------------

POLICY_LOSS = """
import deepspeed
import torch

class PolicyLoss(torch.nn.Module):
    def __init__(self, clip_eps_low=0.2, clip_eps_high=0.2, dual_clip=None, policy_loss_type="ppo",
                 enable_vllm_is_correction=False, vllm_is_truncated_threshold=None,
                 vllm_is_correction_type="tis"):
        super().__init__()

    def forward(self, log_probs, old_log_probs, advantages, action_mask, rollout_log_probs=None):
        loss = -(log_probs - old_log_probs).exp() * advantages
        return (loss * action_mask).sum() / action_mask.sum(), None
"""
ON_POLICY = {
    "id": "on policy",
    "trainer": "openrlhf",
    "call": "loss",
    "config": {"algo.kl.init_coef": 0.0},
    "given": {"log_probs": "new", "advantages": "good", "mask": "two"},
    # Every ratio is 1: the loss is minus the advantage, and each of the two tokens has half of it.
    "loss": -3.0,
    "grad_logp": [[-1.5, -1.5]],
}
TWO = {"group_size": 1, "new": [[-1.0, -2.0]], "good": [3.0], "two": [[1, 1]]}


@pytest.fixture
def openrlhf(tmp_path):
    """Write a made-up OpenRLHF with a policy loss without a clip."""

    def write(text):
        folder = tmp_path / "openrlhf" / "models"
        folder.mkdir(parents=True)
        for place in (folder, folder.parent):
            (place / "__init__.py").write_text("")
        (folder / "loss.py").write_text(text)
        (folder / "utils.py").write_text("")
        return Installed("openrlhf", "checkout", Path(sys.executable), tmp_path, "")

    return write


def ran(installed):
    numbers, replaced = functions.run(
        installed, [functions.request(ON_POLICY, TWO, installed.release)], 120.0
    )
    assert replaced == ["deepspeed"]
    return functions.result(ON_POLICY, TWO, numbers["on policy"], installed.release)


def test_a_made_up_trainer_runs(openrlhf):
    pytest.importorskip("torch")
    assert ran(openrlhf(POLICY_LOSS)).status == "agrees"


def test_a_made_up_trainer_of_another_version(openrlhf):
    pytest.importorskip("torch")
    renamed = ran(openrlhf(POLICY_LOSS.replace("action_mask", "loss_mask")))
    assert renamed.status == "signature changed"
    assert renamed.problem == "PolicyLoss.forward takes no action_mask and another argument: loss_mask"


def test_modules_that_cannot_be_loaded(openrlhf):
    with pytest.raises(NotRun, match="the functions of openrlhf checkout could not be loaded: "):
        ran(openrlhf("raise RuntimeError('of its own')\n"))
