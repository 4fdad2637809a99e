"""Simulated runs of known truth: no exact statement on a healthy run is wrong, and faults are named."""

import json

import pytest
from simulated_runs.faults import FAULTS, with_faults
from simulated_runs.rates import HELD_OUT, RESULTS, outcome, plan, summary
from simulated_runs.setting import healthy

from grpo_ref.diagnose.patterns import KINDS
from grpo_ref.diagnose.relations import OF_RUN, RELATIONS

# faults of each kind, seen by a relation, a fact or a pattern
SAMPLE = (
    *("another group size", "nothing is updated", "rewards weighted otherwise", "no baseline"),
    *("prompt counted in the length", "spikes", "not a number", "proxy reward", "sampler not synchronized"),
)


@pytest.mark.parametrize("seed", range(4))
def test_no_exact_statement_on_a_healthy_run_is_wrong(seed):
    found = outcome(seed, ())
    assert found["exact"] == []
    assert found["exact_without_file"] == []
    assert found["comparisons"] > 0


@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_is_named(name):
    assert outcome(10_000 + SAMPLE.index(name), (name,))["named"] == [True]


def test_every_name_of_a_fault_is_one_of_a_statement():
    facts = {"group_size", "completions", "kl_coef", "weights", "budget"}
    codes = {relation.code for relation in RELATIONS} | {code for code, *_ in OF_RUN}
    for name, fault in FAULTS.items():
        assert fault.named_by <= facts | codes | set(KINDS), name


def test_the_halves_share_no_seed_and_have_every_fault():
    halves = [plan(half) for half in (0, HELD_OUT)]
    first, second = ({seed for seed, _ in half} for half in halves)
    assert not first & second
    assert len(first) == len(halves[0]) > 300
    assert {name for _, names in halves[1] for name in names} == set(FAULTS)


def test_a_run_with_a_fault_differs_from_the_healthy_run_of_its_seed():
    setting = with_faults(3, ("loss divided by N",))
    assert setting.faults == {"loss divided by N"}
    assert setting.seed == healthy(3).seed
    with pytest.raises(ValueError, match="no trainer"):
        with_faults(3, ("groups mixed", "KL in the reward"))


def test_a_named_fault_is_counted():
    run = {"faults": ["spikes"], "exact": [], "exact_without_file": [], "said": ["spikes"], "named": [True]}
    sound = {
        "faults": [],
        "exact": [],
        "exact_without_file": ["R1"],
        "said": [],
        "named": [],
        "comparisons": 7,
    }
    counts = summary([run | {"comparisons": 5}, sound])
    assert counts["faults"]["spikes"]["named"] == 1
    assert counts["healthy"]["false_violations"] == 1


def test_the_committed_rates_reach_their_goals():
    rates = json.loads(RESULTS.read_text(encoding="utf-8"))
    healthy_runs, faults = rates["healthy"], rates["faults"].values()
    assert set(rates["faults"]) == set(FAULTS)
    assert healthy_runs["false_violations"] == 0
    assert healthy_runs["false_patterns"] <= 0.05 * healthy_runs["runs"]
    assert sum(fault["named"] for fault in faults) >= 0.8 * sum(fault["runs"] for fault in faults)
