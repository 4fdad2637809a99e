"""The framework of the experiments: statistics worked by hand, verdicts by rule, no result lost."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref import (
    DR_GRPO,
    GRPO,
    all_completions,
    clipped,
    group_normalized,
    importance_weighted,
    no_penalty,
    raw_rewards,
    slot,
)
from grpo_ref.experiments import EXPERIMENTS
from grpo_ref.experiments.claims.group_mean import GROUP_MEAN
from grpo_ref.experiments.framework.cache import Cache, Job, described
from grpo_ref.experiments.framework.experiment import (
    Comparison,
    Curves,
    Experiment,
    Points,
    arm,
    judged,
    run_experiment,
)
from grpo_ref.experiments.framework.statistics import Estimate, estimates, holm, outcome, verdict
from grpo_ref.experiments.framework.summary import load
from grpo_ref.experiments.framework.sweep import CHUNK, collected, jobs_of, sweep
from grpo_ref.experiments.framework.training import summarised, trained
from grpo_ref.frontends.cli import main
from grpo_ref.frontends.experiment_report import (
    BEGIN,
    END,
    html_page,
    in_readme,
    markdown_page,
    verdict_table,
)
from grpo_ref.learning.tasks import TASKS
from grpo_ref.plots import plot_experiment

ROOT = Path(__file__).parents[2]


# ---- statistics ------------------------------------------------------------------------------------


def test_interval_is_students():
    # 1, 2, 3: mean 2, s = 1, error 1/√3; with two degrees of freedom t(0.975) = c √(2 / (1 - c²)), c = 0.95
    (one,) = estimates([np.array([1.0, 2.0, 3.0])])
    reach = 0.95 * math.sqrt(2.0 / (1.0 - 0.95**2)) / math.sqrt(3.0)
    np.testing.assert_allclose([one.low, one.high], [2.0 - reach, 2.0 + reach], rtol=1e-12)
    # two-sided p of t = 2√3 with 2 degrees of freedom: 1 - t/√(t² + 2) = 1 - √(12/14)
    np.testing.assert_allclose(one.p, 1.0 - math.sqrt(12.0 / 14.0), rtol=1e-12)
    assert (one.mean, one.size, one.seeds) == (2.0, 2.0, 3)


def test_intervals_of_more_comparisons_are_wider():
    difference = np.random.default_rng(0).normal(size=20)
    (alone,), (first, _) = estimates([difference]), estimates([difference, difference])
    assert first.low < alone.low < alone.high < first.high
    assert first.p == pytest.approx(min(2.0 * alone.p, 1.0))


def test_equal_differences_have_no_width():
    same, none = estimates([np.full(4, 0.5), np.zeros(4)])
    assert (same.low, same.high, same.p, same.size) == (0.5, 0.5, 0.0, math.inf)
    assert (none.low, none.high, none.p, none.size) == (0.0, 0.0, 1.0, 0.0)


@pytest.mark.parametrize("difference", [np.array([1.0]), np.array([1.0, np.nan])])
def test_estimates_refuse_what_has_no_spread(difference):
    with pytest.raises(ValueError, match="expected finite differences of at least two seeds"):
        estimates([difference])


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(p_values):
    adjusted = holm(p_values)
    assert all(raw <= new <= 1.0 for raw, new in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0.0).all()
    assert min(adjusted) == min(1.0, len(p_values) * min(p_values))


# low, high, expect, margin -> outcome
OUTCOMES = {
    "whole interval above": (0.1, 0.3, "more", 0.0, "holds"),
    "above, but not beyond the margin": (0.1, 0.3, "more", 0.2, "not shown"),
    "zero inside": (-0.1, 0.3, "more", 0.0, "not shown"),
    "whole interval below": (-0.3, -0.1, "more", 0.0, "opposite"),
    "less, and below": (-0.3, -0.1, "less", 0.0, "holds"),
    "less, but above": (0.1, 0.3, "less", 0.05, "opposite"),
    "the same within the margin": (-0.1, 0.1, "same", 0.1, "holds"),
    "perhaps the same": (-0.1, 0.11, "same", 0.1, "not shown"),
    "not the same": (0.11, 0.3, "same", 0.1, "opposite"),
    "not the same, below": (-0.3, -0.11, "same", 0.1, "opposite"),
}


@pytest.mark.parametrize(("low", "high", "expect", "margin", "expected"), OUTCOMES.values(), ids=OUTCOMES)
def test_outcome(low, high, expect, margin, expected):
    assert outcome(Estimate((low + high) / 2, low, high, 0.0, 1.0, 9), expect, margin) == expected


RULE = {
    "all hold": (["holds", "holds"], "supported"),
    "some hold": (["holds", "opposite"], "depends"),
    "none holds": (["not shown", "opposite"], "not supported"),
    "all opposite": (["opposite", "opposite"], "opposite"),
}


@pytest.mark.parametrize(("outcomes", "expected"), RULE.values(), ids=RULE)
def test_verdict(outcomes, expected):
    assert verdict(outcomes) == expected


# ---- a made-up experiment --------------------------------------------------------------------------


def shifted(*, by, seeds, seed):
    noise = np.array([np.random.default_rng([seed, run]).normal() for run in range(seeds)])
    return {"level": noise + by, "curve": np.stack([noise, noise + by], axis=-1)}


TOY = Experiment(
    name="toy",
    group="toy",
    claim="More is more, whatever | else.",
    source="nobody",
    run="Numbers are drawn.",
    measured="Their level.",
    arms={"low": arm(shifted, by=0.0), "high": arm(shifted, by=1.0)},
    comparisons=(
        Comparison("High is higher than low", "level", "high", "more", "low"),
        Comparison("Low is one below two", "level", "low", "less", 2.0, margin=0.5),
    ),
    panels=(Curves("curve", "level (units)"), Points("level", "level (units)")),
    remark="Nothing more.",
    chosen="Nothing was.",
    exhibit=lambda: "| a sample |\n|---|\n| of nothing |",
)


def test_arms_are_paired_by_seed():
    result = run_experiment(TOY, seeds=8)
    first = result.findings[0].estimate
    assert first.mean == pytest.approx(1.0)
    assert first.high - first.low < 1e-12  # the noise is the same on both sides
    assert result.verdict == "supported"


def test_sweep_gives_what_running_here_gives_and_does_nothing_twice(tmp_path):
    cache, jobs = Cache(tmp_path), jobs_of(TOY, seeds=CHUNK + 4, seed=3)
    assert [(job.seeds, job.seed) for job in jobs[:2]] == [(CHUNK, 3000), (4, 3001)]
    assert sorted(job.key for job in sweep(jobs, cache, workers=1)) == sorted(job.key for job in jobs)
    stored = collected(TOY, cache, seeds=CHUNK + 4, seed=3)
    expected = np.concatenate(
        [shifted(by=1.0, seeds=n, seed=s)["level"] for n, s in [(CHUNK, 3000), (4, 3001)]]
    )
    assert np.array_equal(stored.measures["high"]["level"], expected)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}
    assert len(before) == len(jobs) == len(list(sweep(jobs, cache, workers=1)))
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.npz")}


def test_stopped_sweep_continues(tmp_path):
    cache, jobs = Cache(tmp_path), jobs_of(TOY, seeds=8)
    some = sweep(jobs, cache, workers=1)
    next(some)
    some.close()
    with pytest.raises(ValueError, match="arm 'high' was not run with these settings"):
        collected(TOY, cache, seeds=8)
    (stored,) = tmp_path.rglob("*.npz")
    stored.write_bytes(stored.read_bytes()[:40])  # damaged: done again
    list(sweep(jobs, cache, workers=1))
    assert collected(TOY, cache, seeds=8).verdict == "supported"


def test_key_changes_with_everything_that_matters():
    job = Job("toy", "low", arm(shifted, by=0.0), 8, 0)
    others = [
        job._replace(arm=arm(shifted, by=0.5)),
        job._replace(seeds=9),
        job._replace(seed=1),
        job._replace(arm=arm(summarised, by=0.0)),
    ]
    assert len({one.key for one in [job, *others]}) == 5
    assert job._replace(label="another", experiment="name").key == job.key


def test_recipes_differ_in_their_text():
    texts = {described(recipe) for recipe in (GRPO, DR_GRPO, replace(GRPO, kl_coef=0.05))}
    assert len(texts) == 3
    assert described(GRPO) == described(replace(GRPO))
    assert "0x" not in described(GRPO)


@pytest.mark.parametrize("value", [lambda: 0, object(), np.ones(2)])
def test_settings_without_a_text_are_refused(value):
    with pytest.raises(TypeError, match="a setting must be a plain value, a recipe or a named function"):
        described({"recipe": value})


def test_missing_and_misshapen_measures_are_named():
    with pytest.raises(ValueError, match="level: arm 'high' has no such measure"):
        judged(TOY, {"low": {"level": np.ones(3)}, "high": {}})
    with pytest.raises(
        ValueError, match=r"level: expected one number a seed in arm 'high', got shape \(3, 2\)"
    ):
        judged(TOY, {"low": {"level": np.ones(3)}, "high": {"level": np.ones((3, 2))}})


def test_trained_keeps_curves_and_their_ends():
    settings = {"task": TASKS["bandit"], "recipe": GRPO, "record": ("reward", "entropy"), "updates": 10}
    found = trained(**settings, seeds=3, seed=0)
    assert found["reward"].shape == (3, 10)
    np.testing.assert_array_equal(found["final entropy"], found["entropy"][:, -2:].mean(-1))
    fewer = trained(**settings, seeds=2, seed=0)
    assert np.array_equal(found["reward"][:2], fewer["reward"])


# ---- report ----------------------------------------------------------------------------------------


def test_figure_shows_every_comparison(tmp_path):
    plot_experiment(TOY, run_experiment(TOY, seeds=4), tmp_path / "toy.svg")
    text = (tmp_path / "toy.svg").read_text()
    assert text.count("as predicted") == 1
    assert len(text) > 10_000


def test_report_of_stored_results(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.frontends.commands.experiment.EXPERIMENTS", {"toy": TOY})
    monkeypatch.chdir(tmp_path)
    run, cache = CliRunner(), Cache(tmp_path / "runs" / "experiments")
    empty = run.invoke(main, ["experiment", "report", "--seeds", "8"])
    assert empty.exit_code == 1
    assert "grpo-ref experiment run" in empty.output
    list(sweep(jobs_of(TOY, seeds=8), cache, workers=1))
    Path("page.md").write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    done = run.invoke(main, ["experiment", "report", "--seeds", "8", "--out", "out", "--readme", "page.md"])
    assert done.exit_code == 0, done.output
    found = load(Path("out/results.json"))
    assert found["experiments"]["toy"]["verdict"] == "supported"
    page = Path("out/README.md").read_text(encoding="utf-8")
    assert "| High is higher than low | level: high - low | 1 [1, 1] | 0 | " in page
    assert "1 claim: 1 *supported*" in page
    assert "**Chosen after trial runs.** Nothing was." in page
    assert "| of nothing |" in page
    assert r"More is more, whatever \| else." in Path("page.md").read_text(encoding="utf-8")
    text = Path("out/report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in text
    assert '<h2 id="toy">' in text
    assert 'src="toy.png"' not in text


def test_report_says_where_it_cannot_write(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.frontends.commands.experiment.EXPERIMENTS", {"toy": TOY})
    list(sweep(jobs_of(TOY, seeds=8), Cache(tmp_path / "cache"), workers=1))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "page.md").write_text("no marks")
    common = ["experiment", "report", "--seeds", "8", "--cache", str(tmp_path / "cache"), "--out"]
    inside = CliRunner().invoke(main, [*common, str(tmp_path / "file" / "out")])
    assert inside.exit_code == 1
    assert "Not a directory" in inside.output
    out = [*common, str(tmp_path / "out"), "--readme", str(tmp_path / "page.md")]
    unmarked = CliRunner().invoke(main, out)
    assert unmarked.exit_code == 1
    assert "expected the marks" in unmarked.output
    assert (tmp_path / "page.md").read_text() == "no marks"


def test_readme_needs_its_marks():
    with pytest.raises(ValueError, match="expected the marks"):
        in_readme("nothing", "table")


def test_summary_of_another_program_is_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(ValueError, match="is no summary of experiments"):
        load(tmp_path / "results.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--backend dask", "--backend dask and --scheduler ADDRESS go together"),
        ("--quick --seeds 64", "--quick means 16 seeds: give --quick or --seeds, not both"),
        ("--jobs 0", "Invalid value for '--jobs': expected at least 1, or -1 for one a core, got 0"),
        ("--jobs -5", "expected at least 1, or -1 for one a core, got -5"),
    ],
)
def test_command_refuses_what_contradicts_itself(options, message):
    refused = CliRunner().invoke(main, ["experiment", "run", "group_mean", *options.split()])
    assert refused.exit_code == 2
    assert message in refused.output


def test_command_runs_a_repeated_name_once(tmp_path, monkeypatch):
    monkeypatch.setattr("grpo_ref.frontends.commands.experiment.EXPERIMENTS", {"group_mean": TOY})
    options = ["--seeds", "8", "--jobs", "1", "--cache", str(tmp_path)]
    shown = CliRunner().invoke(main, ["experiment", "run", "group_mean", "group_mean", *options])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("toy  supported") == 1


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "foo bar", "http://127.0.0.1:8786", "tcp://127.0.0.1"])
def test_scheduler_without_a_proper_address_is_refused_at_once(tmp_path, address):
    with pytest.raises(ValueError, match="scheduler: expected an address as tcp:"):
        list(sweep(jobs_of(TOY, seeds=8), Cache(tmp_path), scheduler=address))


def must_not_run(*, seeds, seed):
    """An arm that is never reached."""
    raise AssertionError


def test_cache_that_cannot_be_written_is_named_before_any_work(tmp_path):
    (tmp_path / "file").write_text("mine")
    work = [Job("toy", "none", arm(must_not_run), 2, 0)]
    with pytest.raises(NotADirectoryError, match="file"):
        list(sweep(work, Cache(tmp_path / "file" / "cache"), workers=1))


# ---- the experiments themselves --------------------------------------------------------------------


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_experiment_is_complete(experiment):
    assert experiment.claim.endswith(".")
    assert experiment.source
    assert experiment.comparisons
    assert experiment.panels
    for comparison in experiment.comparisons:
        assert comparison.left in experiment.arms
        assert isinstance(comparison.right, float) or comparison.right in experiment.arms
        assert comparison.margin >= 0.0
        exact = isinstance(comparison.right, float)  # two arms are never the same to the bit
        assert comparison.expect != "same" or comparison.margin > 0.0 or exact
    for one in experiment.arms.values():
        described(one.settings)


def test_results_do_not_depend_on_the_number_of_seeds():
    many, few = (
        GROUP_MEAN.arms["G = 4"].run(**GROUP_MEAN.arms["G = 4"].settings, seeds=n, seed=0) for n in (4, 2)
    )
    assert all(np.array_equal(many[name][:2], few[name]) for name in few)


def test_stored_results_are_of_these_experiments():
    found = load(ROOT / "docs" / "experiments" / "results.json")
    assert list(found["experiments"]) == list(EXPERIMENTS)
    for name, one in found["experiments"].items():
        asked = [
            (c.says, c.measure, c.left, c.right, c.expect, c.margin) for c in EXPERIMENTS[name].comparisons
        ]
        kept = [
            (f["says"], f["measure"], f["left"], f["right"], f["expect"], f["margin"])
            for f in one["findings"]
        ]
        assert asked == kept
        again = [
            outcome(Estimate(f["mean"], f["low"], f["high"], f["p"], 0.0, 0), f["expect"], f["margin"])
            for f in one["findings"]
        ]
        assert again == [f["outcome"] for f in one["findings"]]
        assert one["verdict"] == verdict(again)


def test_readme_and_page_are_made_from_the_stored_results():
    folder = ROOT / "docs" / "experiments"
    found = load(folder / "results.json")
    text = (ROOT / "docs" / "researcher.md").read_text(encoding="utf-8")
    assert in_readme(text, verdict_table(EXPERIMENTS, found, page="experiments/README.md")) == text
    page = markdown_page(EXPERIMENTS, found)
    assert (folder / "README.md").read_text(encoding="utf-8") == page
    assert {path.stem for path in folder.glob("*.png")} == set(EXPERIMENTS)
    assert "<table>" in html_page(page, folder)


# a wrong implementation flips the verdict of one experiment of each group, so the experiments can fail
MUTANTS = {
    "advantages: the baseline forgotten": ("two_grpo", 16, lambda r: replace(r, advantage=slot(raw_rewards))),
    "clipping: no clip": (
        "rare_tokens",
        16,
        lambda r: replace(r, surrogate=slot(importance_weighted)) if r.surrogate.kernel is clipped else r,
    ),
    "aggregation: cut completions count": ("overlong", 16, lambda r: replace(r, admit=slot(all_completions))),
    "mismatch: no correction": ("sampler_mismatch", 8, lambda r: replace(r, corrections=())),
    "rewards: summed first": ("reward_scales", 16, lambda r: replace(r, advantage=slot(group_normalized))),
    "divergence: a penalty without gradient": (
        "kl_estimators",
        16,
        lambda r: replace(r, penalty=slot(no_penalty)),
    ),
}


@pytest.mark.parametrize(("name", "seeds", "mutant"), MUTANTS.values(), ids=MUTANTS)
def test_a_mutant_recipe_flips_the_verdict(name, seeds, mutant):
    experiment = EXPERIMENTS[name]
    right = run_experiment(experiment, seeds=seeds)
    wrong = run_experiment(experiment.mutated(mutant), seeds=seeds)
    assert right.verdict != wrong.verdict


def test_every_group_has_its_mutant():
    assert {EXPERIMENTS[name].group for name, _, _ in MUTANTS.values()} == {
        experiment.group for experiment in EXPERIMENTS.values()
    }


@pytest.mark.parametrize("name", ["group_mean", "leave_one_out"])
def test_other_seeds_give_the_same_verdict(name):
    verdicts = {run_experiment(EXPERIMENTS[name], seeds=32, seed=seed).verdict for seed in (0, 1, 2)}
    assert verdicts == {load(ROOT / "docs" / "experiments" / "results.json")["experiments"][name]["verdict"]}
