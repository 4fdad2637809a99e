"""One step uphill."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.learning.policies.table import gather, policy_of, pull_back, scatter_add
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO


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


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    mask = (np.arange(size + 1) < rng.integers(1, size + 2, (size + 1, 1))).astype(float)
    states, tokens = rng.integers(0, 3, (2, *mask.shape))
    return rng.normal(size=(3, 3)), states, tokens, rng.normal(size=len(mask)), mask, rng.uniform(0.1, 2.0)


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
    background="Softmax, advantage, token mean, chain rule, scatter-add: all that a training step on fresh data needs is there.",
    task=(
        "Write `update(logits, states, tokens, advantages, mask, learning_rate)`: one step of gradient ascent on\n\n"
        "    J = Σ m A log π(token | state) / Σ m,    π(· | s) = softmax(logits[s])\n\n"
        "over the tokens of N completions. The result is logits + learning_rate · ∂J/∂logits."
    ),
    inputs="logits: (S, V), one row per state.\nstates, tokens: (N, T) whole numbers; padding holds arbitrary valid ones.\nadvantages: (N,) one per completion.\nmask: (N, T) 1 on tokens, 0 on padding; at least one is 1.\nlearning_rate: a number.",
    output="(S, V), the new logits.",
    constraints="A state that is visited several times collects all its visits.",
    source="Williams 1992, REINFORCE; the weights of DAPO's token mean.",
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
            why="one-hot minus one half",
            shown=True,
        ),
        Case(
            "A state visited twice, and padding",
            ([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0),
            np.array([[1.0, -1.0], [0.0, 0.0]]),
            why="two visits of weight 1/2, each ±1/2, and a step of 2; the padding adds nothing",
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
        Drawn("Random batches agree", _draw, why="ragged, states that come back"),
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
