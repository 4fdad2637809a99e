"""Wrong answers to `training/scatter_add`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.training.scatter_add.tests import reference


def only_the_last(weights, states, tokens, n_states, n_tokens):
    table = np.zeros((n_states, n_tokens))
    table[np.asarray(states), np.asarray(tokens)] += np.asarray(weights, float)
    return table


def only_the_first(weights, states, tokens, n_states, n_tokens):
    return only_the_last(weights[::-1], states[::-1], tokens[::-1], n_states, n_tokens)


def swapped(weights, states, tokens, n_states, n_tokens):
    table = np.zeros((n_states, n_tokens))
    np.add.at(table, (np.asarray(tokens), np.asarray(states)), weights)
    return table


def counted(weights, states, tokens, n_states, n_tokens):
    return reference(np.ones(len(weights)), states, tokens, n_states, n_tokens)


def averaged(weights, states, tokens, n_states, n_tokens):
    counts = counted(weights, states, tokens, n_states, n_tokens)
    return reference(weights, states, tokens, n_states, n_tokens) / np.maximum(counts, 1)


def whole_rows(weights, states, tokens, n_states, n_tokens):
    table = np.zeros((n_states, n_tokens))
    np.add.at(table, np.asarray(states), np.asarray(weights, float)[:, None])
    return table


def absolute_values(weights, states, tokens, n_states, n_tokens):
    return reference(np.abs(weights), states, tokens, n_states, n_tokens)


def shape_from_the_data(weights, states, tokens, n_states, n_tokens):
    return reference(weights, states, tokens, int(np.max(states)) + 1, int(np.max(tokens)) + 1)


def wrong_stride(weights, states, tokens, n_states, n_tokens):
    index = np.asarray(states) * n_states + np.asarray(tokens)
    return np.bincount(index, weights, minlength=n_states * n_tokens).reshape(n_states, n_tokens)


def integers(weights, states, tokens, n_states, n_tokens):
    return reference(np.trunc(weights), states, tokens, n_states, n_tokens)


WRONG = (
    Mutant(
        "only the last weight",
        only_the_last,
        "Keeps only the last weight of an entry that occurs several times; `table[states, tokens] += weights`"
        " writes such an entry once.",
    ),
    Mutant(
        "only the first weight",
        only_the_first,
        "Keeps only the first weight of an entry that occurs several times.",
    ),
    Mutant("swapped", swapped, "Uses `tokens` as the rows and `states` as the columns."),
    Mutant(
        "transposed",
        lambda *arguments: reference(*arguments).T,
        "Returns the transposed table; a row belongs to a state, a column to a token.",
    ),
    Mutant("counted", counted, "Counts how often an entry occurs; the weights are not used."),
    Mutant("averaged", averaged, "Averages the weights of an entry; they are added, not averaged."),
    Mutant("whole rows", whole_rows, "Adds each weight to all columns of its row."),
    Mutant("absolute values", absolute_values, "Adds the absolute values of the weights."),
    Mutant("subtracted", lambda *arguments: -reference(*arguments), "Subtracts the weights; they are added."),
    Mutant(
        "shape from the data",
        shape_from_the_data,
        "Makes the table only as large as the largest state and token; it has `n_states` rows and `n_tokens`"
        " columns.",
    ),
    Mutant(
        "wrong stride",
        wrong_stride,
        "Computes the flat index as states * n_states + tokens; a row has `n_tokens` columns.",
    ),
    Mutant("integers", integers, "Cuts off the fraction of each weight."),
)
