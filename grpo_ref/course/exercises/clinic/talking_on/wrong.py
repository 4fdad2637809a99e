"""Wrong answers to `clinic/talking_on`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.kernels import padded_mean
from grpo_ref.check.mistakes.toy_loop import countdown, normalized
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.bandits import mistakes_of_a_loop
from grpo_ref.course.exercises.clinic.talking_on.tests import LANGUAGE, ends_third, of


def _mask_of(tokens):
    """Return the mask of the tokens, which includes the end."""
    ends = tokens == 0
    return (np.cumsum(ends, -1) - ends == 0).astype(float)


def _walk_with(mask_of):
    """Return the sampling stage with another mask, a function of (tokens, mask)."""

    def walk(probs, uniforms):
        states, tokens, mask = countdown(probs, uniforms)
        return states, tokens, mask_of(tokens, mask)

    return walk


WRONG = (
    as_given(
        of(replace(LANGUAGE, weight=stages.everywhere)),
        "Gives every position the same weight, as the given program does, so padding is trained too.",
    ),
    Mutant(
        "padding in the denominator",
        of(replace(LANGUAGE, weight=padded_mean)),
        "Divides by the number of all positions, so padding counts as tokens; J divides by Σ m.",
    ),
    Mutant(
        "padding in the numerator",
        of(replace(LANGUAGE, weight=lambda mask: (mask * 0.0 + 1.0) / mask.sum())),
        "Divides by the number of tokens but trains the padding too; the weight of padding is 0.",
    ),
    Mutant(
        "the end is not a token",
        of(
            replace(LANGUAGE, walk=_walk_with(lambda tokens, mask: mask * (tokens != 0))),
            lambda tokens, mask: ends_third(tokens, _mask_of(tokens)),
        ),
        "Gives token 0 at the end the weight 0; ending is a choice that is trained.",
    ),
    Mutant(
        "mean of means",
        of(replace(LANGUAGE, weight=lambda mask: mask / mask.sum(-1, keepdims=True) / mask.shape[-2])),
        "Divides by the length of each completion and by G; J divides by the number of all tokens.",
    ),
    Mutant(
        "divided by G",
        of(replace(LANGUAGE, weight=lambda mask: mask / mask.shape[-2])),
        "Divides by the number of completions; J divides by the number of all tokens.",
    ),
    Mutant(
        "repeated tokens lost",
        of(replace(LANGUAGE, back=stages.repeats_lost)),
        "Counts a token that several completions sampled at one position only once; `np.add.at` adds every time.",
    ),
    Mutant(
        "any third token",
        of(LANGUAGE, lambda tokens, mask: (mask.sum(-1) >= 3).astype(float)),
        "Rewards every completion with three or more tokens; the third token must be the first token 0.",
    ),
    Mutant(
        "third token without an end",
        of(LANGUAGE, lambda tokens, mask: (mask.sum(-1) == 3).astype(float)),
        "Rewards a completion of three tokens without an end; its third token must be 0.",
    ),
    Mutant(
        "divided by the standard deviation",
        of(replace(LANGUAGE, advantage=normalized)),
        "Divides the advantages by the standard deviation of the rewards; A is only the difference.",
    ),
    *mistakes_of_a_loop(of, LANGUAGE, 8.0),
)
