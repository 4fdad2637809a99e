"""The page on symptoms leads from each metric to its sections, and quotes what `diagnose` says."""

import ast
import re
from pathlib import Path

import pytest

import grpo_ref.diagnose
from grpo_ref.diagnose import relations

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/symptoms.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
ANCHORS = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"): title for title in SECTIONS}
ROWS = re.findall(r"^\| (`.+?) \| (\[.+) \|$", PAGE, re.MULTILINE)
ANSWERS = re.findall(r"\*\*`diagnose` (?:says|tests)\*\*(.+?)\n\n", f"{PAGE}\n\n", re.DOTALL)
QUOTED = [quoted for answer in ANSWERS for quoted in re.findall(r'"([^"]+)"', answer)]
FILLED_IN = {
    "grad_norm is nan from step 120 on": "{} is {} from step {} on",
    "the loss is near 0 and grows": "the loss is near 0{} and grows",
    "longer completions are rewarded": "{} completions are rewarded",
    "shorter completions are rewarded": "{} completions are rewarded",
    "the log says completions per prompt = 5, the configuration says 8": (
        "the log says {} = {}, the configuration says {}"
    ),
    "Would help if logged: kl": "Would help if logged: {}",
}
"""Quoted statements with a number or a word put in -> the statement without them."""


def metrics_of(section):
    """Return the metrics in the line in italics below a heading."""
    line = re.match(r"\n\*(.+?)\*\n", section)
    return re.findall(r"`([^`]+)`", line[1]) if line else []


def statements():
    """Return the constant parts of all statements: texts of all modules, and each relation with its code."""
    constants = [f"{relation.statement} ({relation.code})" for relation in relations.RELATIONS]
    constants += [f"{statement} ({code})" for code, statement, *_ in relations.OF_RUN]
    for module in sorted(Path(grpo_ref.diagnose.__file__).parent.glob("*.py")):
        tree = ast.parse(module.read_text(encoding="utf-8"))
        constants += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
    return constants


@pytest.mark.parametrize("title", SECTIONS)
def test_the_table_leads_from_every_metric_to_its_sections(title):
    for metric in metrics_of(SECTIONS[title]):
        rows = " ".join(targets for names, targets in ROWS if f"`{metric}`" in names)
        assert title in [ANCHORS.get(target) for target in re.findall(r"\(#(.+?)\)", rows)], metric


def test_the_table_has_no_metric_without_a_section_and_no_dead_link():
    assert len(ROWS) >= 10
    for names, targets in ROWS:
        titles = [ANCHORS[target] for target in re.findall(r"\(#(.+?)\)", targets)]
        known = {metric for title in titles for metric in metrics_of(SECTIONS[title])}
        assert set(re.findall(r"`([^`]+)`", names)) <= known


@pytest.mark.parametrize("title", SECTIONS)
def test_every_section_has_words_that_people_type_and_a_way_to_decide(title):
    assert re.search(r"^<!-- search: .+ -->$", SECTIONS[title], re.MULTILINE)
    assert "`diagnose`" in SECTIONS[title]


@pytest.mark.parametrize("quoted", QUOTED)
def test_the_page_quotes_statements_of_diagnose(quoted):
    statement = re.sub(r"\s+", " ", quoted).strip(". ")
    parts = [part for part in FILLED_IN.get(statement, statement).split("{}") if part.strip()]
    assert parts
    assert all(any(part in constant for constant in statements()) for part in parts)
