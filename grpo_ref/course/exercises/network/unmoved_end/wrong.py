"""Wrong answers to `network/unmoved_end`, each with the sentence that a student who wrote it reads."""

from dataclasses import replace

import numpy as np

from grpo_ref.course.author import Mutant, as_given
from grpo_ref.course.exercises.network.unmoved_end.tests import RIGHT, neighbors


def _last_of_each_token(rows, tokens, embedding):
    gradient = np.zeros_like(embedding)
    gradient[tokens] += rows
    return gradient


def _two_tables(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Train the output embedding as a separate copy, and return the input embedding."""
    reading, w, pairs = np.array(embedding, float), np.array(mix, float), neighbors(np.asarray(texts))
    writing = reading.copy()
    for _ in range(steps):
        at_input, at_output, of_mix = RIGHT.gradients(reading, writing, writing, w, pairs)
        reading, writing = reading - learning_rate * at_input, writing - learning_rate * at_output
        w = w - learning_rate * of_mix
    return reading, w


def _output_first(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Take the step of the output before the gradient goes back through the embedding."""
    e, w, pairs = np.array(embedding, float), np.array(mix, float), neighbors(np.asarray(texts))
    for _ in range(steps):
        _, at_output, _ = RIGHT.gradients(e, e, e, w, pairs)
        moved = e - learning_rate * at_output
        at_input, _, of_mix = RIGHT.gradients(e, e, moved, w, pairs)
        e, w = moved - learning_rate * at_input, w - learning_rate * of_mix
    return e, w


WRONG = (
    as_given(
        replace(RIGHT, both=lambda at_input, at_output: at_input),
        "Changes E only by the gradient from the input; the gradient from the output is lost.",
    ),
    Mutant(
        "the output alone",
        replace(RIGHT, both=lambda at_input, at_output: at_output),
        "Changes E only by the gradient from the output; the gradient from the input is lost.",
    ),
    Mutant(
        "mean of both",
        replace(RIGHT, both=lambda at_input, at_output: (at_input + at_output) / 2.0),
        "Takes the mean of the two gradients of E; they are added.",
    ),
    Mutant(
        "difference of both",
        replace(RIGHT, both=lambda at_input, at_output: at_output - at_input),
        "Subtracts the gradient from the input; the two gradients of E are added.",
    ),
    Mutant(
        "each row from one use",
        replace(RIGHT, both=lambda at_input, at_output: np.where(at_input == 0.0, at_output, at_input)),
        "Uses the gradient from the output only for rows that are never read; every row needs both.",
    ),
    Mutant(
        "repeated tokens overwritten",
        replace(RIGHT, collect=_last_of_each_token),
        "Adds only one gradient for a token that is read several times, as `gradient[tokens] += rows` does;"
        " np.add.at adds all.",
    ),
    Mutant(
        "two tables",
        _two_tables,
        "Trains the output embedding as a separate table; input and output share one.",
    ),
    Mutant(
        "the output first",
        _output_first,
        "Changes E before the gradient goes back through it; both gradients use the old E.",
    ),
    Mutant(
        "no derivative of tanh",
        replace(RIGHT, derivative=np.ones_like),
        "Omits the derivative of tanh, 1 - h², which the given program has.",
    ),
    Mutant(
        "past W",
        replace(RIGHT, through=lambda mix: np.eye(len(mix))),
        "Gives E[s] the gradient of E[s] W, without the product with Wᵀ.",
    ),
    Mutant(
        "W not transposed",
        replace(RIGHT, through=lambda mix: mix),
        "Multiplies by W instead of Wᵀ on the way back to E[s].",
    ),
    Mutant(
        "ascent",
        replace(RIGHT, direction=-1.0),
        "Adds the gradients of the loss; the given program subtracts them.",
    ),
    Mutant(
        "not shifted",
        replace(RIGHT, pairs=lambda texts: (texts[:, :-1].ravel(), texts[:, :-1].ravel())),
        "Predicts the token that is read, not the next one.",
    ),
)
