"""Wrong answers to `network/two_policies`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.network.two_policies.tests import RIGHT, read


def _once_a_prompt(slope, prompts, like):
    """Add the slopes by index assignment, which counts a token once even if a prompt has it twice."""
    gradient = np.zeros_like(like)
    for row, prompt in zip(slope, prompts, strict=True):
        gradient[prompt] += row
    return gradient


def _keeping(number):
    """Return a program whose hidden rows are those of another update; `number` maps the updates so far to its
    index.
    """

    def sampler(past, prompts):
        return read(past[number(len(past) - 1)].embedding, prompts), past[-1].head

    return replace(RIGHT, sampler=sampler)


STALE = _keeping(lambda now: 0)


def _one_for_all(past, prompts):
    """Use the hidden row of the first prompt for all prompts."""
    seen = read(past[-1].embedding, prompts)
    return np.broadcast_to(seen[:1], seen.shape), past[-1].head


WRONG = (
    as_given(
        STALE,
        "What is kept of a prompt is still that of the first update: the embedding has changed since.",
    ),
    Mutant(
        "another log",
        replace(STALE, logged=lambda sampler, trainer: trainer),
        "The log has the trainer's numbers now, so that nothing seems to be wrong; but the draws are still those"
        " of the old embedding.",
    ),
    Mutant(
        "trained as it was drawn",
        replace(STALE, trained=lambda trainer, sampler: sampler),
        "Sampler and trainer agree now, but on what an old embedding made of the prompt: the slope is that of"
        " a policy which is neither the old nor the new one.",
    ),
    Mutant(
        "corrected with a ratio",
        replace(STALE, correction=lambda sampler, trainer: trainer / sampler),
        "The draws are still those of the old embedding; a ratio corrects for them in the mean alone. Draw"
        " with the weights of this update.",
    ),
    Mutant(
        "one update behind",
        _keeping(lambda now: max(now - 1, 0)),
        "What is kept is one update old: throw it away after the step, not before.",
    ),
    Mutant(
        "thrown away once",
        _keeping(lambda now: min(now, 1)),
        "What is kept is thrown away after the first update and then never again.",
    ),
    Mutant(
        "thrown away in every other update",
        _keeping(lambda now: now - now % 2),
        "What is kept serves two updates; the second one has other weights.",
    ),
    Mutant(
        "the whole sampler stays",
        replace(STALE, sampler=lambda past, prompts: (read(past[0].embedding, prompts), past[0].head)),
        "Now the whole sampler is that of the start: the probabilities are kept.",
    ),
    Mutant(
        "one prompt for all",
        replace(RIGHT, sampler=_one_for_all),
        "All prompts are answered as the first one: what is kept belongs to one prompt.",
    ),
    Mutant(
        "embedding frozen",
        replace(RIGHT, rates=(0.0, 1.0)),
        "The embedding is no longer trained; then what is kept stays right, but the network hardly learns.",
    ),
    Mutant(
        "visits lost",
        replace(RIGHT, visits=_once_a_prompt),
        "np.add.at was right: a token that a prompt has twice counts once now.",
    ),
    Mutant(
        "bend left out",
        replace(RIGHT, bend=np.ones_like),
        "The derivative of tanh, 1 - h², was right; it is gone now.",
    ),
    Mutant(
        "no baseline",
        replace(RIGHT, advantage=raw_rewards),
        "The baseline was right; it is gone now.",
    ),
    Mutant(
        "sum for mean",
        replace(RIGHT, share=lambda draws: 1.0),
        "The mean over prompts and members was right; it is a sum now.",
    ),
    Mutant("downhill", replace(RIGHT, rates=(-1.0, -1.0)), "The sign was right; it is turned over now."),
)
