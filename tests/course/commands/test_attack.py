"""`grpo-ref dev attack`: what an author sees, without the minutes that a whole attack takes."""

import json

from student import ROOT, run

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.layout import exercise_folder

ATTACKED = [name for name, problem in PROBLEMS.items() if problem.domain is not None]


def test_the_table_has_a_row_for_each_attacked_exercise_and_their_sum():
    result = run("dev", "attack", "--table", "--root", ROOT)
    assert result.exit_code == 0
    rows = [line.strip("| ").split(" | ") for line in result.output.splitlines()]
    assert [row[0] for row in rows[2:]] == [*ATTACKED, "all"]
    assert int(rows[-1][2]) == sum(int(row[2]) for row in rows[2:-1])


def test_a_sample_of_wrong_answers_passes_no_more_than_the_list_says():
    result = run("dev", "attack", "advantages/group_normalized", "--sample", "15", "--root", ROOT)
    assert result.exit_code == 0, result.output
    assert "0 pass unlisted" in result.output


def test_a_share_tries_one_of_six_exercises():
    result = run("dev", "attack", "kl", "--sample", "1", "--share", "1", "--root", ROOT)
    assert result.exit_code == 0, result.output
    chapter = [name for name in ATTACKED if name.startswith("kl/")]
    assert len(chapter) < 8
    assert [line.partition(":")[0] for line in result.output.splitlines()] == [chapter[1]]


def test_a_share_without_exercises_is_told():
    result = run("dev", "attack", "kl/k3", "--sample", "1", "--share", "1", "--root", ROOT)
    assert (result.exit_code, result.output) == (0, "share 1 has none of these exercises\n")


def test_a_share_is_a_part_of_a_sample():
    result = run("dev", "attack", "kl/k3", "--share", "1", "--root", ROOT)
    assert result.exit_code == 2
    assert "--share chooses a part of a sample: expected --sample too" in result.output


def test_every_wrong_answer_was_caught_or_is_listed():
    for name in ATTACKED:
        folder = exercise_folder(name)
        counts = json.loads((folder / "cases.json").read_text())["counts"]
        left = json.loads((folder / "left.json").read_text())
        caught = sum(counts[key] for key in counts if key.startswith("caught"))
        assert counts["made"] == caught + len(left)
