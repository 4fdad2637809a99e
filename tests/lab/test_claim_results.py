"""The results of a claim as one file: table and network together, and whether they agree."""

import math
from dataclasses import replace

import pytest
from toy_experiment import FAMILY, TOY, shifted

from grpo_ref.lab.claim_results import agree, load, outcomes_in, policies_in, results_of, save
from grpo_ref.lab.framework.claim import claims_of
from grpo_ref.lab.framework.experiment import arm
from grpo_ref.lab.framework.sweep import run_experiment

NETWORK = replace(TOY, name="toy_network", beside="toy", policy="network")


def found(tmp_path, *experiments, seeds=8):
    """Return the results of the claim `toy`."""
    named = {one.name: one for one in experiments}
    results = {name: run_experiment(one, seeds=seeds, seed=0) for name, one in named.items()}
    return results_of(claims_of(named)["toy"], results, seeds=seeds, seed=0, predictions=tmp_path)


def test_a_claim_has_a_table_and_a_network():
    claims = claims_of({"toy_network": NETWORK, "toy": TOY, "family": FAMILY})
    assert {name: list(claim.experiments) for name, claim in claims.items()} == {
        "toy": ["table", "network"],
        "family": ["table"],
    }
    assert claims["toy"].first is TOY


def test_results_are_read_as_they_were_written(tmp_path):
    results = found(tmp_path, TOY, NETWORK)
    save(tmp_path, results)
    assert load(tmp_path) == results
    assert policies_in(results) == ["table", "network"]
    first, _ = results["table"]["findings"]
    assert (first["says"], first["left"], first["right"]) == ("High is higher than low", "high", "low")
    assert (results["seeds"], results["seed"], results["table"]["verdict"]) == (8, 0, "supported")


def test_results_may_be_of_a_network_alone(tmp_path):
    assert policies_in(found(tmp_path, NETWORK)) == ["network"]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(ValueError, match="has no results of a claim"):
        load(tmp_path)


def test_an_infinite_effect_size_is_written_as_none(tmp_path):
    exact = replace(TOY, arms={label: arm(shifted, by=by) for label, by in (("low", -1e9), ("high", 1e9))})
    assert run_experiment(exact, seeds=4).findings[0].estimate.size == math.inf
    assert found(tmp_path, exact, seeds=4)["table"]["findings"][0]["size"] is None


def test_main_predictions_decide_or_all(tmp_path):
    results = found(tmp_path, TOY)
    first, second = results["table"]["findings"]
    assert outcomes_in(results) == {"table": [first["outcome"], second["outcome"]]}
    results["table"]["findings"] = [first, second | {"main": True}]
    assert outcomes_in(results) == {"table": [second["outcome"]]}


def test_table_and_network_agree_if_outcomes_and_common_clauses_are_the_same(tmp_path):
    results = found(tmp_path, TOY, NETWORK)
    assert agree(results)
    table, network = results["table"], results["network"]
    first, *rest = network["findings"]
    other = network | {"findings": [first | {"outcome": "opposite"}, *rest]}
    assert not agree(results | {"network": other})
    clauses = [[{"text": "It is more.", "verdict": verdict}] for verdict in ("supported", "undecided")]
    differ = {
        "table": table | {"clauses": clauses[0]},
        "network": network | {"clauses": clauses[1]},
    }
    assert not agree(results | differ)
    own = [{"text": "It is red.", "verdict": "undecided"}]
    assert agree(results | differ | {"network": network | {"clauses": own}})
