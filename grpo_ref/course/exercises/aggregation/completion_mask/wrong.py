"""Wrong answers to `aggregation/completion_mask`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.aggregation.completion_mask.tests import reference


def _of(formula):
    return lambda tokens, eos: formula(np.asarray(tokens) == eos, np.asarray(tokens))


WRONG = (
    Mutant(
        "end left out",
        _of(lambda e, t: (np.cumsum(e, -1) == 0) * 1.0),
        "The end-of-sequence token is left out; ending is a choice too.",
    ),
    Mutant(
        "every token but ends",
        _of(lambda e, t: ~e * 1.0),
        "Every token but `eos` itself counts here: the first `eos` counts too, and what comes after it"
        " does not.",
    ),
    Mutant(
        "padding is zero",
        _of(lambda e, t: (t != 0) * 1.0),
        "This masks token 0, whatever the end token is.",
    ),
    Mutant(
        "up to the last end",
        _of(
            lambda e, t: (
                np.where(e.any(-1, keepdims=True), np.cumsum(e[:, ::-1], -1)[:, ::-1] > 0, True) * 1.0
            )
        ),
        "The first end closes the completion, not the last.",
    ),
    Mutant(
        "rows cut off are dropped",
        _of(lambda e, t: ((np.cumsum(e, -1) - e == 0) & e.any(-1, keepdims=True)) * 1.0),
        "A row without an end keeps all its tokens here; dropping such rows is another choice, overlong"
        " filtering.",
    ),
    Mutant(
        "argmax of a row without an end",
        _of(lambda e, t: (np.arange(t.shape[-1]) <= e.argmax(-1)[:, None]) * 1.0),
        "A row without `eos` keeps only its first token here: argmax of a row that is False everywhere is 0.",
    ),
    Mutant(
        "an end at the start overlooked",
        _of(
            lambda e, t: (
                (np.arange(t.shape[-1]) <= np.where(e.argmax(-1), e.argmax(-1), 10**9)[:, None]) * 1.0
            )
        ),
        "An `eos` that is the very first token is overlooked: argmax gives 0 for it, and for no `eos` as well.",
    ),
    Mutant(
        "ends of the whole batch",
        _of(lambda e, t: (np.cumsum(e).reshape(e.shape) - e == 0) * 1.0),
        "The ends are counted through the whole batch; each row begins anew.",
    ),
    Mutant("inverted", lambda t, eos: 1.0 - reference(t, eos), "This marks the padding."),
    Mutant(
        "one token too many",
        _of(
            lambda e, t: (np.cumsum(e, -1) - e - np.roll(e, 1, -1) * (np.arange(e.shape[-1]) > 0) <= 0) * 1.0
        ),
        "One token after the end counts here.",
    ),
    Mutant(
        "one length for all",
        _of(lambda e, t: np.broadcast_to((np.cumsum(e[:1], -1) - e[:1] == 0) * 1.0, t.shape)),
        "Each row has its own end.",
    ),
)
