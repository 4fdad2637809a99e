"""Claim: in a sum of rewards one of large scale drowns the others, unless each is normalized first."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.task import END, Task
from grpo_ref.recipes import GDPO, GRPO, Recipe

COPIES = 10
"""Prompts of each question, which the policy cannot tell apart."""
RATIOS = (1.0, 4.0, 16.0, 64.0)
"""Ratio of the first reward's scale to the second's, where it is not sampled."""
MARGIN = 0.05


def two_rewards(seed: int, *, ratio: float = 0.0, luck: bool = False) -> tuple[Task, Floats]:
    """Two parts of a completion that are independent of one another; the quality of each is rewarded.

    The quality of a part is the mean of those of its tokens, which are uniform from 0 to 1.

    Args:
      seed: of the task.
      ratio: the first quality is multiplied by this; 0 to draw it.
      luck: whether the second quality is drawn for each prompt by itself, so that it cannot be learned.

    Returns:
      The task, and the quality of each part under the reference and at its best, (2, 2).
    """
    generator = np.random.default_rng([seed, 0, 1])
    questions, choices = int(generator.integers(4, 17)), int(generator.integers(4, 11))
    parts, group_size = generator.integers(1, 4, 2), int(generator.choice([4, 8, 16]))
    drawn = np.exp(generator.uniform(np.log(3.0), np.log(100.0)))
    length = int(parts.sum())
    ref_logits = 0.5 * generator.normal(size=(questions, length, choices))
    qualities = np.repeat(generator.random((questions, length, choices)), COPIES, axis=0)
    second = np.arange(length) >= parts[0]
    own = generator.random(qualities.shape)
    if luck:
        qualities = np.where(second[:, None], own, qualities)
    average = qualities.reshape(questions, COPIES, length, choices).mean(1)
    ends = np.stack([(policy_of(ref_logits).probs * average).sum(-1), average.max(-1)]).mean(1)
    states = np.arange(questions * length)
    following = np.where(states % length == length - 1, END, states + 1)
    task = Task(
        name="two_rewards",
        vocabulary=tuple("abcdefghij"[:choices]),
        transitions=np.repeat(following[:, None], choices, axis=1),
        prompts=tuple(f"{question}:" for question in range(questions) for _ in range(COPIES)),
        starts=np.repeat(np.arange(questions) * length, COPIES),
        prompt_probs=np.full(questions * COPIES, 1.0 / (questions * COPIES)),
        max_length=length,
        ref_logits=ref_logits.reshape(-1, choices),
        verify=partial(_judge, qualities, second, ratio or drawn),
        criteria=("large", "small", "first"),
        weights=np.array([1.0, 1.0, 0.0]),
        settings={"updates": 80, "prompts": 8, "group_size": group_size},
    )
    return task, np.stack([ends[:, ~second].mean(-1), ends[:, second].mean(-1)])


def _judge(
    qualities: Floats, second: Bools, ratio: float, prompts: Integers, tokens: Integers, mask: Bools
) -> Floats:
    """(..., P, G, 3): the two rewards, and the first one's quality, which is only watched."""
    quality = qualities[prompts[..., None, None], np.arange(tokens.shape[-1]), tokens]
    first = quality[..., ~second].mean(-1)
    return np.stack([ratio * first, quality[..., second].mean(-1), first], axis=-1)


def learned(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int, **options: Any) -> Measures:
    """Train on a drawn task; what is gained of each quality, from 0 at the reference to 1 at its best."""
    task, ((first_low, first_best), (low, best)) = two_rewards(seed, **options)
    config = config_for(task, seeds=seeds, seed=seed, learning_rate=learning_rate)
    found = curves(task, recipe, config, ("first", "small"))
    large = (found["first"] - first_low) / (first_best - first_low)
    small = (found["small"] - low) / (best - low)
    return summarized({"large": large, "small": small, "both": 0.5 * (large + small)})


SUMMED = replace(GRPO, kl_coef=0.0)
RECIPES = {"summed": SUMMED, "GDPO": GDPO}


def _arm(recipe: Recipe, *, by: str = "mean both", **options: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0, 3.0), by), recipe=recipe, **options)


EXPERIMENT = Experiment(
    name="reward_scales",
    title="Does a large reward hide a small one, and does GDPO prevent it?",
    group="rewards",
    claim="Where rewards are summed before they are normalized, one of large scale drowns one of small"
    " scale; where each is normalized first (GDPO), scales do not matter.",
    source="GDPO (arXiv:2601.05242); a book chapter on GRPO (2026, not public), sec. 7.5.11",
    family="4 to 16 questions share nothing. Completions have two parts of 1 to 3 tokens, out of 4 to 10,"
    " each token with a quality that is uniform from 0 to 1. The reward for the second part is its mean"
    " quality, that for the first part is its mean quality times 3 to 100 (log-uniform). Groups have 4, 8"
    " or 16 completions.",
    run="A policy learns from 80 batches of 8 groups with Adam and without a KL penalty: with GRPO on the sum"
    ' of both rewards ("summed"), or with GDPO; both rewards have the weight 1. This is repeated at fixed'
    ' ratios of the scales; at "1:1" there is nothing to drown. In the variants called "luck" the second'
    f" reward is only noise: the second quality differs at random among {COPIES} prompts that are the same"
    " question to the policy.",
    measured="The quality of each part, on a scale from 0 (the reference's) to 1 (the best), as a mean over"
    " the updates and over their last fifth (final). The learning rate is chosen by the mean of both parts"
    ' over the updates; with "luck" by the first part; with "for the small" by the mean of the small reward'
    ' alone; and with "for the end" by the small reward at the end.',
    arms={name: _arm(recipe) for name, recipe in RECIPES.items()}
    | {
        f"{name}, {ratio:g}:1": _arm(recipe, ratio=ratio)
        for ratio in RATIOS
        for name, recipe in RECIPES.items()
    }
    | {f"{name}, luck": _arm(recipe, by="mean large", luck=True) for name, recipe in RECIPES.items()}
    | {f"{name}, for the small": _arm(recipe, by="mean small") for name, recipe in RECIPES.items()}
    | {f"{name}, for the end": _arm(recipe, by="final small") for name, recipe in RECIPES.items()},
    predictions=(
        Prediction(
            "GDPO learns the small reward faster", "mean small", "GDPO", "more", "summed", MARGIN, main=True
        ),
        Prediction(
            "With GDPO the small reward is learned as fast as at 1:1",
            "mean small",
            "GDPO",
            "same",
            "GDPO, 1:1",
            0.01,
            main=True,
        ),
        Prediction(
            "GDPO ends with more of the small reward",
            "final small",
            "GDPO, for the end",
            "more",
            "summed, for the end",
            MARGIN,
        ),
        Prediction(
            "Even at the rates that are best for the small reward, GDPO learns it faster",
            "mean small",
            "GDPO, for the small",
            "more",
            "summed, for the small",
            MARGIN,
        ),
        Prediction(
            "Summed, the small reward is learned more slowly than at 1:1",
            "mean small",
            "summed",
            "less",
            "summed, 1:1",
            MARGIN,
        ),
        Prediction(
            "GDPO does not pay for it: the large reward is learned as fast",
            "mean large",
            "GDPO",
            "same",
            "summed",
            MARGIN,
        ),
        Prediction(
            "Control: at 1:1, GDPO and the sum learn the small reward equally fast",
            "mean small",
            "GDPO, 1:1",
            "same",
            "summed, 1:1",
            MARGIN,
        ),
        Prediction(
            "Where the small reward is luck, GDPO learns the large one more slowly",
            "mean large",
            "GDPO, luck",
            "less",
            "summed, luck",
            MARGIN,
        ),
    ),
    panels=(
        Points(
            "mean small",
            "small reward's quality\n(0 reference, 1 best; mean over updates)",
            x={name: {f"{name}, {ratio:g}:1": ratio for ratio in RATIOS} for name in RECIPES},
            xlabel="scale of the other reward",
            log="x",
        ),
        Curves("small", "small reward's quality (0 reference, 1 best)", arms=tuple(RECIPES)),
        Curves("large", "large reward's quality (0 reference, 1 best)", arms=tuple(RECIPES)),
        Grid("mean quality of both (mean over updates)", arms=tuple(RECIPES)),
    ),
)
