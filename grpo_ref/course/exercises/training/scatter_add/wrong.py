"""Wrong answers to `training/scatter_add`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.training.scatter_add.tests import reference


def _of(fill):
    def answer(weights, states, tokens, n_states, n_tokens):
        table = np.zeros((n_states, n_tokens))
        fill(table, np.asarray(states), np.asarray(tokens), np.asarray(weights, float))
        return table

    return answer


def _assign_added(table, states, tokens, weights):
    table[states, tokens] += weights


def _assign(table, states, tokens, weights):
    table[states, tokens] = weights


def _swapped(table, states, tokens, weights):
    np.add.at(table, (np.minimum(tokens, len(table) - 1), np.minimum(states, table.shape[1] - 1)), weights)


def _counted(table, states, tokens, weights):
    np.add.at(table, (states, tokens), 1.0)


def _averaged(table, states, tokens, weights):
    np.add.at(table, (states, tokens), weights)
    counts = np.zeros_like(table)
    np.add.at(counts, (states, tokens), 1.0)
    table /= np.maximum(counts, 1)


def _whole_rows(table, states, tokens, weights):
    np.add.at(table, states, weights[:, None])


def _absolute(table, states, tokens, weights):
    np.add.at(table, (states, tokens), np.abs(weights))


def _negated(table, states, tokens, weights):
    np.subtract.at(table, (states, tokens), weights)


WRONG = (
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
        lambda w, s, t, n, v: reference(w, s, t, int(np.max(s)) + 1, int(np.max(t)) + 1),
        "The shape of the table is given, also where its last entries are unused.",
    ),
)
