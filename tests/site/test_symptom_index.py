"""The search of the site leads from a metric, and from the words that people type, to its section."""

import json

import pytest

core = pytest.importorskip("docutils.core")
parser = pytest.importorskip("myst_parser.docutils_")
symptom_index = pytest.importorskip("website.symptom_index")

PAGE = """# Page

## The clip ratio is 0

*TRL `clip_ratio/region_mean`; verl `actor/pg_clipfrac`; slime `train/pg_clipfrac`*
<!-- search: clip ratio is zero; nothing is clipped -->

It is right if `epsilon` has no effect.

## No metrics

A paragraph with `code`.
"""


@pytest.fixture(scope="module")
def sections():
    document = core.publish_doctree(
        PAGE, parser=parser.Parser(), settings_overrides={"doctitle_xform": False}
    )
    return {part[0].astext(): part for part in document.findall(symptom_index.section)}


def test_the_metrics_are_those_of_the_line_below_the_heading(sections):
    assert list(symptom_index.metrics(sections["The clip ratio is 0"])) == [
        "clip_ratio/region_mean",
        "train/clip_ratio/region_mean",
        "actor/pg_clipfrac",
        "train/pg_clipfrac",
    ]
    assert list(symptom_index.metrics(sections["No metrics"])) == []


def test_the_questions_are_those_of_the_comment(sections):
    questions = list(symptom_index.questions(sections["The clip ratio is 0"]))
    assert questions == ["clip ratio is zero", "nothing is clipped"]


QUERIES = {
    "clip_ratio/region_mean": "the-clip-ratio-is-high",
    "actor/pg_clipfrac": "the-clip-ratio-is-0",
    "frac_reward_zero_std": "most-completions-give-no-gradient",
    "train/kl_loss": "kl-is-missing-from-the-log",
    "train/grad_norm": "grad-norm-has-spikes",
    "loss is zero": "the-loss-is-0",
    "reward hacking": "the-reward-rises-the-accuracy-does-not",
}


@pytest.mark.parametrize("query", QUERIES)
def test_the_search_leads_to_the_section(site, query):
    text = (site.folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    page = index["docnames"].index(symptom_index.PAGE)
    assert [page, QUERIES[query], True] in index["indexentries"][query]
