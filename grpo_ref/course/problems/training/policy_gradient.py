"""From log-probabilities to logits."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED, OFFSET_ROWS
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
from grpo_ref.learning.policies import table as policy

DOMAIN = Domain(
    {
        "logits": Real(
            "N V",
            (-1000, 1000),
            usual=((-2, 2), (-5, 5)),
            at=(800, -800),
            rows=(MIXED, LEVELS, OFFSET_ROWS),
            meaning="one row for each token that was drawn",
        ),
        "tokens": Whole((0, "V - 1"), axes="N", meaning="the number of the token that was drawn in each row"),
        "gradient": Real("N", (-1e4, 1e4), meaning="g, the derivative ∂L/∂log π(token) of each row"),
    },
    sizes={"N": (1, 4), "V": (1, 5)},
    large={"N": 80, "V": 80},
)


def _reference(logits: Any, tokens: Any, gradient: Any) -> Any:
    logits, tokens, gradient = np.asarray(logits, float), np.asarray(tokens), np.asarray(gradient, float)
    cube, states = (1, 1, -1), np.arange(len(logits)).reshape(1, 1, -1)
    probs = policy.policy_of(logits).probs
    return policy.pull_back(gradient.reshape(cube), states, tokens.reshape(cube), probs)


def _of(formula: Any) -> Function:
    def answer(logits: Any, tokens: Any, gradient: Any) -> Any:
        z = np.asarray(logits, float)
        probs, one_hot = policy.policy_of(z).probs, np.eye(z.shape[-1])[np.asarray(tokens)]
        return formula(np.asarray(gradient, float)[:, None], one_hot, probs)

    return answer


def _rows_sum_to_zero(f: Function) -> str | None:
    rows = f(np.array([[0.3, -0.2, 1.0], [0.0, 2.0, 0.5]]), np.array([0, 2]), np.array([1.0, -2.0]))
    return (
        None
        if np.allclose(np.asarray(rows).sum(-1), 0.0)
        else "each row should sum to 0: adding a constant to the logits changes nothing"
    )


PROBLEM = Problem(
    id="training/policy_gradient",
    title="From log-probabilities to logits",
    function="logits_gradient",
    reference=_reference,
    background=(
        "The policy has one number for each token of its vocabulary, the logits, and draws tokens from π, their"
        " softmax. The loss L does not see the logits: it knows the log-probability of the token that was drawn,"
        " and says how L changes with it, ∂L/∂log π(token). To train, this must be carried on to the logits. Making"
        " one token likelier makes all others less likely, since probabilities sum to 1; so every logit of the row"
        " gets a share. This step is the whole policy gradient; what remains is to go a little against it."
    ),
    task=(
        "Write `logits_gradient(logits, tokens, gradient)`, the chain rule through the log-softmax:\n\n"
        "    ∂L/∂logits[n, a] = g[n] (1[a = tokens[n]] - π[n, a])\n\n"
        "π[n] is the softmax of row n of the logits. 1[a = tokens[n]] is 1 at the token that was drawn in row n and"
        " 0 at all others. The rows are independent, and nothing is averaged. Logits may be large: a difference of"
        " a thousand is a probability of 0, not an overflow."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N, V) ∂L/∂logits; each row sums to 0.",
    constraints="With a vocabulary of one token, V = 1, the gradient is 0.",
    notes=(
        "Trainers leave this line to automatic differentiation; grpo_ref writes it by hand, in"
        " grpo_ref.learning.policies.table.pull_back, where it also adds the rows of equal states."
    ),
    source="Williams 1992, Simple statistical gradient-following algorithms, sec. 6.",
    hints=(
        "What does raising one logit do to the log-probability of its own token, and to those of the others?",
        "The derivative of log π(token) is the one-hot vector of the token minus the probabilities.",
        "gradient[:, None] * (np.eye(V)[tokens] - probs)",
    ),
    checks=(
        Case(
            "A fair coin",
            ([[0.0, 0.0]], [0], [1.0]),
            np.array([[0.5, -0.5]]),
            why="π = 1/2, 1/2. The token drawn is 0: 1 - 1/2 = 0.5, and for the other 0 - 1/2 = -0.5.",
            shown=True,
        ),
        Case(
            "Odds of 3 to 1",
            (np.log([[3.0, 1.0]]), [1], [2.0]),
            np.array([[-1.5, 1.5]]),
            why="2 (0 - 3/4), 2 (1 - 1/4)",
        ),
        Case("No gradient", ([[1.0, 2.0]], [0], [0.0]), np.zeros((1, 2)), why="nothing to pass on"),
        Case(
            "Large logits",
            (np.array([[1000.0, 0.0]]), [1], [1.0]),
            np.array([[-1.0, 1.0]]),
            why="π is 1 and 0",
        ),
        Holds("Rows sum to zero", _rows_sum_to_zero, why="the softmax knows differences only"),
        Unchanged((np.array([[1.0, 2.0]]), np.array([0]), np.array([1.0]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "one-hot only",
            _of(lambda g, e, p: g * e),
            "The probabilities are missing: raising one logit lowers all other tokens.",
        ),
        Mutant(
            "sign",
            _of(lambda g, e, p: g * (p - e)),
            "The sign is turned over: this is the gradient of -log π.",
        ),
        Mutant(
            "of the probability",
            _of(lambda g, e, p: g * (p * e).sum(-1, keepdims=True) * (e - p)),
            "This is the gradient of π(token), not of its logarithm.",
        ),
        Mutant(
            "only the token's entry",
            _of(lambda g, e, p: g * e * (1 - p)),
            "The other tokens have a gradient as well, -g π.",
        ),
        Mutant("gradient forgotten", _of(lambda g, e, p: e - p), "g is not used."),
        Mutant("gradient twice", _of(lambda g, e, p: g * (g * e - p)), "g multiplies the whole row, once."),
        Mutant(
            "averaged",
            _of(lambda g, e, p: g * (e - p) / len(g)),
            "Nothing is averaged here: g has all the weights.",
        ),
        Mutant(
            "uniform",
            _of(lambda g, e, p: g * (e - 1 / p.shape[-1])),
            "π is the softmax of the logits, not uniform.",
        ),
        Mutant(
            "overflow",
            lambda z, t, g: (
                np.asarray(g, float)[:, None]
                * (np.eye(np.shape(z)[-1])[np.asarray(t)] - np.exp(z) / np.exp(z).sum(-1, keepdims=True))
            ),
            "Large logits overflow; subtract the maximum first.",
        ),
    ),
    others={
        "a loop": lambda z, t, g: np.stack(
            [_reference(z[n : n + 1], t[n : n + 1], g[n : n + 1])[0] for n in range(len(z))]
        )
    },
)
