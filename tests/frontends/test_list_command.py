"""`grpo-ref list`: what was reached."""

import re

import pytest
from student import POINTS, SUM, TOTAL, facts, run

from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.progress import HEADER


def test_list_shows_what_was_reached(folder):
    run("grade", "entropy", "group_normalized")
    run("hint", "k3")
    text = run("list").output
    assert all(name in text for name in PROBLEMS)
    assert re.search(
        r"^\* probabilities/entropy +1 of 1 pt +easy +01_probabilities/03_entropy\.py$", text, re.M
    )
    assert re.search(rf"^  advantages/group_normalized +{re.escape(POINTS)} of 2 pt +easy", text, re.M)
    assert re.search(r"^  kl/k3 +0 of 2 pt +medium +1 of 3 hints +04_kl/03_k3\.py$", text, re.M)
    assert f"1 of {TOTAL} solved, {SUM} of " in text


DAMAGE = {
    "half a line": "kl/k3 poi",
    "a number that is none": "kl/k3 points many",
    "not a number at all": "kl/k3 points nan",
    "a negative number": "kl/k3 points -1",
    "another program's file": "\x00\x01\x02",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_set_aside_and_what_can_be_read_is_kept(folder, damage):
    damaged = f"{HEADER}\nprobabilities/entropy points 1\n{damage}\n"
    (folder / "progress.txt").write_text(damaged)
    result = run("list")
    assert result.exit_code == 0
    assert "progress.txt has 1 lines that are not understood; a copy of it is in" in result.stderr
    assert (folder / "progress-1.damaged").read_text() == damaged
    assert facts(folder) == ["probabilities/entropy points 1"]
    assert run("list").stderr == ""
