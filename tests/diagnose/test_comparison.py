"""Two logs are compared: when the rewards part, which facts differ, and which metrics are not the same."""

import math
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner

import grpo_ref
from grpo_ref.cli import main
from grpo_ref.diagnose import Comparison, compare
from grpo_ref.diagnose.comparison import (
    DEFINITIONS,
    computed_apart,
    data,
    facts_apart,
    in_two_lines,
    one_sided,
    parting,
    reward,
    rewards_part,
    sections,
    title,
)
from grpo_ref.diagnose.figure import events_of_two, panels_of_two
from grpo_ref.diagnose.log import quantities, trainers
from grpo_ref.diagnose.page import page

STEPS = np.arange(1.0, 201.0)
VERL = {
    "critic/score/mean": 0.5,
    "actor/entropy": 0.5,
    "response_length/clip_ratio": 0.0,
    "actor/grad_norm": 1.0,
}
TRL = {"reward": 0.5, "reward_std": 0.2, "entropy": 0.5, "completions/clipped_ratio": 0.0, "grad_norm": 1.0}


def run(row, rows=30, **changes):
    return [{"step": step, **row, **changes} for step in range(1, rows + 1)]


def test_equal_noise_is_no_difference():
    """200 pairs of curves of normal noise: a part is 3.5 standard errors off in 0.05 % of the cases."""
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(200, 2, 200))
    found = [parting((STEPS, one), (STEPS, other)) is not None for one, other in pairs]
    assert sum(found) <= 4


@pytest.mark.parametrize("gap", [1.0, -1.0])
def test_the_step_from_which_two_curves_differ(gap):
    rng = np.random.default_rng(1)
    one, other = rng.normal(scale=0.1, size=(2, 200))
    difference = parting((STEPS, one), (STEPS, other + gap * (STEPS > 100)))
    assert difference.step == 101  # 20 parts of 10 rows
    assert difference.last == 200
    assert difference.second_mean - difference.first_mean == pytest.approx(gap, abs=0.05)
    assert math.copysign(1.0, difference.errors) == gap


def test_a_difference_that_ends_does_not_count():
    rng = np.random.default_rng(2)
    one, other = rng.normal(scale=0.1, size=(2, 200))
    assert parting((STEPS, one), (STEPS, other + ((STEPS > 50) & (STEPS < 150)))) is None


def test_a_trend_is_no_noise():
    """Both curves rise by 0.01 in each step: the std of a curve is 0.58, its noise is 0.007."""
    difference = parting((STEPS, 0.01 * STEPS), (STEPS, 0.01 * STEPS + 0.5))
    assert difference.step == 1
    assert difference.second_mean - difference.first_mean == pytest.approx(0.5)


def test_only_common_steps_count():
    assert parting((STEPS, 0.0 * STEPS), (STEPS + 500.0, 0.0 * STEPS)) is None
    assert parting((STEPS[:3], STEPS[:3]), (STEPS, STEPS + 9.0)) is None
    later = parting((STEPS, 0.0 * STEPS), (STEPS + 100.0, np.ones(200)))
    assert (later.step, later.last) == (101, 200)


def test_rows_without_a_finite_reward_are_left_out():
    log = grpo_ref.diagnose([{"step": 1, **TRL}, {"step": 2, **TRL, "reward": math.nan}]).log
    steps, values = reward(log)
    assert (list(steps), list(values)) == ([1.0], [0.5])


def test_facts_that_the_logs_show_are_compared():
    # 1 of 4: s² = 4/3 p (1 - p); 1 of 8: s² = 8/7 p (1 - p)
    def binary(count):
        return [
            {
                "step": step,
                "reward": p,
                "reward_std": 0.0,
                "rewards/f/mean": p,
                "rewards/f/std": (count / (count - 1) * p * (1 - p)) ** 0.5,
            }
            for step, p in enumerate((0.25, 0.5, 0.25), 1)
        ]

    assert facts_apart(compare(binary(4), binary(8)))["completions"] == (4, 8)
    assert "completions" not in facts_apart(compare(binary(8), binary(8)))
    assert "compare per completion" in str(compare(binary(4), binary(8)))


def test_metrics_of_one_name_that_are_not_the_same_are_named():
    comparison = compare(run(TRL), run(VERL))
    apart = computed_apart(comparison)
    assert set(apart) == {"entropy", "grad_norm", "reward", "truncated"}
    assert apart["truncated"] == (
        "the share that has no end token, mean over completions",
        "the share that has the largest possible length, mean over completions",
    )
    assert "truncated is not the same quantity in the two logs" in str(comparison)
    assert "trainer: A TRL, B verl" in str(comparison)


def test_every_definition_is_of_a_known_quantity_and_trainer():
    definitions = tomllib.loads(DEFINITIONS.read_text(encoding="utf-8"))
    assert set(definitions) <= set(quantities())
    for by_trainer in definitions.values():
        assert set(by_trainer) <= set(trainers())
        for recorded in by_trainer.values():
            assert set(recorded) <= {"what", "over"}
            assert recorded.get("over", "loss") in ("loss", "tokens", "completions", "groups")


def test_two_runs_of_one_trainer_have_the_same_metrics():
    assert computed_apart(compare(run(TRL), run(TRL))) == {}


def test_the_meaning_of_reward_std_is_taken_from_the_log():
    def spread(factors):
        rows = zip((0.2, 0.3, 0.4, 0.5), factors, strict=True)
        return [
            {
                "step": step,
                "reward": 1.0,
                "reward_std": std * factor,
                "rewards/f/mean": 1.0,
                "rewards/f/std": std,
            }
            for step, (std, factor) in enumerate(rows, 1)
        ]

    apart = computed_apart(compare(spread([1.0] * 4), spread([0.5, 0.6, 0.7, 0.8])))
    assert apart == {"reward_std": ("the std over all completions", "the mean of the std of each group")}


def test_statements_on_one_run_only():
    broken = run(TRL, **{"rewards/a/mean": 0.1, "rewards/b/mean": 0.1})
    comparison = compare(run(TRL), broken)
    for_first, for_second = one_sided(comparison)
    assert [each.name for each in for_second if each.kind == "violation"] == ["R1"]
    assert not [each for each in for_first if each.kind == "violation"]
    assert "In A, it could not be tested." in str(comparison)
    assert one_sided(compare(broken, broken)) == ([], [])


def test_other_reward_functions_are_not_comparable():
    shown = str(compare(run(TRL, **{"rewards/a/mean": 0.5}), run(TRL, **{"rewards/b/mean": 0.5})))
    assert "only A has the reward functions a: the rewards are not comparable" in shown
    assert "only B has the reward functions b: the rewards are not comparable" in shown


def test_the_comparison_says_so_if_nothing_can_be_compared():
    short = compare([{"step": 1, **TRL}], [{"step": 9, **VERL}])
    assert "The two logs have no common steps." in str(short)
    assert rewards_part(short.first.log, short.second.log) is None
    assert "A log has no reward." in str(compare([{"step": 1, "loss": 0.1, "kl": 0.2}], run(TRL)))


def test_logs_and_diagnoses_are_taken():
    diagnosis = grpo_ref.diagnose(run(TRL))
    assert isinstance(grpo_ref.diagnose.compare(diagnosis, run(TRL)), Comparison)
    assert compare(diagnosis, diagnosis).first is diagnosis


@pytest.fixture(scope="module")
def comparison():
    """Run B, of TRL, has higher rewards and only truncated completions. Run A, of verl, has no reward_std."""
    return compare(run(VERL), run(TRL, reward=0.9, **{"completions/clipped_ratio": 1.0}))


def test_both_curves_are_on_the_same_axes(comparison):
    panels = {panel.label.partition("\n")[0]: panel for panel in panels_of_two(comparison)}
    assert [curve.label for curve in panels["mean reward"].curves] == ["A", "B"]
    assert [curve.values[0] for curve in panels["mean reward"].curves] == [0.5, 0.9]
    assert panels["entropy"].label.endswith("(computed differently)")
    (only,) = panels["std of the rewards"].curves
    assert (only.label, only.look) == ("B", 1)  # as B looks in the other panels
    assert len([axis for axis in comparison.plot().axes if axis.get_visible()]) == len(panels)


def test_quantities_with_other_units_have_panels_of_their_own():
    own = {"reward": 0.5, "reward_width": 0.1, "dead_groups": 0.0, "kl": 2.0}
    labels = [panel.label for panel in panels_of_two(compare(run(TRL, kl=0.1), run(own)))]
    assert "KL to the reference\n(nats per token)" in labels
    assert "KL to the reference\n(nats per completion)" in labels


def test_the_difference_and_statements_are_events(comparison):
    titles = {event.title: event.step for event in events_of_two(comparison)}
    assert titles["the rewards differ by more than noise from here on"] == 1
    assert titles["only B: hardly any completion ends by itself"] == 1


def test_the_page_has_the_report_and_the_figure(comparison):
    assert page(comparison).count("<svg ") == len(panels_of_two(comparison))
    assert "Metrics of the same name that are computed differently" in comparison._repr_html_()
    assert title(comparison).replace("; B", "\nB") == in_two_lines(comparison)


def test_the_command_compares(tmp_path, comparison):
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file, row in zip(files, (VERL, TRL), strict=True):
        file.write_text("\n".join(str({"step": step, **row}).replace("'", '"') for step in range(1, 4)))
    arguments = ["diagnose", str(files[0]), "--against", str(files[1])]
    result = CliRunner().invoke(main, [*arguments, "--html", str(tmp_path / "a.html")])
    assert result.exit_code == 0
    assert "trainer: A verl, B TRL" in result.stdout
    assert (tmp_path / "a.html").read_text().count("<h1>A: verl log") == 1
    assert '"computed_differently"' in CliRunner().invoke(main, [*arguments, "--format", "json"]).stdout
    assert "# A: verl log" in CliRunner().invoke(main, [*arguments, "--format", "markdown"]).stdout
    missing = CliRunner().invoke(main, ["diagnose", str(files[0]), "--against", "none.log"])
    assert missing.exit_code == 2
    assert "--against" in missing.stderr


def test_the_data_have_all_parts(comparison):
    shown = data(comparison)
    assert shown["rewards_differ"]["second_mean"] == pytest.approx(0.9)
    assert set(shown["computed_differently"]) == {"entropy", "grad_norm", "reward", "truncated"}
    assert next(sections(comparison)).heading == "the reward"
