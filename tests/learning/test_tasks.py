"""The tasks: automata that end where they should, verifiers that accept nothing else."""

import itertools

import numpy as np
import pytest

from grpo_ref import TASKS, group_centered, leave_one_out, sample
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw_prompts, rollout
from grpo_ref.learning.tasks.arithmetic import EOS, arithmetic
from grpo_ref.learning.tasks.bandit import bandit_with, exact_policy_gradient, expected_reward
from grpo_ref.learning.tasks.names import GOALS, LETTERS, census_names, names
from grpo_ref.learning.tasks.task import END

MEANS = np.array([[1.0, 0.0, 0.5], [0.2, 0.9, 0.4]])
LOGITS = np.array([[0.3, -0.2, 0.1], [0.0, 0.5, -1.0]])


@pytest.mark.parametrize("build", TASKS.values(), ids=TASKS)
def test_every_task_is_a_complete_automaton(build):
    task = build()
    states, tokens = task.transitions.shape
    assert task.ref_logits.shape == (states, tokens)
    assert len(task.vocabulary) == tokens
    assert len(task.prompts) == len(task.starts) == len(task.prompt_probs)
    assert task.prompt_probs.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(task.ref_logits).all()
    assert task.transitions.min() == END
    assert task.transitions.max() < states


@pytest.mark.parametrize("build", TASKS.values(), ids=TASKS)
def test_a_mask_is_a_stretch_from_the_first_token(build):
    task = build()
    batch = sample(task, task.ref_logits[None], prompts=50, group_size=4)
    assert batch.mask[..., 0].all()
    assert (np.diff(batch.mask.astype(int), axis=-1) <= 0).all()
    assert not batch.tokens[~batch.mask].any()
    ended_or_full = batch.ended | (batch.lengths == task.max_length)
    assert ended_or_full.all()


def test_rollout_inverts_the_distribution_function():
    """With probabilities 1/2, 1/4, 1/4 the edges are 1/2 and 3/4, each the first number of the next token."""
    task = bandit_with(np.zeros((1, 3)))
    uniforms = np.array([0.0, 0.49, 0.5, 0.74, 0.75, 0.99]).reshape(1, 6, 1)
    batch = rollout(task, np.array([[0.5, 0.25, 0.25]]), np.array([0]), uniforms)
    assert batch.tokens[0, :, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_prompts_are_drawn_in_proportion():
    task = names()
    drawn = (
        np.bincount(draw_prompts(task.prompt_probs, (np.arange(51630) + 0.5) / 51630), minlength=26) / 51630
    )
    np.testing.assert_allclose(drawn, task.prompt_probs, atol=1e-4)


def test_rollout_names_the_shapes_that_do_not_fit():
    task = arithmetic()
    with pytest.raises(ValueError, match=r"uniforms: expected 4 on the last axis, got shape \(2, 3, 5\)"):
        rollout(task, policy_of(task.ref_logits).probs, np.zeros(2, dtype=int), np.zeros((2, 3, 5)))
    with pytest.raises(ValueError, match=r"same run axes, got \(400, 11\), \(2,\) and \(3, 3, 4\)"):
        rollout(task, policy_of(task.ref_logits).probs, np.zeros(2, dtype=int), np.zeros((3, 3, 4)))


# ---- bandit: the truth is known ------------------------------------------------------------------


def test_expected_reward_by_hand():
    """Uniform policy: the mean of (1 + 0 + 1/2)/3 and (0.2 + 0.9 + 0.4)/3 is 1/2."""
    assert expected_reward(MEANS, np.zeros((2, 3))) == pytest.approx(0.5, abs=1e-15)


def test_exact_gradient_is_the_derivative_of_the_expected_reward():
    gradient = exact_policy_gradient(MEANS, LOGITS, temperature=0.7)
    for index in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[index] = 1e-5
        up, down = (expected_reward(MEANS, LOGITS + s, temperature=0.7) for s in (step, -step))
        assert gradient[index] == pytest.approx((up - down) / 2e-5, rel=1e-8, abs=1e-11)


def sampled_gradient(arms, advantages, logits):
    """Gradient of mean(A log π) for chosen arms (..., P=contexts, G), pulled back to the logits."""
    probs = policy_of(logits).probs
    states = np.broadcast_to(np.arange(len(logits))[:, None, None], (*arms.shape, 1))
    weights = advantages[..., None] / (arms.shape[-1] * arms.shape[-2])
    table = np.broadcast_to(probs, (*arms.shape[:-2], *probs.shape))
    return pull_back(weights, states, arms[..., None], table)


def expected_sampled_gradient(advantage, group):
    """The sampled gradient averaged over every possible group of every context, by its probability."""
    total = np.zeros_like(LOGITS)
    probs = policy_of(LOGITS).probs
    for members in itertools.product(range(3), repeat=group):
        arms = np.tile(members, (2, 1))
        gradient = sampled_gradient(arms, advantage(np.take_along_axis(MEANS, arms, 1)), LOGITS)
        total += probs[:, members].prod(1, keepdims=True) * gradient
    return total


@pytest.mark.parametrize("group", [2, 3])
def test_leave_one_out_is_unbiased_by_enumeration(group):
    exact = exact_policy_gradient(MEANS, LOGITS)
    np.testing.assert_allclose(expected_sampled_gradient(leave_one_out, group), exact, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("group", [2, 3])
def test_centring_shrinks_the_gradient_by_one_minus_one_over_g(group):
    """The group mean contains the completion itself: E = (G-1)/G times the truth."""
    exact = exact_policy_gradient(MEANS, LOGITS) * (group - 1) / group
    np.testing.assert_allclose(
        expected_sampled_gradient(group_centered, group), exact, rtol=1e-12, atol=1e-15
    )


def test_sampled_gradient_agrees_with_the_exact_one():
    """20 000 independent runs of the sampler: every entry within 5 standard errors of the truth."""
    runs, group = 20_000, 4
    task = bandit_with(MEANS)
    table = np.broadcast_to(policy_of(LOGITS).probs, (runs, 2, 3))
    prompts = np.broadcast_to(np.arange(2), (runs, 2))
    batch = rollout(task, table, prompts, np.random.default_rng(1).random((runs, 2, group, 1)))
    gradients = sampled_gradient(batch.tokens[..., 0], leave_one_out(batch.rewards), LOGITS)
    error = gradients.std(0, ddof=1) / np.sqrt(runs)
    assert (np.abs(gradients.mean(0) - exact_policy_gradient(MEANS, LOGITS)) < 5 * error).all()
    assert gather(table, batch.states, batch.tokens).shape == (runs, 2, group, 1)


# ---- arithmetic: a strict verifier ---------------------------------------------------------------

JUDGED = {
    "right, one digit": ("3+4=", [7, EOS], True, True),
    "right, two digits": ("9+8=", [1, 7, EOS], True, True),
    "zero is a number": ("0+0=", [0, EOS], True, True),
    "wrong number": ("3+4=", [8, EOS], True, False),
    "leading zero": ("3+4=", [0, 7, EOS], False, False),
    "nothing but the end": ("3+4=", [EOS], False, False),
    "no end": ("9+8=", [1, 7, 1, 7], False, False),
    "right digits, then one more": ("3+4=", [7, 7, EOS], True, False),
    "an unfinished right answer": ("9+8=", [1, EOS], True, False),
}


@pytest.mark.parametrize(("prompt", "answer", "well_formed", "correct"), JUDGED.values(), ids=JUDGED)
def test_arithmetic_verifier(prompt, answer, well_formed, correct):
    task = arithmetic()
    tokens = np.array(answer + [0] * (task.max_length - len(answer)))[None, None]
    mask = (np.arange(task.max_length) < len(answer))[None, None]
    judged = task.verify(np.array([task.prompts.index(prompt)]), tokens, mask)
    assert judged[0, 0].tolist() == [well_formed, correct]


def test_arithmetic_needs_room_for_the_largest_sum():
    with pytest.raises(ValueError, match="max_length: 10 and its end need 3 tokens, got a budget of 2"):
        arithmetic(max_length=2)


# ---- names: real data ----------------------------------------------------------------------------

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


def test_render_writes_prompt_and_completion():
    task = arithmetic()
    mask = np.array([True, True, True, False])
    assert task.render(task.prompts.index("9+8="), np.array([1, 7, EOS, 0]), mask) == "9+8=17"
