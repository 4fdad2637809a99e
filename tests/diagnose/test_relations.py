"""The relations hold on healthy batches of every shape, and each mistake breaks one that is named."""

import math
from dataclasses import replace

import numpy as np
import pytest
from simulated_logs import BUDGET, SEQUENCE_MEAN, TOKEN_MEAN, averaged, logged

from grpo_ref.diagnose.facts import SEQUENCE_MEAN as BY_SEQUENCE
from grpo_ref.diagnose.facts import TOKEN_MEAN as BY_TOKEN
from grpo_ref.diagnose.facts import Facts
from grpo_ref.diagnose.log import log_of
from grpo_ref.diagnose.relations import OF_RUN, RELATIONS, Relation, apply_relations

FACTS = Facts(
    group_size=8,
    completions=64,
    window=1,
    steps=1,
    kl_coef=0.04,
    on_policy=True,
    budget=BUDGET,
    weights={"right": 1.0},
    binary=frozenset({"right", "score"}),
    reward_std="within",
    standardized=True,
    divided_by_batch=False,
    kl_in_reward=False,
    whole_vocabulary=True,
    single_turn=True,
    masks_truncated=False,
)
RECIPES = {"token": (TOKEN_MEAN, BY_TOKEN), "sequence": (SEQUENCE_MEAN, BY_SEQUENCE)}
SHAPES = [(8, 8), (2, 4), (16, 16), (1, 8), (8, 2)]


def broken(row, trainer, facts):
    """Return the codes of the broken relations of one row."""
    log = log_of([{"step": 2, **row}], trainer)
    return {violation.code for violation in apply_relations(log, facts).violations}


@pytest.mark.parametrize("mean", RECIPES)
@pytest.mark.parametrize(("prompts", "size"), SHAPES)
def test_no_relation_is_broken_on_a_healthy_batch(prompts, size, mean):
    recipe, average = RECIPES[mean]
    facts = replace(FACTS, group_size=size, completions=prompts * size, average=average)
    for seed in range(40):
        trl, verl = logged(np.random.default_rng(seed), recipe, prompts=prompts, size=size)
        assert broken(trl, "trl", facts) == set()
        assert broken(verl, "verl", facts) == set()


@pytest.mark.parametrize("mean", RECIPES)
@pytest.mark.parametrize("tilt", [0.0, 8.0])
def test_no_relation_is_broken_on_the_mean_of_several_healthy_batches(mean, tilt):
    recipe, average = RECIPES[mean]
    facts = replace(FACTS, average=average, window=10, steps=10)
    for seed in range(10):
        rows = [logged(np.random.default_rng(100 * seed + step), recipe, tilt=tilt) for step in range(10)]
        for place, trainer in enumerate(("trl", "verl")):
            assert broken(averaged([row[place] for row in rows]), trainer, facts) == set()


# mistake -> average of the loss, trainer whose log shows it, the relation that is broken in most batches
SEEN = {
    "advantages of the batch": ("token", "verl", "R19"),
    "no baseline": ("sequence", "trl", "R11a"),
    "ddof 0": ("token", "verl", "R19"),
    "good advantages times 1.4": ("sequence", "trl", "R11a"),
    "sign of the loss": ("token", "verl", "R21"),
    "stale old log-probabilities": ("token", "trl", "R9b"),
    "mask inverted": ("token", "verl", "R21"),
    "last token lost": ("token", "verl", "R21"),
    "sign of the KL": ("sequence", "trl", "R11a"),
    "k1 for k3": ("token", "trl", "R13"),
    "loss divided by 4": ("sequence", "trl", "R11a"),
    "frozen": ("token", "trl", "R12"),
    "weights ignored": ("token", "trl", "R1"),
    "std of the batch": ("token", "trl", "R4"),
    "KL in the reward": ("token", "verl", "R17"),
}


@pytest.mark.parametrize("mistake", SEEN)
def test_a_mistake_breaks_the_relation_that_it_must(mistake):
    mean, trainer, code = SEEN[mistake]
    recipe, average = RECIPES[mean]
    facts = replace(FACTS, average=average)
    rows = [logged(np.random.default_rng(seed), recipe, mistake) for seed in range(20)]
    found = [code in broken(row[trainer == "verl"], trainer, facts) for row in rows]
    assert np.mean(found) > 0.4


# relation -> facts that differ, trainer, a row by hand in which it holds, the change that breaks it
BY_HAND = {
    "R2": (
        {"completions": 4},
        "trl",
        {"rewards/right/mean": 0.25, "rewards/right/std": 0.5},
        {"rewards/right/std": 0.433},
    ),
    "R3": (
        {"completions": 8, "group_size": 4},
        "trl",
        {"reward_std": 0.5, "rewards/right/mean": 0.5, "rewards/right/std": 0.5345},
        {"reward_std": 0.6},
    ),
    "R5": ({}, "trl", {"frac_reward_zero_std": 1.0, "reward_std": 0.0}, {"reward_std": 0.1}),
    "R6": ({"completions": 32}, "trl", {"frac_reward_zero_std": 0.75}, {"frac_reward_zero_std": 0.7}),
    "R7": (
        {},
        "trl",
        {"frac_reward_zero_std": 0.5, "rewards/right/mean": 0.0625},
        {"frac_reward_zero_std": 0.25},
    ),
    "R8": (
        {"completions": 8000},
        "trl",
        {"frac_reward_zero_std": 0.43, "rewards/right/mean": 0.1},
        {"frac_reward_zero_std": 0.25},
    ),
    "R9": ({}, "trl", {"completions/clipped_ratio": 1.0}, {"completions/clipped_ratio": 31.0}),
    "R10": (
        {"on_policy": None},
        "trl",
        {"clip_ratio/low_mean": 0.1, "clip_ratio/high_mean": 0.2, "clip_ratio/region_mean": 0.3},
        {"clip_ratio/region_mean": 0.2},
    ),
    "R10b": (
        {},
        "verl",
        {"critic/score/min": 0.0, "critic/score/mean": 0.5, "critic/score/max": 1.0},
        {"critic/score/max": 0.4},
    ),
    "R11b": (
        {"average": BY_TOKEN, "kl_coef": 0.0},
        "trl",
        {
            "loss": 0.05,
            "completions/min_length": 90.0,
            "completions/mean_length": 100.0,
            "completions/max_length": 110.0,
        },
        {"loss": 0.11},  # the bound is sqrt(7/8 x 10 x 10) / 100 = 0.0935
    ),
    "R14b": (
        {"budget": None},
        "trl",
        {
            "completions/clipped_ratio": 0.5,
            "completions/mean_length": 15.0,
            "completions/mean_terminated_length": 10.0,
            "completions/max_length": 20.0,
        },
        {"completions/mean_length": 16.0},
    ),
    "R15": ({"vocabulary": 100}, "trl", {"entropy": 4.6}, {"entropy": 4.7}),  # log 100 = 4.605
    "R18": (
        {"group_size": 4, "binary": frozenset()},
        "verl",
        {"critic/advantages/min": -1.49, "critic/advantages/max": 1.49},
        {"critic/advantages/max": 1.6},  # 3 / sqrt 4 = 1.5
    ),
    "R20": (
        {},
        "verl",
        {"critic/advantages/mean": 0.1, "critic/returns/mean": 0.1},
        {"critic/returns/mean": 0.2},
    ),
    "R22": (
        {},
        "verl",
        {
            "critic/advantages/mean": 0.09,
            "response_length/min": 90.0,
            "response_length/mean": 100.0,
            "response_length/max": 110.0,
        },
        {"critic/advantages/mean": 0.1},
    ),
    "R23": (
        {"on_policy": None},
        "verl",
        {"actor/loss": 0.3, "actor/pg_loss": 0.1, "actor/kl_coef": 0.5, "actor/kl_loss": 0.4},
        {"actor/loss": 0.4},
    ),
    "R24": (
        {"group_size": 4},
        "verl",
        {"perf/total_num_tokens": 120.0, "prompt_length/mean": 5.0, "response_length/mean": 10.0},
        {"perf/total_num_tokens": 90.0},  # 6 completions are no whole number of groups of 4
    ),
    "R25": (
        {},
        "verl",
        {
            "critic/score/min": 1.0,
            "critic/score/max": 1.0,
            "critic/advantages/min": 0.0,
            "critic/advantages/max": 0.0,
        },
        {"critic/advantages/max": 1.0},
    ),
    "R26": (
        {"budget": None},
        "verl",
        {
            "response_length/clip_ratio": 0.5,
            "response_length/min": 2.0,
            "response_length/mean": 6.0,
            "response_length/max": 10.0,
        },
        {"response_length/mean": 5.5},
    ),
    "R27": ({}, "verl", {"rollout_corr/kl": 0.01, "rollout_corr/k3_kl": 0.01}, {"rollout_corr/kl": 0.4}),
    "R27b": (
        {"whole_vocabulary": None},
        "verl",
        {"rollout_corr/kl": 0.0, "rollout_corr/k3_kl": 0.1, "rollout_corr/chi2_token": 0.3},
        {"rollout_corr/chi2_token": 0.1},  # 1.1² - 1 = 0.21
    ),
    "R32": (
        {},
        "verl",
        {
            "response/aborted_ratio": 0.25,
            "response_length_non_aborted/mean": 8.0,
            "response_length/mean": 6.0,
        },
        {"response_length/mean": 7.0},
    ),
}


@pytest.mark.parametrize("code", BY_HAND)
def test_a_relation_worked_by_hand(code):
    changed, trainer, row, wrong = BY_HAND[code]
    facts = replace(FACTS, **changed)
    assert code not in broken(row, trainer, facts)
    assert code in broken({**row, **wrong}, trainer, facts)


def test_every_relation_is_tested():
    codes = {relation.code for relation in RELATIONS} | {code for code, *_ in OF_RUN}
    others = {code for _, _, code in SEEN.values()} | {"R29", "R30", "R31", "R34"}
    assert codes == {*BY_HAND, *others}
    assert all(isinstance(relation, Relation) for relation in RELATIONS)


def test_a_policy_that_moves_leaves_its_reference():
    rows = [{"step": step, "kl": 0.0, "grad_norm": 1.0, "learning_rate": 1e-6} for step in range(1, 9)]
    (violation,) = apply_relations(log_of(rows, "trl"), Facts(kl_coef=0.04)).violations
    assert (violation.code, violation.step) == ("R29", 3)
    for kl_coef in (None, 0.0):
        assert apply_relations(log_of(rows, "trl"), Facts(kl_coef=kl_coef)).violations == []
    rows[5]["kl"] = 1e-3
    assert apply_relations(log_of(rows, "trl"), Facts(kl_coef=0.04)).violations == []


def test_advantages_that_are_the_scores_have_no_baseline():
    row = {
        "critic/score/min": 0.0,
        "critic/score/max": 1.0,
        "critic/advantages/min": 0.0,
        "critic/advantages/max": 1.0,
    }
    rows = [{"step": step, **row} for step in range(1, 7)]
    assert [each.code for each in apply_relations(log_of(rows, "verl"), Facts()).violations] == ["R34"]
    rows[3]["critic/advantages/max"] = 1.5
    assert apply_relations(log_of(rows, "verl"), Facts()).violations == []


def test_a_run_starts_at_its_reference():
    rows = [{"step": 1, "kl": 1.096}, {"step": 2, "kl": 1.1}]
    (violation,) = apply_relations(log_of(rows, "trl"), Facts(kl_coef=0.04, steps=1)).violations
    assert violation.code == "R30"
    assert "another model than the start" in violation.otherwise


def test_the_tokens_of_a_row_are_at_least_those_of_its_completions():
    rows = [
        {"step": 1, "num_tokens": 100.0, "completions/mean_length": 10.0},
        {"step": 2, "num_tokens": 200.0, "completions/mean_length": 10.0},
    ]
    assert apply_relations(log_of(rows, "trl"), Facts(completions=8, window=1)).violations == []
    (violation,) = apply_relations(log_of(rows, "trl"), Facts(completions=16, window=1)).violations
    assert violation.code == "R31"  # 16 completions of 10 tokens are 160 tokens


def test_a_relation_without_its_facts_is_skipped_and_says_why():
    result = apply_relations(log_of([{"step": 1, "loss": 1.0, "kl": 0.1}], "trl"), Facts())
    assert result.skipped["with one step per batch and a mean per completion, loss = β KL"] == (
        "on_policy",
        "kl_coef",
        "average",
        "window",
        "nothing masked",
    )


def test_a_sum_of_rounded_rewards_holds():
    """The first row has the six decimals of a notebook's table, the others four digits."""
    row = {"step": 1, "reward": 0.400167, "rewards/a/mean": 0.066833, "rewards/b/mean": 0.333333}
    assert apply_relations(log_of([row], "trl"), Facts(weights={})).violations == []
    row = {"step": 1, "reward": -0.05337, "rewards/a/mean": 0.7, "rewards/b/mean": -0.7534}
    assert apply_relations(replace(log_of([row], "trl"), digits=5e-4), Facts(weights={})).violations == []
    assert apply_relations(log_of([row], "trl"), Facts(weights={})).violations != []


@pytest.mark.parametrize(("has_bonus", "codes"), [(False, ["R12"]), (True, []), (None, [])])
def test_a_bonus_gives_a_gradient_without_different_rewards(has_bonus, codes):
    log = log_of([{"step": 1, "frac_reward_zero_std": 1.0, "grad_norm": 0.1}], "trl")
    facts = replace(FACTS, kl_coef=0.0, has_bonus=has_bonus)
    assert [each.code for each in apply_relations(log, facts).violations] == codes


def test_a_reward_without_reward_functions_is_not_compared_with_them():
    tested = apply_relations(log_of([{"step": 1, "reward": 0.5, "reward_std": 0.1}], "trl"), FACTS)
    assert "R1" not in tested.counts


def test_a_norm_that_is_not_a_number_breaks_no_relation():
    log = log_of(
        [{"step": 1, "frac_reward_zero_std": 0.0, "grad_norm": math.nan, "completions/clipped_ratio": 0.0}],
        "trl",
    )
    assert apply_relations(log, FACTS).violations == []


def test_numbers_with_six_decimals_break_no_relation():
    """sqrt(8/7 x 1/8 x 7/8) = 0.35355339, and a notebook shows 0.353553."""
    row = {"step": 1, "rewards/right/mean": 0.125, "rewards/right/std": 0.353553}
    tested = apply_relations(log_of([row], "trl"), replace(FACTS, completions=8))
    assert tested.counts["R2"] == 1
    assert tested.violations == []
