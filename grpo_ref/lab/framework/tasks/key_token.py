"""A task in which a rare token, such as "wait", leads to a state where the answer can be learned."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.learning.task import END, Task

KEY = 0
"""Index of the token "wait"."""


def key_token(
    *,
    contexts: int,
    tokens: int,
    probability: float,
    known: float,
    luck: float,
    variants: int = 10,
    seed: int,
) -> Task:
    """Return a task in which a rare token leads to a second step, where the right answer can be learned.

    Without the rare token, an answer is a guess: it is right for a fraction of the variants of a context,
    which look the same to the policy. After the rare token, one answer is right for all variants.

    Args:
      contexts: number of contexts that the policy distinguishes, in each step.
      tokens: size of the vocabulary.
      probability: initial probability of the rare token.
      known: initial probability of the right answer after the rare token.
      luck: fraction of variants for which a guess is right.
      variants: number of prompts per context.
      seed: seed of the answers and of the right guesses.
    """
    generator = np.random.default_rng(seed)
    answers = generator.integers(1, tokens, size=contexts)
    lucky = random_orders(generator, (contexts, variants, tokens), axis=1) < luck * variants
    guess = np.full((contexts, tokens), np.log((1.0 - probability) / (tokens - 1)))
    guess[:, KEY] = np.log(probability)
    after = np.full((contexts, tokens), np.log((1.0 - known) / (tokens - 1)))
    after[np.arange(contexts), answers] = np.log(known)
    transitions = np.full((2 * contexts, tokens), END)
    transitions[:contexts, KEY] = contexts + np.arange(contexts)
    prompts = contexts * variants
    return Task(
        name="key_token",
        vocabulary=("wait,", *"abcdefghijk"[: tokens - 1]),
        transitions=transitions,
        prompts=tuple(f"{context}.{variant}:" for context in range(contexts) for variant in range(variants)),
        starts=np.repeat(np.arange(contexts), variants),
        prompt_probs=np.full(prompts, 1.0 / prompts),
        max_length=2,
        ref_logits=np.concatenate([guess, after]),
        verify=partial(_judge, np.repeat(answers, variants), lucky.reshape(prompts, tokens)),
        criteria=("right",),
        weights=np.ones(1),
    )


def _judge(answers: Integers, lucky: Bools, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    first, second = tokens[..., 0], tokens[..., 1]
    known = second == answers[prompts][..., None]
    right = np.where(first == KEY, known, lucky[prompts[..., None], first])
    return right.astype(np.float64)[..., None]
