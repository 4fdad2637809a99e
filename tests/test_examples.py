"""The examples run, print what they promise, and the one-page script computes what the library computes."""

import ast
import os
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grpo_ref import GRPO, TASKS, group_normalized, policy_loss, slot
from grpo_ref.surrogates import clipped

EXAMPLES = Path(__file__).parents[1] / "examples"
ONE_PAGE = EXAMPLES / "grpo_in_one_page.py"
TRANSFORMER = EXAMPLES / "train_a_transformer.py"
DISTILLATION = EXAMPLES / "distill_a_transformer.py"


@pytest.fixture(scope="module")
def last_step(tmp_path_factory):
    """Return the variables of the one-page script after 25 updates, when many answers are clipped."""
    text = ONE_PAGE.read_text(encoding="utf-8")
    shorter = tmp_path_factory.mktemp("examples") / ONE_PAGE.name
    shorter.write_text(
        text.replace("UPDATES, EPOCHS = 8, 150, 3", "UPDATES, EPOCHS = 8, 25, 3"), encoding="utf-8"
    )
    variables = runpy.run_path(str(shorter))
    assert variables["update"] == 25
    return variables


def run(script, *arguments):
    """Return the lines that a script prints in a process of its own, without warnings."""
    command = [sys.executable, "-W", "error", str(script), *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def numbers(lines, pattern):
    """Return the number that each line holds where it matches the pattern."""
    return [float(match[1]) for line in lines if (match := re.search(pattern, line))]


@pytest.mark.parametrize("script", [ONE_PAGE, TRANSFORMER, DISTILLATION], ids=lambda script: script.stem)
def test_an_example_has_at_most_100_lines(script):
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 100


def test_the_one_page_script_imports_only_numpy():
    nodes = list(ast.walk(ast.parse(ONE_PAGE.read_text(encoding="utf-8"))))
    assert not [node for node in nodes if isinstance(node, ast.ImportFrom)]
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert imported == ["numpy"]


def test_the_one_page_script_learns_sums():
    lines = run(ONE_PAGE)
    rewards = numbers(lines, r"mean reward (\d\.\d\d)")
    assert len(rewards) == 7
    before, after = numbers(lines, r"mean probability of the right answer .*: (\d\.\d\d)$")
    assert before == rewards[0] == 0.05  # 1 of 19 answers is right
    assert 0.9 < after <= 1.0
    assert abs(after - rewards[-1]) < 0.02
    assert lines[-1].endswith(f"{after:.2f}")
    assert [line.split(": ")[1].split()[0] for line in lines if "7+5" in line] == ["9", "12"]


def test_advantages_of_the_one_page_script_are_those_of_the_library(last_step):
    assert np.ptp(last_step["rewards"]) == 1.0
    np.testing.assert_allclose(last_step["advantages"], group_normalized(last_step["rewards"]), atol=1e-14)


def test_the_reference_of_the_one_page_script_is_the_policy_before_training(last_step):
    before = np.exp(last_step["ref_logits"])
    before /= before.sum(axis=1, keepdims=True)
    expected = np.take_along_axis(before, last_step["completions"], axis=1)
    np.testing.assert_allclose(np.exp(last_step["ref"]), expected, rtol=1e-12)


def test_loss_and_gradient_of_the_last_step_are_those_of_the_library(last_step):
    clip, kl_coef = last_step["CLIP"], last_step["KL_COEF"]
    recipe = replace(GRPO, surrogate=slot(clipped, clip_low=clip, clip_high=clip), kl_coef=kl_coef)
    new, old, ref = (last_step[name][..., None] for name in ("new", "old", "ref"))
    result = policy_loss(
        new,
        last_step["advantages"],
        np.ones_like(new),
        recipe=recipe,
        old_log_probs=old,
        ref_log_probs=ref,
    )
    assert result.metrics["clip_low"] > 0.01  # otherwise the clip is not tested
    assert result.metrics["clip_high"] > 0.01
    np.testing.assert_allclose(-last_step["objective"], result.loss, rtol=1e-12)

    # d log π(a) / d logits = onehot(a) - π, added up over the completions of a prompt
    gradient = np.zeros_like(last_step["logits"])
    for prompt, group in enumerate(last_step["completions"]):
        pi = np.exp(last_step["log_probs"][prompt])
        for member, answer in enumerate(group):
            slope = -pi
            slope[answer] += 1.0
            gradient[prompt] += result.gradient[prompt, member, 0] * slope
    np.testing.assert_allclose(-last_step["gradient"], gradient, rtol=1e-10, atol=1e-15)


def test_the_transformer_learns_to_add_numbers_that_it_has_not_seen():
    lines = run(TRANSFORMER, "--updates", "20")
    assert len(numbers(lines, r"step .*: loss (\d\.\d\d) nats per token$")) >= 2
    assert len(numbers(lines, r"update   1: mean reward (\d\.\d\d)$")) == 1
    before, after = numbers(lines, r"GRPO: (\d+)% of 2000 answers to held-out questions are right")
    assert 20 < before < after <= 100
    questions = re.findall(r"^  (\d\d\+\d\d=)\S* +(?:right|wrong)$", "\n".join(lines), re.M)
    assert len(questions) == 2 * 5
    task = TASKS["sums"]()
    assert not task.prompt_probs[[task.prompts.index(question) for question in questions]].any()


def test_a_teacher_that_judges_tokens_teaches_a_transformer_more_than_rare_rewards():
    lines = run(DISTILLATION, "--updates", "60")
    teacher, before, taught, rewarded = numbers(
        lines, r"(\d+)% of 2000 answers to held-out questions are right"
    )
    assert before < 10 < taught < teacher
    assert rewarded < taught
