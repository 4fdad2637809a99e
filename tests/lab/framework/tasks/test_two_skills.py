"""A task of two skills: which answers are right, what is rewarded, and what the table knows at the start."""

import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.two_skills import right_answers, two_skills
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.tasks.arithmetic import EOS

TASK, REWARDED = two_skills(0)
PROMPT = {"3+4=": 0, "3*4=": 0} | {text: number for number, text in enumerate(TASK.prompts)}

# question -> tokens of the completion, how many of them are written, reward
JUDGED = {
    "a sum": ("3+4=", [7, EOS, 0], 2, 1.0),
    "a product": ("3*4=", [1, 2, EOS], 3, 1.0),
    "the sum where the product is asked for": ("3*4=", [7, EOS, 0], 2, 0.0),
    "right digits without an end": ("3*4=", [1, 2, 2], 3, 0.0),
    "right digits and one more": ("3+4=", [7, 0, EOS], 3, 0.0),
    "too short": ("3*4=", [1, EOS, 0], 2, 0.0),
}


@pytest.mark.parametrize(("question", "tokens", "written", "reward"), JUDGED.values(), ids=JUDGED)
def test_an_answer_is_right_if_it_is_the_number_and_ends(question, tokens, written, reward):
    prompts, mask = np.array([PROMPT[question]]), np.arange(3) < written
    assert TASK.max_length == 3
    assert TASK.verify(prompts, np.array([[tokens]]), mask[None, None]) == reward


def test_one_kind_is_rewarded_and_the_other_is_never_asked():
    asked = {text[1] for text, chance in zip(TASK.prompts, TASK.prompt_probs, strict=True) if chance > 0.0}
    assert len(asked) == 1
    assert np.array_equal(TASK.prompt_probs > 0.0, REWARDED)
    assert TASK.prompt_probs.sum() == pytest.approx(1.0)


def test_the_network_reads_both_digits_and_the_kind():
    assert TASK.prompt_tokens[PROMPT["3+4="]].tolist() == [3, 4, 0]
    assert TASK.prompt_tokens[PROMPT["3*4="]].tolist() == [3, 4, 1]


@pytest.mark.parametrize("seed", range(6))
def test_the_other_kind_is_known_better_at_the_start(seed):
    task, rewarded = two_skills(seed)
    tokens, mask = right_answers(task)
    rows = task.starts[:, None] + np.arange(task.max_length)
    log_probs = log_softmax(task.ref_logits)[rows, tokens]
    chances = np.exp((log_probs * mask).sum(-1))
    assert 0.03 < chances[rewarded].mean() < 0.4
    assert 0.5 < chances[~rewarded].mean() < 0.95
