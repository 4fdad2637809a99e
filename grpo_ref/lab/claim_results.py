"""Keep the results of each claim as one file in the claim's folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grpo_ref.files import replace_text
from grpo_ref.lab.framework.claim import POLICIES, Claim, Policy
from grpo_ref.lab.framework.summary import summary
from grpo_ref.lab.framework.verdicts import ClaimResult

FILE = "results.json"
"""Name of the file in the folder of a claim."""
FORMAT = "grpo_ref claim 1"
Results = dict[str, Any]
"""Content of the file: "seeds", "seed", "code" and "versions", and the result for each policy."""


def results_of(
    claim: Claim, results: Mapping[str, ClaimResult], *, seeds: int, seed: int, predictions: Path
) -> Results:
    """Return the results of a claim as plain numbers and texts.

    Args:
      claim: the claim.
      results: name of an experiment -> result; others than those of the claim are ignored.
      seeds, seed: number of runs of each arm; base seed of their random numbers.
      predictions: folder with a folder for each claim.
    """
    tested = {one.name: one for one in claim.experiments.values() if one.name in results}
    own = {name: results[name] for name in tested}
    everything = summary(tested, own, seeds=seeds, seed=seed, predictions=predictions)
    stored = everything.pop("experiments")
    by_policy = {policy: stored[one.name] for policy, one in claim.experiments.items() if one.name in stored}
    return {"format": FORMAT} | everything | by_policy


def policies_in(results: Mapping[str, Any]) -> list[Policy]:
    """Return the policies that have results, the table first."""
    return [policy for policy in POLICIES if policy in results]


def deciding(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the main predictions of a result with their outcomes, or all predictions if none is main."""
    findings = result["findings"]
    return [finding for finding in findings if finding["main"]] or findings


def outcomes_in(results: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the outcomes of the main predictions for each policy."""
    return {
        policy: [finding["outcome"] for finding in deciding(results[policy])]
        for policy in policies_in(results)
    }


def agree(results: Mapping[str, Any]) -> bool:
    """Return True if table and network give the same answer.

    All main predictions, in their order, must have the same outcomes, and all clauses that both state the
    same verdicts.
    """
    table, network = (
        {clause["text"]: clause["verdict"] for clause in results[policy]["clauses"]} for policy in POLICIES
    )
    outcomes = outcomes_in(results)
    return outcomes["table"] == outcomes["network"] and all(
        table[text] == network[text] for text in table.keys() & network.keys()
    )


def save(folder: Path, results: Results) -> None:
    """Write the results of a claim as JSON into its folder, which exists."""
    replace_text(folder / FILE, json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def load(folder: Path) -> Results:
    """Read the results of a claim from its folder.

    Raises:
      ValueError: if the file has another format.
    """
    path = folder / FILE
    results = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise ValueError(f"{path} has no results of a claim: its format is not {FORMAT!r}")
    return results
