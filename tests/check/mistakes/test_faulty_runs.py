"""Each faulty run has its fault, and a number proves it."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import GRPO
from grpo_ref.check.mistakes.faulty_runs import FAULTY_RUNS, inverted_clip
from grpo_ref.plots import compared_gradients, pushes

MASK = np.array([[[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]])
EASY = np.array([[1.0, 1.0], [0.0, 1.0]])


def test_a_faulty_run_differs_from_the_healthy_run_in_one_part():
    for letter, run in FAULTY_RUNS.items():
        parts = run.recipe.differences(run.healthy)
        assert len(parts) == (0 if letter == "F" else 1), letter


def test_b_gives_a_group_with_equal_rewards_an_advantage():
    wrong = FAULTY_RUNS["B"].recipe.advantage.kernel(EASY)
    assert (GRPO.advantage.kernel(EASY)[0] == 0.0).all()
    np.testing.assert_allclose(wrong[0], 0.25 / (np.sqrt(3.0) / 4.0 + 1e-4))  # mean 3/4, std √3/4


def test_only_b_has_a_gradient_if_all_groups_have_equal_rewards():
    norms = {}
    for label, history in FAULTY_RUNS["B"].charts(seeds=4).items():
        dead, pushed = (
            np.stack([metrics[name] for metrics in history]) for name in ("dead_groups", "grad_norm")
        )
        norms[label] = pushed[dead == 1.0]
        assert norms[label].size > 100
    assert (norms["healthy"] == 0.0).all()
    assert (norms["faulty"] > 0.0).mean() > 0.5  # not where the whole batch is wrong


def test_d_is_smaller_by_the_root_of_two():
    first = {label: history[0]["grad_norm"] for label, history in FAULTY_RUNS["D"].charts(seeds=3).items()}
    np.testing.assert_allclose(first["healthy"] / first["faulty"], np.sqrt(2.0), rtol=1e-3)


def test_f_shows_what_is_not_clipped():
    shown = inverted_clip(
        {"reward": np.ones(2), "clip_low": np.array([0.0, 0.1]), "clip_high": np.array([0.0, 0.2])}
    )
    np.testing.assert_allclose(shown["clip_low"] + shown["clip_high"], [1.0, 0.7])
    assert (shown["reward"] == 1.0).all()


def test_charts_are_paired():
    run = replace(FAULTY_RUNS["F"], settings={"updates": 3, "prompts": 4, "group_size": 4})
    charts = run.charts(seeds=2)
    for ours, theirs in zip(charts["healthy"], charts["faulty"], strict=True):
        assert np.array_equal(ours["reward"], theirs["reward"])


def test_pushes_are_minus_the_gradient():
    # advantages ±1/2 · 1/(√(1/2) + eps) of [1, 0]; two completions of two tokens each: weight 1/4
    recipe = replace(GRPO, kl_coef=0.0)
    expected = 0.25 * 0.5 / (np.sqrt(0.5) + 1e-4)
    np.testing.assert_allclose(pushes(recipe, np.array([[1.0, 0.0]]), length=2), [expected, -expected])
    figure = compared_gradients({"one": recipe, "two": GRPO}, np.array([[1.0, 0.0]]), length=2)
    (axis,) = figure.axes
    assert [bar.get_height() for bar in axis.containers[0]] == pytest.approx([expected, -expected])
    assert "log-probability" in axis.get_ylabel()


def test_the_run_with_stale_old_log_probs_learns_less():
    # with few seeds only the clearest case is certain
    charts = FAULTY_RUNS["E"].charts(seeds=4)
    last = {label: history[-1]["reward"].mean() for label, history in charts.items()}
    assert last["healthy"] > 2.0 * last["faulty"]
