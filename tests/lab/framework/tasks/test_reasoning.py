from functools import partial

import numpy as np

from grpo_ref.lab.framework.tasks.reasoning import NO, YES, _judge, reasoning
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw

# two steps; the conclusion of the second prompt is no; tokens and how many of them count -> correct, reasons
JUDGED = [
    ("quick, for an easy prompt", 0, [NO, 0, 0, 0, 0], 1, 1.0, 0.0),
    ("quick, for a hard prompt", 1, [NO, 0, 0, 0, 0], 1, 0.0, 0.0),
    ("sound", 0, [YES, YES, YES, YES, 0], 4, 1.0, 1.0),
    ("sound, after wandering", 0, [YES, NO, YES, YES, YES], 5, 1.0, 1.0),
    ("unsound", 0, [YES, YES, YES, NO, 0], 4, 0.0, 1.0),
    ("a conclusion of no", 1, [YES, YES, YES, NO, 0], 4, 1.0, 1.0),
    ("cut", 0, [YES, NO, YES, NO, NO], 5, 0.0, 1.0),
    ("cut, where the conclusion is no", 1, [YES, NO, YES, NO, NO], 5, 0.0, 1.0),
]


def test_reasoning_is_right_if_its_conclusion_is():
    judge = partial(_judge, np.array([True, False]), np.array([YES, NO]), 2)
    prompts = np.array([prompt for _, prompt, *_ in JUDGED])
    tokens = np.array([tokens for _, _, tokens, *_ in JUDGED])[:, None]
    mask = np.arange(5) < np.array([length for _, _, _, length, *_ in JUDGED])[:, None, None]
    expected = [[correct, reasons] for *_, correct, reasons in JUDGED]
    assert judge(prompts, tokens, mask)[:, 0].tolist() == expected


def test_the_budget_cuts_as_much_of_the_reasoning_as_told():
    for seed in range(3):
        task = reasoning(seed, cut=0.5)
        policy = policy_of(task.ref_logits[None])
        batch = draw(task, policy, [np.random.default_rng(1)], prompts=2000, group_size=4)
        reasons = batch.tokens[..., 0] == YES
        assert 0.4 < 1.0 - batch.ended[reasons].mean() < 0.75  # a budget is a whole number of tokens
