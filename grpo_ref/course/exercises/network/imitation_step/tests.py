"""The tests of `network/imitation_step`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import REQUIRED, Case, Domain, Holds, Scalar, Unchanged
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

DOMAIN = Domain(
    network_and_texts("B T", "m, 1 on tokens to learn, else 0")
    | {"learning_rate": Scalar(REQUIRED, (0.01, 100), at=(1,), meaning="step size")},
    sizes={"B": (1, 4)} | SIZES,
    large={"B": 20} | LARGE,
)


def answer_with(
    forward=run_forward,
    weights=token_weights,
    backward=run_backward,
    loss=lambda log_probs, shares: -(shares * log_probs).sum(),
    direction=-1.0,
):
    def answer(embeddings, weight, tokens, mask, learning_rate):
        network, shares = forward(embeddings, weight, tokens), weights(mask)
        new = ascend(network, -shares, direction * learning_rate, backward)
        return *new, float(loss(network.log_probs, shares))

    return answer


reference = answer_with()

EMBEDDINGS, WEIGHT = np.array([[0.5, -0.3], [-0.8, 0.2], [0.1, 0.9]]), np.array([[0.7, -0.4], [0.3, 1.1]])

TOKENS, MASK = np.array([[0, 1, 1, 2], [2, 2, 0, 1]]), np.array([[1, 0, 1, 1], [0, 1, 1, 0]])


def _loss(embeddings, weight):
    return float(reference(embeddings, weight, TOKENS, MASK, 1.0)[2])


def _follows_the_gradient(f):
    inputs = EMBEDDINGS, WEIGHT
    returned = f(*inputs, TOKENS, MASK, 0.5)
    gradients = central_differences(_loss, *inputs)
    for name, old, new, gradient in zip("EW", inputs, returned, gradients, strict=False):
        if not np.allclose(new, old - 0.5 * gradient, atol=1e-8):
            return f"the step of {name} is not learning_rate times a central difference of the loss"
    return None


def _learns(f):
    embeddings, weight, loss = EMBEDDINGS, WEIGHT, 0.0
    for _ in range(20):
        embeddings, weight, loss = f(embeddings, weight, [[0, 1, 2, 0]], [[0, 1, 1, 1]], 1.0)
    return (
        None
        if loss < 0.1
        else f"after 20 steps on one text the loss should be below 0.1, but it is {loss:.3g}"
    )


A = np.log(3.0) / 2.0

E1, W1 = np.array([[A], [5.0 * A]]), np.array([[1.0]])

E2, W2 = np.array([[A, 0.0], [5.0 * A, 2.0]]), np.array([[1.0, 0.0], [3.0, -1.0]])

CHECKS = (
    Case(
        "One number per token",
        (E1, W1, [[0, 1]], [[0, 1]], 1.0),
        (
            np.array([[A - 0.125 + 0.75 * A], [5.0 * A + 0.125]]),
            np.array([[1.0 + 0.75 * A**2]]),
            np.log(4.0 / 3.0),
        ),
        why=(
            "h = 1/2, π is 1/4 and 3/4, and the gradient at the logits is (1/4, -1/4). From the output the rows get"
            " 1/8 and -1/8. The gradient of h is -a, and that of E[0] W is -3a/4: times W it goes to E[0], times E[0]"
            " it goes to W."
        ),
        shown=True,
    ),
    Case(
        "Two numbers per token",
        (E2, W2, [[0, 1]], [[1, 1]], 1.0),
        (
            np.array([[A - 0.125 + 0.75 * A, 2.25 * A - 0.5], [5.0 * A + 0.125, 2.0]]),
            np.array([[1.0 + 0.75 * A**2, A / 2.0], [3.0, -1.0]]),
            np.log(4.0 / 3.0),
        ),
        why=(
            "h = (1/2, 0), and the gradient of E[0] W is d = (-3a/4, -1/2). E[0] gets d Wᵀ = (-3a/4, -9a/4 + 1/2) from"
            " the input, and the first row of W gets a d."
        ),
        shown=True,
    ),
    Case(
        "Two texts",
        (E1, W1, [[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]], 2.0),
        (
            np.array([[A + 0.25 - 1.5 * A], [5.0 * A - 0.25]]),
            np.array([[1.0 - 1.5 * A**2]]),
            np.log(16.0 / 3.0) / 2.0,
        ),
        why=(
            "Two positions count, both after token 0. The mask of the first token does not matter. The loss is"
            " (log 4 + log 4/3) / 2, and the gradient at the logits is (-1/4, 1/4)."
        ),
        shown=True,
    ),
    Case(
        "Two equal texts",
        (E1, W1, [[0, 1], [0, 1]], [[1, 1], [1, 1]], 1.0),
        (
            np.array([[A - 0.125 + 0.75 * A], [5.0 * A + 0.125]]),
            np.array([[1.0 + 0.75 * A**2]]),
            np.log(4.0 / 3.0),
        ),
        why="The mean over two equal positions is the value of one.",
    ),
    Case(
        "A long and a short text",
        (E1, W1, [[0, 0, 0], [0, 1, 0]], [[1, 1, 1], [1, 1, 0]], 3.0),
        (
            np.array([[A + 0.625 - 3.75 * A], [5.0 * A - 0.625]]),
            np.array([[1.0 - 3.75 * A**2]]),
            np.log(4.0) - np.log(3.0) / 3.0,
        ),
        why=(
            "Three positions count the same. Two have the gradient (-3/4, 3/4) at the logits and one has (1/4, -1/4):"
            " together (-5/4, 5/4)."
        ),
    ),
    Case(
        "No position counts",
        (E1, W1, [[0, 1, 1]], [[1, 0, 0]], 1.0),
        (E1, W1, 0.0),
        why="Only the first token has a mask of 1, and the first token is never predicted.",
    ),
    Case(
        "Logits of 1000",
        ([[1000.0], [0.0]], W1, [[0, 1]], [[1, 1]], 1.0),
        (np.array([[999.0], [1.0]]), W1, 1000.0),
        why="h = 1, the logits are 1000 and 0, so π is 1 and 0, and the derivative of tanh is 0.",
    ),
    Holds("The step follows the gradient", _follows_the_gradient, why="Compared with central differences."),
    Holds("A text is learned by heart", _learns, why="20 steps on one text of four tokens."),
    Unchanged((EMBEDDINGS, WEIGHT, TOKENS, MASK, 1.0)),
)
