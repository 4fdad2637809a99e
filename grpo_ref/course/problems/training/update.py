"""One step uphill."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import REQUIRED, Mask, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain, Rule
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
from grpo_ref.learning.policies.table import gather, policy_of, pull_back, scatter_add
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO

DOMAIN = Domain(
    {
        "logits": Real(
            "S V", (-1000, 1000), rows=(MIXED, LEVELS, OFFSET_ROWS), meaning="one row for each state"
        ),
        "states": Whole((0, "S - 1"), axes="N T", meaning="in which state each token was chosen"),
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="the tokens"),
        "advantages": Real("N", (-100, 100), at=(0,), meaning="A, one for each completion"),
        "mask": Mask("N T", meaning="m, 1 on tokens, 0 on padding"),
        "learning_rate": Scalar(REQUIRED, (0.001, 100), at=(1, 100), meaning="length of the step"),
    },
    sizes={"S": (1, 4), "V": (1, 4), "N": (1, 4), "T": (1, 4)},
    large={"S": 12, "N": 20, "T": 40},
    rules=(Rule("At least one entry of mask is 1.", lambda values: bool(np.any(values["mask"]))),),
)


def _of(back: Any = pull_back, scale: Any = None, direction: float = -1.0, recipe: Any = DAPO) -> Function:
    def answer(
        logits: Any, states: Any, tokens: Any, advantages: Any, mask: Any, learning_rate: float
    ) -> Any:
        logits = np.asarray(logits, dtype=float)
        states, tokens, mask = (np.asarray(x)[None] for x in (states, tokens, mask))
        policy = policy_of(logits)
        log_probs = gather(policy.log_probs, states, tokens)
        result = policy_loss(log_probs, np.asarray(advantages, dtype=float)[None], mask, recipe=recipe)
        gradient = result.gradient * (1.0 if scale is None else scale(mask))
        return logits + direction * learning_rate * back(gradient, states, tokens, policy.probs)

    return answer


_reference = _of()


def _likelier(f: Function) -> str | None:
    logits = np.array([[0.1, -0.2, 0.3]])
    for advantage in (1.0, -1.0):
        new = np.asarray(f(logits, [[0, 0]], [[1, 1]], [advantage], [[1, 1]], 0.1))
        gained = policy_of(new).probs[0, 1] - policy_of(logits).probs[0, 1]
        if not gained * advantage > 0.0:
            return "a good token should become likelier, a bad one less likely"
    return None


def _last_visit(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    table = np.zeros_like(probs)
    table[states, tokens] += gradient
    return table - scatter_add(gradient, states, np.zeros_like(tokens), (len(probs), 1)) * probs


PROBLEM = Problem(
    id="training/update",
    title="One step uphill",
    function="update",
    reference=_reference,
    background=(
        "A policy writes a completion token by token. Where it is when it chooses a token is called the state: in a"
        " language model all the text so far, here the number of a row in a table of logits. The softmax of that row"
        " gives the probability of each token. Every completion has been given an advantage A, which says whether it"
        " was better or worse than expected. One step of training makes the tokens of good completions likelier and"
        " those of bad ones rarer. Softmax, token mean, chain rule and scatter-add are all that it needs."
    ),
    task=(
        "Write `update(logits, states, tokens, advantages, mask, learning_rate)`: one step of gradient ascent on\n\n"
        "    J = Σ m A log π(token | state) / Σ m,    π(· | s) = softmax(logits[s])\n\n"
        "Both sums run over all tokens of the N completions: every token of the batch has the same weight, however"
        " long its completion is. A is constant, the same for all tokens of a completion. The result is\n\n"
        "    logits + learning_rate · ∂J/∂logits,    ∂ log π(a | s)/∂logits[s] = one-hot(a) - π(· | s)\n\n"
        "A state that several tokens were chosen in collects the gradients of them all; a state that none was chosen"
        " in stays as it is."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(S, V), the new logits.",
    constraints="Padding holds valid states and tokens, which must not matter.\n"
    "Logits may lie 1000 apart: a softmax that does not take off the largest one first overflows.",
    notes=(
        "This is REINFORCE with advantages. On data that the policy has just written, GRPO and PPO take the same"
        " step: the ratio is 1 and nothing is clipped."
    ),
    source="Williams 1992, REINFORCE; verl `token-mean`, for the weights.",
    hints=(
        "What is ∂J/∂ log π of one token, and what does raising log π of a token mean for the logits of its state?",
        "Each token adds w A (one-hot - π(· | state)) to the row of its state, with w = m / Σ m.",
        "np.add.at(gradient, states, (mask / mask.sum() * A)[..., None] * (np.eye(V)[tokens] - probs[states]))",
    ),
    checks=(
        Case(
            "One good token",
            ([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0),
            np.array([[0.5, -0.5]]),
            why="Both tokens have probability 1/2, token 0 was chosen and was good: [1, 0] - [1/2, 1/2].",
            shown=True,
        ),
        Case(
            "A state visited twice, and padding",
            ([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0),
            np.array([[1.0, -1.0], [0.0, 0.0]]),
            why="Two tokens count, each with weight 1/2. Both chose token 0 in state 0 and add 1/2 · [1/2, -1/2]; the"
            " sum [1/2, -1/2] times 2 is the step. The third token is padding: state 1 stays at 0.",
            shown=True,
        ),
        Case(
            "Two completions that disagree",
            ([[0.0, 0.0]], [[0], [0]], [[0], [0]], [1.0, -1.0], [[1], [1]], 1.0),
            np.zeros((1, 2)),
            why="the same token once good and once bad",
        ),
        Holds("Good tokens become likelier, bad ones rarer", _likelier, why="that is what learning is"),
        Unchanged(
            (np.zeros((1, 2)), np.array([[0]]), np.array([[0]]), np.array([1.0]), np.array([[1]]), 1.0)
        ),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("downhill", _of(direction=1.0), "The sign is turned over: good tokens become rarer."),
        Mutant(
            "visits lost",
            _of(_last_visit),
            "`table[states, tokens] += x` writes a repeated entry once; np.add.at adds every time.",
        ),
        Mutant(
            "probabilities left out",
            _of(lambda g, s, t, p: scatter_add(g, s, t, p.shape)),
            "Raising one logit lowers the probability of the others: the -π is missing.",
        ),
        Mutant(
            "sum for mean", _of(scale=lambda m: m.sum()), "The step is not divided by the number of tokens."
        ),
        Mutant(
            "mean of means",
            _of(scale=lambda m: m.sum() / m.sum(-1, keepdims=True) / m.shape[1]),
            "Every token counts the same here; this divides by each completion's own length.",
        ),
        Mutant(
            "padded mean",
            _of(scale=lambda m: m.sum() / m.size),
            "It divides by N T, not by the number of tokens.",
        ),
        Mutant(
            "learning rate forgotten",
            lambda z, s, t, a, m, learning_rate: _reference(z, s, t, a, m, 1.0),
            "The learning rate is not used.",
        ),
        Mutant(
            "the gradient alone",
            lambda z, s, t, a, m, lr: _reference(z, s, t, a, m, lr) - np.asarray(z),
            "The new logits are asked for, not the step.",
        ),
        Mutant(
            "padding trained",
            lambda z, s, t, a, m, lr: _reference(z, s, t, a, np.ones_like(m), lr),
            "The padding is trained too.",
        ),
    ),
    others={
        "token by token": _of(
            lambda g, s, t, p: sum(
                pull_back(np.where(np.indices(g.shape)[-1] == k, g, 0.0), s, t, p) for k in range(g.shape[-1])
            )
        )
    },
)
