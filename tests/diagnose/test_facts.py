"""The facts that a log shows by itself, and those of a configuration."""

import math
from dataclasses import replace

import numpy as np
import pytest
from simulated_logs import SEQUENCE_MEAN, TOKEN_MEAN, logged

from grpo_ref.diagnose.configuration import facts_of
from grpo_ref.diagnose.expected import remarks
from grpo_ref.diagnose.facts import (
    Facts,
    Shown,
    averages_batches,
    beyond_budget,
    binary_components,
    completions_of,
    from_log,
    groups_of,
    joined,
)
from grpo_ref.diagnose.log import log_of
from grpo_ref.explain.report import explain


def rows(recipe, trainer, count=12, **shape):
    return log_of(
        [
            {"step": step, **logged(np.random.default_rng(step), recipe, **shape)[trainer == "verl"]}
            for step in range(1, count + 1)
        ],
        trainer,
    )


def test_the_number_of_completions_follows_from_mean_and_std_of_zeros_and_ones():
    assert completions_of(0.5, math.sqrt(8 / 7 / 4)) == pytest.approx(8)  # s² = 8/7 x 1/4
    assert completions_of(0.5, 0.5) is None  # s² = p (1-p) would need infinitely many


def test_the_group_size_follows_from_an_advantage():
    assert groups_of(1.7888544) == [(5, 1)]
    assert groups_of(-1.1547005) == [(3, 2)]  # two right of three: -sqrt(2 x 2 / 3)
    assert groups_of(0.123456) == []


def test_the_log_shows_the_size_of_batch_and_group_and_the_weight_of_the_kl():
    found = {each.name: each.value for each in from_log(rows(SEQUENCE_MEAN, "trl"))}
    assert found["completions"] == 64
    shown = {
        each.name: each.value for each in from_log(rows(TOKEN_MEAN, "verl", count=30, prompts=4, size=5))
    }
    assert shown["completions"] == 20
    assert shown["group_size"] == 5
    assert shown["loss_scale"] == pytest.approx(1.0)


def test_rewards_of_zero_and_one_are_recognized():
    assert binary_components(rows(SEQUENCE_MEAN, "trl")) == {"right"}
    log = log_of(
        [{"step": step, "rewards/f/mean": 0.5, "rewards/f/std": 0.1 * step} for step in (1, 2, 3)], "trl"
    )
    assert binary_components(log) == frozenset()


def test_where_log_and_configuration_differ_the_log_counts():
    shown = [Shown("group_size", 5, "the largest advantage, 1.7889, is that of 5 rewards", 3, 40)]
    facts, contradicted = joined(Facts(group_size=8, kl_coef=0.04), shown)
    assert (facts.group_size, facts.kl_coef) == (5, 0.04)
    assert contradicted == shown
    assert joined(Facts(group_size=5), shown)[1] == []


# configuration -> facts
CONFIGURATIONS = {
    "TRL, each batch used once": (
        "trl",
        ["num_generations=8", "beta=0.04", "loss_type=grpo", "logging_steps=1", "max_completion_length=512"],
        {
            "group_size": 8,
            "kl_coef": 0.04,
            "average": "sequence_mean",
            "on_policy": True,
            "budget": 512,
            "window": 1,
        },
    ),
    "TRL, each batch used twice": (
        "trl",
        ["num_generations=8", "num_iterations=2"],
        {"on_policy": False, "window": None},
    ),
    "TRL, three micro-batches per generation and four per step": (
        "trl",
        ["num_generations=8", "steps_per_generation=3", "gradient_accumulation_steps=4"],
        {"on_policy": False},
    ),
    "TRL, two micro-batches per generation and four per step": (
        "trl",
        ["num_generations=8", "steps_per_generation=2", "gradient_accumulation_steps=4"],
        {"on_policy": True},
    ),
    "TRL, weights for the sampler": ("trl", ["num_generations=8", "use_vllm=true"], {"on_policy": None}),
    "TRL, not divided by a std": (
        "trl",
        ["num_generations=8", "scale_rewards=none"],
        {"standardized": False},
    ),
    "verl, one mini-batch": (
        "verl",
        [
            "algorithm.adv_estimator=grpo",
            "data.train_batch_size=64",
            "actor_rollout_ref.rollout.n=8",
            "actor_rollout_ref.actor.ppo_mini_batch_size=64",
            "data.max_response_length=100",
        ],
        {"group_size": 8, "completions": 512, "on_policy": True, "budget": 100, "kl_in_reward": False},
    ),
    "verl-agent, whose batch has a row for every turn": (
        "verl",
        [
            "algorithm.adv_estimator=grpo",
            "data.train_batch_size=4",
            "actor_rollout_ref.actor.ppo_mini_batch_size=4",
            "env.max_steps=3",
        ],
        {"on_policy": None},
    ),
    "verl, four mini-batches": (
        "verl",
        [
            "algorithm.adv_estimator=grpo",
            "data.train_batch_size=64",
            "actor_rollout_ref.rollout.n=8",
            "actor_rollout_ref.actor.ppo_mini_batch_size=16",
        ],
        {"on_policy": False, "loss_scale": None},
    ),
}


@pytest.mark.parametrize(("trainer", "settings", "expected"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_the_configuration_gives_facts(trainer, settings, expected):
    facts = facts_of(explain(*settings, trainer=trainer))
    assert {name: getattr(facts, name) for name in expected} == expected


def test_weights_that_fit_every_row_are_those_of_the_rewards():
    """Derived by hand: rewards are 2 a - b."""
    means = [(0.5, 0.25), (0.25, 0.5), (0.75, 0.0), (0.0, 0.5), (1.0, 1.0)]
    rows = [
        {"step": step, "reward": 2.0 * a - b, "rewards/a/mean": a, "rewards/b/mean": b}
        for step, (a, b) in enumerate(means, 1)
    ]
    (shown,) = from_log(log_of(rows, "trl"))
    assert (shown.name, shown.value) == ("weights", {"a": 2.0, "b": -1.0})
    assert joined(Facts(), [shown])[0].weights == {"a": 2.0, "b": -1.0}
    assert joined(Facts(weights={"a": 1.0, "b": 1.0}), [shown]) == (Facts(weights={"a": 1.0, "b": 1.0}), [])
    rows[2]["reward"] = 0.0
    assert from_log(log_of(rows, "trl")) == []


def test_the_std_of_the_rewards_is_recognized():
    """With one reward function, the std of all completions is a multiple of its own."""

    def told(stds, dead):
        rows = [
            {
                "step": step,
                "reward_std": std,
                "rewards/a/mean": 0.5,
                "rewards/a/std": 0.5,
                "frac_reward_zero_std": share,
            }
            for step, (std, share) in enumerate(zip(stds, dead, strict=True), 1)
        ]
        return [each.value for each in from_log(log_of(rows, "trl")) if each.name == "reward_std"]

    assert told([0.5, 0.5, 0.5], [0.0, 0.0, 0.0]) == ["pooled"]
    assert told([0.5, 0.25, 0.5], [0.0, 0.0, 0.0]) == ["within"]
    assert told([0.5, 0.25, 0.5], [0.0, 1.0, 0.0]) == ["pooled"]
    assert told([0.5, 0.25], [0.0, 0.0]) == []


@pytest.mark.parametrize(
    ("keys", "window", "steps"),
    [
        ("", 1, 1),
        ("gradient_accumulation_steps: 4\n", 1, 1),  # one generation batch for the four micro-batches
        ("gradient_accumulation_steps: 4\nsteps_per_generation: 1\n", 4, 1),
        ("gradient_accumulation_steps: 4\nsteps_per_generation: 2\nlogging_steps: 5\n", 10, 5),
        ("steps_per_generation: 2\n", 1, 1),  # the batch is used twice; only the first row has its metrics
        ("steps_per_generation: 2\nlogging_steps: 5\n", None, 5),
    ],
)
def test_trl_may_sample_several_batches_for_one_step(keys, window, steps, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(
        "num_generations: 8\nbeta: 0.04\nloss_type: grpo\n"
        + ("" if "logging_steps" in keys else "logging_steps: 1\n")
        + keys,
        encoding="utf-8",
    )
    facts = facts_of(explain(path))
    assert (facts.window, facts.steps) == (window, steps)


def test_a_length_that_is_no_whole_number_is_a_mean_over_batches():
    row = {"step": 1, "reward": 0.5, "completions/min_length": 12.0}
    assert not averages_batches(log_of([row], "trl"))
    assert averages_batches(log_of([row | {"completions/min_length": 12.25}], "trl"))


def test_no_completion_is_longer_than_the_budget():
    log = log_of([{"step": step, "completions/max_length": 20.0 + step} for step in (1, 2, 3)], "trl")
    assert beyond_budget(log, None) == beyond_budget(log, 23) == []
    (fact,) = beyond_budget(log, 21)
    assert (fact.value, fact.step, fact.rows) == ("at least 23", 3, 2)


@pytest.mark.parametrize(
    ("keys", "average"),
    [
        ("loss_type: grpo", "sequence_mean"),
        ("loss_type: dapo", "token_mean"),
        ("loss_type: grpo\nepsilon: 0.05\ndelta: 1.5", "sequence_mean"),
        ("loss_type: sapo", None),  # its value at ratio 1 is 2/τ times the advantage
        ("loss_type: grpo\ntop_entropy_quantile: 0.5", None),  # half of the tokens are masked
        ("loss_type: grpo\nentropy_coef: 0.01", None),
    ],
)
def test_the_average_is_known_if_the_loss_at_ratio_1_is_an_average_of_advantages(keys, average, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"num_generations: 8\nmax_completion_length: 16\nbeta: 0.04\n{keys}\n", encoding="utf-8")
    assert facts_of(explain(path)).average == average


def test_a_coefficient_is_not_read_from_losses_of_one_digit():
    pairs = [(step, 0.013 * step) for step in range(1, 8)]  # β = 0.01
    rounded = [{"step": step, "loss": round(0.01 * kl, 4), "kl": kl} for step, kl in pairs]
    exact = [{"step": step, "loss": 0.01 * kl, "kl": kl} for step, kl in pairs]
    found = {fact.name: fact.value for fact in from_log(replace(log_of(exact, "trl"), loss_digits=1e-9))}
    assert found["kl_coef"] == pytest.approx(0.01)
    log = replace(log_of(rounded, "trl"), loss_digits=5e-5)
    assert [fact for fact in from_log(log) if fact.name == "kl_coef"] == []


def test_a_norm_with_a_peak_is_not_called_right():
    rows = [{"step": step, "reward": 0.5, "grad_norm": 2.0} for step in range(1, 21)]
    title = "the gradient norm is above 1"
    assert title in [each.title for each in remarks(log_of(rows, "trl"), Facts())]
    rows[7]["grad_norm"] = 2.5e13
    assert title not in [each.title for each in remarks(log_of(rows, "trl"), Facts())]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("scale_rewards: group", False),
        ("scale_rewards: none", False),
        ("scale_rewards: batch", True),
        (
            "multi_objective_aggregation: normalize_then_sum",
            True,
        ),  # TRL divides the sum by the std of the batch
    ],
)
def test_trl_may_divide_advantages_by_the_std_of_the_batch(keys, expected, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"num_generations: 8\nmax_completion_length: 16\n{keys}\n", encoding="utf-8")
    assert facts_of(explain(path)).divided_by_batch is expected


def test_completions_of_several_turns_are_recognized_by_their_keys(tmp_path):
    command = (
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=8"
        " actor_rollout_ref.rollout.n=4 actor_rollout_ref.rollout.multi_turn.enable={}\n"
    )
    path = tmp_path / "run.sh"
    for value, expected in (("True", False), ("False", True)):
        path.write_text(command.format(value), encoding="utf-8")
        assert facts_of(explain(path)).single_turn is expected
