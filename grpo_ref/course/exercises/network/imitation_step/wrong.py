"""Wrong answers to `network/imitation_step`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.imitation_step.tests import answer_with, reference
from grpo_ref.course.exercises.tiny_network import network_mutants


def _loss_after_the_step(embeddings, weight, tokens, mask, learning_rate):
    new = reference(embeddings, weight, tokens, mask, learning_rate)[:2]
    return *new, reference(*new, tokens, mask, learning_rate)[2]


def _w_sees_the_new_e(embeddings, weight, tokens, mask, learning_rate):
    new, _, loss = reference(embeddings, weight, tokens, mask, learning_rate)
    return new, reference(new, weight, tokens, mask, learning_rate)[1], loss


def _gradients(embeddings, weight, tokens, mask, learning_rate):
    new_e, new_w, loss = reference(embeddings, weight, tokens, mask, learning_rate)
    changes = np.asarray(embeddings) - new_e, np.asarray(weight) - new_w
    return *(change / learning_rate for change in changes), loss


WRONG = (
    *network_mutants(answer_with, "text"),
    Mutant(
        "ascent",
        answer_with(direction=1.0),
        "Adds the gradients of the loss; descent subtracts them.",
    ),
    Mutant(
        "log-likelihood returned",
        answer_with(loss=lambda log_probs, shares: (shares * log_probs).sum()),
        "Returns the mean of log π as the loss; the loss is minus that.",
    ),
    Mutant(
        "perplexity returned",
        answer_with(loss=lambda log_probs, shares: np.exp(-(shares * log_probs).sum())),
        "Returns the perplexity, the exponential of the loss.",
    ),
    Mutant(
        "a small number in the logarithm",
        answer_with(loss=lambda log_probs, shares: -(shares * np.log(np.exp(log_probs) + 1e-12)).sum()),
        "Adds 1e-12 to the probability in the logarithm, so no log-probability is below -27.6.",
    ),
    Mutant(
        "the loss after the step",
        _loss_after_the_step,
        "Returns the loss after the step, not the loss before it.",
    ),
    Mutant(
        "no learning rate",
        lambda e, w, t, m, lr: reference(e, w, t, m, 1.0),
        "Ignores the learning rate.",
    ),
    Mutant(
        "W sees the new E",
        _w_sees_the_new_e,
        "Computes the gradient of W with the new E; both gradients use the old weights.",
    ),
    Mutant(
        "the gradients returned",
        _gradients,
        "Returns the gradients of E and W, not the new weights.",
    ),
)
