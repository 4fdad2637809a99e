"""A task of spelling long words, some of whose letters the policy cannot know."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.learning.task import END, Task


def spelling(
    *,
    words: int = 4,
    variants: int = 8,
    length: int = 12,
    letters: int = 4,
    unknown: float = 0.0,
    seed: int = 0,
) -> Task:
    """Return a task of spelling words, with reward 1 if at least half of the letters are right, otherwise 0.

    The policy sees the word and the position of each letter, but not the variant of the word. It can only
    guess the letters in which the variants differ.

    Args:
      words: number of words that the policy distinguishes.
      variants: number of prompts per word.
      length: number of letters of each word, and of each completion.
      letters: number of tokens.
      unknown: fraction of a word's letters in which its variants differ.
      seed: seed of the words and of the initial logits.
    """
    generator = np.random.default_rng(seed)
    common = generator.integers(letters, size=(words, 1, length))
    own = random_orders(generator, (words, variants, length), axis=1) % letters
    is_unknown = random_orders(generator, (words, 1, length)) < unknown * length
    spelled = np.where(is_unknown, own, common).reshape(-1, length)
    states = np.arange(words * length)
    following = np.where(states % length == length - 1, END, states + 1)
    return Task(
        name="spelling",
        vocabulary=tuple("abcdefghijklmnopqrstuvwxyz"[:letters]),
        transitions=np.repeat(following[:, None], letters, axis=1),
        prompts=tuple(f"{word}.{variant}:" for word in range(words) for variant in range(variants)),
        starts=np.repeat(np.arange(words) * length, variants),
        prompt_probs=np.full(words * variants, 1.0 / (words * variants)),
        max_length=length,
        ref_logits=0.5 * generator.normal(size=(words * length, letters)),
        verify=partial(_half_right, spelled),
        criteria=("half_right",),
        weights=np.ones(1),
    )


def _half_right(spelled: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    share: Floats = (tokens == spelled[prompts][..., None, :]).mean(-1, keepdims=True)
    return (share >= 0.5).astype(np.float64)
