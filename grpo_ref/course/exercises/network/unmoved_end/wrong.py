"""Wrong answers to `network/unmoved_end`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.network.unmoved_end.tests import RIGHT, _pairs


def _last_visit(slope, seen, like):
    """Add the slopes by index assignment, which counts only one of several visits of a row."""
    gradient = np.zeros_like(like)
    gradient[seen] += slope
    return gradient


def _untied(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Train the output embedding as a separate copy, and return the input embedding."""
    reads, weights, tokens = np.array(embedding, float), np.array(mix, float), _pairs(np.asarray(texts))
    writes = reads.copy()
    for _ in range(steps):
        reader, writer, others = RIGHT.slopes(reads, writes, writes, weights, tokens)
        reads, writes = reads - learning_rate * reader, writes - learning_rate * writer
        weights = weights - learning_rate * others
    return reads, weights


def _one_after_the_other(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Take the step of the output embedding before the slope goes back through the embedding."""
    table_, weights, tokens = np.array(embedding, float), np.array(mix, float), _pairs(np.asarray(texts))
    for _ in range(steps):
        _, writer, _ = RIGHT.slopes(table_, table_, table_, weights, tokens)
        moved = table_ - learning_rate * writer
        reader, _, others = RIGHT.slopes(table_, table_, moved, weights, tokens)
        table_, weights = moved - learning_rate * reader, weights - learning_rate * others
    return table_, weights


WRONG = (
    as_given(
        replace(RIGHT, both=lambda reader, writer: reader),
        "The embedding still learns as reader only: what comes back to it from the logits is overwritten.",
    ),
    Mutant(
        "as writer only",
        replace(RIGHT, both=lambda reader, writer: writer),
        "Now the embedding learns as writer only; what comes back to the rows that were read is lost.",
    ),
    Mutant(
        "mean of both",
        replace(RIGHT, both=lambda reader, writer: (reader + writer) / 2.0),
        "The slopes of the two uses add up; this is their mean.",
    ),
    Mutant(
        "difference of both",
        replace(RIGHT, both=lambda reader, writer: writer - reader),
        "The slopes of the two uses add up; one is subtracted here.",
    ),
    Mutant(
        "visits lost",
        replace(RIGHT, visits=_last_visit),
        "A token that is read several times gets the sum of all its visits. Where an index has an entry twice,"
        " `+=` keeps only the last; np.add.at adds them all.",
    ),
    Mutant(
        "untied",
        _untied,
        "The embedding that writes is a copy now, which learns by itself: the two uses are no longer one table.",
    ),
    Mutant(
        "one use after the other",
        _one_after_the_other,
        "The embedding is changed before the slope has gone back through it: take both slopes, then step.",
    ),
    Mutant(
        "bend left out",
        replace(RIGHT, bend=np.ones_like),
        "The derivative of tanh, 1 - h², was right; it is gone now.",
    ),
    Mutant(
        "past the other weights",
        replace(RIGHT, through=lambda mix: np.eye(len(mix))),
        "On its way to the row that was read, the slope passes W: inner @ mix.T.",
    ),
    Mutant(
        "weights not transposed",
        replace(RIGHT, through=lambda mix: mix),
        "The way back through a product with W is one with its transpose.",
    ),
    Mutant("uphill", replace(RIGHT, direction=-1.0), "The sign was right; it is turned over now."),
    Mutant(
        "not shifted",
        replace(RIGHT, pairs=lambda texts: (texts[:, :-1].ravel(), texts[:, :-1].ravel())),
        "What is to be said is the token after the one that is read.",
    ),
)
