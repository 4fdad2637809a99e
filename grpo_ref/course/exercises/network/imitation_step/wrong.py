"""Wrong answers to `network/imitation_step`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.imitation_step.tests import of, reference
from grpo_ref.course.exercises.tiny_network import network_mutants

WRONG = (
    *network_mutants(of),
    Mutant(
        "uphill",
        of(direction=1.0),
        "The sign is turned over: the texts become less likely, not likelier.",
    ),
    Mutant(
        "log-likelihood returned",
        of(loss=lambda log_probs, shares: (shares * log_probs).sum()),
        "The loss is minus the mean of log π.",
    ),
    Mutant(
        "perplexity returned",
        of(loss=lambda log_probs, shares: np.exp(-(shares * log_probs).sum())),
        "This is the perplexity, e to the loss.",
    ),
    Mutant(
        "logarithm of a probability",
        of(loss=lambda log_probs, shares: -(shares * np.log(np.exp(log_probs) + 1e-12)).sum()),
        "A small number inside the logarithm floors every log-probability.",
    ),
    Mutant(
        "the loss after the step",
        lambda e, w, t, m, lr: (
            *reference(e, w, t, m, lr)[:2],
            reference(*reference(e, w, t, m, lr)[:2], t, m, lr)[2],
        ),
        "The loss before the step is asked for; this is the one after it.",
    ),
    Mutant(
        "learning rate forgotten",
        lambda e, w, t, m, lr: reference(e, w, t, m, 1.0),
        "The learning rate is not used.",
    ),
    Mutant(
        "W sees the new E",
        lambda e, w, t, m, lr: (
            reference(e, w, t, m, lr)[0],
            reference(reference(e, w, t, m, lr)[0], w, t, m, lr)[1],
            reference(e, w, t, m, lr)[2],
        ),
        "All slopes are taken at the old weights; here W sees what E has become.",
    ),
    Mutant(
        "the slopes returned",
        lambda e, w, t, m, lr: (
            (np.asarray(e) - reference(e, w, t, m, lr)[0]) / lr,
            (np.asarray(w) - reference(e, w, t, m, lr)[1]) / lr,
            reference(e, w, t, m, lr)[2],
        ),
        "The new weights are asked for, not their slopes.",
    ),
)
