"""`grpo-ref hint`: a ladder that remembers."""

from student import facts, run

from grpo_ref.course.problems import PROBLEMS


def test_hints_are_a_ladder_and_are_remembered(folder):
    hints = PROBLEMS["kl/k3"].hints
    for step in (1, 2, 3, 3):
        output = run("hint", "k3").output
        assert all(hint in output for hint in hints[:step])
        assert not any(hint in output for hint in hints[step:])
    assert facts(folder) == ["kl/k3 hints 3"]
    assert "more: grpo-ref hint kl/k3" in run("hint", "kl/k3", "--steps", 1).output
    assert "Did you mean 'kl/k3'?" in run("hint", "kl/k4").output
