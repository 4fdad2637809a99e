"""The tests of `training/train_language`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes.toy_loop import RIGHT, chain, normalized
from grpo_ref.course.author import Case, Domain, Holds, Real, Scalar, Unchanged, Whole
from grpo_ref.course.exercises.bandits import ONE_STEP_WITHOUT_A_CLIP
from grpo_ref.learning.policies.table import policy_of

LANGUAGE = replace(RIGHT, walk=chain, advantage=normalized)

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
        "learning_rate": Scalar(8.0, (0.01, 10), usual=((0.1, 10),), at=(1,), meaning="length of a step"),
        "steps": Whole((1, 4), default=2, meaning="how often each batch is used"),
        "clip": Scalar(
            0.2, (0, 0.9), usual=((0.01, 0.4), (0.01, 0.9)), meaning="how far the ratio may go from 1"
        ),
    },
    sizes={"U": (1, 3), "G": (1, 6), "T": (2, 5)},
    large={"G": 20, "T": 12},
    rules=(ONE_STEP_WITHOUT_A_CLIP,),
)


def counting(tokens, vocabulary):
    return (tokens[..., 1:] == (tokens[..., :-1] + 1) % vocabulary).mean(-1)


def of(loop, reward=counting, epochs=None):
    def answer(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
        start = np.zeros((vocabulary + 1, vocabulary))
        numbers = np.asarray(uniforms, dtype=float)[:, None]

        def verify(update, tokens, mask):
            return reward(tokens, vocabulary)

        return loop(start, verify, numbers, learning_rate, epochs=epochs or steps, clip=clip)

    return answer


reference = of(LANGUAGE)


def _learns(f):
    for seed in range(2):
        logits = np.asarray(f(np.random.default_rng(seed).random((50, 16, 6)), 4), dtype=float)
        right = policy_of(logits).probs[np.arange(4), (np.arange(4) + 1) % 4]
        if not right.mean() > 0.9:
            return f"after 50 updates of 16 completions it should count on with probability 0.9, it does with {right.mean():.2f}"
    return None


ONE = np.array([[[0.25, 0.75], [0.25, 0.25]]])

RTOL = 1e-8
CHECKS = (
    Case(
        "One step by hand",
        (ONE, 2, 1.0, 1),
        np.array([[-0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
        why="All probabilities are 1/2. The completions are 0 1 and 0 0, their rewards 1 and 0, so A = ±0.5/0.5001"
        " = ±1/1.0002. Each of the four tokens has weight 1/4. At the start (row 2) both chose 0, and A and -A"
        " cancel. In row 0 one chose 1, which adds A/4 · [-1/2, 1/2], the other chose 0, which adds"
        " -A/4 · [1/2, -1/2]: together A/4 · [-1, 1].",
        shown=True,
    ),
    Case(
        "Two steps, the second one clipped",
        (ONE, 2, 8.0, 2, 0.2),
        np.array([[-2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
        why="after one step π(1 | 0) is 0.98 and π(0 | 0) is 0.02: both have moved where their advantages point,"
        " beyond the clip, and have no slope; the start cancels",
    ),
    Case(
        "On the bound itself",
        (ONE, 2, 1.0, 1, 0.0),
        np.array([[-0.25, 0.25], [0.0, 0.0], [0.0, 0.0]]) / 1.0002,
        why="with clip 0 the first step is on both bounds, and it is taken",
    ),
    Holds("It learns to count", _learns, why="two runs of 50 updates"),
    Unchanged((ONE, 2)),
)
