"""Wrong answers to `probabilities/sampling`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.probabilities.sampling.tests import reference


def _of(formula):
    return lambda probs, uniforms: formula(np.asarray(probs, dtype=float), np.asarray(uniforms, dtype=float))


WRONG = (
    Mutant("greedy", _of(lambda p, u: p.argmax(-1)), "This takes the likeliest token and never samples."),
    Mutant(
        "edge on the wrong side",
        _of(lambda p, u: (p.cumsum(-1)[:, :-1] < u[:, None]).sum(-1)),
        "At u equal to a cumulative sum the next token is due: a token of probability 0 could be drawn here.",
    ),
    Mutant(
        "past the end",
        _of(lambda p, u: (p.cumsum(-1) <= u[:, None]).sum(-1)),
        "Rounding can leave the last sum below u; the count then runs past the last token.",
    ),
    Mutant(
        "the last token beyond the sums",
        _of(lambda p, u: (p.cumsum(-1)[:, :-1] <= u[:, None]).sum(-1)),
        "A number beyond the last sum gives the last token here, even if its probability is 0.",
    ),
    Mutant(
        "uniform over tokens",
        _of(lambda p, u: (u * p.shape[-1]).astype(int)),
        "The probabilities are not used.",
    ),
    Mutant("from the other end", _of(lambda p, u: reference(p, 1 - u)), "This inverts at 1 - u."),
    Mutant(
        "not cumulative",
        _of(lambda p, u: np.minimum((p <= u[:, None]).sum(-1), p.shape[-1] - 1)),
        "The probabilities are compared themselves; it is their running sum that counts.",
    ),
    Mutant(
        "one distribution for all",
        _of(lambda p, u: reference(np.broadcast_to(p[:1], p.shape), u)),
        "Every row has its own distribution.",
    ),
    Mutant(
        "sorted first",
        _of(lambda p, u: reference(np.sort(p, -1), u)),
        "Sorting the probabilities changes which token is which.",
    ),
)
