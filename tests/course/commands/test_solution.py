"""`grpo-ref solution`: after passing, or on confirmation."""

from student import run


def test_the_solution_is_shown_after_passing_or_on_confirmation(folder):
    assert run("solution", "entropy", input="n\n").exit_code == 1
    asked = run("solution", "entropy", input="y\n")
    assert "probabilities/entropy is not solved yet" in asked.stderr
    assert asked.stdout.startswith('"""Model answer: ')
    assert run("solution", "entropy", "--yes").stdout == asked.stdout
    run("grade", "entropy")
    shown = run("solution", "entropy")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, asked.stdout, "")
