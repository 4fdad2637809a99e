"""The figure of a diagnosed run, and the page with it."""

import re

import pytest
from click.testing import CliRunner
from in_page import CHROMIUM, MISSING, OPTIONS, SCHEMES, WIDTHS, faults

import grpo_ref
from grpo_ref.cli import main
from grpo_ref.diagnose.figure import events, figure, panels
from grpo_ref.diagnose.page import body, page

ROW = {
    "reward": 1.5,
    "reward_std": 0.1,
    "rewards/format/mean": 0.1,
    "rewards/answer/mean": 0.4,
    "kl": 0.01,
    "entropy": 0.5,
    "completions/mean_length": 20.0,
    "completions/clipped_ratio": 0.9,
    "clip_ratio/low_mean": 0.0,
    "clip_ratio/high_mean": 0.0,
    "grad_norm": 1.0,
    "frac_reward_zero_std": 0.0,
    "loss": 0.1,
}
RUN = [{"step": step, **ROW} for step in range(5, 35)]


@pytest.fixture(scope="module")
def diagnosis():
    """The diagnosis of a run with a wrong sum of rewards and many truncated completions."""
    return grpo_ref.diagnose(RUN)


def test_every_quantity_has_a_panel_with_its_unit(diagnosis):
    labels = [panel.label for panel in panels(diagnosis.log, diagnosis.facts)]
    assert labels == [
        "mean reward",
        "reward functions (mean)",
        "KL to the reference\n(nats per token)",
        "entropy\n(nats per token)",
        "mean length\n(tokens)",
        "cut at the budget\n(share of completions)",
        "groups with equal rewards\n(share of groups)",
        "std of the rewards",
        "clipped\n(share of tokens)",
        "gradient norm",
        "loss",
    ]
    assert [axis.get_ylabel() for axis in figure(diagnosis).axes if axis.get_visible()] == labels


def test_the_reward_functions_are_named(diagnosis):
    curves = panels(diagnosis.log, diagnosis.facts)[1].curves
    assert [(curve.label, curve.values[0], curve.steps[0]) for curve in curves] == [
        ("format", 0.1, 5.0),
        ("answer", 0.4, 5.0),
    ]


def test_violations_and_patterns_are_events(diagnosis):
    # 1.5 is not 0.1 + 0.4 from the first row on; 0.9 of the completions are truncated
    shown = {event.title.partition(" (R1)")[0]: (event.step, event.is_certain) for event in events(diagnosis)}
    assert shown["does not hold: reward = Σ w (mean of each reward function)"] == (5, True)
    assert shown["more than 30% of the completions are cut off at the budget"] == (5, False)
    assert [event.tag for event in events(diagnosis)] == [str(number) for number in range(1, len(shown) + 1)]


def test_a_notebook_shows_the_report_and_a_picture_of_each_panel(diagnosis):
    shown = diagnosis._repr_html_()
    assert shown == body(diagnosis)
    assert shown.count("<svg ") == len(panels(diagnosis.log, diagnosis.facts))
    assert "reward = Σ w (mean of each reward function) (R1)" in shown
    ids = re.findall(r'\bid="([^"]*)"', shown)
    assert len(ids) == len(set(ids))


def test_the_figure_of_the_object_is_that_of_the_module(diagnosis):
    assert len(diagnosis.plot().axes) == len(figure(diagnosis).axes)


def test_the_page_loads_nothing_and_escapes_names():
    rows = [
        {"step": 1, "reward": 0.5, "reward_std": 0.1, "rewards/<script>/mean": 0.25, "rewards/b/mean": 0.1}
    ]
    whole = page(grpo_ref.diagnose(rows))
    assert "default-src 'none'" in whole
    assert "<script" not in whole
    assert not re.findall(r'(?:src|href)="(?!#)', whole)
    assert (
        page(grpo_ref.diagnose([{"step": 1, "reward": 0.5, "reward_std": 0.2}])).count("<p>No exact relation")
        == 1
    )


@pytest.fixture
def log(tmp_path):
    """A log file with one row."""
    file = tmp_path / "log.jsonl"
    file.write_text('{"step": 1, "reward": 0.5, "reward_std": 0.1, "kl": 0.0}\n')
    return file


@pytest.mark.parametrize(
    ("name", "begin"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("new/a.pdf", b"%PDF")]
)
def test_the_command_writes_a_figure(log, tmp_path, name, begin):
    result = CliRunner().invoke(main, ["diagnose", str(log), "--figure", str(tmp_path / name)])
    assert result.exit_code == 0
    assert (tmp_path / name).read_bytes().startswith(begin)
    assert f"wrote {tmp_path / name}" in result.stderr
    assert "wrote" not in result.stdout


def test_the_command_writes_a_page(log, tmp_path):
    result = CliRunner().invoke(main, ["diagnose", str(log), "--html", str(tmp_path / "a.html")])
    assert result.exit_code == 0
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def test_a_log_without_a_known_curve_is_refused_in_words():
    with pytest.raises(ValueError, match="no quantity that is drawn, such as a reward"):
        grpo_ref.diagnose([{"step": 1, "learning_rate": 1e-6}]).plot()


def test_another_suffix_is_refused_before_the_log_is_read(tmp_path):
    result = CliRunner().invoke(main, ["diagnose", "none.log", "--figure", "a.txt"])
    assert result.exit_code == 2
    assert "expected a name that ends in .png, .pdf, .svg, got a.txt" in result.stderr


@pytest.mark.skipif(bool(MISSING), reason=f"a browser needs {', '.join(MISSING)}")
def test_the_page_is_accessible_and_fits_on_a_phone_in_light_and_dark(diagnosis, tmp_path):
    from playwright.sync_api import sync_playwright

    file = tmp_path / "report.html"
    file.write_text(page(diagnosis), encoding="utf-8")
    broken = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        for width in (WIDTHS[0], WIDTHS[-1]):
            for scheme in SCHEMES:
                sheet = browser.new_page()
                sheet.goto(file.as_uri())
                broken[width, scheme] = faults(sheet, width, scheme)
        browser.close()
    assert not any(broken.values()), broken
