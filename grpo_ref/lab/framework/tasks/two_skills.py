"""A distribution of tasks with two skills, sums and products: only one of them is rewarded.

The other skill was learned before. Nothing in the rewards protects it, so training may destroy it.
"""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.digit_sums import partly_known
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.arithmetic import EOS

FAMILY = (
    "The questions are sums a+b and products a*b of two digits from 0 to a number from 4 to 9. One of the two"
    " kinds is rewarded. At first 5 to 30 % of its answers are right, and 60 to 90 % of the answers to the"
    " other kind (logits differ from question to question with a standard deviation of 1). The other kind is"
    " never asked in training."
)
"""Description of how `two_skills` samples its tasks."""


def two_skills(seed: int) -> tuple[Task, Bools]:
    """Sample a task of two skills.

    Args:
      seed: seed of the task.

    Returns:
      The task, whose prompts have tokens (a, b, kind), and (Q,) True for questions that are rewarded. The
      other questions have a probability of 0 in training. The task's table of logits knows both kinds.
    """
    generator = np.random.default_rng([seed, 0, 11])
    largest, is_sum = int(generator.integers(4, 10)), bool(generator.integers(2))
    weak, strong = np.exp(generator.uniform(np.log(0.05), np.log(0.3))), generator.uniform(0.6, 0.9)
    pairs = [(a, b) for a in range(largest + 1) for b in range(largest + 1)]
    answers = [str(a + b) for a, b in pairs] + [str(a * b) for a, b in pairs]
    max_length = len(str(max(largest**2, 2 * largest))) + 1
    rewarded = np.repeat([is_sum, not is_sum], len(pairs))
    known = (weak, strong) if is_sum else (strong, weak)
    logits = [
        partly_known(generator, part, max_length, chance)
        for part, chance in zip((answers[: len(pairs)], answers[len(pairs) :]), known, strict=True)
    ]
    states = np.arange(len(answers) * max_length)
    following = np.where(states % max_length == max_length - 1, END, states + 1)
    transitions = np.repeat(following[:, None], EOS + 1, axis=1)
    transitions[:, EOS] = END
    task = Task(
        name="two_skills",
        vocabulary=(*"0123456789", ""),
        transitions=transitions,
        prompts=tuple(f"{a}{sign}{b}=" for sign in "+*" for a, b in pairs),
        starts=states[::max_length],
        prompt_probs=rewarded / rewarded.sum(),
        max_length=max_length,
        ref_logits=np.concatenate(logits),
        verify=partial(_judge, *spelled(answers, max_length)),
        criteria=("correct",),
        weights=np.ones(1),
        prompt_tokens=np.array([(a, b, kind) for kind in (0, 1) for a, b in pairs]),
    )
    return task, rewarded


def spelled(answers: list[str], max_length: int) -> tuple[Integers, Bools]:
    """Return the tokens and the mask (Q, T) of written answers, each with its end.

    >>> tokens, mask = spelled(["7", "42"], 4)
    >>> tokens.tolist(), mask.sum(-1).tolist()
    ([[7, 10, 0, 0], [4, 2, 10, 0]], [2, 3])
    """
    rows = [[*map(int, written), EOS] for written in answers]
    tokens = np.array([row + [0] * (max_length - len(row)) for row in rows])
    return tokens, np.arange(max_length) < np.array([len(row) for row in rows])[:, None]


def right_answers(task: Task) -> tuple[Integers, Bools]:
    """Return the tokens and the mask (Q, T) of the right answer to each prompt."""
    assert isinstance(task.verify, partial)
    tokens, mask = task.verify.args
    return tokens, mask


def _judge(answers: Integers, needed: Bools, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 1): 1 if the completion is the right answer and has ended."""
    asked, ends = answers[prompts][..., None, :], needed[prompts][..., None, :]
    correct = ((mask == ends) & ((tokens == asked) | ~ends)).all(-1)
    judged: Floats = correct[..., None].astype(np.float64)
    return judged
