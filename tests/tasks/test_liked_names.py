"""Names that a learned reward model likes: its features, the true taste, and how far the two agree."""

import numpy as np
import pytest

from grpo_ref import TASKS
from grpo_ref.learning.rollout import sample
from grpo_ref.tasks.liked_names import IS_VOWEL, liked_names, pair_counts, spelled, taste
from grpo_ref.tasks.names import EOS, LETTERS


def text_of(*names):
    """Each name as `spelled` gives it, for a budget of twelve tokens."""
    rows = [[EOS, *(LETTERS.index(letter) for letter in name), *[EOS] * (13 - len(name))] for name in names]
    return np.array(rows)


# turns of neighbours * 8 - |letters - 6|
WORTH = {
    "marina": 8 * 5 / 5 - 0,
    "bettie": 8 * 3 / 5 - 0,
    "ann": 8 * 1 / 2 - 3,
    "y": 0 - 5,
    "tatatatatatat": 8 * 12 / 12 - 7,
}


@pytest.mark.parametrize(("name", "worth"), WORTH.items(), ids=WORTH)
def test_taste(name, worth):
    assert taste(IS_VOWEL, text_of(name)).tolist() == [pytest.approx(worth, abs=1e-12)]


def test_pairs_of_neighbours_are_counted_with_the_edges_of_the_name():
    counts = pair_counts(text_of("nan", "y")).reshape(2, 27, 27)
    a, n, y = (LETTERS.index(letter) for letter in "any")
    expected = np.zeros((2, 27, 27))
    expected[0, EOS, n] = expected[0, n, a] = expected[0, a, n] = expected[0, n, EOS] = 1.0
    expected[1, EOS, y] = expected[1, y, EOS] = 1.0
    assert np.array_equal(counts, expected)


def test_a_name_that_fills_the_budget_counts_as_it_stands():
    tokens = np.array([[[LETTERS.index(letter) for letter in "atatatatatat"]]])
    text = spelled(np.array([LETTERS.index("t")]), tokens, np.ones_like(tokens, dtype=bool))
    assert text[0, 0].tolist() == text_of("tatatatatatat")[0].tolist()


def test_more_choices_make_a_better_judge():
    """Measured on fresh names: the correlation of the learned score with the true taste."""
    correlation = {}
    for pairs in (20, 600):
        task = liked_names(pairs=pairs)
        judged = sample(task, task.ref_logits[None], prompts=1000, seed=1).components.reshape(-1, 2)
        correlation[pairs] = np.corrcoef(judged.T)[0, 1]
    assert 0.0 < correlation[20] + 0.2 < correlation[600] < 0.9


def test_the_reward_is_what_was_learned():
    task = TASKS["liked_names"]()
    batch = sample(task, task.ref_logits[None], prompts=4, group_size=4)
    assert np.array_equal(batch.rewards, batch.components[..., 0])


@pytest.mark.parametrize("settings", [{"pairs": 0}, {"prior": 0.0}])
def test_liked_names_refuses_what_it_cannot_do(settings):
    with pytest.raises(ValueError, match="expected pairs >= 1 and prior > 0"):
        liked_names(**settings)
