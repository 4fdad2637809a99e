"""What claims about networks compute exactly, against what the same networks do when they are sampled."""

from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref.lab.claims import (
    bf16_or_fp16,
    clip_needed,
    collapse_network,
    curriculum_network,
    group_average,
    length_bias_network,
    length_penalty_network,
    noisy_verifier,
    overlong_network,
    rate_or_recipe,
    reference_weight_network,
    sampler_mismatch_network,
)
from grpo_ref.lab.framework.tasks.digit_sums import PLAIN
from grpo_ref.lab.framework.tasks.phrases import COPIES
from grpo_ref.learning.held_out import held_out
from grpo_ref.learning.rollout import draw

SEED, MANY = 3, 6000


def sampled(start):
    task, policy = start
    actor = policy.at(policy.start(task, 1), 1.0)
    return draw(task, actor, [np.random.default_rng(1)], prompts=MANY, group_size=1)


def test_expected_lengths_are_those_of_samples():
    task = length_bias_network.drawn(SEED)
    batch = sampled(task.start)
    length, right = batch.mask.sum(-1).ravel(), batch.rewards.ravel() == 1.0
    exact = length_bias_network.expected_lengths(task, task.start[1].weights[None])[0]
    np.testing.assert_allclose(exact, [length[right].mean(), length[~right].mean()], rtol=0.05)


def test_expected_answers_and_lengths_are_those_of_samples_held_out():
    one = length_penalty_network.drawn(SEED)
    task, policy = one.start
    batch = sampled((held_out(task), policy))
    unseen = task.prompt_probs == 0.0
    right, length = length_penalty_network.expected(one, policy.weights[None])[0][:, unseen].mean(-1)
    np.testing.assert_allclose(right, batch.rewards.mean(), atol=0.02)
    np.testing.assert_allclose(length, batch.mask.sum(-1).mean() / task.max_length, rtol=0.02)
    assert 0.2 < unseen.mean() < 0.35


def test_the_chance_to_be_right_is_the_share_of_samples():
    start, answers, _ = collapse_network.drawn(SEED)
    said = collapse_network.log_probs(start, start[1].weights[None])
    right, different = collapse_network.found_by(said, answers)
    np.testing.assert_allclose(right[0], sampled(start).rewards.mean(), atol=0.015)
    assert 0.0 < different[0] <= answers.shape[1]


def test_the_pass_rate_of_the_hardest_prompt_is_the_share_of_samples():
    (task, policy), lengths, moves = curriculum_network.drawn(SEED)
    path = moves[None, None, None]
    hardest = np.array([[len(lengths) - 1]])
    exact = np.exp(policy.at(policy.weights[None], 1.0).visit(task, hardest, path, path).log_probs.sum())
    batch = sampled((task, policy))
    of_hardest = batch.rewards.ravel()[lengths[batch.prompts.ravel()] == lengths.max()]
    np.testing.assert_allclose(exact, of_hardest.mean(), atol=0.03)
    assert task.verify(hardest[0], path[0], np.ones(path[0].shape, dtype=bool)) == 1.0


def test_every_completion_is_listed_once():
    tokens, mask = sampler_mismatch_network.listing(3)
    written = {tuple(row[kept]) for row, kept in zip(tokens, mask, strict=True)}
    assert len(written) == len(tokens) == 1 + 10 * (1 + 10 * 11)


def test_without_mismatch_every_correction_leaves_the_gradient_as_it_is():
    log_probs, mask = -np.ones((1, 2, 2, 3)), np.ones((1, 2, 2, 3), dtype=bool)
    for correction in sampler_mismatch_network.WEIGHTS.values():
        weights = sampler_mismatch_network.weights_of(correction, log_probs, log_probs, mask)
        np.testing.assert_array_equal(np.broadcast_to(weights, mask.shape), 1.0)


def test_half_of_the_prompts_need_many_thoughts_and_write_them():
    one = group_average.drawn(SEED)
    _, length = group_average.expected(one, one.start[1].weights[None])[0]
    is_long = one.needed > 0
    assert 0.4 <= is_long.mean() <= 0.6
    assert length[is_long].min() > 2.0 * length[~is_long].max()
    assert len(set(group_average.drawn(SEED, alike=True).needed)) == 1


def test_right_answers_are_counted_by_the_length_that_prompts_need():
    found = group_average.train_and_measure(
        recipe=group_average.GROUP_MEAN, learning_rate=0.003, seeds=2, seed=SEED
    )
    is_long = group_average.drawn(SEED).needed > 0
    parts = is_long.mean() * found["right, long"] + (~is_long).mean() * found["right, short"]
    np.testing.assert_allclose(found["right"], parts)
    assert found["right"].shape == (2, len(group_average.LOOKS))


def test_the_budget_cuts_some_completions_at_first_and_no_answer_needs_all_of_it():
    task, _ = start = overlong_network.drawn(SEED)
    assert 0.05 < 1.0 - sampled(start).ended.mean() < 0.7
    needed = overlong_network.drawn(SEED, most=0.5)[0].verify.args[1]
    assert needed.max() < 0.5 * task.max_length


def test_fillers_and_other_tokens_share_the_first_gradient():
    one = {"recipe": reference_weight_network.PLAIN, "seeds": 2, "seed": SEED}
    parts = [reference_weight_network.first_gradient(fillers=fillers, **one) for fillers in (True, False)]
    np.testing.assert_allclose(sum(part["share of the gradient"] for part in parts), 1.0, rtol=1e-5)
    assert min(part["gradient"].min() for part in parts) > 0.0


def test_prompts_of_a_network_name_the_question():
    phrases, (task, _) = reference_weight_network.drawn(SEED)
    names = task.prompt_tokens[::COPIES]
    assert len(np.unique(names, axis=0)) == len(phrases.task.prompts) // COPIES
    assert (phrases.answers >= 0).any()
    assert (reference_weight_network.drawn(SEED, fillers=0).phrases.answers >= 0).all()


# weights of the advantages above and below the baseline -> advantages of rewards 1, 0, 0, 0, whose mean is
# 1/4 and whose standard deviation is √3/4: (1 - 1/4) / (√3/4) = √3, and (0 - 1/4) / (√3/4) = -1/√3
SIGNS = {
    "both": (1.0, 1.0, [3**0.5, -(3**-0.5)]),
    "positive only": (1.0, 0.0, [3**0.5, 0.0]),
    "negative only": (0.0, 1.0, [0.0, -(3**-0.5)]),
}


@pytest.mark.parametrize(("positive", "negative", "expected"), SIGNS.values(), ids=SIGNS)
def test_advantages_of_one_sign_are_kept(positive, negative, expected):
    rewards = np.array([[1.0, 0.0, 0.0, 0.0]])
    found = clip_needed.kept_signs(rewards, positive=positive, negative=negative)
    np.testing.assert_allclose(found[0, :2], expected, atol=1e-3)


def test_the_rate_is_chosen_at_the_rate_and_compared_at_its_multiple():
    recipe = rate_or_recipe.RECIPES["GRPO"]
    right, wrong = (
        rate_or_recipe.at_multiple(recipe=recipe, learning_rate=0.001, factor=factor, seeds=2, seed=SEED)
        for factor in (1.0, 3.0)
    )
    np.testing.assert_array_equal(right["final correct"], right["final correct at the rate"])
    np.testing.assert_array_equal(wrong["final correct at the rate"], right["final correct"])
    assert (wrong["final correct"] != right["final correct"]).any()


def test_noise_changes_the_rewards_and_not_the_start():
    (task, policy), (again, _) = noisy_verifier.started(SEED), noisy_verifier.started(SEED)
    assert task is again
    assert policy.weights.ndim == 1
    settings = {"accepts_wrong": 1.0, "rejects_right": 1.0, "repeats": False, "learning_rate": 0.003}
    inverted = noisy_verifier.judged_with_noise(recipe=PLAIN, **settings, seeds=2, seed=SEED)
    assert (inverted["final correct"] < inverted["correct"][:, 0]).all()


def test_the_mismatch_of_a_sampler_is_its_divergence_and_none_in_full_precision():
    # Two tokens, of which only the first counts: KL((1/2, 1/2), (1/4, 3/4)) = log(2) / 2 + log(2/3) / 2
    sampler, learner = (
        SimpleNamespace(policy=SimpleNamespace(probs=np.array(rows), log_probs=np.log(rows)))
        for rows in ([[0.5, 0.5], [0.9, 0.1]], [[0.25, 0.75], [0.1, 0.9]])
    )
    mask = np.array([[[[1.0, 0.0]]]])
    expected = 0.5 * np.log(2.0) + 0.5 * np.log(2.0 / 3.0)
    np.testing.assert_allclose(bf16_or_fp16.divergence(sampler, learner, mask), [expected])
    found = bf16_or_fp16.train_with_sampler(precision="float32", learning_rate=0.003, seeds=1, seed=SEED)
    assert found["log10 KL"].max() < -12.0
    assert found["correct"][0, -1] > found["correct"][0, 0]
