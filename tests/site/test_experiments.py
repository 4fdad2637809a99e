"""The page of a claim: a question, the verdict, described figures, and the rest folded."""

import re

import pytest
from website.claims import sections
from website.experiments import page_of_claim

from grpo_ref.lab import EXPERIMENTS

SECTIONS = sections()


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_begins_with_the_question_and_the_answer(name):
    title, claim, verdict, *_ = page_of_claim(name, SECTIONS[name]).split("\n\n")
    assert title == f"# {EXPERIMENTS[name].title}"
    assert claim.startswith("**Claim.** ")
    assert verdict.startswith("**Verdict: ")


@pytest.mark.parametrize("name", SECTIONS)
def test_a_page_has_two_described_figures_and_folds_the_rest(name):
    page = page_of_claim(name, SECTIONS[name])
    described = dict(re.findall(r"^!\[(.+)\]\((.+)\)$", page, re.MULTILINE))
    assert sorted(described.values()) == [f"{name}.png", f"{name}.svg"]
    assert all(len(description) >= 60 for description in described)
    unfolded = re.sub(r"^:::\{dropdown\}.*?^:::$", "", page, flags=re.MULTILINE | re.DOTALL)
    folded = len(page.split()) - len(unfolded.split())
    assert folded >= 100
    assert "**Run.**" not in unfolded
