"""Verbalized sampling: what a model writes is read, and answers are drawn from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref.learning.verbalized import (
    Answers,
    draw_answer,
    parse_answers,
    verbalized_prompt,
    verbalized_sample,
)

TEXTS = {
    "numbered": ("1. tea (probability: 0.7)\n2. coffee (probability: 0.3)", ["tea", "coffee"], [0.7, 0.3]),
    "brackets": ("[tea] (probability: 0.7)\n[coffee] (probability: 0.3)", ["tea", "coffee"], [0.7, 0.3]),
    "bullets and quotes": ('- "tea" (Probability: .5)\n* coffee (prob = 0.5)', ["tea", "coffee"], [0.5, 0.5]),
    "per cent": ("tea (probability: 70 %)\ncoffee (probability: 30%)", ["tea", "coffee"], [0.7, 0.3]),
    "a decimal comma": (
        "tea (probability: 0,75)\ncoffee (probability: 0,25)",
        ["tea", "coffee"],
        [0.75, 0.25],
    ),
    "words around it": (
        "Here are two jokes:\n1. a\nb (probability: 0.5)\n\n2. c (probability: 0.5)\nEnjoy!",
        ["a\nb", "c"],
        [0.5, 0.5],
    ),
    "on one line": ("tea (probability: 0.5), coffee (probability: 0.5)", ["tea", "coffee"], [0.5, 0.5]),
    "parentheses in the answer": ("a (b) c (probability: 1)", ["a (b) c"], [1.0]),
    "a sum that is nearly 1": ("a (probability: 0.5)\nb (probability: 0.48)", ["a", "b"], [25 / 49, 24 / 49]),
}


@pytest.mark.parametrize(("text", "responses", "probs"), TEXTS.values(), ids=TEXTS)
def test_answers_are_read(text, responses, probs):
    answers = parse_answers(text)
    assert list(answers.responses) == responses
    np.testing.assert_allclose(answers.probs, probs, rtol=1e-12)


MALFORMED = {
    "nothing": ("", "found none"),
    "no probabilities": ("1. tea\n2. coffee", "found none"),
    "no number": (
        "tea (probability: high)",
        r"expected \(probability: number\), got '\(probability: high\)'",
    ),
    "never closed": ("tea (probability: 0.5", "expected .probability: number., got"),
    "one of two without a number": ("a (probability: 0.5)\nb (probability: )", "got '.probability: .'"),
    "negative": ("a (probability: -0.5)\nb (probability: 1.5)", "between 0 and 1, got '.probability: -0.5.'"),
    "above 1": ("a (probability: 1.5)", "between 0 and 1, got"),
    "a sum of 0": ("a (probability: 0)", "sum to 1, got a sum of 0"),
    "an empty answer": ("1. (probability: 0.5)\n2. b (probability: 0.5)", "answer 1 is empty"),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_lists_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_answers(text)


def test_what_does_not_sum_to_1_is_divided_by_its_sum_with_a_warning():
    """As `random.choices` divides its weights: 0.2 and 0.6 are a quarter and three quarters."""
    with pytest.warns(UserWarning, match=r"the probabilities sum to 0\.8, not to 1"):
        answers = parse_answers("a (probability: 0.2)\nb (probability: 0.6)")
    np.testing.assert_allclose(answers.probs, [0.25, 0.75], rtol=1e-12)


@pytest.mark.parametrize("before", ["{}\n", "<s> {}\n\n", "{}\nHere they are:\n"])
def test_a_prompt_that_the_model_repeats_is_no_answer(before):
    prompt = before.format(verbalized_prompt("Name a drink.", 2))
    answers = parse_answers(f"{prompt}1. tea (probability: 0.7)\n2. coffee (probability: 0.3)")
    assert answers.responses == ("tea", "coffee")
    with pytest.raises(ValueError, match="found none"):
        parse_answers(prompt)


WORD = st.text("abcdefghij", min_size=1, max_size=8)


@given(st.lists(WORD, min_size=1, max_size=6), st.data())
def test_what_is_written_is_read(words, data):
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(words), max_size=len(words)))
    probs = [weight / sum(weights) for weight in weights]
    pairs = enumerate(zip(words, probs, strict=True), start=1)
    answers = parse_answers("\n".join(f"{k}. [{word}] (probability: {prob!r})" for k, (word, prob) in pairs))
    assert list(answers.responses) == words
    np.testing.assert_allclose(answers.probs, probs, rtol=1e-12)


def test_drawing_inverts_the_distribution():
    answers = Answers(("a", "b", "c"), (0.5, 0.0, 0.5))
    drawn = [draw_answer(answers, uniform=u) for u in (0.0, 0.49, 0.5, 0.99)]
    assert drawn == ["a", "a", "c", "c"]
    short = Answers(("a", "b", "c"), (0.5, 0.5 - 1e-12, 0.0))
    assert draw_answer(short, uniform=1.0 - 1e-16) == "b"
    with pytest.raises(ValueError, match=r"uniform: expected 0 <= uniform < 1, got 1\.0"):
        draw_answer(answers, uniform=1.0)


def test_the_prompt_says_what_the_parser_reads():
    text = verbalized_prompt("Name a drink.", 3)
    assert text.startswith("Name a drink.\n\nGive 3 different responses")
    assert "[response] (probability: 0.00)" in text
    with pytest.raises(ValueError, match="n: expected at least 1 response, got 0"):
        verbalized_prompt("Name a drink.", 0)


def test_a_group_is_drawn_from_one_answer_of_the_model():
    asked = []

    def model(text):
        asked.append(text)
        return "1. tea (probability: 0.5)\n2. coffee (probability: 0.5)"

    drawn = verbalized_sample(model, "Name a drink.", uniforms=np.linspace(0.0, 0.99, 4), n=2)
    assert drawn == ("tea", "tea", "coffee", "coffee")
    assert asked == [verbalized_prompt("Name a drink.", 2)]
