"""Questions with an answer, followed by filler tokens; the policy may notice whether its answer is right."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.task import END, Task

COPIES = 20
"""Number of prompts per question, which look the same to the policy."""
FILLER = 0
"""Filler token, which neither changes nor ends the completion."""


def answer_and_talk(
    seed: int, *, sense: float | None = None, luck: bool = True
) -> tuple[Task, Floats, Bools]:
    """Sample a task: the first token is the answer; then follow filler tokens that do not change the reward.

    Each question has two states for filler. Each answer of the question leads to one of them: with
    probability `sense` to the state that says whether the answer is right, otherwise to a random one.

    Args:
      seed: seed of the task.
      sense: probability that the state says whether the answer is right; sampled if None; 0 for a single
        state.
      luck: if true, some labels are random.

    Returns:
      The task; (questions, V) the fraction of a question's prompts that have each answer as their label; and
      (questions, V) true if the filler after an answer is in the question's first filler state.
    """
    generator = np.random.default_rng([seed, 0, 1])
    questions, answers = int(generator.integers(4, 17)), int(generator.integers(3, 9))
    budget, filler = int(generator.integers(8, 21)), generator.uniform(0.6, 0.9)
    known = np.exp(generator.uniform(np.log(0.05), np.log(0.5), questions))
    mislabelled, drawn = luck * generator.uniform(0.0, 0.3), generator.uniform()
    tells = generator.random((questions, answers)) < (drawn if sense is None else sense)
    guess = (generator.random((questions, answers)) < 0.5) & (sense != 0.0)
    right = generator.integers(answers, size=questions)
    is_right = np.arange(answers) == right[:, None]
    sure = np.where(tells, is_right, guess)
    ref_logits = np.zeros((3 * questions, answers))
    ref_logits[:questions] = generator.normal(size=(questions, answers))
    others = np.where(is_right, 0.0, np.exp(ref_logits[:questions])).sum(-1)
    ref_logits[np.arange(questions), right] = np.log(known / (1.0 - known) * others)
    ref_logits[questions:, FILLER] = np.log((answers - 1) * filler / (1.0 - filler))
    states = np.arange(3 * questions)
    transitions = np.full((3 * questions, answers), END)
    transitions[:questions] = states[:questions, None] + np.where(sure, questions, 2 * questions)
    transitions[questions:, FILLER] = states[questions:]
    own = np.repeat(np.arange(questions), COPIES)
    labels = np.where(
        generator.random(len(own)) < mislabelled, generator.integers(answers, size=len(own)), right[own]
    )
    task = Task(
        name="answer_and_talk",
        vocabulary=tuple("abcdefgh"[:answers]),
        transitions=transitions,
        prompts=tuple(f"{question}?" for question in own),
        starts=own,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=budget,
        ref_logits=ref_logits,
        verify=partial(_judge, labels),
        criteria=("correct",),
        weights=np.ones(1),
        settings={"prompts": 16, "group_size": 8},
    )
    asked = (labels.reshape(questions, COPIES, 1) == np.arange(answers)).mean(1)
    return task, asked, sure


def _judge(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    correct: Floats = (tokens[..., 0] == labels[prompts][..., None])[..., None].astype(np.float64)
    return correct


def expected_lengths(logits: Floats, among: Floats, sure: Bools, budget: int) -> Floats:
    """Return (..., M) the expected number of tokens for some kinds of completions, up to the budget.

    Token k + 2 is written if the k tokens between it and the answer are filler.

    Args:
      logits: (..., N, V) logits of the policy.
      among: (M, questions, V) fraction of a question's prompts for which each answer belongs to the kind.
      sure: (questions, V) as returned by `answer_and_talk`.
      budget: longest completion in tokens.
    """
    answers, *filler = np.split(policy_of(logits).probs, 3, axis=-2)
    shares = np.stack(filler)[..., FILLER, None]
    of_state = np.zeros_like(shares)
    for _ in range(budget - 1):
        of_state = 1.0 + shares * of_state
    length = 1.0 + np.where(sure, of_state[0], of_state[1])
    chance = answers[..., None, :, :] * among
    expected: Floats = (chance * length[..., None, :, :]).sum((-2, -1)) / chance.sum((-2, -1))
    return expected
