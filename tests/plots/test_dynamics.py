import numpy as np
import pytest

from grpo_ref.plots import dynamics_figure, plot_dynamics
from grpo_ref.plots.dynamics import PANELS

NAMES = [*(name for name in PANELS if name != "clip"), "clip_low", "clip_high", "tokens_if_right"]


def history(seed, updates=5, seeds=3):
    rng = np.random.default_rng(seed)
    return [{name: rng.random(seeds) for name in NAMES} for _ in range(updates)]


RUNS = {"one": history(0), "another": history(1)}


def test_a_panel_a_metric_with_the_mean_over_seeds():
    figure = dynamics_figure(RUNS)
    assert [axis.get_ylabel() for axis in figure.axes] == list(PANELS.values())
    for axis, name in zip(figure.axes, PANELS, strict=True):
        for line, run in zip(axis.get_lines(), RUNS.values(), strict=True):
            parts = ("clip_low", "clip_high") if name == "clip" else (name,)
            means = [sum(metrics[part] for part in parts).mean() for metrics in run]
            assert line.get_ydata() == pytest.approx(means)
    assert "mean of 3 seeds; band: their 10th to 90th" in figure.legends[0].get_title().get_text()


def test_some_metrics_and_their_labels():
    figure = dynamics_figure(RUNS, ("reward", "kl", "entropy", "tokens_if_right"))
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_ylabel() for axis in shown][-1] == "tokens if right"
    assert [axis.get_xlabel() for axis in shown] == ["", "update", "update", "update"]


def test_the_file_holds_the_figure(tmp_path):
    plot_dynamics(RUNS, tmp_path / "curves.svg")
    assert "<svg" in (tmp_path / "curves.svg").read_text()
