"""The claims: complete, independent of one another, able to fail, and as they stand in the documentation."""

import re
from importlib import import_module
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from mutant_experiments import MUTANTS, flips
from mutant_networks import NETWORK_MUTANTS

from grpo_ref.lab import CLAIMS, EXPERIMENTS, claims
from grpo_ref.lab.claim_results import outcomes_in, policies_in
from grpo_ref.lab.framework.cache import described_arm
from grpo_ref.lab.framework.claim import claims_of
from grpo_ref.lab.framework.statistics import Estimate
from grpo_ref.lab.framework.sweep import at_middle, run_experiment
from grpo_ref.lab.framework.verdicts import combined, outcome, verdict
from grpo_ref.lab.report import in_readme, index_page, read_report, short_summary

ROOT = Path(__file__).parents[2]
FOLDER = Path(claims.__file__).parent
PAGES = ROOT / "docs" / "experiments"
REPORT = read_report(EXPERIMENTS, PAGES, PAGES)
RENEW = "run: grpo-ref experiment pages --out docs/experiments --readme docs/researcher.md"


def test_every_file_of_a_claim_is_registered():
    assert sorted(CLAIMS) == sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


def test_claims_about_one_part_stand_together():
    groups = [group for group, _ in groupby(experiment.group for experiment in EXPERIMENTS.values())]
    assert len(groups) == len(set(groups))


def test_what_a_network_is_asked_stands_right_after_what_a_table_is_asked():
    order = list(CLAIMS)
    asked = {name: one.beside for name, one in EXPERIMENTS.items() if one.beside}
    assert all(order.index(name) == order.index(table) + 1 for name, table in asked.items())
    assert all(name == f"{table}_network" for name, table in asked.items())
    assert all(any(p.main for p in EXPERIMENTS[name].predictions) for name in asked)


def test_an_unknown_experiment_is_a_missing_key():
    assert "framework" not in EXPERIMENTS
    with pytest.raises(KeyError, match="framework"):
        EXPERIMENTS["framework"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment_is_complete(name):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert re.fullmatch(r"[A-Z][^?]{15,}\?", experiment.title)
    assert experiment.claim.endswith(".")
    assert experiment.source
    assert experiment.predictions
    assert at_middle(experiment).panels
    for prediction in experiment.predictions:
        assert prediction.left in experiment.arms
        assert isinstance(prediction.right, float) or prediction.right in experiment.arms
        assert prediction.margin >= 0.0
        exact = isinstance(prediction.right, float)  # two arms are never the same to the bit
        assert prediction.expect != "same" or prediction.margin > 0.0 or exact
    for one in experiment.arms.values():
        described_arm(one)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_claim_imports_another(name):
    text = Path(import_module(f"grpo_ref.lab.claims.{name}").__file__).read_text(encoding="utf-8")
    assert "experiments.claims" not in text


def test_results_do_not_depend_on_the_number_of_seeds():
    one = EXPERIMENTS["group_mean"].arms["G = 4"]
    many, few = (one.run(**one.settings, seeds=seeds, seed=0) for seeds in (4, 2))
    assert all(np.array_equal(many[name][:2], few[name]) for name in few)


def test_every_experiment_has_results_of_the_same_tasks():
    stored = {
        experiment.name
        for name, claim in REPORT.claims.items()
        for policy, experiment in claim.experiments.items()
        if policy in REPORT.results[name]
    }
    assert stored == set(EXPERIMENTS)
    assert len({(results["seeds"], results["seed"]) for results in REPORT.results.values()}) == 1


@pytest.mark.parametrize("name", REPORT.claims)
def test_stored_results_are_of_these_experiments(name):
    results = REPORT.results[name]
    for policy in policies_in(results):
        one, experiment = results[policy], REPORT.claims[name].experiments[policy]
        asked = [(p.says, p.measure, p.left, p.right, p.expect, p.margin) for p in experiment.predictions]
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
        decided = [f["outcome"] for f in _counted(one["findings"])]
        assert one["decided_by"] == decided
        by_text = {f["says"]: f["outcome"] for f in one["findings"]}
        clauses = [verdict([by_text[says] for says in clause.decided_by]) for clause in experiment.clauses]
        assert [clause["verdict"] for clause in one["clauses"]] == clauses
        assert one["verdict"] == (combined(clauses) if clauses else verdict(decided))


def _counted(findings):
    """Main predictions, or all; but no theorems, unless there is nothing else."""
    deciding = [f for f in findings if f["main"]] or findings
    return [f for f in deciding if f["outcome"] != "holds" or f["low"] < f["high"]] or deciding


def test_every_main_prediction_of_a_claim_with_clauses_decides_a_clause_unless_another_asks_the_same():
    """A prediction that was named as decisive in advance may not lose its vote silently."""
    left_out = {
        name: [
            one.says
            for one in experiment.predictions
            if one.main and not any(one.says in clause.decided_by for clause in experiment.clauses)
        ]
        for name, experiment in EXPERIMENTS.items()
        if experiment.clauses
    }
    assert {name: says for name, says in left_out.items() if says} == {}


@pytest.mark.parametrize("name", REPORT.claims)
def test_a_page_is_made_from_the_stored_results_and_the_text(name):
    assert (PAGES / name / "README.md").read_text(encoding="utf-8") == REPORT.page(name), RENEW


@pytest.mark.parametrize("name", REPORT.claims)
def test_a_folder_has_the_figures_of_its_page_and_no_others(name):
    page = (PAGES / name / "README.md").read_text(encoding="utf-8")
    figures = {path.name for kind in ("png", "svg") for path in (PAGES / name).glob(f"*.{kind}")}
    assert figures == set(re.findall(r"\]\((\w+\.(?:png|svg))\)", page))


def test_table_and_summary_are_made_from_the_stored_results():
    assert (PAGES / "README.md").read_text(encoding="utf-8") == index_page(REPORT), RENEW
    text = (ROOT / "docs" / "researcher.md").read_text(encoding="utf-8")
    assert in_readme(text, short_summary(REPORT, "experiments/README.md")) == text, RENEW
    folders = {path.name for path in PAGES.iterdir() if path.is_dir()}
    assert folders == set(claims_of(EXPERIMENTS))


@pytest.mark.parametrize("name", REPORT.claims)
def test_a_text_was_written_for_the_stored_results(name):
    assert name in REPORT.texts, f"{name} has no text"
    assert not REPORT.answer(name).is_stale, (
        f"the text of {name} was written for other results: now {outcomes_in(REPORT.results[name])}"
    )


@pytest.mark.parametrize("name", REPORT.texts)
def test_an_answer_is_short(name):
    text = REPORT.texts[name]
    assert 1 <= len(re.findall(r"[.?](?: |$)", text.answer)) <= 2
    assert len(text.answer.split()) <= 45
    assert len(re.findall(r"[.?](?: |$)", text.advice)) <= 1


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_public_source_is_cited_before_one_that_is_not(name):
    public, _, _ = EXPERIMENTS[name].source.partition("a book chapter on GRPO (2026, not public)")
    assert re.search(r"arXiv:\d{4}\.\d{5}|\b(?:19|20)\d\d\b|documentation", public)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_flips_the_verdict(name):
    assert flips(EXPERIMENTS[name], MUTANTS[name])


def test_every_claim_has_its_mutant():
    """Those of networks, in `tests/slow`, take seconds each."""
    of_networks = [name for name, experiment in EXPERIMENTS.items() if experiment.policy == "network"]
    assert list(MUTANTS) == [name for name in EXPERIMENTS if name not in of_networks]
    assert list(NETWORK_MUTANTS) == of_networks


def test_other_seeds_give_the_same_verdict():
    verdicts = {run_experiment(EXPERIMENTS["group_mean"], seeds=32, seed=seed).verdict for seed in (0, 1, 2)}
    assert verdicts == {REPORT.results["group_mean"]["table"]["verdict"]}


def test_each_experiment_answers_another_question():
    assert len({one.title for one in EXPERIMENTS.values()}) == len(EXPERIMENTS)
