"""Wrong answers to `network/two_policies`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.network.two_policies.tests import RIGHT, hidden_rows


def _once_per_prompt(sums, prompts, embedding):
    gradient = np.zeros_like(embedding)
    for row, prompt in zip(sums, prompts, strict=True):
        gradient[prompt] += row
    return gradient


def _storing(update):
    """Return a program whose hidden rows are those of another update; `update` maps the number of the current
    update to the number of that one.
    """

    def sampler(past, prompts):
        return hidden_rows(past[update(len(past) - 1)].embedding, prompts), past[-1].head

    return replace(RIGHT, sampler=sampler)


STALE = _storing(lambda now: 0)


def _first_row_for_all(past, prompts):
    rows = hidden_rows(past[-1].embedding, prompts)
    return np.broadcast_to(rows[:1], rows.shape), past[-1].head


def _sets_of_tokens(past, prompts):
    embedding = past[-1].embedding
    first: dict[frozenset[int], np.ndarray] = {}
    for prompt in prompts:
        first.setdefault(frozenset(prompt.tolist()), prompt)
    keys = [frozenset(prompt.tolist()) for prompt in prompts]
    return np.stack([np.tanh(embedding[first[key]].sum(0)) for key in keys]), past[-1].head


WRONG = (
    as_given(
        STALE,
        "Samples with hidden rows of the first update, although the embedding has changed since.",
    ),
    Mutant(
        "another log-probability",
        replace(STALE, logged=lambda sampler, trainer: trainer),
        "Returns the trainer's log-probabilities, but still samples with hidden rows of the first update.",
    ),
    Mutant(
        "trained as it was sampled",
        replace(STALE, trained=lambda trainer, sampler: sampler),
        "Samples and trains with hidden rows of the first update; both need the current embedding.",
    ),
    Mutant(
        "corrected with a ratio",
        replace(STALE, correction=lambda sampler, trainer: trainer / sampler),
        "Multiplies the advantages by π/πold, but still samples with hidden rows of the first update.",
    ),
    Mutant(
        "one update behind",
        _storing(lambda now: max(now - 1, 0)),
        "Samples with the hidden rows of the previous update.",
    ),
    Mutant(
        "emptied once",
        _storing(lambda now: min(now, 1)),
        "Samples in all later updates with the hidden rows of the second update.",
    ),
    Mutant(
        "emptied in every second update",
        _storing(lambda now: now - now % 2),
        "Computes the hidden rows in every second update only.",
    ),
    Mutant(
        "the whole sampler is stored",
        replace(STALE, sampler=lambda past, prompts: (hidden_rows(past[0].embedding, prompts), past[0].head)),
        "Samples with the probabilities of the first update.",
    ),
    Mutant(
        "one row for all prompts",
        replace(RIGHT, sampler=_first_row_for_all),
        "Uses the hidden row of the first prompt for all prompts; each prompt has its own.",
    ),
    Mutant(
        "stored by the set of tokens",
        replace(RIGHT, sampler=_sets_of_tokens),
        "Uses the same hidden row for all prompts with the same set of tokens; repeated tokens count.",
    ),
    Mutant(
        "embedding not trained",
        replace(RIGHT, rates=(0.0, 1.0)),
        "Returns the embedding unchanged; both weights take a step.",
    ),
    Mutant(
        "repeated tokens overwritten",
        replace(RIGHT, collect=_once_per_prompt),
        "Adds the gradient once for a token that occurs twice in a prompt; np.add.at adds it twice.",
    ),
    Mutant(
        "no derivative of tanh",
        replace(RIGHT, derivative=np.ones_like),
        "Omits the derivative of tanh, 1 - h², which the given program has.",
    ),
    Mutant(
        "no baseline",
        replace(RIGHT, advantage=raw_rewards),
        "Uses the rewards as advantages, without subtracting the group's mean.",
    ),
    Mutant(
        "sum for mean",
        replace(RIGHT, share=lambda numbers: 1.0),
        "Sums over prompts and completions without dividing by P G.",
    ),
    Mutant(
        "descent",
        replace(RIGHT, rates=(-1.0, -1.0)),
        "Subtracts the gradients of J; the given program adds them.",
    ),
)
