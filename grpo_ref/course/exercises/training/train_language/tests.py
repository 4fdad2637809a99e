"""The tests of `training/train_language`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT, chain, normalized
from grpo_ref.course.author import Case, Domain, Holds, Real, Scalar, Unchanged, Whole
from grpo_ref.course.exercises.bandits import ONE_STEP_WITHOUT_A_CLIP, without_ties
from grpo_ref.learning.policies.table import policy_of

LANGUAGE = replace(RIGHT, walk=chain, advantage=normalized)


def counting(tokens, vocabulary):
    """Return the fraction of transitions to the next number, modulo the vocabulary."""
    return (tokens[..., 1:] == (tokens[..., :-1] + 1) % vocabulary).mean(-1)


def of(loop, reward=counting):
    """Return the exercise's function, made of this loop and this reward."""

    def train(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
        start = np.zeros((vocabulary + 1, vocabulary))
        numbers = np.asarray(uniforms, dtype=float)[:, None]

        def verify(update, tokens, mask):
            return reward(tokens, vocabulary)

        return loop(start, verify, numbers, learning_rate, epochs=steps, clip=clip)

    return train


reference = of(LANGUAGE)

DOMAIN = Domain(
    {
        "uniforms": Real(
            "U G T",
            (0, 0.999),
            at=(0, 0.25, 0.5, 0.75),
            whole=False,
            meaning="random numbers, one for each token",
        ),
        "vocabulary": Whole((2, 5), meaning="V, the number of tokens"),
        "learning_rate": Scalar(8.0, (0.01, 10), usual=((0.1, 10),), at=(1,), meaning="step size"),
        "steps": Whole((1, 4), default=2, meaning="number of steps on each batch"),
        "clip": Scalar(
            0.2, (0, 0.9), usual=((0.01, 0.4), (0.01, 0.9)), meaning="half-width of the allowed range of ρ"
        ),
    },
    sizes={"U": (1, 3), "G": (1, 6), "T": (2, 5)},
    large={"G": 20, "T": 12},
    rules=(
        ONE_STEP_WITHOUT_A_CLIP,
        without_ties("Rounding never decides which token is sampled or clipped.", of, LANGUAGE),
    ),
)


def _learns(function):
    for seed in range(2):
        logits = np.asarray(function(np.random.default_rng(seed).random((50, 16, 6)), 4), dtype=float)
        right = policy_of(logits).probs[np.arange(4), (np.arange(4) + 1) % 4].mean()
        if not right > 0.9:
            return (
                "after 50 updates the right next token should have a mean probability above 0.9,"
                f" but it has {right:.2f}"
            )
    return None


ONE = [[[0.25, 0.75], [0.25, 0.25]]]

RTOL = 1e-8
CHECKS = (
    Case(
        "One step by hand",
        (ONE, 2, 1.0, 1),
        np.array([[-0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
        why="A is ±1/1.0002 for the completions 0 1 and 0 0. In row 0 the tokens add A/4 · [-1/2, 1/2] and"
        " -A/4 · [1/2, -1/2].",
        shown=True,
    ),
    Case(
        "The second step is clipped",
        (ONE, 2),
        np.array([[-2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
        why="After one step the ratios in row 0 are 0.04 and 1.96, both beyond their bound.",
        shown=True,
    ),
    Case(
        "Three tokens",
        ([[[0.9, 0.1, 0.5], [0.1, 0.1, 0.1]]], 3, 1.0, 1),
        np.array([[-5, 4, 1], [0, 0, 0], [2, -1, -1], [-3, 0, 3]]) / 18 / 1.0002,
        why="The completions are 2 0 1 and 0 0 0. After 2 comes 0, so the rewards are 1 and 0.",
        shown=True,
    ),
    Case(
        "A ratio on both bounds",
        (ONE, 2, 1.0, 1, 0.0),
        np.array([[-0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
        why="With clip 0, a ratio of 1 is on both bounds, and a token on a bound is not clipped.",
    ),
    Holds("A long run learns to count", _learns, why="two runs of 50 updates"),
    Unchanged((np.array(ONE), 2)),
)
