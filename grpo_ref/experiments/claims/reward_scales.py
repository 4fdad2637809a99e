"""Claim: in a sum of rewards one of large scale drowns the others, unless each is normalized first."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Arm, Curves, Experiment, Prediction, arm
from grpo_ref.experiments.framework.training import trained
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import GDPO, GRPO, Recipe

PROMPTS, CHOICES = 8, 8
RATIO = 20.0
"""How many times larger the scale of the first reward is, in the arms in which the scales differ."""


def two_rewards(*, ratio: float) -> Task:
    """Two tokens that are independent of one another; each has a quality, and each quality is rewarded.

    The qualities are fixed random numbers from 0 to 1, one per prompt, place and token.

    Args:
      ratio: the first quality is multiplied by this.
    """
    states = np.arange(PROMPTS)
    transitions = np.full((2 * PROMPTS, CHOICES), END)
    transitions[:PROMPTS] = PROMPTS + states[:, None]
    qualities = np.random.default_rng(0).random((PROMPTS, 2, CHOICES))
    return Task(
        name="two_rewards",
        vocabulary=tuple("abcdefgh"),
        transitions=transitions,
        prompts=tuple("12345678"),
        starts=states,
        prompt_probs=np.full(PROMPTS, 1.0 / PROMPTS),
        max_length=2,
        ref_logits=np.zeros((2 * PROMPTS, CHOICES)),
        verify=partial(_judge, qualities, np.array([ratio, 1.0, 1.0])),
        criteria=("large", "small", "first quality"),
        weights=np.array([1.0, 1.0, 0.0]),
        settings={"updates": 150, "prompts": 8, "group_size": 8, "learning_rate": 0.05},
    )


def _judge(qualities: Floats, scales: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """(..., P, G, 3): the two rewards, and the first one's quality, which is only watched."""
    quality = qualities[prompts[..., None, None], [0, 1], tokens]
    judged: Floats = quality[..., [0, 1, 0]] * scales
    return judged


def _at(ratio: float, recipe: Recipe) -> Arm:
    options = {"ratio": ratio}
    return arm(
        trained, task=two_rewards, task_options=options, recipe=recipe, record=("small", "first quality")
    )


SUMMED = replace(GRPO, kl_coef=0.0)

EXPERIMENT = Experiment(
    name="reward_scales",
    group="rewards",
    claim="Where rewards are summed before they are normalized, one of large scale drowns one of small"
    " scale; where each is normalized first (GDPO), scales do not matter.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.11; GDPO (arXiv:2601.05242)",
    run="Completions have two independent tokens, each with a quality between 0 and 1 that is the same in"
    f" every run. The reward for the first token is its quality times {RATIO:g} or times 1, and that for the"
    " second is its quality. The algorithms are GRPO without a KL penalty and GDPO, both with weights of 1.",
    measured="The mean quality of the second token (0 to 1), whose reward is the small one, over the last"
    " fifth of the updates (final) and over all updates (mean).",
    arms={
        "summed, 20:1": _at(RATIO, SUMMED),
        "GDPO, 20:1": _at(RATIO, GDPO),
        "summed, 1:1": _at(1.0, SUMMED),
        "GDPO, 1:1": _at(1.0, GDPO),
    },
    predictions=(
        Prediction(
            "At 20:1 GDPO learns the small reward faster",
            "mean small",
            "GDPO, 20:1",
            "more",
            "summed, 20:1",
            0.02,
        ),
        Prediction(
            "At 20:1 GDPO learns the small reward better",
            "final small",
            "GDPO, 20:1",
            "more",
            "summed, 20:1",
            0.02,
        ),
        Prediction(
            "Summed, the small reward is learned more slowly at 20:1 than at 1:1",
            "mean small",
            "summed, 20:1",
            "less",
            "summed, 1:1",
            0.02,
        ),
        Prediction(
            "With GDPO the small reward is learned as fast at 20:1 as at 1:1",
            "mean small",
            "GDPO, 20:1",
            "same",
            "GDPO, 1:1",
            0.01,
        ),
        Prediction(
            "At 1:1, GDPO and the sum learn the small reward equally fast",
            "mean small",
            "GDPO, 1:1",
            "same",
            "summed, 1:1",
            0.01,
        ),
    ),
    panels=(
        Curves("small", "quality of the second token:\nthe small reward"),
        Curves("first quality", "quality of the first token:\nthe other reward, without its factor"),
    ),
    remark="In the sum, the small reward is learned late, when the large one hardly varies within a group"
    " any more: it is drowned for a time, not for good.",
    chosen="Two criteria of one kind replaced a score and a binary format, which were not alike even at"
    " equal scales. After 200 updates the sum has caught up.",
)
