"""The tests of `network/imitation_step`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import REQUIRED, Case, Domain, Holds, Scalar, Unchanged
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

DOMAIN = Domain(
    network_and_texts("B L", "m, 1 on tokens to be learned, 0 on prompt and padding")
    | {"learning_rate": Scalar(REQUIRED, (0.01, 100), at=(1,), meaning="length of the step")},
    sizes={"B": (1, 4)} | SIZES,
    large={"B": 20} | LARGE,
)


def of(
    read=read,
    weights=over_tokens,
    back=way_back,
    loss=lambda log_probs, shares: -(shares * log_probs).sum(),
    direction=-1.0,
):
    def answer(embeddings, weight, tokens, mask, learning_rate):
        seen, shares = read(embeddings, weight, tokens), weights(mask)
        new = moved(seen, -shares, direction * learning_rate, back)
        return *new, float(loss(seen.log_probs, shares))

    return answer


reference = of()

EMBEDDINGS, WEIGHT = np.array([[0.5, -0.3], [-0.8, 0.2], [0.1, 0.9]]), np.array([[0.7, -0.4], [0.3, 1.1]])

TOKENS, MASK = np.array([[0, 1, 1, 2], [2, 2, 0, 1]]), np.array([[1, 0, 1, 1], [0, 1, 1, 0]])


def _loss(embeddings, weight):
    return float(reference(embeddings, weight, TOKENS, MASK, 1.0)[2])


def _is_the_slope(f):
    given = EMBEDDINGS, WEIGHT
    returned = f(*given, TOKENS, MASK, 0.5)
    for name, old, new, slope in zip("EW", given, returned, central_differences(_loss, *given), strict=False):
        if not np.allclose(new, old - 0.5 * slope, atol=1e-8):
            return f"the step of {name} is not learning_rate times a central difference of the loss"
    return None


def _learns(f):
    embeddings, weight, loss = EMBEDDINGS, WEIGHT, 0.0
    for _ in range(200):
        embeddings, weight, loss = f(embeddings, weight, [[0, 1, 2, 0]], [[0, 1, 1, 1]], 1.0)
    return (
        None if loss < 0.1 else f"after 200 steps on one text the loss should be below 0.1, it is {loss:.3g}"
    )


A = np.log(3.0) / 2.0

TWO, ONE = np.array([[A], [5.0 * A]]), np.array([[1.0]])

CHECKS = (
    Case(
        "One token to learn",
        (TWO, ONE, [[0, 1]], [[0, 1]], 1.0),
        (
            np.array([[A - 0.125 + 0.75 * A], [5.0 * A + 0.125]]),
            np.array([[1.0 + 0.75 * A**2]]),
            np.log(4.0 / 3.0),
        ),
        why=(
            "The rows are a = log 3 / 2 and 5 a, one number each, and W is 1. Token 0 is read: h = tanh(a) = 1/2,"
            " the logits are a/2 and 5 a/2, which differ by 2 a = log 3, so π is 1/4 and 3/4. Token 1 comes: the"
            " loss is -log 3/4 = 0.287682, and its slope at the logits, g = π - one-hot, is 1/4 and -1/4. At the exit"
            " each row gets g h, 1/8 and -1/8. At the entrance the slope of h is a/4 - 5 a/4 = -a, and that of E[0] W"
            " is -a (1 - 1/4) = -0.411980: times W it goes to E[0], times E[0] = a to W. So 0.125 - 0.411980 ="
            " -0.286980, -0.125 and -0.226303 are taken off: E is 0.836286 and 2.871531, and W is 1.226303."
        ),
        shown=True,
    ),
    Case(
        "Two texts and a prompt",
        (TWO, ONE, [[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]], 2.0),
        (
            np.array([[A + 0.25 - 1.5 * A], [5.0 * A - 0.25]]),
            np.array([[1.0 - 1.5 * A**2]]),
            np.log(16.0 / 3.0) / 2.0,
        ),
        why=(
            "Two places count, both after token 0: in the first text 0 comes, in the second one 1. The mask of the"
            " very first token does not matter. The loss is (log 4 + log 4/3) / 2, and the slopes at the logits add"
            " up to half of (1/4 - 1, 3/4) + (1/4, 3/4 - 1), (-1/4, 1/4). At the exit that is times 1/2; at the"
            " entrance -a/4 + 5 a/4 = a, times 3/4. Twice (-1/8 + 3 a/4), 1/8 and 3 a²/4 are taken off."
        ),
        shown=True,
    ),
    Case(
        "Two numbers a token",
        (np.array([[A, 0.0], [5.0 * A, 2.0]]), [[1.0, 0.0], [3.0, -1.0]], [[0, 1]], [[1, 1]], 1.0),
        (
            np.array([[A - 0.125 + 0.75 * A, 2.25 * A - 0.5], [5.0 * A + 0.125, 2.0]]),
            np.array([[1.0 + 0.75 * A**2, A / 2.0], [3.0, -1.0]]),
            np.log(4.0 / 3.0),
        ),
        why="h = 1/2, 0 and du = -3 a/4, -1/2: E[0] gets -3 a/4 and -9 a/4 + 1/2, the first row of W a du",
    ),
    Case(
        "A text read twice",
        (TWO, ONE, [[0, 1], [0, 1]], [[1, 1], [1, 1]], 1.0),
        (
            np.array([[A - 0.125 + 0.75 * A], [5.0 * A + 0.125]]),
            np.array([[1.0 + 0.75 * A**2]]),
            np.log(4.0 / 3.0),
        ),
        why="the mean of two equal places is as one of them",
    ),
    Case(
        "A long and a short text",
        (TWO, ONE, [[0, 0, 0], [0, 1, 0]], [[1, 1, 1], [1, 1, 0]], 3.0),
        (
            np.array([[A + 0.625 - 3.75 * A], [5.0 * A - 0.625]]),
            np.array([[1.0 - 3.75 * A**2]]),
            np.log(4.0) - np.log(3.0) / 3.0,
        ),
        why="three places count alike: -3/4, 3/4 twice and 1/4, -1/4 once make -5/4 and 5/4 at the logits",
    ),
    Case(
        "Nothing to learn",
        (TWO, ONE, [[0, 1, 1]], [[1, 0, 0]], 1.0),
        (TWO, ONE, 0.0),
        why="only the first token is marked, and nothing comes before it",
    ),
    Case(
        "Logits of 1000",
        ([[1000.0], [0.0]], ONE, [[0, 1]], [[1, 1]], 1.0),
        (np.array([[999.0], [1.0]]), ONE, 1000.0),
        why="h = 1, the logits are 1000 and 0, so π is 1 and 0, and tanh is flat there",
    ),
    Holds("The step is the slope of the loss", _is_the_slope, why="checked by central differences"),
    Holds("A text is learned by heart", _learns, why="200 steps on one text of four tokens"),
    Unchanged((EMBEDDINGS, WEIGHT, TOKENS, MASK, 1.0)),
)
