"""The backward pass of a table look-up."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Made, Real, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.learning.policies import table as policy

DOMAIN = Domain(
    {
        "weights": Real("N", (-1e4, 1e4), meaning="what is to be added"),
        "states": Whole((0, "S - 1"), axes="N", meaning="the row of each weight"),
        "tokens": Whole((0, "V - 1"), axes="N", meaning="the column of each weight"),
        "n_states": Made(lambda context: context.sizes["S"], "S, the number of rows of the table, from 1"),
        "n_tokens": Made(lambda context: context.sizes["V"], "V, the number of its columns, from 1"),
    },
    sizes={"N": (0, 8), "S": (1, 4), "V": (1, 4)},
    large={"N": 300, "S": 30, "V": 300},
)


def _reference(weights: Any, states: Any, tokens: Any, n_states: int, n_tokens: int) -> Any:
    weights, states, tokens = np.asarray(weights, float), np.asarray(states), np.asarray(tokens)
    cube = (1, 1, -1)
    return policy.scatter_add(
        weights.reshape(cube), states.reshape(cube), tokens.reshape(cube), (n_states, n_tokens)
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
    background=(
        "The policy of our small tasks is a table with a row for every state and a column for every token."
        " Computing the loss, a trainer reads table[state, token] for every token of the batch: a look-up. Going"
        " backward, the loss has a derivative for each of these readings, and an entry that was read several times"
        " gets the sum of its derivatives. So each weight is added where it was read: the look-up, turned over."
    ),
    task=(
        "Write `scatter_add(weights, states, tokens, n_states, n_tokens)`, which returns a table:\n\n"
        "    table[s, a] = Σ of the weights[n] with states[n] = s and tokens[n] = a\n\n"
        "An entry that comes several times gets the sum of all its weights; an entry that never comes is 0. The"
        " batch may be empty: then weights, states and tokens are NumPy arrays of length 0, those of states and tokens"
        " with whole numbers for a type, and the whole table is 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="An array of shape (n_states, n_tokens).",
    notes="PyTorch calls it scatter_add or index_put with accumulate=True; it is the backward pass of an embedding.",
    source="grpo_ref.learning.policies.table, `scatter_add`.",
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
            why="1 goes to row 0, column 0; 2 to row 1, column 0; 3 to row 1, column 2. All other entries are 0.",
            shown=True,
        ),
        Case(
            "The same entry twice",
            ([1.0, 2.0], [1, 1], [0, 0], 2, 2),
            np.array([[0.0, 0], [3, 0]]),
            why="Both weights belong to row 1, column 0: 1 + 2 = 3.",
            shown=True,
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
        Case(
            "An empty batch",
            (np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=int), 2, 3),
            np.zeros((2, 3)),
            why="nothing was read, so nothing is added",
        ),
        Unchanged((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 0]), 2, 2)),
        FromDomain(),
        *found_cases(__file__),
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
