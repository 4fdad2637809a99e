"""A distribution of tasks of memorizing words, in which some letters are more likely at first than others."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.task import END, Task

COPIES = 20
"""Number of prompts that ask for the same word. They look the same to the policy."""
STOP = 0
"""The token that ends a completion; the others are letters."""
FAMILY = (
    "4 to 16 words of 1 to 6 of 2 to 5 letters are learned by heart, completions having up to two tokens"
    " more. Right letters are more likely at first by up to 3 nats. A right word is rewarded with 1, any word"
    " that ends with up to 0.3 besides, so that groups can differ a lot or a little. Up to 30 % of the labels"
    " ask for another word."
)


def words_by_heart(seed: int, *, partial_reward: bool = True) -> Task:
    """Sample a task of memorizing words, with a separate state for every position of every word.

    Args:
      seed: seed of the task.
      partial_reward: if true, a wrong word that ends has a reward, too.
    """
    generator = np.random.default_rng([seed, 0, 1])
    words, letters = int(generator.integers(4, 17)), int(generator.integers(2, 6))
    longest, hint = int(generator.integers(2, 7)), generator.uniform(0.0, 3.0)
    weight, mislabelled = generator.uniform(0.0, 0.3), generator.uniform(0.0, 0.3)
    budget = longest + 2
    lengths = generator.integers(1, longest + 1, words)
    spelled = np.stack([_word(generator, int(length), letters, budget) for length in lengths])
    logits = 0.5 * generator.normal(size=(words * budget, 1 + letters))
    known = np.flatnonzero(spelled.reshape(-1) >= 0)
    logits[known, spelled.reshape(-1)[known]] += hint
    states = np.arange(words * budget)
    table = np.repeat(np.where(states % budget == budget - 1, END, states + 1)[:, None], 1 + letters, axis=1)
    table[:, STOP] = END
    own = np.repeat(np.arange(words), COPIES)
    others = (own + generator.integers(1, words, len(own))) % words
    labels = np.where(generator.random(len(own)) < mislabelled, others, own)
    return Task(
        name="words_by_heart",
        vocabulary=("", *"abcde"[:letters]),
        transitions=table,
        prompts=tuple(f"word {number}:" for number in own),
        starts=own * budget,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=budget,
        ref_logits=logits,
        verify=partial(_judge, spelled[labels]),
        criteria=("word", "correct"),
        weights=np.array([weight if partial_reward else 0.0, 1.0]),
        settings={"updates": 80, "prompts": 16, "group_size": 8},
    )


def _word(generator: np.random.Generator, length: int, letters: int, budget: int) -> Integers:
    """Return (budget,) random letters and the end token; -1 after the end."""
    word = np.full(budget, -1)
    word[:length], word[length] = generator.integers(1, 1 + letters, length), STOP
    return word


def _judge(words: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): 1 if the word ends, and 1 if the word is right."""
    written = np.where(mask, tokens, -1)
    ended = (written == STOP).any(-1) & (written[..., 0] != STOP)
    correct = (written == words[prompts][..., None, :]).all(-1)
    return np.stack([ended, correct], axis=-1).astype(np.float64)
