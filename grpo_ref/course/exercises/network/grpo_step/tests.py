"""The tests of `network/grpo_step`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import REQUIRED, Case, Domain, Holds, Real, Rule, Scalar, Unchanged, Whole
from grpo_ref.course.exercises.tiny_network import (
    LARGE,
    SIZES,
    ascend,
    central_differences,
    network_and_texts,
    run_backward,
    run_forward,
    token_weights,
)
from grpo_ref.surrogates import clipped


def _ratios_are_off_the_bounds(given):
    log_probs = run_forward(given["embeddings"], given["weight"], given["tokens"]).log_probs
    old, mask = (np.asarray(given[name], float)[:, 1:] for name in ("old_log_probs", "mask"))
    ratios = np.exp(log_probs - old)[mask > 0]
    return bool((np.abs(np.abs(ratios - 1.0) - given["clip"]) >= 1e-9).all())


DOMAIN = Domain(
    network_and_texts("G T", "m, 1 on sampled tokens, else 0")
    | {
        "rewards": Whole(
            (-5, 5), axes="G", usual=((-5, 5), (0, 1), (-1, 2)), meaning="r, one per completion"
        ),
        "old_log_probs": Real(
            "G T",
            (-10, 0),
            usual=((-2.5, -0.2), (-10, 0)),
            whole=False,
            meaning="log πold of each token",
        ),
        "learning_rate": Scalar(REQUIRED, (0.01, 100), at=(1,), meaning="step size"),
        "clip": Scalar(0.2, (0.05, 0.9), meaning="ε, half-width of the clip range"),
    },
    sizes={"G": (2, 5)} | SIZES,
    large={"G": 20} | LARGE,
    rules=(Rule("No ratio is within 1e-9 of 1 - ε or 1 + ε where m is 1.", _ratios_are_off_the_bounds),),
)


def _advantages(rewards):
    return group_normalized(rewards, ddof=0)


def _derivative(log_ratio, advantages, clip):
    return clipped(log_ratio, advantages, clip_low=clip, clip_high=clip).slope


def is_clipped(log_ratio, advantages, clip):
    ratio = np.exp(log_ratio)
    return ((advantages > 0) & (ratio > 1 + clip)) | ((advantages < 0) & (ratio < 1 - clip))


def answer_with(
    advantages=_advantages,
    log_ratio=np.subtract,
    derivative=_derivative,
    counts_as_clipped=is_clipped,
    fraction=lambda shares, clipped: (shares * clipped).sum(),
    forward=run_forward,
    weights=token_weights,
    backward=run_backward,
    old=lambda old_log_probs: old_log_probs[:, 1:],
    direction=1.0,
):
    """Return an answer. Its `derivative` and `counts_as_clipped` receive the log-ratio, A and ε, its `log_ratio`
    the new and the old log-probabilities, its `fraction` the weights of the positions and the clipped ones.
    """

    def answer(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
        network, shares = forward(embeddings, weight, tokens), weights(mask)
        a = advantages(np.asarray(rewards, float)[None])[0][:, None]
        inputs = log_ratio(network.log_probs, old(np.asarray(old_log_probs, float))), a, clip
        new = ascend(network, shares * derivative(*inputs), direction * learning_rate, backward)
        return *new, float(fraction(shares, counts_as_clipped(*inputs)))

    return answer


reference = answer_with()

EMBEDDINGS, WEIGHT = np.array([[0.5, -0.3], [-0.8, 0.2], [0.1, 0.9]]), np.array([[0.7, -0.4], [0.3, 1.1]])

TOKENS = np.array([[0, 1, 1, 2], [0, 2, 0, 1], [0, 1, 2, 0]])

MASK = np.array([[0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]])

REWARDS, PROMPT = np.array([1, 0, 0]), np.full((3, 1), -1.0)

LOG_RATIOS = np.array([[-0.1, 0.5, -0.4], [0.3, -0.6, 0.0], [0.0, 0.1, 0.7]])

OLD = np.concatenate([PROMPT, run_forward(EMBEDDINGS, WEIGHT, TOKENS).log_probs - LOG_RATIOS], axis=1)


def _objective(embeddings, weight):
    ratio = np.exp(run_forward(embeddings, weight, TOKENS).log_probs - OLD[:, 1:])
    advantages = _advantages(REWARDS[None].astype(float))[0][:, None]
    terms = np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages)
    return float((token_weights(MASK) * terms).sum())


def _follows_the_gradient(f):
    inputs = EMBEDDINGS, WEIGHT
    returned = f(*inputs, TOKENS, MASK, REWARDS, OLD, 0.5)
    gradients = central_differences(_objective, *inputs)
    for name, old, new, gradient in zip("EW", inputs, returned, gradients, strict=False):
        if not np.allclose(new, old + 0.5 * gradient, atol=1e-8):
            return f"the step of {name} is not learning_rate times a central difference of J"
    return None


def _all_are_clipped_in_the_end(f):
    embeddings, weight = EMBEDDINGS, WEIGHT
    old = np.concatenate([np.zeros((2, 1)), run_forward(embeddings, weight, BOTH).log_probs], axis=1)
    fractions = []
    for _ in range(12):
        embeddings, weight, fraction = f(embeddings, weight, BOTH, ONE_EACH, [0, 1], old, 1.0)
        fractions.append(float(fraction))
    rises = abs(fractions[0]) < 1e-6 and abs(fractions[-1] - 1.0) < 1e-6
    texts = ", ".join(f"{fraction:.3g}" for fraction in fractions)
    return None if rises else f"in twelve steps the clip fraction should rise from 0 to 1, but it was {texts}"


A = np.log(3.0) / 2.0

E1, W1 = np.array([[A], [5.0 * A]]), np.array([[1.0]])

E2, W2 = np.array([[A, 0.0], [5.0 * A, 2.0]]), np.array([[1.0, 0.0], [3.0, -1.0]])

BOTH, ONE_EACH = [[0, 0], [0, 1]], [[0, 1], [0, 1]]

U = 0.5 / 0.5001

HALF, QUARTER, THREE_QUARTERS = np.log([0.5, 0.25, 0.75])

CHECKS = (
    Case(
        "On policy",
        (E2, W2, BOTH, ONE_EACH, [1, 0], [[0.0, QUARTER], [0.0, THREE_QUARTERS]], 1.0),
        (
            np.array([[A + U / 4.0 - 1.5 * A * U, U - 4.5 * A * U], [5.0 * A - U / 4.0, 2.0]]),
            np.array([[1.0 - 1.5 * A**2 * U, -A * U], [3.0, -1.0]]),
            0.0,
        ),
        why=(
            "h = (1/2, 0), π is 1/4 and 3/4, and ρ = 1. A is ±u with u = 0.5 / 0.5001, so the gradient at the logits is"
            " u/2 (1, -1). The gradient of E[0] W is d = (-3au/2, -u). E[0] gets d Wᵀ from the input, and the first row"
            " of W gets a d."
        ),
        shown=True,
    ),
    Case(
        "One token is clipped",
        (E1, W1, BOTH, ONE_EACH, [0, 1], [[-1.0, HALF], [-1.0, THREE_QUARTERS]], 2.0),
        (
            np.array([[A - 0.125 * U + 0.75 * A * U], [5.0 * A + 0.125 * U]]),
            np.array([[1.0 + 0.75 * A**2 * U]]),
            0.5,
        ),
        why=(
            "The first completion is bad, and its ratio 1/2 is below 0.8: clipped, but counted in Σ m. The second one"
            " has ρ = 1 and A = u. The gradient at the logits is u/2 (-1/4, 1/4)."
        ),
        shown=True,
    ),
    Case(
        "On policy, one number per token",
        (E1, W1, BOTH, ONE_EACH, [1, 0], [[0.0, QUARTER], [0.0, THREE_QUARTERS]], 1.0),
        (
            np.array([[A + U / 4.0 - 1.5 * A * U], [5.0 * A - U / 4.0]]),
            np.array([[1.0 - 1.5 * A**2 * U]]),
            0.0,
        ),
        why="The gradient at the logits is u/2 (1, -1), and that of E[0] W is -3au/2.",
    ),
    Case(
        "A good token became less likely, a bad token more likely",
        (E1, W1, BOTH, ONE_EACH, [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
        (
            np.array([[A + U * 3.0 / 16.0 - 9.0 / 8.0 * A * U], [5.0 * A - U * 3.0 / 16.0]]),
            np.array([[1.0 - 9.0 / 8.0 * A**2 * U]]),
            0.0,
        ),
        why=(
            "ρ is 1/2 and 3/2, and neither is clipped. The gradient at the logits is u/4 (3/4, -3/4) -"
            " 3u/4 (-1/4, 1/4) = 3u/8 (1, -1)."
        ),
    ),
    Case(
        "Both are clipped",
        (E1, W1, BOTH, ONE_EACH, [0, 1], [[0.0, HALF], [0.0, HALF]], 1.0),
        (E1, W1, 1.0),
        why="ρ = 1/2 with A < 0, and ρ = 3/2 with A > 0. The weights do not change.",
    ),
    Case(
        "A wide clip range",
        (E1, W1, BOTH, ONE_EACH, [0, 1], [[0.0, HALF], [0.0, HALF]], 1.0, 0.6),
        (
            np.array([[A - U * 3.0 / 16.0 + 9.0 / 8.0 * A * U], [5.0 * A + U * 3.0 / 16.0]]),
            np.array([[1.0 + 9.0 / 8.0 * A**2 * U]]),
            0.0,
        ),
        why="The ratios 1/2 and 3/2 lie within 0.4 and 1.6.",
    ),
    Case(
        "A long and a short completion",
        (
            E1,
            W1,
            [[0, 0, 0], [0, 1, 0]],
            [[0, 1, 1], [0, 1, 0]],
            [1, 0],
            [[0.0, QUARTER, QUARTER], [0.0, THREE_QUARTERS, 0.0]],
            1.0,
        ),
        (
            np.array([[A + U * 7.0 / 24.0 - 7.0 / 4.0 * A * U], [5.0 * A - U * 7.0 / 24.0]]),
            np.array([[1.0 - 7.0 / 4.0 * A**2 * U]]),
            0.0,
        ),
        why=(
            "Three tokens count the same: u/3 (3/4, -3/4) twice and -u/3 (-1/4, 1/4) once make 7u/12 (1, -1) at the"
            " logits."
        ),
    ),
    Case(
        "Equal rewards",
        (E1, W1, BOTH, ONE_EACH, [3, 3], [[0.0, HALF], [0.0, HALF]], 1.0),
        (E1, W1, 0.0),
        why="Every advantage is 0, so the weights do not change and no token is clipped.",
    ),
    Case(
        "No position counts",
        (E1, W1, BOTH, [[1, 0], [1, 0]], [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
        (E1, W1, 0.0),
        why="Only first tokens have a mask of 1, and a first token is never predicted.",
    ),
    Case(
        "Logits of 1000",
        ([[1000.0], [1000.0], [0.0]], W1, BOTH, ONE_EACH, [1, 0], [[0.0, HALF], [0.0, HALF]], 1.0),
        (np.array([[1000.0 + U / 2.0], [1000.0 - U / 2.0], [0.0]]), W1, 0.0),
        why=(
            "h = 1, π = (1/2, 1/2, 0), and the derivative of tanh is 0, so only z = E h contributes: u/2 (1, -1, 0)"
            " times h."
        ),
    ),
    Holds("The step follows the gradient", _follows_the_gradient, why="Compared with central differences."),
    Holds(
        "Many steps on one batch are clipped",
        _all_are_clipped_in_the_end,
        why="Tokens whose ratio is out of range are clipped.",
    ),
    Unchanged((EMBEDDINGS, WEIGHT, TOKENS, MASK, REWARDS, OLD, 1.0)),
)
