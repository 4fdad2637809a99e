"""The page of a claim on the site, and the rows of the table of all claims."""

import pytest
from website.claims import TESTED, text_of
from website.experiments import with_code

from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.framework.claim import claims_of


def test_each_page_is_of_a_claim():
    assert set(TESTED) <= set(claims_of(EXPERIMENTS))
    assert TESTED


@pytest.mark.parametrize("name", TESTED)
def test_a_page_begins_with_the_question_and_the_answer(name):
    title, answer, *_ = text_of(name).split("\n\n")
    assert title == f"# {TESTED[name].first.title}"
    assert answer.startswith("**")


@pytest.mark.parametrize("name", TESTED)
def test_a_page_links_to_the_code_of_its_experiments(name):
    text = with_code(name, text_of(name))
    for experiment in TESTED[name].experiments.values():
        assert f"[{experiment.name}.py](../../../grpo_ref/lab/claims/{experiment.name}.py)" in text
    assert text.rstrip().splitlines()[-1].startswith(("Code: ", "Related claims: "))
