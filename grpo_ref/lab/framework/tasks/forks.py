"""Long completions in which most tokens are nearly certain, and a few tokens are forks."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.task import END, Task

VARIANTS = 10
"""Number of variants of each prompt."""


def forks(seed: int, *, stubborn: int, lengths: tuple[int, int] = (8, 16)) -> Task:
    """Sample a task with long completions, in which every token must be right and most are nearly certain.

    Args:
      seed: seed of the task.
      stubborn: number of places of each prompt where the reference is nearly certain of a wrong token.
      lengths: shortest and longest completion that is sampled, in tokens.

    Returns:
      A task with the criterion "right".
    """
    generator = np.random.default_rng([seed, 5])
    ends = ((4, 13), (lengths[0], lengths[1] + 1), (3, 9))
    prompts, length, letters = (int(generator.integers(*each)) for each in ends)
    open_places = max(1, round(generator.uniform(0.1, 0.5) * length))
    known, luck = np.exp(generator.uniform(np.log(0.02), np.log(0.5))), generator.uniform(0.0, 0.3)
    rank = np.argsort(generator.random((prompts, length)), axis=-1)
    is_fork, is_stubborn = rank < open_places, rank >= length - stubborn
    sure = generator.uniform(0.97, 0.999, (prompts, length))
    chance = np.where(is_fork, known ** (1.0 / open_places), sure)
    right = generator.integers(letters, size=(prompts, length))
    liked = np.where(is_stubborn, (right + 1) % letters, right)
    chance = np.where(is_stubborn, generator.uniform(0.8, 0.95, (prompts, length)), chance)
    states = np.arange(prompts * length)
    following = np.where(states % length == length - 1, END, states + 1)
    return Task(
        name="forks",
        vocabulary=tuple("abcdefgh"[:letters]),
        transitions=np.repeat(following[:, None], letters, axis=1),
        prompts=tuple(f"{prompt}.{variant}:" for prompt in range(prompts) for variant in range(VARIANTS)),
        starts=np.repeat(np.arange(prompts) * length, VARIANTS),
        prompt_probs=np.full(prompts * VARIANTS, 1.0 / (prompts * VARIANTS)),
        max_length=length,
        ref_logits=_logits(generator, liked, chance, letters),
        verify=partial(_judge, _labels(generator, right, is_fork, luck, letters)),
        criteria=("right",),
        weights=np.ones(1),
    )


def _logits(generator: np.random.Generator, liked: Integers, chance: Floats, letters: int) -> Floats:
    """Return (Q T, V) logits that give the liked tokens (Q, T) these probabilities; the others vary."""
    logits = 0.5 * generator.normal(size=(liked.size, letters))
    rows, tokens, chances = np.arange(liked.size), liked.reshape(-1), chance.reshape(-1)
    rest = np.exp(logits).sum(-1) - np.exp(logits[rows, tokens])
    logits[rows, tokens] = np.log(chances / (1.0 - chances) * rest)
    return logits


def _labels(
    generator: np.random.Generator, right: Integers, is_fork: Bools, luck: float, letters: int
) -> Integers:
    """Return (Q VARIANTS, T) the tokens that each variant asks for; some ask for another token at a fork."""
    labels = np.repeat(right, VARIANTS, axis=0)
    wrong = np.flatnonzero(generator.random(len(labels)) < luck)
    labels[wrong, is_fork.argmax(-1)[wrong // VARIANTS]] += generator.integers(1, letters, len(wrong))
    asked: Integers = labels % letters
    return asked


def _judge(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    right: Floats = (tokens == labels[prompts][..., None, :]).all(-1)[..., None].astype(np.float64)
    return right
