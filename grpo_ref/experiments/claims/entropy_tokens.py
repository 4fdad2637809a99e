"""Claim: the gradients of the fifth of the tokens with the highest entropy suffice."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Array, Bools, Floats, Integers, array_namespace
from grpo_ref.experiments.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.kernels.aggregation import token_mean
from grpo_ref.kernels.corrections import top_entropy
from grpo_ref.learning.config import config_for
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import GRPO, Recipe, slot

SHARE, FEW = 0.2, 0.05
"""Of the tokens whose gradients are used: the paper's, and still fewer."""
MATTERS = 0.02
"""The largest difference in the share of right completions that does not matter."""
VARIANTS = 10
"""Of each prompt."""
RATES = Tuning("learning_rate", (0.1, 0.3, 1.0, 3.0, 10.0), by="mean right")
PLAIN = replace(GRPO, kl_coef=0.0, aggregate=slot(token_mean))


def low_entropy(entropies: Array, mask: Array, *, share: float) -> Array:
    """(P, G, T) 1 on all tokens but the share with the highest entropy."""
    highest = top_entropy(entropies, mask, share=share)
    return array_namespace(mask).where(highest > 0.0, 0.0, 1.0) * mask


def any_tokens(noise: Array, mask: Array, *, share: float) -> Array:
    """(P, G, T) 1 on a random share of the tokens."""
    return array_namespace(mask).where(noise < share, 1.0, 0.0) * mask


def forks(seed: int, *, stubborn: int) -> Task:
    """A drawn task: long completions of which every token must be right, most of them nearly certain.

    Args:
      seed: of all that is drawn.
      stubborn: in so many places of each prompt the reference is nearly certain of a wrong token.

    Returns:
      A task with the criterion "right".
    """
    generator = np.random.default_rng([seed, 5])
    prompts, length, letters = (int(generator.integers(*ends)) for ends in ((4, 13), (8, 17), (3, 9)))
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
    """(Q T, V) logits under which the liked tokens (Q, T) have these chances, and the others vary."""
    logits = 0.5 * generator.normal(size=(liked.size, letters))
    rows, tokens, chances = np.arange(liked.size), liked.reshape(-1), chance.reshape(-1)
    rest = np.exp(logits).sum(-1) - np.exp(logits[rows, tokens])
    logits[rows, tokens] = np.log(chances / (1.0 - chances) * rest)
    return logits


def _labels(
    generator: np.random.Generator, right: Integers, is_fork: Bools, luck: float, letters: int
) -> Integers:
    """(Q VARIANTS, T) what each variant asks for: some, by luck, another token in one of the forks."""
    labels = np.repeat(right, VARIANTS, axis=0)
    wrong = np.flatnonzero(generator.random(len(labels)) < luck)
    labels[wrong, is_fork.argmax(-1)[wrong // VARIANTS]] += generator.integers(1, letters, len(wrong))
    asked: Integers = labels % letters
    return asked


def _judge(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    right: Floats = (tokens == labels[prompts][..., None, :]).all(-1)[..., None].astype(np.float64)
    return right


def learned(*, recipe: Recipe, stubborn: int = 0, seeds: int, seed: int, **config: Any) -> Measures:
    """Train on a drawn task of `forks`; config are fields of `TrainConfig`."""
    task = forks(seed, stubborn=stubborn)
    sizes: dict[str, Any] = {"updates": 80, "prompts": 8, "group_size": 8}
    settings = config_for(task, **sizes, **config, seeds=seeds, seed=seed)
    return summarized(curves(task, recipe, settings, ("right",)))


def _tuned(*, stubborn: int = 0, **kept: Any) -> Arm:
    """All tokens, or those that a correction lets through."""
    corrections = tuple(slot(kernel, share=share) for kernel, share in kept.values())
    return tuned(learned, RATES, recipe=replace(PLAIN, corrections=corrections), stubborn=stubborn)


EXPERIMENT = Experiment(
    name="entropy_tokens",
    group="aggregation",
    claim="The fifth of the tokens with the highest entropy, the forks, suffices: training on their gradients"
    " alone is as good as on all tokens or better, and training on the other tokens is much worse.",
    source="Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939), abstract, which was read; TRL"
    " `top_entropy_quantile`",
    family="4 to 12 prompts are answered with 8 to 16 tokens out of 3 to 8, all of which must be right. 10 to"
    " 50 % of the places are forks; the right token of the others has a probability of 0.97 to 0.999. Drawn"
    " are also how likely all forks are right at first (2 to 50 %, log-uniform) and the share of the labels"
    " that differ in a fork by luck (0 to 0.3).",
    run="80 batches of 8 groups of 8 are learned with Adam, in one step each, by GRPO with the token mean and"
    " without a KL penalty. The gradient is that of all tokens, of the share with the highest entropy in the"
    " batch, of all tokens but these, or of as many at random. Once more the reference is nearly certain of a"
    " wrong token (0.8 to 0.95) in one place, which is no fork.",
    measured="The share of right completions by the labels, as sampled at temperature 1: over the last fifth"
    " of the training, and as a mean over all of it, by which the learning rate is chosen.",
    arms={
        "all tokens": _tuned(),
        "highest fifth": _tuned(kept=(top_entropy, SHARE)),
        "highest twentieth": _tuned(kept=(top_entropy, FEW)),
        "lowest four fifths": _tuned(kept=(low_entropy, SHARE)),
        "any fifth": _tuned(kept=(any_tokens, SHARE)),
        "surely wrong, all": _tuned(stubborn=1),
        "surely wrong, fifth": _tuned(stubborn=1, kept=(top_entropy, SHARE)),
    },
    predictions=(
        Prediction(
            "The highest fifth ends where all tokens end",
            "final right",
            "highest fifth",
            "same",
            "all tokens",
            MATTERS,
            main=True,
        ),
        Prediction(
            "The lowest four fifths end lower than all tokens",
            "final right",
            "lowest four fifths",
            "less",
            "all tokens",
            MATTERS,
            main=True,
        ),
        Prediction(
            "The highest fifth learns as fast as all tokens",
            "mean right",
            "highest fifth",
            "same",
            "all tokens",
            MATTERS,
        ),
        Prediction(
            "Control: it learns faster than any fifth",
            "mean right",
            "highest fifth",
            "more",
            "any fifth",
            MATTERS,
        ),
        Prediction(
            "The highest twentieth learns more slowly than all tokens",
            "mean right",
            "highest twentieth",
            "less",
            "all tokens",
            MATTERS,
        ),
        Prediction(
            "Where the reference is surely wrong in places, the highest fifth learns more slowly",
            "mean right",
            "surely wrong, fifth",
            "less",
            "surely wrong, all",
            MATTERS,
        ),
    ),
    panels=(
        Curves(
            "right",
            "right completions (share)",
            arms=("all tokens", "highest fifth", "highest twentieth", "lowest four fifths", "any fifth"),
        ),
        Grid(
            "right completions, mean of all updates (share)",
            arms=("all tokens", "highest fifth", "highest twentieth", "lowest four fifths", "any fifth"),
        ),
    ),
    remark="The tokens that the policy has no doubt about do teach next to nothing, and a random fifth"
    " teaches far less than the fifth with the highest entropy. That fifth ends about where all tokens"
    " end; it learns somewhat more slowly, since here there are tasks with more forks than that. It is not"
    " better: with a table for a policy, the other tokens add no noise that could harm. It depends on the"
    " low entropies being right: where the reference is sure of a wrong token, the fifth leaves it out"
    " until the forks are learned.",
    chosen="At first the reference was surely wrong in two places; hardly anything was learned then, so it"
    " became one. The largest learning rate was added because the best one was at the end of the grid for the"
    " highest twentieth.",
)
