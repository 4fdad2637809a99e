"""`grpo-ref reset`: the work is kept."""

from student import WRONG, run

from grpo_ref.course.starters import starter_of


def test_reset_keeps_the_work(folder):
    path = folder / "02_advantages/01_group_normalized.py"
    assert "01_group_normalized-1.backup" in run("reset", "group_normalized").output
    assert path.with_name("01_group_normalized-1.backup").read_text() == WRONG
    assert path.read_text() == starter_of("advantages/group_normalized")
    path.write_text("again")
    run("reset", "group_normalized")
    assert path.with_name("01_group_normalized-1.backup").read_text() == WRONG
    assert path.with_name("01_group_normalized-2.backup").read_text() == "again"
    assert "the file had no work of yours" in run("reset", "group_normalized").output
    path.unlink()
    assert run("reset", "group_normalized").exit_code == 0
    assert path.exists()
