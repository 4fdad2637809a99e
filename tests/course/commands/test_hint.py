"""`grpo-ref hint`: a ladder that remembers."""

from student import facts, run

from grpo_ref.course.exercises import PROBLEMS


def unwrapped(text):
    return " ".join(text.split())


def test_hints_are_a_ladder_and_are_remembered(folder):
    hints = PROBLEMS["kl/k3"].hints
    for step in (1, 2, 3, 3):
        output = unwrapped(run("hint", "k3").output)
        assert all(hint in output for hint in hints[:step])
        assert not any(hint in output for hint in hints[step:])
    assert facts(folder) == ["kl/k3 hints 3"]
    first, last = (run("hint", "kl/k3", "--steps", steps).output for steps in (1, 3))
    assert first.endswith("\n\nmore: grpo-ref hint kl/k3\n")
    assert last.endswith("\n\nno more hints; model answer: grpo-ref solution kl/k3\n")
    assert "Did you mean 'kl/k3'?" in run("hint", "kl/k4").output


def test_without_a_name_it_is_the_next_exercise(folder):
    assert PROBLEMS["probabilities/log_softmax"].hints[0] in unwrapped(run("hint").output)
    run("grade", "entropy")
    solved = {"log_softmax": 1, "token_log_probs": 1}
    with (folder / "progress.txt").open("a") as file:
        file.writelines(f"probabilities/{name} points {points}\n" for name, points in solved.items())
    assert run("hint").output.startswith("probabilities/sampling\n1 of 3: ")


def test_of_a_chapter_it_is_the_next_exercise_in_it(folder):
    assert run("hint", "kl").output.startswith("kl/exact_kl\n")
    assert run("hint", "exercises/03_ratios").output.startswith("ratios/token_ratio\n")


def test_hints_are_sentences_if_asked_for_and_wrapped_to_the_terminal(folder, monkeypatch):
    assert "\nHint 1 of 3: " in run("hint", "kl/k3", "--plain").output
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("hint", "kl", "--steps", 3).output.splitlines()
    assert max(map(len, lines)) <= 60
