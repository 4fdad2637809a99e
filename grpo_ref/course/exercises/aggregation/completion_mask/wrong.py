"""Wrong answers to `aggregation/completion_mask`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.aggregation.completion_mask.tests import reference


def answer(formula):
    """Return an answer. The formula gets the places of `eos` as truth values, and the tokens."""
    return lambda tokens, eos: formula(np.asarray(tokens) == eos, np.asarray(tokens)) * 1.0


WRONG = (
    Mutant(
        "first eos not counted",
        answer(lambda is_eos, tokens: np.cumsum(is_eos, -1) == 0),
        "Gives 0 to the first `eos` of a row; the model sampled it, so its mask is 1.",
    ),
    Mutant(
        "all tokens except eos",
        answer(lambda is_eos, tokens: ~is_eos),
        "Gives 0 to every `eos` and 1 to every other token, even after the first `eos`.",
    ),
    Mutant(
        "padding is token 0",
        answer(lambda is_eos, tokens: tokens != 0),
        "Gives 0 to token 0 and 1 to all other tokens, whatever `eos` is.",
    ),
    Mutant(
        "up to the last eos",
        answer(
            lambda is_eos, tokens: np.where(
                is_eos.any(-1, keepdims=True), np.cumsum(is_eos[:, ::-1], -1)[:, ::-1] > 0, True
            )
        ),
        "Gives 1 up to the last `eos` of a row; the first one ends the completion.",
    ),
    Mutant(
        "up to the second eos",
        answer(lambda is_eos, tokens: np.cumsum(is_eos, -1) <= 1),
        "Gives 1 to the tokens between the first and the second `eos`; they are padding.",
    ),
    Mutant(
        "cut-off rows omitted",
        answer(lambda is_eos, tokens: (np.cumsum(is_eos, -1) - is_eos == 0) & is_eos.any(-1, keepdims=True)),
        "Gives 0 to a whole row without `eos`; all tokens of such a row count.",
    ),
    Mutant(
        "argmax of a row without eos",
        answer(lambda is_eos, tokens: np.arange(tokens.shape[-1]) <= is_eos.argmax(-1)[:, None]),
        "Gives 1 only to the first token of a row without `eos`; `argmax` is 0 if nothing is True.",
    ),
    Mutant(
        "eos at the start overlooked",
        answer(
            lambda is_eos, tokens: (
                np.arange(tokens.shape[-1]) <= np.where(is_eos.argmax(-1), is_eos.argmax(-1), 10**9)[:, None]
            )
        ),
        "Overlooks an `eos` at position 0: the row gets 1 everywhere, as if it had no `eos`.",
    ),
    Mutant(
        "counted through the batch",
        answer(lambda is_eos, tokens: np.cumsum(is_eos).reshape(is_eos.shape) - is_eos == 0),
        "Gives 0 to all rows after the first `eos` of the batch; each row has its own end.",
    ),
    Mutant(
        "inverted",
        lambda tokens, eos: 1.0 - reference(tokens, eos),
        "Gives 1 to padding and 0 to tokens.",
    ),
    Mutant(
        "one token too many",
        answer(
            lambda is_eos, tokens: np.hstack(
                [np.ones((len(tokens), 1)), np.cumsum(is_eos, -1) - is_eos == 0]
            )[:, :-1]
        ),
        "Gives 1 to the token after the first `eos` as well.",
    ),
    Mutant(
        "one end for all rows",
        answer(
            lambda is_eos, tokens: np.broadcast_to(np.cumsum(is_eos[:1], -1) - is_eos[:1] == 0, tokens.shape)
        ),
        "Uses the mask of the first row for all rows.",
    ),
)
