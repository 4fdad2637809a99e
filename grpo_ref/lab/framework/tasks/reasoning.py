"""A quick answer, or long reasoning that a budget of tokens may truncate before its answer."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.task import END, Task

YES, NO = 0, 1
CHOICE = 0
"""States of a topic: the first (reason, or answer at once), then the steps, then the conclusion."""
COPIES = 20
"""Number of prompts per topic, which look the same to the policy."""
GAP = 2.0
"""Difference between the rewards of a right and a wrong answer, as between DAPO's 1 and -1."""
FAMILY = (
    "10 to 40 topics share nothing. The quick answer is right for 10 to 50 % of a topic's prompts; reasoning"
    " is right for all but 0 to 30 %, if sound, which at first it is in 60 to 95 % of cases. At first 20 to"
    " 80 % of completions reason: 2 to 5 steps, before each of which the policy wanders for 0.5 to 4 tokens"
    " (means). The budget then cuts 10 to 90 % of the reasoning, as drawn."
)
"""Description of how `reasoning` samples its tasks."""


def reasoning(seed: int, *, cut: float = 0.0, useless: bool = False) -> Task:
    """Sample a task in which the policy answers at once or reasons first.

    A quick answer is right for some prompts of a topic; sound reasoning is right for most. Reasoning takes
    some steps, before each of which the policy may write any number of other tokens. The budget truncates
    completions that have not reached an answer.

    Args:
      seed: seed of the task.
      cut: fraction of the reasoning that the budget truncates at first; sampled if 0.
      useless: if true, reasoning is right for only half of the prompts, and a quick answer for 60 to 90 %.

    Returns:
      A task with the criteria "correct" and "reasons"; "reasons" does not count for the reward.
    """
    generator = np.random.default_rng([seed, 0, 1])
    topics, steps = int(generator.integers(10, 41)), int(generator.integers(2, 6))
    reason, sound = generator.uniform(0.2, 0.8), generator.uniform(0.6, 0.95)
    onward, drawn = 1.0 / (1.0 + generator.uniform(0.5, 4.0)), generator.uniform(0.1, 0.9)
    quick, mislabelled = generator.uniform(0.1, 0.5), generator.uniform(0.0, 0.3)
    if useless:
        quick, mislabelled = 0.55 + 0.7 * quick, 0.5
    lengths = 2 + steps + generator.negative_binomial(steps, onward, 2000)
    states = steps + 2
    step_on = np.arange(1, states + 1)
    transitions = np.stack([step_on, np.arange(states)], axis=-1)
    transitions[CHOICE, NO] = END
    transitions[-1] = END
    offsets = np.arange(topics) * states
    of_topics = np.where(transitions == END, END, transitions + offsets[:, None, None])
    shares = np.array([reason, *[onward] * steps, sound])
    ref_logits = np.stack([np.log(shares / (1.0 - shares)), np.zeros(states)], axis=-1)
    easy = generator.random(topics * COPIES) < quick
    conclusions = np.where(generator.random(topics * COPIES) < mislabelled, NO, YES)
    return Task(
        name="reasoning",
        vocabulary=("+", "-"),
        transitions=of_topics.reshape(-1, 2),
        prompts=tuple(f"{topic}:" for topic in range(topics) for _ in range(COPIES)),
        starts=np.repeat(offsets, COPIES) + CHOICE,
        prompt_probs=np.full(topics * COPIES, 1.0 / (topics * COPIES)),
        max_length=int(np.quantile(lengths, 1.0 - (cut or drawn), method="lower")),
        ref_logits=np.tile(ref_logits, (topics, 1)),
        verify=partial(_judge, easy, conclusions, steps),
        criteria=("correct", "reasons"),
        weights=np.array([GAP, 0.0]),
        settings={"updates": 60, "prompts": 16, "group_size": 8},
    )


def _judge(
    easy: Bools, conclusions: Integers, steps: int, prompts: Integers, tokens: Integers, mask: Bools
) -> Floats:
    """Return (..., P, G, 2): 1 if the answer is right, and 1 if the completion reasons.

    The token after the last step of the reasoning is the answer.
    """
    reasons = tokens[..., 0] == YES
    yes = (tokens == YES) & mask
    before = yes.cumsum(-1) - yes
    answers = mask & (before == steps + 1)
    sound = (answers & (tokens == conclusions[prompts][..., None, None])).any(-1)
    return np.stack([np.where(reasons, sound, easy[prompts][..., None]), reasons], axis=-1).astype(np.float64)
