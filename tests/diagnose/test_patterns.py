"""Patterns and remarks on curves with a known shape, and none on curves without it."""

import math

import numpy as np
import pytest

from grpo_ref.diagnose.expected import MAKERS, remarks
from grpo_ref.diagnose.facts import SEQUENCE_MEAN, TOKEN_MEAN, Facts
from grpo_ref.diagnose.log import log_of
from grpo_ref.diagnose.patterns import KINDS, patterns

ROWS = 100
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=ROWS)


def log(**columns):
    """Return a log of TRL with columns; `_` in a name stands for `/`."""
    return log_of(
        [
            {
                "step": step + 1,
                **{name.replace("__", "/"): float(values[step]) for name, values in columns.items()},
            }
            for step in range(ROWS)
        ],
        "trl",
    )


RISING = np.linspace(0.2, 0.8, ROWS) + 0.02 * NOISE
FLAT = np.full(ROWS, 0.5) + 0.02 * NOISE
FALLING = np.concatenate([np.linspace(0.2, 0.8, 60), np.linspace(0.8, 0.3, 40)]) + 0.02 * NOISE
SPIKY = np.where(np.isin(np.arange(ROWS), (70, 80, 90)), 500.0, 1.0 + 0.1 * abs(NOISE))

# pattern -> curves with it, facts, the step at which it begins (None: not compared)
WITH = {
    "nan": ({"reward": RISING, "loss": np.where(np.arange(ROWS) == 39, math.nan, 0.1)}, Facts(), 40),
    "spikes": ({"reward": RISING, "grad_norm": SPIKY}, Facts(), 71),
    "dead": (
        {"reward": RISING, "frac_reward_zero_std": np.where(np.arange(ROWS) < 50, 0.1, 0.95)},
        Facts(),
        None,
    ),
    "collapse": ({"reward": FLAT, "entropy": np.where(np.arange(ROWS) < 30, 1.0, 0.01)}, Facts(), None),
    "entropy_rises": ({"reward": RISING, "entropy": np.linspace(1.0, 2.0, ROWS)}, Facts(), None),
    "reward_falls": ({"reward": FALLING}, Facts(), None),
    "nothing_learned": ({"reward": FLAT}, Facts(), 1),
    "truncation": (
        {"reward": RISING, "completions__clipped_ratio": np.linspace(0.0, 0.6, ROWS)},
        Facts(),
        None,
    ),
    "sampler_apart": (
        {"reward": RISING, "sampling__sampling_logp_difference__mean": np.geomspace(0.01, 1.0, ROWS)},
        Facts(),
        None,
    ),
    "sampler_differs": (
        {
            "reward": RISING,
            "entropy": 1.0 + 0.01 * NOISE,
            "sampling__sampling_logp_difference__mean": 0.3 + 0.01 * abs(NOISE),
        },
        Facts(),
        1,
    ),
    "hacking": (
        {"reward": RISING, "rewards__style__mean": RISING, "rewards__right__mean": RISING[::-1].copy()},
        Facts(),
        None,
    ),
    "reference_moves": ({"reward": RISING, "kl": 0.1 + 0.01 * abs(NOISE)}, Facts(), 21),
    "format_first": (
        {"reward": RISING, "rewards__format__mean": RISING, "rewards__right__mean": 0.01 + 0.0 * NOISE},
        Facts(binary=frozenset({"format", "right"})),
        1,
    ),
    "never_solved": (
        {"reward": RISING, "rewards__right__mean": 0.001 * (np.arange(ROWS) % 2)},
        Facts(binary=frozenset({"right"})),
        1,
    ),
    "kl_pulls": ({"reward": RISING, "kl": np.linspace(0.01, 1.0, ROWS)}, Facts(kl_coef=1.0), None),
    "clips_much": ({"reward": RISING, "clip_ratio__region_mean": 0.2 + 0.01 * NOISE}, Facts(), None),
    "loss_scaled": ({"reward": RISING}, Facts(loss_scale=1.0 / 128.0), 1),
    "reward_drops": ({"reward": np.where(np.arange(ROWS) < 60, RISING, 0.1 + 0.02 * NOISE)}, Facts(), 61),
    "kl_explodes": (
        {"reward": RISING, "kl": np.where(np.arange(ROWS) == 41, 2.4e7, 0.001 * np.arange(ROWS))},
        Facts(),
        42,
    ),
    "never_ends": ({"reward": RISING, "completions__clipped_ratio": 0.97 + 0.01 * NOISE}, Facts(), 1),
    "length_collapses": (
        {"reward": RISING, "completions__mean_length": np.where(np.arange(ROWS) < 10, 1000.0, 1.0)},
        Facts(),
        None,
    ),
    "no_gradient": (
        {"reward": RISING, "grad_norm": np.where(np.arange(ROWS) < 70, 1.0 + 0.1 * abs(NOISE), 0.0)},
        Facts(),
        71,
    ),
    "constant_reward": (
        {"reward": RISING, "rewards__style__mean": -0.5 + 0.0 * NOISE, "rewards__right__mean": RISING},
        Facts(),
        1,
    ),
}


@pytest.mark.parametrize("name", WITH)
def test_a_pattern_is_found(name):
    columns, facts, step = WITH[name]
    found = {each.name: each for each in patterns(log(**columns), facts)}
    assert list(found) == [name]
    assert step is None or found[name].step == step
    assert found[name].advice.endswith(".")


def test_no_pattern_is_found_in_a_healthy_run():
    healthy = log(
        reward=RISING,
        entropy=np.linspace(1.0, 0.4, ROWS) + 0.02 * NOISE,
        frac_reward_zero_std=0.3 + 0.1 * abs(NOISE),
        grad_norm=1.0 + 0.5 * abs(NOISE),
        completions__clipped_ratio=0.05 + 0.01 * abs(NOISE),
        kl=np.linspace(0.0, 3.0, ROWS),
        loss=0.01 * NOISE,
    )
    assert patterns(healthy, Facts(on_policy=True, average=TOKEN_MEAN, kl_coef=0.0)) == []


# the same for metrics that verl logs
ADVANTAGE = 0.1 + 0.01 * NOISE
OF_VERL = {
    "loss_apart": (
        {"actor/pg_loss": 0.01 * NOISE[::-1], "critic/advantages/mean": ADVANTAGE},
        Facts(on_policy=True, average=TOKEN_MEAN),
    ),
    "ratio_fixed": ({"actor/ppo_kl": 0.0 * NOISE}, Facts(on_policy=False)),
    "solved_at_start": (
        {
            "critic/score/mean": np.full(ROWS, 0.99),
            "critic/score/min": np.zeros(ROWS),
            "critic/score/max": np.ones(ROWS),
        },
        Facts(),
    ),
}


@pytest.mark.parametrize("name", OF_VERL)
def test_a_pattern_is_found_in_a_log_of_verl(name):
    columns, facts = OF_VERL[name]
    rows = [
        {"step": step, **{key: float(values[step]) for key, values in columns.items()}}
        for step in range(ROWS)
    ]
    assert [each.name for each in patterns(log_of(rows, "verl"), facts)] == [name]


def test_a_reward_falls_from_the_step_at_which_it_leaves_its_best():
    reward = np.minimum(
        0.8, 0.8 - 0.02 * (np.arange(ROWS) - 69)
    )  # flat up to row 69, then 0.02 a row, 0.2 at the end
    reward[:2] = 0.81
    (found,) = patterns(log(reward=reward), Facts())
    # The best mean of 10 rows is 0.802, at step 1, and the last 10 rows have 0.29. The limit is
    # 0.802 - 0.2 x 0.512 = 0.6996.
    # The mean of 5 rows up to row n is 0.8 - 0.02 (n - 71): 0.70 at row 76, 0.68 at row 77, which is step 78.
    assert (found.name, found.step) == ("reward_falls", 78)
    assert "best mean of 10 rows 0.802 at step 1, 0.29 over the last tenth" in found.evidence


def test_prompts_are_called_solved_only_if_the_best_reward_is_known():
    curves = {"frac_reward_zero_std": 1.0 + 0.0 * NOISE, "rewards__f__mean": 0.6 + 0.01 * NOISE}
    for binary, side in (({"f"}, True), ((), False)):
        (found,) = patterns(log(reward=0.6 + 0.01 * NOISE, **curves), Facts(binary=frozenset(binary)))
        assert found.name == "dead"
        assert ("so most prompts are always solved" in found.evidence) == side


def test_equal_scores_begin_where_they_are_equal():
    rows = [
        {
            "step": step,
            "critic/score/mean": -1.0,
            "critic/score/min": -1.0,
            "critic/score/max": 1.0 if step < 4 else -1.0,
        }
        for step in range(1, ROWS + 1)
    ]
    found = {each.name: each for each in patterns(log_of(rows, "verl"), Facts())}
    assert found["never_solved"].step == 6  # 3 of the last 5 rows are equal; at step 5, 2 of 5


def test_a_reward_whose_best_is_the_start_only_falls():
    (found,) = patterns(log(reward=RISING[::-1].copy()), Facts())
    assert (found.name, found.title) == ("reward_falls", "the reward only falls")
    assert "best" not in found.advice


def test_a_mean_length_at_the_budget_is_truncation():
    """TRL logged no share of truncated completions up to 0.16."""
    columns = {"reward": RISING, "completion_length": np.where(np.arange(ROWS) < 40, 150.0, 200.0)}
    (found,) = patterns(log(**columns), Facts(budget=200, single_turn=True))
    assert found.name == "truncation"
    assert patterns(log(**columns), Facts(budget=200)) == []


def test_a_std_of_0_shows_groups_with_equal_rewards():
    columns = {"reward": 0.5 + 0.01 * NOISE, "reward_std": np.where(np.arange(ROWS) < 30, 0.1, 0.0)}
    assert "dead" in [each.name for each in patterns(log(**columns), Facts())]


def test_a_reward_that_falls_by_next_to_nothing_is_no_sign_of_hacking():
    style = 0.004 * np.linspace(1.0, 0.1, ROWS)
    columns = {"reward": RISING, "rewards__right__mean": RISING, "rewards__style__mean": style}
    assert patterns(log(**columns), Facts()) == []


def test_a_constant_reward_does_not_change():
    (found,) = patterns(log(reward=0.5 + 0.0 * NOISE, reward_std=0.1 + 0.0 * NOISE), Facts())
    assert found.name == "nothing_learned"


def test_one_huge_norm_is_reported():
    norms = 1.0 + 0.1 * abs(NOISE)
    assert patterns(log(reward=RISING, grad_norm=norms), Facts()) == []
    norms[30] = 2.5e13
    (found,) = patterns(log(reward=RISING, grad_norm=norms), Facts())
    assert (found.name, found.step) == ("spikes", 31)


def test_advantages_of_0_show_groups_with_equal_rewards():
    """verl does not log their share. From row 30 on, no advantage differs from 0."""
    rows = [
        {
            "step": step,
            "critic/score/mean": -1.0 + 0.01 * step,
            "critic/advantages/max": float(step < 30),
            "critic/advantages/min": -float(step < 30),
        }
        for step in range(1, ROWS + 1)
    ]
    (found,) = patterns(log_of(rows, "verl"), Facts())
    assert (found.name, found.step) == (
        "dead",
        34,
    )  # in a mean over five rows, more than 0.8 are five of five: 30 to 34


def test_groups_of_a_solved_task_are_right():
    solved = log(
        reward=np.linspace(0.3, 1.0, ROWS),
        rewards__right__mean=np.linspace(0.3, 1.0, ROWS),
        frac_reward_zero_std=np.linspace(0.1, 1.0, ROWS),
    )
    facts = Facts(binary=frozenset({"right"}))
    assert patterns(solved, facts) == []
    assert any("equal rewards" in each.title for each in remarks(solved, facts))


def test_a_constant_reward_does_not_fall_by_rounding():
    assert "reward_falls" not in [each.name for each in patterns(log(reward=np.full(ROWS, 0.1)), Facts())]


def test_groups_that_are_all_good_show_a_solved_task():
    """The Tinker cookbook logs the share of groups with equal rewards above and below 0.5."""
    live = np.where(np.arange(ROWS) < 10, 0.9, 0.01)
    for reward, good, names in ((0.9, 1.0 - live, []), (0.1, 0.0 * live, ["collapse", "dead"])):
        records = [
            {
                "env/all/reward/total": reward,
                "optim/entropy": h,
                "env/all/by_group/frac_mixed": m,
                "env/all/by_group/frac_all_good": g,
            }
            for h, m, g in zip(live, live, good, strict=True)
        ]
        assert sorted(each.name for each in patterns(log_of(records), Facts())) == names


def test_the_cost_of_groups_with_equal_rewards_is_in_completions():
    columns, _, _ = WITH["dead"]
    (found,) = patterns(log(**columns), Facts(completions=64, window=1))
    # 50 rows with 0.1 and 50 with 0.95: 0.525 of 100 rows of 64 completions
    assert "53% of the completions (3,360) gave no gradient" in found.evidence


def test_a_pattern_hides_what_it_explains():
    columns = {"reward": FLAT, "entropy": np.where(np.arange(ROWS) < 30, 1.0, 0.01)}
    assert [each.name for each in patterns(log(**columns), Facts())] == ["collapse"]
    assert [each.name for each in patterns(log(reward=FLAT), Facts())] == ["nothing_learned"]


def test_a_sampler_that_drifts_before_the_reward_falls():
    columns, _, _ = WITH["sampler_apart"]
    first, second = patterns(log(**columns | {"reward": FALLING}), Facts())
    assert (first.name, second.name) == ("sampler_apart", "reward_falls")
    assert first.evidence.endswith(f"after step {second.step} the reward falls")


def test_every_kind_is_tested():
    assert {*WITH, *OF_VERL} == set(KINDS)


# remark, by a part of its title -> curves, facts
RIGHT = {
    "the clip share is 0": (
        {"reward": RISING, "clip_ratio__region_mean": 0.0 * NOISE},
        Facts(on_policy=True),
    ),
    "the loss is near 0": (
        {"reward": RISING, "loss": np.linspace(0.0, 0.01, ROWS)},
        Facts(on_policy=True, average=SEQUENCE_MEAN, kl_coef=0.04),
    ),
    "the loss is negative": (
        {"reward": RISING, "loss": -0.01 - 0.001 * NOISE},
        Facts(on_policy=True, average=TOKEN_MEAN, kl_coef=0.0),
    ),
    "longer completions are rewarded": (
        {"reward": RISING, "loss": -0.05 + 0.02 * NOISE},
        Facts(on_policy=True, average=TOKEN_MEAN, kl_coef=0.0),
    ),
    "100% of the groups": (
        {
            "reward": RISING,
            "rewards__f__mean": 1.0 + 0.0 * NOISE,
            "frac_reward_zero_std": 1.0 + 0.0 * NOISE,
        },
        Facts(binary=frozenset({"f"})),
    ),
    "the gradient norm is above 1": ({"reward": RISING, "grad_norm": 2.0 + 0.0 * NOISE}, Facts()),
    "reward_std is 0": (
        {
            "reward": RISING,
            "reward_std": 0.0 * NOISE,
            "rewards__f__mean": RISING,
            "rewards__f__std": 0.1 + 0.0 * NOISE,
        },
        Facts(reward_std="within"),
    ),
    "all groups have equal rewards": (
        {"reward": RISING, "frac_reward_zero_std": (np.arange(ROWS) % 2).astype(float)},
        Facts(group_size=8, completions=8),
    ),
}


@pytest.mark.parametrize("title", RIGHT)
def test_a_remark_is_made_if_its_facts_are_known(title):
    columns, facts = RIGHT[title]
    assert any(each.title.startswith(title) for each in remarks(log(**columns), facts))
    unknown = remarks(log(**columns), Facts())
    assert title == "the gradient norm is above 1" or not any(
        each.title.startswith(title) for each in unknown
    )


def test_a_negative_estimate_of_the_kl_to_the_old_policy_is_right_with_several_steps():
    rows = [{"step": step, "critic/score/mean": 0.5, "actor/ppo_kl": -0.01} for step in range(1, 5)]
    (remark,) = remarks(log_of(rows, "verl"), Facts(on_policy=False))
    assert remark.title.startswith("the KL to the old policy is negative")
    assert len(MAKERS) == len(RIGHT) + 1


def test_the_length_of_turns_is_not_called_rewarded():
    rows = [
        {"step": step, "actor/pg_loss": 0.0, "critic/advantages/mean": -0.05 + 0.01 * NOISE[step]}
        for step in range(ROWS)
    ]
    (remark,) = remarks(log_of(rows, "verl"), Facts(single_turn=True, standardized=True))
    assert remark.title == "shorter completions are rewarded"
    for facts in (
        Facts(standardized=True),
        Facts(single_turn=True),
        Facts(single_turn=False, standardized=True),
    ):
        assert remarks(log_of(rows, "verl"), facts) == []
