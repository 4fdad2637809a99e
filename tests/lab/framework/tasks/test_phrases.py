"""Answers in which some tokens matter: chances are exact, and fillers do not count."""

from grpo_ref.lab.framework.tasks.phrases import drawn_phrases
from grpo_ref.learning.rollout import sample


def test_sampled_and_exact_chances_agree():
    made = drawn_phrases(2, known=0.5)
    logits = made.task.ref_logits[None]
    batch = sample(made.task, logits, prompts=400, group_size=50)
    assert abs(batch.rewards.mean() - made.chances(logits)[0, batch.prompts[0]].mean()) < 0.01


def test_only_what_matters_is_judged():
    made = drawn_phrases(2, informative=2, fillers=3)
    assert (made.matters.sum(-1) == 2).all()
    assert made.task.max_length == 5
