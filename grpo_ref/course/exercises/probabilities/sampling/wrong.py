"""Wrong answers to `probabilities/sampling`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.sampling.tests import reference


def on_arrays(formula):
    """Return the formula as a function that also takes lists."""
    return lambda probs, uniforms: formula(np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float))


def at_most_possible(tokens, probs):
    """Limit each token to the last one of its row whose probability is not 0."""
    return np.minimum(tokens, probs.shape[-1] - 1 - (probs[:, ::-1] > 0).argmax(-1))


def by_descending_probability(probs, uniforms):
    order = np.argsort(-probs, axis=-1, kind="stable")
    places = reference(np.take_along_axis(probs, order, -1), uniforms)
    return order[np.arange(len(order)), places]


WRONG = (
    Mutant(
        "greedy",
        on_arrays(lambda p, u: p.argmax(-1)),
        "Returns the most likely token and ignores the uniform numbers.",
    ),
    Mutant(
        "equality counts",
        on_arrays(lambda p, u: at_most_possible((p.cumsum(-1) < u[:, None]).sum(-1), p)),
        "Stops at a sum that is equal to u; the sum must be larger than u.",
    ),
    Mutant(
        "past the end",
        on_arrays(lambda p, u: (p.cumsum(-1) <= u[:, None]).sum(-1)),
        "Runs past the last possible token if u is not below the last sum.",
    ),
    Mutant(
        "the last token beyond the sums",
        on_arrays(lambda p, u: (p.cumsum(-1)[:, :-1] <= u[:, None]).sum(-1)),
        "Returns token V - 1 if u is not below the last sum, also where its probability is 0.",
    ),
    Mutant(
        "token 0 beyond the sums",
        on_arrays(lambda p, u: (p.cumsum(-1) > u[:, None]).argmax(-1)),
        "Returns token 0 if u is not below the last sum.",
    ),
    Mutant(
        "uniform over tokens",
        on_arrays(lambda p, u: (u * p.shape[-1]).astype(int)),
        "Ignores the probabilities: each token gets an equal part of the line from 0 to 1.",
    ),
    Mutant("from the other end", on_arrays(lambda p, u: reference(p, 1 - u)), "Uses 1 - u instead of u."),
    Mutant(
        "not cumulative",
        on_arrays(lambda p, u: at_most_possible((p <= u[:, None]).sum(-1), p)),
        "Compares u with the probabilities themselves, not with their sums.",
    ),
    Mutant(
        "one distribution for all",
        on_arrays(lambda p, u: reference(np.broadcast_to(p[:1], p.shape), u)),
        "Uses the first row of `probs` for every row.",
    ),
    Mutant(
        "one uniform number for all",
        on_arrays(lambda p, u: reference(p, np.broadcast_to(u[:1], u.shape))),
        "Uses the first uniform number for every row.",
    ),
    Mutant(
        "sums down the rows",
        on_arrays(lambda p, u: at_most_possible((p.cumsum(0) <= u[:, None]).sum(-1), p)),
        "Sums along the first axis; the probabilities of a row are along the last axis.",
    ),
    Mutant(
        "sums over all rows",
        on_arrays(lambda p, u: at_most_possible((p.cumsum().reshape(p.shape) <= u[:, None]).sum(-1), p)),
        "Sums through all rows, so the sums of later rows begin at 1 or more.",
    ),
    Mutant(
        "sorted",
        on_arrays(lambda p, u: reference(np.sort(p, -1), u)),
        "Sorts the probabilities, so a token gets the probability of another token.",
    ),
    Mutant(
        "most likely first",
        on_arrays(by_descending_probability),
        "Puts the most likely token first on the line; the tokens keep their order.",
    ),
    Mutant(
        "counted from 1",
        on_arrays(lambda p, u: reference(p, u) + 1),
        "Returns the right token plus 1; tokens are numbered from 0.",
    ),
    Mutant(
        "a margin",
        on_arrays(lambda p, u: at_most_possible((p.cumsum(-1) <= u[:, None] + 1e-9).sum(-1), p)),
        "Requires a sum to be larger than u by a margin; every sum above u counts.",
    ),
)
