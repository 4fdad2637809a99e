"""A task of several steps, in which the difficulty of a prompt is its number of steps.

Prompt "3:" starts at step 3 and needs steps 3, 2 and 1. In every step one move is right, the same move in all
steps. A prompt is solved if all of its steps are right. Hard prompts share the steps of the easier prompts,
unless every prompt has separate steps.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import END, Task

RIGHT = 0
"""The right move. A uniform initial policy does not favour it."""
COPIES = 5
"""Number of copies of every prompt in a sampled task, which look the same to the policy."""
FAMILY = (
    "Prompts need 1 to L steps, L from 4 to 10, each with 2 to 5 moves of which one is right; hard prompts go"
    " through the steps of the easier ones. At first the hardest is solved with a chance of 1e-6 to 1e-2"
    " (log-uniform), and the logits of its steps differ by 0.5 (standard deviation). It makes up 10 to 90 %"
    " of the pool, the others the rest evenly. For up to 20 % of the prompts one step needs another move,"
    " which cannot be learned."
)
"""Description of how `drawn_chain` samples its tasks."""


def chain(*, longest: int = 10, moves: int = 4, hardest_share: float, shared: bool = True) -> Task:
    """Return a task with one prompt for each number of steps.

    Args:
      longest: number of steps of the hardest prompt; the easiest has one step.
      moves: number of moves in every step. At first, a prompt of k steps is solved with probability
        moves^-k.
      hardest_share: sampling probability of the hardest prompt; the other prompts share the rest evenly.
      shared: if true, prompts share their last steps; otherwise they have nothing in common.

    Returns:
      A task with one criterion, "solved".
    """
    steps = np.arange(longest if shared else longest**2)
    transitions = np.where(steps % longest == 0, END, steps - 1)
    lengths = np.arange(1, longest + 1)
    probs = np.full(longest, (1.0 - hardest_share) / (longest - 1))
    probs[-1] = hardest_share
    return Task(
        name="chain",
        vocabulary=tuple("abcdefghij"[:moves]),
        transitions=np.repeat(transitions[:, None], moves, axis=1),
        prompts=tuple(f"{length}:" for length in lengths),
        starts=(lengths - 1) * (1 if shared else longest + 1),
        prompt_probs=probs,
        max_length=longest,
        ref_logits=np.zeros((len(steps), moves)),
        verify=_solved,
        criteria=("solved",),
        weights=np.ones(1),
        settings={"updates": 75, "prompts": 8, "group_size": 8, "learning_rate": 0.1},
    )


def _solved(prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    solved: Floats = ((tokens == RIGHT) | ~mask).all(-1)[..., None].astype(np.float64)
    return solved


def pass_rates(task: Task, logits: Floats) -> Floats:
    """Return the exact probability that each prompt of a `chain` is solved, a product over its steps.

    Args:
      task: a chain.
      logits: (..., N, V).

    Returns:
      (..., Q).
    """
    right = log_softmax(logits)[..., RIGHT]
    steps = [start - np.arange(length) for length, start in enumerate(task.starts, start=1)]
    rates: Floats = np.exp(np.stack([right[..., mine].sum(-1) for mine in steps], axis=-1))
    return rates


def drawn_chain(seed: int, *, shared: bool = True, chance: float = 0.0) -> tuple[Task, Task]:
    """Sample a task with `COPIES` of each prompt of a chain, some of which need another move in one step.

    Args:
      seed: seed of the task.
      shared: as in `chain`.
      chance: initial probability that the hardest prompt is solved; sampled if 0.

    Returns:
      The task, and the chain without copies and wrong labels, for `pass_rates`.
    """
    generator = np.random.default_rng([seed, 0, 1])
    longest, moves = int(generator.integers(4, 11)), int(generator.integers(2, 6))
    hardest_share, mislabelled = generator.uniform(0.1, 0.9), generator.uniform(0.0, 0.2)
    drawn = np.exp(generator.uniform(np.log(1e-6), np.log(1e-2)))
    log_odds = _log_odds(generator, longest, moves, chance or drawn)
    plain = chain(longest=longest, moves=moves, hardest_share=hardest_share, shared=shared)
    steps = np.arange(len(plain.ref_logits)) % longest
    plain = replace(plain, ref_logits=np.where(np.arange(moves) == RIGHT, log_odds[steps, None], 0.0))
    own = np.repeat(np.arange(longest), COPIES)
    asked = np.full((len(own), longest), RIGHT)
    wrong = generator.random(len(own)) < mislabelled
    places = (generator.random(len(own)) * (own + 1)).astype(np.int64)
    asked[wrong, places[wrong]] = generator.integers(1, moves, wrong.sum())
    task = replace(
        plain,
        prompts=tuple(plain.prompts[prompt] for prompt in own),
        starts=plain.starts[own],
        prompt_probs=plain.prompt_probs[own] / COPIES,
        verify=partial(_as_asked, asked),
    )
    return task, plain


def _log_odds(generator: np.random.Generator, longest: int, moves: int, chance: float) -> Floats:
    """Return (longest,) the right move's logit in each step; all steps together have the given chance."""
    step = chance ** (1.0 / longest)
    noise = 0.5 * generator.normal(size=longest)
    odds: Floats = np.log((moves - 1) * step / (1.0 - step)) + noise - noise.mean()
    return odds


def _as_asked(asked: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return 1 if the first moves are those that the prompt asks for, otherwise 0."""
    right = tokens == asked[prompts][..., None, : tokens.shape[-1]]
    solved: Floats = (right | ~mask).all(-1)[..., None].astype(np.float64)
    return solved
