"""Diversity: the best of many, the warning, and answers that a model verbalizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref import best_of_n, has_collapsed, rejection_sampled
from grpo_ref.kernels.metrics import reward_width
from grpo_ref.kernels.verbalized import Answers, draw, parse, prompt


def test_the_best_and_the_better_ones(asarray):
    rewards = asarray([[0.1, 0.7, 0.7, 0.2], [3, 2, 1, 0]])
    np.testing.assert_array_equal(asarray.to_numpy(best_of_n(rewards)), [1, 0])
    asarray.check(
        rejection_sampled(rewards, keep=1), [[False, True, False, False], [True, False, False, False]]
    )
    asarray.check(rejection_sampled(rewards, keep=3), [[False, True, True, True], [True, True, True, False]])
    for keep in (0, 5):
        with pytest.raises(ValueError, match="keep: expected 1 to 4 completions of a group"):
            rejection_sampled(rewards, keep=keep)


def test_reward_width(asarray):
    asarray.check(reward_width(asarray([[0, 0], [2, 2]])), 1.0)


def test_collapse_is_all_three_together(asarray):
    """Of four runs the first falls in all three, the others in two, one or none."""
    steady, falling = np.ones(20), np.linspace(1.0, 0.1, 20)
    curves = [
        np.stack([falling, falling, falling, steady], axis=1),
        np.stack([falling, falling, steady, steady], axis=1),
        np.stack([falling, steady, steady, steady], axis=1),
    ]
    asarray.check(has_collapsed(*map(asarray, curves)), [True, False, False, False])
    asarray.check(has_collapsed(*map(asarray, curves), share=0.1), [False] * 4)


# ---- verbalized ----------------------------------------------------------------------------------

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
    answers = parse(text)
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
    "a sum of 2": ("a (probability: 1)\nb (probability: 1)", "sum to 1, got a sum of 2"),
    "a sum of 0": ("a (probability: 0)", "sum to 1, got a sum of 0"),
    "an empty answer": ("1. (probability: 0.5)\n2. b (probability: 0.5)", "answer 1 is empty"),
}


@pytest.mark.parametrize(("text", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_lists_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


WORD = st.text("abcdefghij", min_size=1, max_size=8)


@given(st.lists(WORD, min_size=1, max_size=6), st.data())
def test_what_is_written_is_read(words, data):
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(words), max_size=len(words)))
    probs = [weight / sum(weights) for weight in weights]
    pairs = enumerate(zip(words, probs, strict=True), start=1)
    answers = parse("\n".join(f"{k}. [{word}] (probability: {prob!r})" for k, (word, prob) in pairs))
    assert list(answers.responses) == words
    np.testing.assert_allclose(answers.probs, probs, rtol=1e-12)


def test_drawing_inverts_the_distribution():
    answers = Answers(("a", "b", "c"), (0.5, 0.0, 0.5))
    drawn = [draw(answers, uniform=u) for u in (0.0, 0.49, 0.5, 0.99)]
    assert drawn == ["a", "a", "c", "c"]
    short = Answers(("a", "b", "c"), (0.5, 0.5 - 1e-12, 0.0))
    assert draw(short, uniform=1.0 - 1e-16) == "b"
    with pytest.raises(ValueError, match=r"uniform: expected 0 <= uniform < 1, got 1\.0"):
        draw(answers, uniform=1.0)


def test_the_prompt_says_what_the_parser_reads():
    text = prompt("Name a drink.", 3)
    assert text.startswith("Name a drink.\n\nGive 3 different responses")
    assert "[response] (probability: 0.00)" in text
    with pytest.raises(ValueError, match="n: expected at least 1 response, got 0"):
        prompt("Name a drink.", 0)
