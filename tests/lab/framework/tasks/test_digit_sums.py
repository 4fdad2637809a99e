import numpy as np

from grpo_ref.lab.framework.tasks.digit_sums import (
    COPIES,
    PARTS,
    digit_sums,
    drawn_sums,
    label,
    labelled_answers,
    learned,
    learning,
    own_answers,
)
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw, rollout
from grpo_ref.tasks.arithmetic import EOS


def right_at_first(task):
    prompts = np.arange(len(task.prompts))[None]
    shape = (1, len(task.prompts), 400, task.max_length)
    uniforms = np.random.default_rng(0).random(shape)
    return rollout(task, policy_of(task.ref_logits[None]).probs, prompts, uniforms).rewards[0].mean(-1)


def test_the_family_draws_another_task_for_each_seed():
    assert len({len(drawn_sums(seed).prompts) for seed in range(8)}) > 2
    assert np.array_equal(drawn_sums(3).ref_logits, drawn_sums(3).ref_logits)


def test_a_median_question_is_known_as_told():
    task = digit_sums(np.random.default_rng(0), largest=6, known=0.2, mislabelled=0.0)
    assert len(task.prompts) == 49 * COPIES
    np.testing.assert_allclose(np.median(right_at_first(task)), 0.2, atol=0.05)


def test_known_answers_that_are_mislabelled_are_wrong():
    task = digit_sums(np.random.default_rng(0), largest=9, known=1.0 - 1e-9, mislabelled=0.25)
    found = draw(
        task, policy_of(task.ref_logits[None]), [np.random.default_rng(1)], prompts=4000, group_size=1
    )
    # another question has the same sum for 0.06 of the wrong labels
    np.testing.assert_allclose(found.rewards.mean(), 1.0 - 0.25 * 0.94, atol=0.02)


def test_an_arm_is_named_by_its_prompts_and_completions():
    one = learning(8, 32)
    assert (one.settings["group_size"], one.settings["prompts"]) == (8, 32)
    assert label(8, 32) == "32 prompts x 8"


def test_curves_are_over_the_parts_of_a_training():
    settings = {**learning(2, 16, 20).at(1.0).settings, "fixed": {"largest": 2}}
    assert learned(**settings, seeds=2, seed=0)["correct"].shape == (2, PARTS)


def test_the_answers_that_labels_ask_for_are_right():
    task = drawn_sums(0)
    tokens, mask = labelled_answers(task)
    prompts = np.arange(len(task.prompts))
    assert (task.verify(prompts, tokens[:, None], mask[:, None]) @ task.weights == 1.0).all()


def test_own_answers_are_the_true_sums_whatever_the_labels():
    task = digit_sums(np.random.default_rng(0), largest=6, known=0.5, mislabelled=0.9)
    prompts, tokens, mask = own_answers(task)
    written = {
        task.prompts[prompt]: row[kept].tolist()
        for prompt, row, kept in zip(prompts, tokens, mask, strict=True)
    }
    assert len(written) == 7 * 7
    assert (written["2+1="], written["6+5="]) == ([3, EOS], [1, 1, EOS])
