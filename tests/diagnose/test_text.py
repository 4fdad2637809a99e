"""The report as text says how much was tested."""

import pytest

import grpo_ref
from grpo_ref.diagnose.text import text


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
