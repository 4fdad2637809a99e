"""ROLL: what the keys of its RLVR pipeline compute."""

import re
from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import policy_loss, policy_loss_from_rewards
from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import sequence_mean_token_mean
from grpo_ref.explain.description import explain
from grpo_ref.explain.dialects import roll
from grpo_ref.explain.dialects.common.kernels import turn_token_mean, turn_token_sum
from grpo_ref.explain.dialects.roll.kernels import (
    admitted,
    limited_turns,
    mean_inside,
    over_batch,
    over_width,
    scaled_by,
    segment_mean_level,
    short_first,
    spread_above,
    token_returns,
    token_returns_with_penalty,
    turn_scores,
)
from grpo_ref.explain.trap import sprung
from grpo_ref.recipes import slot

PG = {"actor_train": {"worker_cls": "roll.pipeline.rlvr.actor_pg_worker.ActorPGWorker"}}
REINFORCE = {"adv_estimator": "reinforce"}
GIGPO = {"adv_estimator": "gigpo", "reward_normalization": {"grouping": "traj_group_id", "method": "mean"}}
OVER_TURNS = (
    "gigpo_over_turns(episode_weight=1.0, step_weight=1.0, gamma=0.95, scale={}, across_prompts=True)"
)
WEIGHTS = {"train_infer_correction": {"is_weight": {"enabled": True}}}
EXAMPLE = {
    **{"adv_estimator": "reinforce", "reward_clip": 10, "advantage_clip": 2.0, "dual_clip_loss": True},
    **{"norm_mean_type": None, "norm_std_type": None, "max_len_mask": True, "difficulty_mask": True},
    **{"difficulty_low_threshold": 0.1, "difficulty_high_threshold": 0.95, "whiten_advantages": True},
    "actor_train": {"training_args": {"learning_rate": 1e-6}, "model_args": {"dtype": "bf16"}},
    "rewards": {"math_rule": {"query_filter_config": {"type": "mean_filter"}, "world_size": 8}},
}
"""What most examples of ROLL have."""
# configuration -> parts of the recipe, as text
PARTS = {
    "grpo is of the group, whatever the norms": (
        {"norm_mean_type": "batch", "norm_std_type": None},
        {"advantage": "group_normalized(ddof=1, eps=1e-06)", "kl_coef": "0.0"},
    ),
    "an example": (
        EXAMPLE,
        {
            "advantage": "token_returns(scores=raw_rewards, limit=10, whiten_advantages=True, clip=2.0)",
            "surrogate": "dual_clipped(max_ratio=1.4, clip_low=0.2, clip_high=0.2)",
            "admit": "admitted(below_budget=True, between=(0.1, 0.95), longest_error=None)",
            "aggregate": "sequence_mean_token_mean(count_empty=False)",
            "keep": "mean_inside(low=-1.0, high=inf)",
        },
    ),
    "limits that standardized rewards do not reach": (
        {"reward_clip": 10, "advantage_clip": 10.0},
        {"advantage": "group_normalized(ddof=1, eps=1e-06)"},
    ),
    "limits that those of a large group do": (
        {"reward_clip": 10, "num_return_sequences_in_group": 128},
        {"advantage": "token_returns(scores=group_normalized(ddof=1, eps=1e-06), limit=10)"},
    ),
    "a limit of 0 is none": ({"reward_clip": 0.0} | REINFORCE, {"advantage": "raw_rewards"}),
    "dr. grpo's advantage": (REINFORCE | {"norm_mean_type": "group"}, {"advantage": "group_centered"}),
    "a KL in the reward": (
        {"add_token_level_kl": True, "kl_penalty": "mse", "init_kl_coef": 0.05},
        {
            "advantage": "token_returns_with_penalty(scores=group_normalized(ddof=1, eps=1e-06), penalty=k2,"
            " kl_coef=0.05)",
            "kl_coef": "0.0",
        },
    ),
    "a KL in the loss needs both keys": ({"use_kl_loss": True, "kl_loss_coef": 0.01}, {"kl_coef": "0.01"}),
    "one of them is not enough": ({"kl_loss_coef": 0.01}, {"kl_coef": "0.0"}),
    "a range that is read": (
        {"use_pg_clip_range": True, "pg_clip_high": 0.28},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.28)"},
    ),
    "a range that is not": ({"pg_clip_high": 0.28}, {"surrogate": "clipped(clip_low=0.2, clip_high=0.2)"}),
    "the width is all of it": (
        {"loss_agg_mode": "seq-mean-token-sum-norm", "response_length": 4096, "prompt_length": 2048},
        {"aggregate": "token_sum_over(tokens=6143.0)"},
    ),
    "a loss of another size": (
        {"loss_agg_mode": "token-mean", "rl_loss_coef": 0.5},
        {"aggregate": "scaled_by(aggregate=token_mean, factor=0.5)"},
    ),
    "weights without a sampler": (WEIGHTS, {"corrections": "()"}),
    "weights with one": (
        WEIGHTS | {"async_generation_ratio": 1.0},
        {"corrections": "(truncated(level=token_level, max_ratio=1.2, unknown=nan))"},
    ),
    "gspo": ({"importance_sampling": "seq"}, {"level": "sequence_mean_level"}),
    "a variant by token": (
        {"importance_sampling": "seq", "actor_train": {"pg_variant": "cispo"} | PG["actor_train"]},
        {"level": "token_level", "surrogate": "cispo(min_ratio=0.9, max_ratio=1.1)"},
    ),
    "gigpo": (GIGPO, {"advantage": OVER_TURNS.format(False), "aggregate": "turn_token_mean"}),
    "gigpo of webshop": (
        GIGPO
        | {"reward_normalization": {"grouping": "traj_group_id", "method": "mean_std"}}
        | {"reward_clip": 20, "advantage_clip": 0.2, "loss_agg_mode": "seq-mean-token-sum"},
        {
            "advantage": f"limited_turns(scores={OVER_TURNS.format(True)}, limit=20, clip=0.2)",
            "aggregate": "turn_token_sum",
        },
    ),
    "gigpo whose turns have no norm": (
        {
            "adv_estimator": "gigpo",
            "reward_normalization": {"grouping": "traj_group_id", "norm_mean_type": "group"},
            "step_reward_weight": 0.5,
        },
        {
            "advantage": "turn_scores(episode=(group, None), step=(None, None), episode_weight=1.0,"
            " step_weight=0.5, gamma=0.95)"
        },
    ),
    "gigpo over the batch": (
        {"adv_estimator": "gigpo", "reward_normalization": {"method": "mean_std"}},
        {
            "advantage": "turn_scores(episode=(batch, batch), step=(group, group), episode_weight=1.0,"
            " step_weight=1.0, gamma=0.95)"
        },
    ),
    "step_reinforce in groups": (
        GIGPO | {"adv_estimator": "step_reinforce", "step_reward_gamma": 0.5},
        {"advantage": "turn_returns(gamma=0.5, scale=False)"},
    ),
    "step_reinforce over the batch": (
        {"adv_estimator": "step_reinforce", "reward_normalization": {"method": "mean_std"}},
        {"advantage": "turn_returns(gamma=0.95, scale=True, across_prompts=True)"},
    ),
    "step_reinforce without norms": (
        {"adv_estimator": "step_reinforce"},
        {
            "advantage": "turn_scores(episode=(None, None), step=(None, None), episode_weight=0.0,"
            " gamma=0.95)",
            "keep": "all_groups",
        },
    ),
    "filters of the other pipeline": (
        GIGPO | {"max_len_mask": True, "query_filter_config": {"type": "mean_filter"}},
        {"keep": "all_groups"},
    ),
    "a variant of another worker": (
        {"actor_train.pg_variant": "cispo"},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.2)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | roll.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_what_is_in_the_part_of_a_worker_is_not_looked_at():
    told = {key: text for key, _, text in explain(roll.DIALECT, EXAMPLE).keys}
    assert told["actor_train.model_args.dtype"] == "This key does not touch the objective."


REFUSED = {
    "gae": ({"adv_estimator": "gae"}, "adv_estimator: expected one of 'grpo', 'reinforce'"),
    "a running mean": (REINFORCE | {"norm_mean_type": "running"}, "norm_mean_type: expected one of None"),
    "a std of the group alone": (REINFORCE | {"norm_std_type": "group"}, "ROLL refuses the group's std"),
    "a group of one": ({"num_return_sequences_in_group": 1}, "the std of a group of 1 is NaN"),
    "topr": (
        {"actor_train": {"pg_variant": "topr"} | PG["actor_train"]},
        "actor_train.pg_variant: topr decides by the sign of the score, not of the advantage",
    ),
    "a variant that is none": (PG, "actor_train.pg_variant: expected one of 'vanilla', 'ppo'"),
    "filters of tokens": (
        {"train_infer_correction": {"filters": [{"enabled": True}]}},
        "They take tokens out of the masks",
    ),
    "weights of what is left out": (
        {"length_loss_weight": True, "max_len_mask": True},
        "length_loss_weight: it uses the excluded completions too",
    ),
    "squares of what is left out": (
        {"actor_train": {"pg_variant": "kimi15"} | PG["actor_train"]}
        | {"max_len_mask": True, "loss_agg_mode": "token-mean"},
        "with token-mean the squares of kimi15 include the excluded completions",
    ),
    "a floor at 1": ({"dual_clip_loss": True, "pg_clip": 0.0}, "pg_clip: dual_clip_loss has its bound at 1"),
    "groups that the environments name": (
        GIGPO | {"reward_normalization": {"grouping": "tags"}},
        "reward_normalization.grouping: tags cannot be expressed here, only the environments know",
    ),
    "a std of another set than the mean": (
        GIGPO | {"reward_normalization": {"norm_mean_type": "group", "norm_std_type": "batch"}},
        "norm_mean_type is group and norm_std_type batch",
    ),
    "agentic_reinforce": ({"adv_estimator": "agentic_reinforce"}, "the advantage is the return of a turn"),
    "a KL in the rewards of turns": (GIGPO | {"add_token_level_kl": True}, "a penalty for each token"),
    "another worker of the agentic pipeline": (GIGPO | PG, "a class of its own with this name"),
    "a weight for each turn": (
        GIGPO | {"train_infer_correction": {"is_weight": {"enabled": True, "weight_type": "sequence"}}},
        "a weight for each turn",
    ),
    "a weight that moves": ({"target_kl": 6.0}, "The weight of the KL in the reward would follow the KL"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        roll.recipe(**config)


def test_a_key_that_never_arrives_is_warned_of():
    dialect = roll.DIALECT
    config = {"actor_train": {"cispo_epsilon_high": 0.28, "pg_variant": "cispo"} | PG["actor_train"]}
    told = sprung(dialect.traps, dialect.settings(config), dialect.given(config))
    assert "Some given keys are dropped without a message" in [trap.name for trap in told]


# ---- its own kernels, by hand -------------------------------------------------------------------------

REWARDS = np.array([[3.0, 1.0]])
MASK = np.array([[[1.0, 1.0], [1.0, 0.0]]])
"""Two completions of one prompt, of two tokens and of one."""
RAW = slot(raw_rewards)


def test_the_mean_and_the_spread_of_the_batch_are_two_steps():
    """3 and 1 have the mean 2 and the sample std √2."""
    np.testing.assert_allclose(over_batch(REWARDS, divided=False), [[1.0, -1.0]])
    np.testing.assert_allclose(over_batch(REWARDS, centered=False), REWARDS / np.sqrt(2.0), rtol=1e-6)


def test_a_score_is_discounted_from_the_last_token_and_limited_at_both_ends():
    """3 is limited to 2, which is 1 a token before; then everything is limited to 1.5."""
    found = token_returns(REWARDS, MASK, scores=RAW, limit=2.0, gamma=0.5, clip=1.5)
    assert found.tolist() == [[[1.0, 1.5], [1.0, 0.0]]]


def test_returns_are_whitened_over_the_tokens():
    """3, 3 and 1 have the mean 7/3 and the sample variance 4/3."""
    found = token_returns(REWARDS, MASK, scores=RAW, whiten_advantages=True)
    by_hand = np.array([[[2 / 3, 2 / 3], [-4 / 3, 0.0]]]) / np.sqrt(4 / 3 + 1e-8)
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)


def test_whitened_rewards_are_returns_of_zeros_too():
    """0, 3 and 1 have the mean 4/3 and the sample variance 7/3; the first token has two of them."""
    found = token_returns(REWARDS, MASK, scores=RAW, whiten_rewards=True)
    apart = np.array([0.0, 3.0, 1.0]) - 4 / 3
    apart /= np.sqrt(7 / 3 + 1e-8)
    np.testing.assert_allclose(found, [[[apart[0] + apart[1], apart[1]], [apart[2], 0.0]]], rtol=1e-12)


def test_one_token_is_not_whitened():
    mask = np.array([[[0.0, 1.0], [0.0, 0.0]]])
    found = token_returns(REWARDS, mask, scores=RAW, whiten_rewards=True, whiten_advantages=True)
    assert found.tolist() == [[[0.0, 3.0], [0.0, 0.0]]]


def test_a_penalty_is_of_each_token_and_limited_with_the_rest():
    """k1 is 1 at each token: 3 is limited to 2 first, and the sum of what is left stays below."""
    old, ref = -np.ones((1, 2, 2)), -2.0 * np.ones((1, 2, 2))
    found = token_returns_with_penalty(
        REWARDS, MASK, old, ref, scores=RAW, penalty=roll.objective.PENALTIES["kl"], kl_coef=0.5, limit=2.0
    )
    assert found.tolist() == [[[1.0, 1.5], [0.5, 0.0]]]


def test_what_takes_part():
    rewards, lengths = np.array([[1.0, 0.0, 0.5, 0.0]]), np.array([[4, 2, 3, 4]])
    assert admitted(rewards, lengths, 4).all()
    assert admitted(rewards, lengths, 4, below_budget=True).tolist() == [[False, True, True, False]]
    assert not admitted(rewards, lengths, 4, between=(0.375, 1.0)).any()
    assert admitted(rewards, lengths, 4, longest_error=4).tolist() == [[True, True, False, False]]
    assert admitted(rewards[:, :1], lengths[:, :1], 4, between=(0.0, 1.0)).all()


def test_the_bounds_of_a_filter_are_out():
    rewards = np.array([[1.0, 0.0], [1.0, 1.0]])
    assert mean_inside(rewards, low=0.5, high=1.0).tolist() == [False, False]
    assert mean_inside(rewards, low=0.4, high=1.0).tolist() == [True, False]
    assert spread_above(rewards, threshold=0.0).tolist() == [True, False]
    assert spread_above(rewards, threshold=-1.0).tolist() == [True, True]


def test_a_hole_parts_two_segments():
    found = segment_mean_level(np.array([[[1.0, 3.0, 9.0, 5.0]]]), np.array([[[1.0, 1.0, 0.0, 1.0]]]))
    assert found.tolist() == [[[2.0, 2.0, 0.0, 5.0]]]


def test_the_longest_completion_counts_a_third_of_the_shortest():
    """1.5 - 1 and 1.5 - 0 have a mean of 1."""
    found = short_first(MASK)
    np.testing.assert_allclose(found, [[[0.5, 0.5], [1.5, 1.5]]], rtol=1e-7)


def test_a_sum_over_the_width_is_no_mean_over_completions():
    assert over_width(MASK, 2).sum() == 1.5
    assert scaled_by(MASK, 2, aggregate=slot(over_width), factor=2.0).sum() == 3.0


# ---- the turns of the agentic pipeline ----

RETURNS = slot(turn_scores, episode=(None, None), step=(None, None), episode_weight=0.0, gamma=0.0)
"""The reward of each turn as its score."""
TWO_TURNS = np.array([[[0, 0, -1, 1]]])
ONE_STATE = np.zeros((1, 1, 2), dtype=int)


def test_episode_and_turn_have_norms_of_their_own():
    """Rewards 3 and 1 of two tasks: plus and minus 1 over the batch, times 2. The raw returns count half."""
    rewards, turn_rewards = np.array([[3.0], [1.0]]), np.array([[[3.0]], [[1.0]]])
    zeros = np.zeros((2, 1, 1), dtype=int)
    settings = {"episode_weight": 2.0, "step_weight": 0.5}
    over_batch = {"episode": ("batch", None), "step": (None, None)} | settings
    in_groups = {"episode": ("group", None), "step": ("group", None)} | settings
    arrays = rewards, turn_rewards, zeros, zeros
    np.testing.assert_allclose(turn_scores(*arrays, **over_batch).ravel(), [2 + 1.5, -2 + 0.5])
    # Each task has one turn, but both turns began in the state 0.
    np.testing.assert_allclose(turn_scores(*arrays, **in_groups).ravel(), [0.5, -0.5])


# settings -> advantages: two tokens of a turn with reward 3, the environment, a turn with reward 1
LIMITED = {
    "limited to 2": ({"limit": 2.0}, [2, 2, 0, 1]),
    "discounted within the turn": ({"gamma": 0.5}, [1.5, 3, 0, 1]),
    "limited at the end": ({"gamma": 0.5, "clip": 1.25}, [1.25, 1.25, 0, 1]),
    "whitened: mean 7/3, variance 4/3": (
        {"whiten_advantages": True},
        np.array([1, 1, 0, -2]) / np.sqrt(3),
    ),
    "rewards 0, 3 and 1 whitened: mean 4/3, variance 7/3": (
        {"whiten_rewards": True},
        np.array([1, 5, 0, -1]) / 3 / np.sqrt(7 / 3),
    ),
}


@pytest.mark.parametrize(("settings", "expected"), LIMITED.values(), ids=LIMITED)
def test_the_score_of_a_turn_is_at_its_last_token(settings, expected):
    arrays = np.array([[4.0]]), np.array([[[3.0, 1.0]]]), ONE_STATE, TWO_TURNS
    got = limited_turns(*arrays, scores=RETURNS, **settings)
    np.testing.assert_allclose(got[0, 0], expected, rtol=1e-7)


def test_a_single_token_is_not_whitened():
    arrays = np.array([[4.0]]), np.array([[[3.0, 0.0]]]), ONE_STATE, np.array([[[-1, 0, -1, -1]]])
    got = limited_turns(*arrays, scores=RETURNS, whiten_advantages=True, whiten_rewards=True)
    np.testing.assert_allclose(got[0, 0], [0, 3, 0, 0])


def test_the_mean_is_over_turns():
    """Three turns: two tokens and one in the first episode, one in the second."""
    mask = np.array([[[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]])
    np.testing.assert_allclose(turn_token_mean(mask), [[[1 / 6, 1 / 6, 0, 1 / 3], [1 / 3, 0, 0, 0]]])
    np.testing.assert_allclose(turn_token_sum(mask), mask / 3)


def test_an_episode_with_turns_has_the_loss_of_its_turns_as_samples():
    """Two episodes, and their three turns as ROLL stores them: a row for each."""
    rng, config = np.random.default_rng(4), GIGPO | {"loss_agg_mode": "seq-mean-token-mean"}
    old, turn_ids = -rng.random((1, 2, 4)), np.array([[[0, 0, -1, 1], [0, -1, -1, -1]]])
    new, turn_rewards = old - 0.1 * rng.random(old.shape), np.array([[[0.0, 1.0], [0.5, np.nan]]])
    episodes = policy_loss_from_rewards(
        new,
        np.array([[1.0, 0.5]]),
        np.ones(old.shape),
        recipe=roll.recipe(**config),
        old_log_probs=old,
        turn_ids=turn_ids,
        turn_rewards=turn_rewards,
        anchor_states=np.array([[[0, 1], [0, 0]]]),
    )
    # Rewards 1, 1 and 1/2 of three samples: mean 5/6. First turns: returns 0.95 and 1/2, mean 0.725.
    samples = [[1 / 6 + 0.225] * 2 + [0, 0], [1 / 6, 0, 0, 0], [-1 / 3 - 0.225, 0, 0, 0]]
    row = np.array([[0, 1, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0]])
    episode = np.array([0, 0, 1])[:, None]
    mask = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    alone = policy_loss(
        new[0, episode, row][None],
        np.array(samples)[None],
        mask[None],
        recipe=replace(roll.recipe(**config), aggregate=slot(sequence_mean_token_mean)),
        old_log_probs=old[0, episode, row][None],
    )
    np.testing.assert_allclose(episodes.loss, alone.loss, rtol=1e-12)
    np.testing.assert_allclose(episodes.gradient[0, 0, [0, 1]], alone.gradient[0, 0, :2], rtol=1e-12)
    np.testing.assert_allclose(episodes.gradient[0, 0, 3], alone.gradient[0, 1, 0], rtol=1e-12)
    np.testing.assert_allclose(episodes.gradient[0, 1, 0], alone.gradient[0, 2, 0], rtol=1e-12)


SAID = {
    "gigpo": (
        GIGPO,
        "advantages of episodes, centred over the turns of a group, plus 1 times those of turns from",
    ),
    "turns without a norm": (
        GIGPO | {"reward_normalization": {"norm_mean_type": "group", "grouping": "traj_group_id"}},
        "1 times the reward of the episode, centred over its group; plus 1 times the return of the turn,"
        " without a baseline",
    ),
    "step_reinforce": (
        GIGPO | {"adv_estimator": "step_reinforce"},
        "returns of turns, discounted by 0.95, centred over all turns of a group",
    ),
}


@pytest.mark.parametrize(("config", "words"), SAID.values(), ids=SAID)
def test_the_sentence_says_how_turns_are_compared(config, words):
    assert words in explain(roll.DIALECT, config).paragraph
