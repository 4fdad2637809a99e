"""The tests of `network/grpo_step`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import REQUIRED, Case, Domain, Holds, Real, Scalar, Unchanged, Whole
from grpo_ref.course.exercises.tiny_network import (
    LARGE,
    SIZES,
    central_differences,
    moved,
    network_and_texts,
    over_tokens,
    read,
    way_back,
)
from grpo_ref.surrogates import clipped

DOMAIN = Domain(
    network_and_texts("G L", "m, 1 on the tokens that were written, 0 on prompt and padding")
    | {
        "rewards": Whole(
            (-5, 5), axes="G", usual=((-5, 5), (0, 1), (-1, 2)), meaning="r, one for each completion"
        ),
        "old_log_probs": Real(
            "G L",
            (-10, 0),
            usual=((-2.5, -0.2), (-10, 0)),
            whole=False,
            meaning="log πold of each token, when it was written",
        ),
        "learning_rate": Scalar(REQUIRED, (0.01, 100), at=(1,), meaning="length of the step"),
        "clip": Scalar(0.2, (0.05, 0.9), meaning="ε, how far the ratio may go"),
    },
    sizes={"G": (2, 5)} | SIZES,
    large={"G": 20} | LARGE,
)


def _advantages(rewards):
    return group_normalized(rewards, ddof=0)


def _slope(log_ratio, advantages, clip):
    return clipped(log_ratio, advantages, clip_low=clip, clip_high=clip).slope


def _held(log_ratio, advantages, clip):
    ratio = np.exp(log_ratio)
    return ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))


def _after_the_first(old_log_probs):
    return old_log_probs[:, 1:]


def of(
    advantages=_advantages,
    log_ratio=np.subtract,
    slope=_slope,
    held=_held,
    read=read,
    weights=over_tokens,
    back=way_back,
    old=_after_the_first,
    direction=1.0,
):
    """Return an answer. Its `slope` and `held` receive the log-ratio, A and ε, its `log_ratio` the new and
    the old log-probabilities.
    """

    def answer(
        embeddings,
        weight,
        tokens,
        mask,
        rewards,
        old_log_probs,
        learning_rate,
        clip=0.2,
    ):
        seen, shares = read(embeddings, weight, tokens), weights(mask)
        of_each = advantages(np.asarray(rewards, float)[None])[0][:, None]
        given = log_ratio(seen.log_probs, old(np.asarray(old_log_probs, float))), of_each, clip
        new = moved(seen, shares * slope(*given), direction * learning_rate, back)
        return *new, float((shares * held(*given)).sum())

    return answer


reference = of()

EMBEDDINGS, WEIGHT = np.array([[0.5, -0.3], [-0.8, 0.2], [0.1, 0.9]]), np.array([[0.7, -0.4], [0.3, 1.1]])

TOKENS = np.array([[0, 1, 1, 2], [0, 2, 0, 1], [0, 1, 2, 0]])

MASK = np.array([[0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]])

REWARDS, BEGINNING = np.array([1, 0, 0]), np.full((3, 1), -1.0)

SINCE = np.array([[-0.1, 0.5, -0.4], [0.3, -0.6, 0.0], [0.0, 0.1, 0.7]])

OLD = np.concatenate([BEGINNING, read(EMBEDDINGS, WEIGHT, TOKENS).log_probs - SINCE], axis=1)


def _objective(embeddings, weight):
    ratio = np.exp(read(embeddings, weight, TOKENS).log_probs - OLD[:, 1:])
    advantages = _advantages(REWARDS[None].astype(float))[0][:, None]
    terms = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages)
    return float((over_tokens(MASK) * terms).sum())


def _is_the_slope(f):
    given = EMBEDDINGS, WEIGHT
    returned = f(*given, TOKENS, MASK, REWARDS, OLD, 0.5)
    slopes = central_differences(_objective, *given)
    for name, old, new, slope in zip("EW", given, returned, slopes, strict=False):
        if not np.allclose(new, old + 0.5 * slope, atol=1e-8):
            return f"the step of {name} is not learning_rate times a central difference of J"
    return None


def _is_held_in_the_end(f):
    embeddings, weight = EMBEDDINGS, WEIGHT
    old = np.concatenate([np.zeros((2, 1)), read(embeddings, weight, BOTH).log_probs], axis=1)
    shares = []
    for _ in range(12):
        embeddings, weight, share = f(embeddings, weight, BOTH, WRITTEN, [0, 1], old, 1.0)
        shares.append(float(share))
    rises = abs(shares[0]) < 1e-6 and abs(shares[-1] - 1.0) < 1e-6
    return None if rises else f"in twelve steps on one batch the share rises from 0 to 1, here it is {shares}"


A = np.log(3.0) / 2.0

TWO, ONE = np.array([[A], [5.0 * A]]), np.array([[1.0]])

BOTH, WRITTEN = [[0, 0], [0, 1]], [[0, 1], [0, 1]]

U = 1.0 / 1.0002

HALF, QUARTER, THREE = np.log([0.5, 0.25, 0.75])

CHECKS = (
    Case(
        "On policy",
        (TWO, ONE, BOTH, WRITTEN, [1, 0], [[0.0, QUARTER], [0.0, THREE]], 1.0),
        (
            np.array([[A + U / 4.0 - 1.5 * A * U], [5.0 * A - U / 4.0]]),
            np.array([[1.0 - 1.5 * A**2 * U]]),
            0.0,
        ),
        why=(
            "The rows are a = log 3 / 2 and 5 a, and W is 1. Both completions have one token after token 0, where"
            " h = 1/2 and π is 1/4 and 3/4, just as when they were written: ρ = 1. Mean and std of the rewards are"
            " 1/2, so A is ±u with u = 0.5 / 0.5001. Each token has the weight 1/2, so the slope at the logits is"
            " u/2 (3/4, -3/4) - u/2 (-1/4, 1/4) = u/2 (1, -1). At the exit the rows get u/4 and -u/4. At the entrance"
            " the slope of h is u/2 (a - 5 a) = -2 a u, and that of E[0] W is -2 a u (1 - 1/4) = -0.823794: times W it"
            " goes to E[0], times E[0] = a to W. So E[0] becomes 0.549306 + 0.249950 - 0.823794 = -0.024538, E[1]"
            " 2.746531 - 0.249950 = 2.496581, and W 1 - 0.452515 = 0.547485."
        ),
        shown=True,
    ),
    Case(
        "One token is held",
        (TWO, ONE, BOTH, WRITTEN, [0, 1], [[-1.0, HALF], [-1.0, THREE]], 2.0),
        (
            np.array([[A - 0.125 * U + 0.75 * A * U], [5.0 * A + 0.125 * U]]),
            np.array([[1.0 + 0.75 * A**2 * U]]),
            0.5,
        ),
        why=(
            "The first completion is bad, and ρ = 1/4 / 1/2 = 1/2 has fallen below 0.8: it is held, but still counts"
            " as one of two tokens. The second one has ρ = 1 and A = u. The slope at the logits is u/2 (-1/4, 1/4);"
            " at the exit that is -u/16 and u/16, at the entrance u/8 (5 a - a) = a u/2, times 3/4. The step is twice"
            " that."
        ),
        shown=True,
    ),
    Case(
        "A good token that has become rarer, a bad one that has become likelier",
        (TWO, ONE, BOTH, WRITTEN, [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
        (
            np.array([[A + U * 3.0 / 16.0 - 9.0 / 8.0 * A * U], [5.0 * A - U * 3.0 / 16.0]]),
            np.array([[1.0 - 9.0 / 8.0 * A**2 * U]]),
            0.0,
        ),
        why="ρ = 1/2 and 3/2, and nothing is held: u/4 (3/4, -3/4) - 3 u/4 (-1/4, 1/4) = 3 u/8 (1, -1)",
    ),
    Case(
        "Both are held",
        (TWO, ONE, BOTH, WRITTEN, [0, 1], [[0.0, HALF], [0.0, HALF]], 1.0),
        (TWO, ONE, 1.0),
        why="ρ = 1/2 with A < 0, and 3/2 with A > 0: nothing moves",
    ),
    Case(
        "A wide clip",
        (TWO, ONE, BOTH, WRITTEN, [0, 1], [[0.0, HALF], [0.0, HALF]], 1.0, 0.6),
        (
            np.array([[A - U * 3.0 / 16.0 + 9.0 / 8.0 * A * U], [5.0 * A + U * 3.0 / 16.0]]),
            np.array([[1.0 + 9.0 / 8.0 * A**2 * U]]),
            0.0,
        ),
        why="1/2 and 3/2 lie within 1 ± 0.6",
    ),
    Case(
        "A long and a short completion",
        (
            TWO,
            ONE,
            [[0, 0, 0], [0, 1, 0]],
            [[0, 1, 1], [0, 1, 0]],
            [1, 0],
            [[0.0, QUARTER, QUARTER], [0.0, THREE, 0.0]],
            1.0,
        ),
        (
            np.array([[A + U * 7.0 / 24.0 - 7.0 / 4.0 * A * U], [5.0 * A - U * 7.0 / 24.0]]),
            np.array([[1.0 - 7.0 / 4.0 * A**2 * U]]),
            0.0,
        ),
        why="three tokens count alike: u/3 (3/4, -3/4) twice, and -u/3 (-1/4, 1/4): 7 u/12 (1, -1)",
    ),
    Case(
        "A dead group",
        (TWO, ONE, BOTH, WRITTEN, [3, 3], [[0.0, HALF], [0.0, HALF]], 1.0),
        (TWO, ONE, 0.0),
        why="all rewards are equal, so every advantage is 0, and what has no advantage is not held",
    ),
    Case(
        "No token at all",
        (TWO, ONE, BOTH, [[1, 0], [1, 0]], [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
        (TWO, ONE, 0.0),
        why="only first tokens are marked, and nothing comes before those",
    ),
    Case(
        "Logits of 1000",
        ([[1000.0], [1000.0], [0.0]], ONE, BOTH, WRITTEN, [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
        (np.array([[1000.0 + U / 2.0], [1000.0 - U / 2.0], [0.0]]), ONE, 0.0),
        why="h = 1, π = 1/2, 1/2, 0, and tanh is flat there: u/2 (1, -1, 0) times h",
    ),
    Holds("The step is the slope of J", _is_the_slope, why="checked by central differences"),
    Holds("On one batch, the clip takes hold", _is_held_in_the_end, why="that is what it is for"),
    Unchanged((EMBEDDINGS, WEIGHT, TOKENS, MASK, REWARDS, OLD, 1.0)),
)
