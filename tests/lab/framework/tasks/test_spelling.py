import numpy as np

from grpo_ref.lab.framework.tasks.spelling import spelling


def test_half_of_the_letters_are_enough():
    task = spelling(words=1, variants=1, length=4, letters=2)
    words = np.indices((2,) * 4).reshape(4, -1).T[None]
    right = task.verify(np.zeros(1, int), words, np.ones_like(words, bool))[..., 0]
    assert right.sum() == 6 + 4 + 1  # of the 16 words those that have 2, 3 or 4 letters right


def test_a_policy_cannot_know_letters_in_which_variants_differ():
    words = np.indices((4,) * 2).reshape(2, -1).T[None]
    for unknown, differ in ((0.0, False), (1.0, True)):
        task = spelling(words=1, variants=4, length=2, letters=4, unknown=unknown)
        prompts = np.arange(4)
        right = task.verify(prompts, np.repeat(words, 4, axis=0), np.ones((4, 16, 2), bool))[..., 0]
        assert (right != right[0]).any() == differ
