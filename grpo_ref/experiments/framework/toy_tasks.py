"""Tasks that more than one experiment needs: rewards with luck in them, of one token and of many."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.tasks.bandit import bandit_with
from grpo_ref.learning.tasks.task import END, Task


def noisy_payoffs(
    *,
    states: int = 2,
    prompts: int = 40,
    arms: int = 16,
    good: int = 8,
    pays: float = 0.7,
    spread: float = 1.0,
    seed: int = 0,
) -> Task:
    """A bandit in which no arm is always right, because the policy cannot tell a state's prompts apart.

    A good arm pays 1 for a share `pays` of the prompts of its state and 0 for the others, a bad arm for a
    share 1 - pays. The best that a policy can reach is `pays`, with any mixture of the good arms.

    Args:
      states: what the policy can tell apart.
      prompts: of each state.
      arms: number of tokens.
      good: how many arms of each state are good.
      pays: 1 for payoffs without luck.
      spread: standard deviation of the logits at the start.
      seed: of the payoffs and logits.
    """
    generator = np.random.default_rng(seed)
    is_good = _ranks(generator, (states, 1, arms), axis=-1) < good
    places = _ranks(generator, (states, prompts, arms), axis=1)
    payoffs = places < np.where(is_good, pays, 1.0 - pays) * prompts
    return replace(
        bandit_with(payoffs.reshape(-1, arms).astype(np.float64)),
        name="noisy_payoffs",
        starts=np.repeat(np.arange(states), prompts),
        transitions=np.full((states, arms), END),
        ref_logits=spread * generator.normal(size=(states, arms)),
    )


def spelling(
    *,
    words: int = 4,
    variants: int = 8,
    length: int = 12,
    letters: int = 4,
    unknown: float = 0.0,
    seed: int = 0,
) -> Task:
    """Spell a word: the reward is 1 if at least half of the letters are right, else 0.

    The policy sees the word and the place of each letter, but not which variant of the word is asked for;
    letters in which the variants differ are a matter of luck.

    Args:
      words: what the policy can tell apart.
      variants: of each word, a prompt each.
      length: letters of each word, and of each completion.
      letters: number of tokens.
      unknown: share of a word's letters in which its variants differ.
      seed: of the words and of the logits at the start.
    """
    generator = np.random.default_rng(seed)
    common = generator.integers(letters, size=(words, 1, length))
    own = _ranks(generator, (words, variants, length), axis=1) % letters
    is_unknown = _ranks(generator, (words, 1, length), axis=-1) < unknown * length
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


def _ranks(generator: np.random.Generator, shape: tuple[int, ...], *, axis: int) -> Integers:
    """Random orders 0, 1, ... along an axis."""
    ranks: Integers = np.argsort(generator.random(shape), axis=axis)
    return ranks
