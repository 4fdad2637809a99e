"""The report as text says how much was tested, and its remarks lead to sections of the page on symptoms."""

import re
from pathlib import Path

import pytest

import grpo_ref
from grpo_ref.diagnose import expected, patterns
from grpo_ref.diagnose.text import text

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"step": 1.0, "Avg Reward": 0.5}, "No exact relation could be tested, and no pattern was found."),
        (
            {"step": 1.0, "reward": 0.25, "reward_std": 0.5, "rewards/answer/mean": 0.25},
            "Nothing is broken, and no pattern was found.",
        ),
    ],
    ids=["nothing tested", "all hold"],
)
def test_a_report_without_a_finding_says_whether_anything_was_tested(row, expected):
    assert text(grpo_ref.diagnose([row])).splitlines()[2] == expected


def test_every_remark_and_pattern_leads_to_a_section():
    page = (ROOT / "docs/howto/symptoms.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    named: set[str] = set()
    for module in (expected, patterns):
        source = Path(module.__file__).read_text(encoding="utf-8")
        made = re.findall(r"(?:Remark|Pattern)\((.*?)\n +\)", source, re.DOTALL)
        assert len(made) >= 7
        named |= {each.rstrip(", \n").rsplit('"', 2)[1] for each in made}
    assert named <= anchors
