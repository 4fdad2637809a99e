"""One step of imitation."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import REQUIRED, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.course.problems.tiny_network import (
    LARGE,
    SIZES,
    central_differences,
    moved,
    network_and_texts,
    network_mutants,
    over_tokens,
    place_by_place,
    read,
    way_back,
)

DOMAIN = Domain(
    network_and_texts("B L", "m, 1 on tokens to be learned, 0 on prompt and padding")
    | {"learning_rate": Scalar(REQUIRED, (0.01, 100), at=(1,), meaning="length of the step")},
    sizes={"B": (1, 4)} | SIZES,
    large={"B": 20} | LARGE,
)


def _of(
    read: Any = read,
    weights: Any = over_tokens,
    back: Any = way_back,
    loss: Any = lambda log_probs, shares: -(shares * log_probs).sum(),
    direction: float = -1.0,
) -> Function:
    def answer(embeddings: Any, weight: Any, tokens: Any, mask: Any, learning_rate: float) -> Any:
        seen, shares = read(embeddings, weight, tokens), weights(mask)
        new = moved(seen, -shares, direction * learning_rate, back)
        return *new, float(loss(seen.log_probs, shares))

    return answer


_reference = _of()
EMBEDDINGS, WEIGHT = np.array([[0.5, -0.3], [-0.8, 0.2], [0.1, 0.9]]), np.array([[0.7, -0.4], [0.3, 1.1]])
TOKENS, MASK = np.array([[0, 1, 1, 2], [2, 2, 0, 1]]), np.array([[1, 0, 1, 1], [0, 1, 1, 0]])


def _loss(embeddings: Any, weight: Any) -> float:
    return float(_reference(embeddings, weight, TOKENS, MASK, 1.0)[2])


def _is_the_slope(f: Function) -> str | None:
    given = EMBEDDINGS, WEIGHT
    returned = f(*given, TOKENS, MASK, 0.5)
    for name, old, new, slope in zip("EW", given, returned, central_differences(_loss, *given), strict=False):
        if not np.allclose(new, old - 0.5 * slope, atol=1e-8):
            return f"the step of {name} is not learning_rate times a central difference of the loss"
    return None


def _learns(f: Function) -> str | None:
    embeddings, weight, loss = EMBEDDINGS, WEIGHT, 0.0
    for _ in range(200):
        embeddings, weight, loss = f(embeddings, weight, [[0, 1, 2, 0]], [[0, 1, 1, 1]], 1.0)
    return (
        None if loss < 0.1 else f"after 200 steps on one text the loss should be below 0.1, it is {loss:.3g}"
    )


A = np.log(3.0) / 2.0
"""Number with tanh(A) = 1/2."""
TWO, ONE = np.array([[A], [5.0 * A]]), np.array([[1.0]])
"""After token 0, the probabilities are 1/4 and 3/4: the logits are A/2 and 5 A/2, and 2 A is log 3."""

PROBLEM = Problem(
    id="network/imitation_step",
    title="One step of imitation",
    function="imitation_step",
    reference=_reference,
    background=(
        "A network that knows nothing writes noise, and noise is never rewarded. So it is pretrained: it reads texts,"
        " and every token in them is made likelier after what comes before it. The slope begins at the logits, as in"
        " `network/cross_entropy`, and goes back through every layer until it arrives at the weights. Here the network"
        " is the smallest one that has all the parts. It looks at one token only, the one before: takes the row of"
        " numbers that stands for it (its embedding), multiplies it with a weight, bends the result, and compares it"
        " with the rows of all tokens. One table serves at the entrance and at the exit, which is called a tied"
        " embedding; GPT-2 has it too. So each row is corrected for two reasons: for what follows when its token is"
        " read, and for how well it answers when its token may come next."
    ),
    task=(
        "Write `imitation_step(embeddings, weight, tokens, mask, learning_rate)`: one step of gradient descent on the"
        " cross-entropy. With E for `embeddings` and W for `weight`, the network computes after a token x\n\n"
        "    h = tanh(E[x] W),    z = E h,    π(· | x) = softmax(z)\n\n"
        "E[x] is row x of E, D numbers; (E[x] W)[d] = Σ_c E[x, c] W[c, d], and z[a] = Σ_d E[a, d] h[d] is the logit of"
        " token a. In text b, with places t counted from 0, tokens[b, t - 1] is read and tokens[b, t] predicted:\n\n"
        "    loss = -Σ m[b, t] log π(tokens[b, t] | tokens[b, t - 1]) / Σ m[b, t]\n\n"
        "Both sums run over all texts together and all places t ≥ 1, so every token counts the same. Nothing comes"
        " before the first token of a text, t = 0: it is never predicted, and its entry of the mask does not matter."
        " The new weights are"
        " E - learning_rate · ∂loss/∂E and W - learning_rate · ∂loss/∂W. E has two slopes, as what is read and as what"
        " h is compared with: they are added, and so is what comes from all places. The slope of tanh is 1 - tanh²."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A tuple: the new E, of shape (V, D), the new W, of shape (D, D), and the loss before the step, in nats.",
    constraints=(
        "Where no token is to be learned, the loss is 0, and E and W stay as they are.\n"
        "Logits may lie thousands apart: take the largest one off first, and do not take the logarithm of a"
        " probability that has become 0."
    ),
    notes=(
        "A transformer puts its layers in the place of W, and takes longer steps where slopes are small (Adam); nothing"
        " else changes. Without W the network could hardly learn which of two tokens comes first: tanh(E[a]) · E[b] is"
        " nearly the same as tanh(E[b]) · E[a]. grpo_ref imitates in grpo_ref.learning.pretraining."
    ),
    source="Press & Wolf 2017, for the tied embedding (arXiv:1608.05859).",
    hints=(
        "Make one row for each place: the token before, h, π, and the token that comes. z = E h is a product: which two"
        " slopes does a product have, and which of them leads on to W and to the row that was read?",
        "With g = ∂loss/∂z of a place, every row a of E gets g[a] h. On the way to the entrance du = (Σ_a g[a] E[a])"
        " (1 - h²); W gets E[x]ᵀ du, and row x of E gets du Wᵀ on top.",
        "g = w[:, None] * (probs - np.eye(V)[after]); du = (g @ E) * (1 - h**2); dE = g.T @ h; np.add.at(dE, before,"
        " du @ W.T); dW = E[before].T @ du",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        *network_mutants(_of),
        Mutant(
            "uphill",
            _of(direction=1.0),
            "The sign is turned over: the texts become less likely, not likelier.",
        ),
        Mutant(
            "log-likelihood returned",
            _of(loss=lambda log_probs, shares: (shares * log_probs).sum()),
            "The loss is minus the mean of log π.",
        ),
        Mutant(
            "perplexity returned",
            _of(loss=lambda log_probs, shares: np.exp(-(shares * log_probs).sum())),
            "This is the perplexity, e to the loss.",
        ),
        Mutant(
            "logarithm of a probability",
            _of(loss=lambda log_probs, shares: -(shares * np.log(np.exp(log_probs) + 1e-12)).sum()),
            "A small number inside the logarithm floors every log-probability.",
        ),
        Mutant(
            "the loss after the step",
            lambda e, w, t, m, lr: (
                *_reference(e, w, t, m, lr)[:2],
                _reference(*_reference(e, w, t, m, lr)[:2], t, m, lr)[2],
            ),
            "The loss before the step is asked for; this is the one after it.",
        ),
        Mutant(
            "learning rate forgotten",
            lambda e, w, t, m, lr: _reference(e, w, t, m, 1.0),
            "The learning rate is not used.",
        ),
        Mutant(
            "W sees the new E",
            lambda e, w, t, m, lr: (
                _reference(e, w, t, m, lr)[0],
                _reference(_reference(e, w, t, m, lr)[0], w, t, m, lr)[1],
                _reference(e, w, t, m, lr)[2],
            ),
            "All slopes are taken at the old weights; here W sees what E has become.",
        ),
        Mutant(
            "the slopes returned",
            lambda e, w, t, m, lr: (
                (np.asarray(e) - _reference(e, w, t, m, lr)[0]) / lr,
                (np.asarray(w) - _reference(e, w, t, m, lr)[1]) / lr,
                _reference(e, w, t, m, lr)[2],
            ),
            "The new weights are asked for, not their slopes.",
        ),
    ),
    others={
        "place by place": _of(back=place_by_place),
        "a list": lambda *given: [
            each.tolist() if isinstance(each, np.ndarray) else each for each in _reference(*given)
        ],
    },
)
