"""Names of the census: real data, a counted reference, and goals that can be verified."""

import numpy as np
import pytest

from grpo_ref.learning.policies.table import policy_of
from grpo_ref.tasks.names import GOALS, LETTERS, census_names, names

WRITTEN = {
    "marina": {"alternates", "ends_in_vowel"},
    "bettie": {"ends_in_vowel"},
    "john": set(),
    "christina": {"ends_in_vowel", "long_names"},
    "nicolas": {"alternates"},
    "jeremiah": {"long_names"},
    "y": {"ends_in_vowel"},
}


def judge(task, name, *, ended=True):
    letters = [LETTERS.index(letter) for letter in name[1:]] + [26] * ended
    tokens = np.array(letters + [0] * (task.max_length - len(letters)))[None, None]
    mask = (np.arange(task.max_length) < len(letters))[None, None]
    return task.verify(np.array([LETTERS.index(name[0])]), tokens, mask)[0, 0]


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("name", WRITTEN)
def test_goals(goal, name):
    task = names(goal=goal)
    reached, real = judge(task, name)
    assert reached == (goal in WRITTEN[name])
    assert real == (name in census_names())


@pytest.mark.parametrize("goal", GOALS)
def test_an_unfinished_name_is_no_name(goal):
    assert judge(names(goal=goal), "marina", ended=False).tolist() == [0.0, 0.0]


def test_the_census_list():
    assert len(census_names()) == 5163
    assert {"mary", "james", "christina"} <= set(census_names())
    assert all(set(name) <= set(LETTERS) for name in census_names())


def test_the_reference_is_counted():
    """50 names start with "ab..." or so: the share of each second letter after "a" is near its count."""
    task = names(context=3, min_count=1)
    start = task.starts[0]
    after_a = [name[1:2] for name in census_names() if name[0] == "a"]
    probs = policy_of(task.ref_logits).probs[start]
    share = after_a.count("l") / len(after_a)
    assert probs[LETTERS.index("l")] == pytest.approx(share, abs=1.0 / len(after_a))
    np.testing.assert_allclose(probs.sum(), 1.0, rtol=1e-12)


def test_state_follows_the_longest_known_suffix():
    """With one letter of context the state after "ma" and after "ba" is the same: the one after "a"."""
    task = names(context=1)
    a, b, m = (LETTERS.index(letter) for letter in "abm")
    assert task.transitions[task.starts[m], a] == task.transitions[task.starts[b], a] == task.starts[a]


def test_names_refuses_what_it_cannot_do():
    with pytest.raises(
        ValueError, match="goal: expected one of alternates, ends_in_vowel, long_names, got 'short'"
    ):
        names(goal="short")
    with pytest.raises(ValueError, match="got 4, 12 and 8"):
        names(context=4)
