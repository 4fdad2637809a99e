from dataclasses import replace

import numpy as np
from toy_experiment import FAMILY, TOY

from grpo_ref.lab.figures import differences_figure, panels, plot_differences, plot_panels
from grpo_ref.lab.framework.summary import effect, findings_of
from grpo_ref.lab.framework.sweep import run_experiment

RESULT = run_experiment(TOY, seeds=4)
FINDINGS = findings_of(RESULT)


def axes(experiment, result):
    """Return the axes of each panel."""
    return [panel.figure.axes[0] for panel in panels(experiment, result)]


def test_figures_show_every_panel_and_every_prediction():
    curve, points = axes(TOY, RESULT)
    predictions = differences_figure(FINDINGS, "seeds").axes
    assert (curve.get_ylabel(), points.get_ylabel()) == ("level (units)", "level (units)")
    for line, arm in zip(curve.get_lines(), TOY.arms, strict=True):
        np.testing.assert_allclose(line.get_ydata(), RESULT.measures[arm]["curve"].mean(0))
    titles = [axis.get_title(loc="left") for axis in predictions]
    assert titles == [f"{one.prediction.says}: {one.outcome} (100% of the seeds)" for one in RESULT.findings]


def test_an_interval_is_drawn_in_the_units_of_its_measure():
    axis = differences_figure(FINDINGS, "seeds").axes[-1]
    estimate = RESULT.findings[-1].estimate
    point = axis.get_lines()[1]
    assert point.get_xdata().tolist() == [estimate.mean]
    found = effect(estimate.mean, estimate.low, estimate.high)
    assert axis.get_xlabel().replace("\N{NO-BREAK SPACE}", " ") == f"level: low - 2.0 = {found}"


def test_an_arm_looks_the_same_in_every_panel_and_each_panel_has_its_legend():
    twice = replace(TOY, panels=(TOY.panels[0], TOY.panels[0]))
    first, second = axes(twice, RESULT)
    looks = [
        [(line.get_color(), line.get_linestyle()) for line in axis.get_lines()] for axis in (first, second)
    ]
    assert looks[0] == looks[1]
    assert len(set(looks[0])) == len(TOY.arms)
    for axis in (first, second):
        assert [text.get_text() for text in axis.get_legend().get_texts()] == list(TOY.arms)
    assert axes(TOY, RESULT)[1].get_legend() is None  # its arms are on the axis


def test_each_file_holds_its_figure(tmp_path):
    written = plot_panels(TOY, RESULT, tmp_path, "panel")
    assert written == [
        {"file": "panel_1.svg", "shows": "level (units) against update."},
        {"file": "panel_2.svg", "shows": "level (units), by variant."},
    ]
    assert all(len((tmp_path / one["file"]).read_text()) > 5_000 for one in written)
    plot_differences(FINDINGS, "seeds", tmp_path / "differences.svg")
    text = (tmp_path / "differences.svg").read_text()
    assert text.count("grey: the prediction holds") == 1
    assert "of the seeds)" in text


def test_a_grid_shows_what_was_chosen():
    result = run_experiment(FAMILY, seeds=12)
    grid, *_ = axes(FAMILY, result)
    drawn = {line.get_label(): line.get_ydata() for line in grid.get_lines()}
    for label, tuned in result.tuning.items():
        assert drawn[label].tolist() == [values.mean() for values in tuned.scores.values()]
    rings = [line for line in grid.get_lines() if line.get_markersize() == 11]
    assert [ring.get_xdata().tolist() for ring in rings] == [[0.3], [0.3]]


def test_the_second_panel_shows_the_main_difference_at_equal_values():
    result = run_experiment(FAMILY, seeds=12)
    _, panel, _ = panels(FAMILY, result)
    (axis,) = panel.figure.axes
    assert axis.get_xlabel() == "rate, the same for both (other tasks)"
    assert panel.shows == "level: high - low, over the rate, the same for both."
    main = result.findings[0]
    drawn = [list(line.get_ydata()) for line in axis.get_lines()]
    assert [mean for mean, _, _ in main.at_equal.values()] in drawn


def test_scores_are_drawn_without_a_panel_that_asks_for_them():
    bare = replace(FAMILY, panels=FAMILY.panels[1:])
    *_, scores = axes(bare, run_experiment(bare, seeds=12))
    assert (scores.get_ylabel(), scores.get_xlabel()) == ("level", "rate; ringed: chosen")


def test_predictions_of_one_measure_share_their_scale():
    first, second = differences_figure(FINDINGS, "seeds").axes
    assert first.get_xlim() == second.get_xlim()
    for finding in RESULT.findings:
        assert first.get_xlim()[0] < finding.estimate.low <= finding.estimate.high < first.get_xlim()[1]
