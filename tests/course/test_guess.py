import pytest

from grpo_ref.course.guess import how_far

# guess, answer, tolerance -> how the verdict begins
VERDICTS = {
    "nothing is guessed": (None, 2.0, 0.0, "First write a guess above."),
    "exact": (2.0, 2.0, 0.0, "Yes. It is 2."),
    "a twentieth off is near enough": (2.09, 2.0, 0.0, "Yes. It is 2."),
    "more than a twentieth is not": (
        2.11,
        2.0,
        0.0,
        "Not quite. Your guess is 2.11, it is 2: you are 0.11 too high.",
    ),
    "too low": (0.0, 0.125, 0.0, "Not quite. Your guess is 0, it is 0.125: you are 0.125 too low."),
    "zero must be exact": (0.01, 0.0, 0.0, "Not quite. Your guess is 0.01, it is 0: you are 0.01 too high."),
    "zero with noise": (0.01, 0.0, 0.02, "Yes. It is 0."),
    "a word, whatever its case": (" Cispo", "cispo", 0.0, "Yes. It is cispo."),
    "another word": ("sapo", "cispo", 0.0, "Not quite. Your guess is sapo, it is cispo."),
    "a number where a word was asked for": (1, "one", 0.0, "Not quite. Your guess is 1, it is one."),
}


@pytest.mark.parametrize(("guess", "answer", "within", "told"), VERDICTS.values(), ids=VERDICTS)
def test_how_far(guess, answer, within, told):
    verdict = how_far(guess, answer, "Because.", within=within)
    assert verdict == told + ("" if guess is None else "\nWhy: Because.")


def test_the_unit_stands_with_every_number():
    verdict = how_far(1.0, 3.0, "Because.", unit="nats")
    assert verdict.startswith("Not quite. Your guess is 1 nats, it is 3 nats: you are 2 nats too low.")
