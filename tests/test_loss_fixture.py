"""The fixture `check_loss`: a loss compared with a trainer's configuration, in a test of the user's."""

import importlib
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from losses import surrogate
from student import ROOT

from grpo_ref.loss_fixture import assert_loss

pytest_plugins = ["pytester"]


def dr_grpo(per_token_logps, old_per_token_logps, advantages, completion_mask):
    gain = surrogate(per_token_logps, old_per_token_logps, advantages, completion_mask, high=0.2)
    return -gain.sum() / len(completion_mask) / 512


def test_the_budget_is_the_configurations():
    config = {"loss_type": "dr_grpo", "max_completion_length": 512}
    assert_loss(dr_grpo, dialect="trl", config=config, batches=20)
    with pytest.raises(AssertionError, match="the smallest batch that shows it"):
        assert_loss(dr_grpo, dialect="trl", config=config, max_length=100, batches=20)


WRONG = {
    "nothing to compare with": ({}, "either recipe=... or dialect=..."),
    "an unknown recipe": ({"recipe": "grppo"}, "recipe: expected one of grpo, "),
    "an unknown trainer": ({"dialect": "trlx"}, "dialect: expected one of trl, "),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_what_is_unknown_is_told(arguments, message):
    with pytest.raises(ValueError, match=message):
        assert_loss(dr_grpo, **arguments)


def test_a_recipe_is_taken_by_name():
    def mine(logps, advantages, mask):
        return -np.where(mask > 0, advantages[:, None] * logps, 0.0).sum() / len(mask)

    assert_loss(mine, recipe="reinforce", batches=10)


def test_the_fixture_is_there_for_a_test_of_the_users(pytester):
    pytester.makepyfile(
        """
        def loss(logps, advantages, mask):
            return -(advantages[:, None] * logps * mask).sum() / len(mask)

        def test_right(check_loss):
            check_loss(loss, "reinforce", nan_in_padding=False, batches=10)

        def test_padded(check_loss):
            check_loss(loss, "reinforce", batches=30)
        """
    )
    result = pytester.runpytest_subprocess("-q", "-p", "grpo_ref.loss_fixture")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*right, except for batches with NaN in the padding*"])


PAGE = (ROOT / "docs/howto/check.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"reate\s+`(test_\w+\.py)`:\s+```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_page_pass(name):
    if "torch" in EXAMPLES[name]:
        pytest.importorskip("torch")
    names = {}
    exec(EXAMPLES[name], names)
    (test,) = (value for key, value in names.items() if key.startswith("test_"))
    test(assert_loss)


def test_there_is_an_example_for_each_kind_of_trainer():
    assert list(EXAMPLES) == ["test_dapo.py", "test_trl.py", "test_verl.py", "test_loop.py"]


def test_pytest_finds_the_plugin_without_a_conftest():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (plugin,) = project["entry-points"]["pytest11"].values()
    assert hasattr(importlib.import_module(plugin), "check_loss")


def test_the_plugin_does_not_import_numpy():
    """It is loaded with every pytest of an environment where grpo_ref is installed."""
    code = "import sys, grpo_ref.loss_fixture; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0
