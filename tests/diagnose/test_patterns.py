"""Patterns and remarks on curves with a known shape, and none on curves without it."""

import math

import numpy as np
import pytest

from grpo_ref.diagnose.expected import MAKERS, remarks
from grpo_ref.diagnose.facts import SEQUENCE_MEAN, TOKEN_MEAN, Facts
from grpo_ref.diagnose.log import log_of
from grpo_ref.diagnose.patterns import FINDERS, patterns

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
    "length_rewarded": (
        {"reward": RISING, "loss": -0.05 + 0.02 * NOISE},
        Facts(on_policy=True, average=TOKEN_MEAN, kl_coef=0.0),
        1,
    ),
    "sampler_apart": (
        {"reward": RISING, "sampling__sampling_logp_difference__mean": np.geomspace(0.01, 1.0, ROWS)},
        Facts(),
        None,
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


def test_every_finder_is_tested():
    assert len(WITH) == len(FINDERS)


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
