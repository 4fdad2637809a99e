"""The table of all claims, its counts, the summary for another page, and the file with all pages."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from toy_experiment import FAMILY, TOY

from grpo_ref.lab.claim_results import results_of, save
from grpo_ref.lab.claim_text import parsed
from grpo_ref.lab.framework.claim import claims_of
from grpo_ref.lab.framework.sweep import run_experiment
from grpo_ref.lab.report import (
    BEGIN,
    END,
    Report,
    claims_table,
    html_page,
    in_readme,
    index_page,
    read_report,
    short_summary,
)

ASKED = replace(FAMILY, name="family_network", beside="family", policy="network")
EXPERIMENTS = {one.name: one for one in (TOY, FAMILY, ASKED)}
TEXT = parsed(
    "---\nanswer: No.\ndo: avoid\nadvice: Leave it.\noutcomes: {table: [holds], network: [holds]}\n---\n"
)


@pytest.fixture(scope="module")
def report():
    tested = {name: run_experiment(one, seeds=40) for name, one in EXPERIMENTS.items()}
    claims = claims_of(EXPERIMENTS)
    stored = {
        name: results_of(claim, tested, seeds=40, seed=0, predictions=Path("nowhere"))
        for name, claim in claims.items()
    }
    for results in stored.values():
        for policy, stem in (("table", "figure"), ("network", "figure_network")):
            if policy in results:
                results[policy]["figures"] = [{"file": f"{stem}_1.svg", "shows": "A panel."}]
    return Report(claims, stored, {"family": TEXT})


def test_claims_with_advice_come_first_in_the_table(report):
    *_, family, toy = claims_table(report).splitlines()
    link = "[Does the family differ?](family/README.md)"
    assert family == f"| {link} | Avoid it | Leave it. | supported | supported |"
    assert toy == "| [Is high higher than low?](toy/README.md) | – | – | supported | – |"


def test_the_page_counts_claims_and_agreements(report):
    page = index_page(report)
    assert "2 claims: 1 tested with a table only, 0 with a network only, 1 with both." in page
    assert "* Verdicts with a table: 2 supported.\n* Verdicts with a network: 1 supported.\n" in page
    assert "**Table and network agree on 1 of the 1 claims tested with both:**" in page
    family = report.results["family"]
    first, *rest = family["network"]["findings"]
    other = family | {"network": family["network"] | {"findings": [first | {"outcome": "opposite"}, *rest]}}
    changed = report._replace(results=report.results | {"family": other})
    assert "agree on 0 of the 1 claims" in index_page(changed)
    assert "| – | – | supported | supported |" in claims_table(changed)  # its text is of other results


def test_claims_without_a_text_for_their_outcomes_are_listed(report):
    assert report.unwritten() == {"toy": {"table": ["holds", "holds"]}}
    other = TEXT._replace(outcomes={"table": ["opposite"]})
    family = {"table": ["holds"], "network": ["holds"]}
    assert report._replace(texts={"family": other}).unwritten()["family"] == family


def test_the_summary_lists_claims_by_what_to_do(report):
    lines = short_summary(report, "experiments/README.md").splitlines()
    assert "* **Avoid it** (1): [family](experiments/family/README.md)" in lines
    assert "* **No advice yet** (1): [toy](experiments/toy/README.md)" in lines


def test_a_page_links_to_the_claims_of_its_group(report):
    assert "Related claims: [Is high higher than low?](../toy/README.md)" in report.page("family")


def test_only_claims_with_results_are_read(report, tmp_path):
    (tmp_path / "toy").mkdir()
    save(tmp_path / "toy", report.results["toy"])
    found = read_report(EXPERIMENTS, tmp_path, tmp_path)
    assert list(found.claims) == ["toy"]
    assert found.results["toy"] == report.results["toy"]


def test_one_file_has_all_pages_and_figures(report, tmp_path):
    for name in report.claims:
        (tmp_path / name).mkdir()
        for file in set(re.findall(r"\((\w+\.svg)\)", report.page(name))):
            (tmp_path / name / file).write_text("<svg/>")
    page = html_page(report, tmp_path)
    assert '<h1 id="toy">Is high higher than low?</h1>' in page
    assert '<a href="#family">Does the family differ?</a>' in page
    # A panel and the differences of three experiments, each once.
    assert page.count('src="data:image/svg+xml;base64,') == 6
    assert 'src="figure' not in page
    assert "README.md" not in page


def test_the_table_stands_between_the_marks():
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert in_readme(text, "| new |") == f"before\n{BEGIN}\n| new |\n{END}\nafter\n"


def test_a_page_needs_its_marks():
    with pytest.raises(ValueError, match="expected the marks"):
        in_readme("nothing", "table")
