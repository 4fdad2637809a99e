"""The page of the experiments: its table, and the page that the table is put into."""

from dataclasses import replace
from pathlib import Path

import pytest
from toy_experiment import FAMILY, TOY

from grpo_ref.lab.framework.summary import summary
from grpo_ref.lab.framework.sweep import jobs_of, run_experiment
from grpo_ref.lab.report import BEGIN, END, in_readme, markdown_page, networks_table

ASKED = replace(FAMILY, name="toy_network", beside="toy")


@pytest.fixture(scope="module")
def found():
    return told(TOY, ASKED)


def told(*experiments):
    named = {one.name: one for one in experiments}
    results = {name: run_experiment(one, seeds=16) for name, one in named.items()}
    return named, summary(named, results, seeds=16, seed=0, predictions=Path())


def test_table_and_network_stand_side_by_side(found):
    *_, row = networks_table(*found).splitlines()
    claim, table, network, same = row.removeprefix("| ").removesuffix(" |").split(" | ")
    assert claim == r"More is more, whatever \| else."
    assert table == "[supported](#toy): level 1 [1, 1]"
    assert network.startswith("[supported](#toy_network): level ")
    assert network.count("level") == 1  # only what decides
    assert same == "yes"


def test_another_outcome_or_clause_is_another_answer(found):
    named, results = found
    before = results["experiments"]["toy_network"]
    first, *rest = before["findings"]
    one = before | {"findings": [first | {"outcome": "opposite"}, *rest]}
    changed = results | {"experiments": results["experiments"] | {"toy_network": one}}
    assert networks_table(named, changed).endswith("| no |")
    clauses = {
        name: one | {"clauses": [{"text": "It is more.", "verdict": verdict}]}
        for (name, one), verdict in zip(
            results["experiments"].items(), ("supported", "undecided"), strict=True
        )
    }
    assert networks_table(named, results | {"experiments": clauses}).endswith("| no |")


def test_the_page_has_both_answers_and_says_of_which_question(found):
    page = markdown_page(*found)
    assert "\nThe same question, asked of a network: " in page
    assert "The same question is asked of a table in [toy](#toy)." in page


def test_the_page_tells_the_seeds_that_the_jobs_of_an_arm_have(found):
    """128 seeds are 32 tasks of 4 for a table. A network learns 2 seeds for each of the 32 tasks, so 64."""
    of_table, of_network = (
        sum(job.seeds for job in jobs_of(one, seeds=128)) // len(one.arms)
        for one in (FAMILY, replace(FAMILY, policy="network"))
    )
    assert (of_table, of_network) == (128, 64)
    named, results = found
    page = markdown_page(named, results | {"seeds": 128})
    assert "Every arm ran with 128 seeds, or 64 if it trains networks (base seed 0;" in page
    assert "Every arm ran with 16 seeds (base seed 0;" in markdown_page(*told(TOY))


def test_without_its_table_a_network_has_no_row():
    assert networks_table(*told(ASKED)) == ""
    assert "asked of a network" not in markdown_page(*told(TOY))


def test_the_table_stands_between_the_marks():
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert in_readme(text, "| new |") == f"before\n{BEGIN}\n| new |\n{END}\nafter\n"


def test_a_page_needs_its_marks():
    with pytest.raises(ValueError, match="expected the marks"):
        in_readme("nothing", "table")
