"""The backward pass of a table look-up."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.learning.policies import table as policy


def _reference(weights: Any, states: Any, tokens: Any, n_states: int, n_tokens: int) -> Any:
    weights, states, tokens = np.asarray(weights, float), np.asarray(states), np.asarray(tokens)
    cube = (1, 1, -1)
    return policy.scatter_add(
        weights.reshape(cube), states.reshape(cube), tokens.reshape(cube), (n_states, n_tokens)
    )


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    many = 4 * size
    return (
        rng.normal(size=many),
        rng.integers(0, size + 1, many),
        rng.integers(0, size + 2, many),
        size + 1,
        size + 2,
    )


def _of(fill: Any) -> Function:
    def answer(weights: Any, states: Any, tokens: Any, n_states: int, n_tokens: int) -> Any:
        table = np.zeros((n_states, n_tokens))
        fill(table, np.asarray(states), np.asarray(tokens), np.asarray(weights, float))
        return table

    return answer


def _assign_added(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    table[states, tokens] += weights


def _assign(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    table[states, tokens] = weights


def _swapped(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.add.at(table, (np.minimum(tokens, len(table) - 1), np.minimum(states, table.shape[1] - 1)), weights)


def _counted(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.add.at(table, (states, tokens), 1.0)


def _averaged(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.add.at(table, (states, tokens), weights)
    counts = np.zeros_like(table)
    np.add.at(counts, (states, tokens), 1.0)
    table /= np.maximum(counts, 1)


def _whole_rows(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.add.at(table, states, weights[:, None])


def _absolute(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.add.at(table, (states, tokens), np.abs(weights))


def _negated(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.subtract.at(table, (states, tokens), weights)


def _right(table: Any, states: Any, tokens: Any, weights: Any) -> None:
    np.add.at(table, (states, tokens), weights)


PROBLEM = Problem(
    id="training/scatter_add",
    title="The way back into the table",
    function="scatter_add",
    reference=_reference,
    background="Reading table[state, token] for every token of a batch is a look-up. Its backward pass adds each gradient where it was read.",
    task="Write `scatter_add(weights, states, tokens, n_states, n_tokens)`:\n\n    result[s, a] = Σ of the weights whose state is s and whose token is a",
    inputs="weights: (N,) numbers.\nstates, tokens: (N,) integers.\nn_states, n_tokens: shape of the table.",
    output="(n_states, n_tokens).",
    constraints="A state and token that come twice are added twice.",
    source="the transpose of fancy indexing; np.add.at and np.bincount do it.",
    hints=(
        "What does table[states, tokens] += weights do when an index comes twice?",
        "It writes once. np.add.at adds every time; np.bincount over states * n_tokens + tokens does too, and faster.",
        "np.bincount(states * n_tokens + tokens, weights, minlength=n_states * n_tokens).reshape(n_states, n_tokens)",
    ),
    checks=(
        Case(
            "Three different entries",
            ([1.0, 2.0, 3.0], [0, 1, 1], [0, 0, 2], 2, 3),
            np.array([[1.0, 0, 0], [2, 0, 3]]),
            why="each at its place",
            shown=True,
        ),
        Case(
            "The same entry twice",
            ([1.0, 2.0], [1, 1], [0, 0], 2, 2),
            np.array([[0.0, 0], [3, 0]]),
            why="1 + 2",
        ),
        Case(
            "Weights of both signs",
            ([1.0, -1.0, 0.5], [0, 0, 0], [1, 1, 0], 1, 2),
            np.array([[0.5, 0.0]]),
            why="1 - 1, and 0.5",
        ),
        Case(
            "The last entries may be unused",
            ([2.0], [0], [0], 3, 2),
            np.array([[2.0, 0], [0, 0], [0, 0]]),
            why="the shape is given",
        ),
        Unchanged((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 0]), 2, 2)),
        Drawn("Random entries agree", _draw, why="many repeats"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "repeats lost",
            _of(_assign_added),
            "`table[states, tokens] += weights` writes a repeated entry once; np.add.at adds every time.",
        ),
        Mutant("overwritten", _of(_assign), "The last weight overwrites the others."),
        Mutant("axes swapped", _of(_swapped), "States and tokens are swapped."),
        Mutant("counted", _of(_counted), "This counts the visits; their weights are to be added."),
        Mutant("averaged", _of(_averaged), "The weights are added, not averaged."),
        Mutant("whole rows", _of(_whole_rows), "The weight is added to the whole row of the state."),
        Mutant("absolute", _of(_absolute), "The signs are lost."),
        Mutant("negated", _of(_negated), "The sign is turned over."),
        Mutant(
            "shape from the data",
            lambda w, s, t, n, v: _reference(w, s, t, int(np.max(s)) + 1, int(np.max(t)) + 1),
            "The shape of the table is given, also where its last entries are unused.",
        ),
    ),
    others={"np.add.at": _of(_right)},
)
