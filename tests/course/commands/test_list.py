"""`grpo-ref list`: what was reached."""

import re

import pytest
from student import POINTS, SUM, TOTAL, facts, run

from grpo_ref.course.exercises import PROBLEMS
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
    assert "progress.txt: removed 1 unreadable line; a copy of the file is in" in result.stderr
    assert (folder / "progress-1.damaged").read_text() == damaged
    assert facts(folder) == ["probabilities/entropy points 1"]
    assert run("list").stderr == ""


def test_a_chapter_is_listed_alone(folder):
    text = run("list", "exercises/03_ratios", "centered").output
    listed = re.findall(r"^  (\w+/\w+) ", text, re.M)
    assert listed == [*(name for name in PROBLEMS if name.startswith("ratios/")), "advantages/centered"]
    assert "03_ratios/README.md\n" in text


def test_sixty_columns_suffice(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    run("hint", "k3")
    text = run("list").output
    assert max(map(len, text.splitlines())) <= 60
    assert re.search(r"^  k3 +0 of 2 pt +medium +1 of 3 hints$", text, re.M)


def test_plain_text_is_sentences(folder):
    run("grade", "entropy")
    text = run("list", "probabilities", "--plain").output
    assert text.startswith("Chapter Probabilities and log-probabilities. Begin with 01_probabilities/README")
    line = "probabilities/entropy: solved, 1 of 1 point, easy, 0 of 3 hints read, file 01_probabilities/03_e"
    assert f"\n{line}" in text
    assert "[" not in text
    assert run("list", "probabilities", env={"GRPO_REF_PLAIN": "1"}).output == text
