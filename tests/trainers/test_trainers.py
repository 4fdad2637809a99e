"""Dialects: a trainer's own keys and defaults give the recipe that it computes."""

import itertools
import re
from math import inf

import pytest

from grpo_ref import GRPO, sequence_mean_level, sequence_sum_level
from grpo_ref.trainers import DIALECTS, open_instruct, openrlhf, rlinf, trl, verl

EACH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)

# dialect, configuration -> parts of the recipe, as text
PARTS = {
    "trl's defaults": (
        trl,
        {},
        {
            "advantage": "group_normalized(ddof=1, eps=0.0001)",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "kl_coef": "0.0",
            "aggregate": "token_mean",
        },
    ),
    "trl: one epsilon for both sides": (
        trl,
        {"epsilon": 0.1},
        {"surrogate": "clipped(clip_low=0.1, clip_high=0.1)"},
    ),
    "trl: dr_grpo changes the denominator alone": (
        trl,
        {"loss_type": "dr_grpo"},
        {"aggregate": "fixed_length", "advantage": "group_normalized(ddof=1, eps=0.0001)"},
    ),
    "trl: cispo's cap falls back to epsilon": (
        trl,
        {"loss_type": "cispo"},
        {"surrogate": "cispo(max_ratio=0.2)"},
    ),
    "trl: vespo takes the sequence's sum": (trl, {"loss_type": "vespo"}, {"level": "sequence_sum_level"}),
    "trl: False is an old name of none": (trl, {"scale_rewards": False}, {"advantage": "group_centered"}),
    "trl: an old name of the cap": (
        trl,
        {"use_vllm": True, "vllm_importance_sampling_cap": 5.0},
        {"corrections": "(masked(level=sequence_sum_level, min_ratio=0.0, max_ratio=5.0))"},
    ),
    "trl: no correction without vLLM": (
        trl,
        {"vllm_importance_sampling_correction": True},
        {"corrections": "()"},
    ),
    "verl's dual clip is always on": (
        verl,
        {},
        {
            "surrogate": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)",
            "log_ratio_limits": "(-20.0, 20.0)",
        },
    ),
    "verl: clip_ratio counts only where low and high are taken away": (
        verl,
        {"clip_ratio": 0.1, "clip_ratio_low": None},
        {"surrogate": "dual_clipped(clip_low=0.1, clip_high=0.2, max_ratio=3.0)"},
    ),
    "verl: with its groups": (
        verl,
        {
            "actor_rollout_ref": {"actor": {"policy_loss": {"loss_mode": "cispo"}}},
            "algorithm.filter_groups.enable": True,
        },
        {"surrogate": "cispo(min_ratio=0.8, max_ratio=1.2)", "keep": "mixed_groups"},
    ),
    "verl: gspo forces its average": (
        verl,
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"aggregate": "sequence_mean_token_mean(count_empty=False, eps=1e-08)"},
    ),
    "verl: a window is written low_high": (
        verl,
        {"rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
        {"corrections": "(masked(level=token_level, min_ratio=0.5, max_ratio=5.0, max_log_ratio=20.0))"},
    ),
    "open instruct's defaults": (
        open_instruct,
        {},
        {
            "advantage": "group_centered",
            "keep": "mixed_groups",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.272)",
            "kl_coef": "0.05",
            "corrections": "(truncated("
            "min_ratio=0.0, max_ratio=2.0, level=token_level, max_token_log_ratio=10.0))",
        },
    ),
    "open instruct without a reference": (open_instruct, {"load_ref_policy": False}, {"kl_coef": "0.0"}),
    "open instruct: a number divides": (
        open_instruct,
        {"loss_denominator": 40},
        {"aggregate": "token_sum_over(tokens=40.0)"},
    ),
    "rlinf: normalised twice": (
        rlinf,
        {"algorithm": {"normalize_advantages": True}},
        {"advantage": "normalized_twice(ddof=1, eps=1e-06, token_ddof=0, token_eps=1e-05)"},
    ),
    "openrlhf: gspo by completion": (
        openrlhf,
        {"policy_loss_type": "gspo"},
        {
            "level": "sequence_mean_level",
            "aggregate": "sequence_mean_token_mean(count_empty=False, eps=1e-08)",
        },
    ),
}


@pytest.mark.parametrize(("module", "config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(module, config, parts):
    recipe = module.recipe(**config)
    ours = {name: text for name, text in {"corrections": "()"}.items()} | recipe.parts()
    assert {name: ours[name] for name in parts} == parts


@EACH
def test_every_combination_of_choices_is_a_recipe_that_travels(dialect):
    """Pairs of choices, one key against another."""
    for (first, ours), (second, theirs) in itertools.combinations(dialect.choices.items(), 2):
        for one, two in itertools.product(ours, theirs):
            recipe = dialect.recipe(**{first: one, second: two})
            assert recipe.source == dialect.version


@EACH
def test_defaults_choices_and_others_do_not_overlap(dialect):
    assert set(dialect.choices) <= set(dialect.defaults)
    assert not set(dialect.defaults) & set(dialect.others)
    known = set(dialect.defaults) | dialect.others | set(dialect.beyond)
    assert set(dialect.aliases.values()) <= known
    assert set(dialect.concepts.values()) <= known
    assert set(dialect.always) <= set(dialect.defaults)
    for key, values in dialect.choices.items():
        assert dialect.defaults[key] in values


UNKNOWN = {
    "misspelt": (trl, {"epsilon_hihg": 0.28}, "trl has no key 'epsilon_hihg' (did you mean 'epsilon_high'"),
    "another trainer's": (openrlhf, {"loss_mode": "gspo"}, "openrlhf has no key 'loss_mode'"),
    "a value that is none": (trl, {"loss_type": "ppo"}, "loss_type: expected one of 'grpo', 'bnpo'"),
    "a mode that is none": (verl, {"loss_mode": "gsp"}, "loss_mode: expected one of 'vanilla'"),
    "a key without default": (verl, {"loss_mode": "dro"}, "dro_beta: verl has no default for it"),
    "beyond what can be said": (
        verl,
        {"algorithm.use_kl_in_reward": True},
        "use_kl_in_reward = True cannot be expressed here: the penalty is subtracted from the reward",
    ),
    "kl_coef below 0": (trl, {"beta": -0.1}, "kl_coef: expected a number >= 0, got -0.1"),
    "two at once": (trl, {"epsilonn": 0.2, "xyz": 1}, "no key 'epsilonn' (did you mean 'epsilon'?), 'xyz'"),
    "a word for a number": (trl, {"beta": "small"}, "beta: expected a number, got 'small'"),
    "a truth value for a number": (trl, {"beta": True}, "beta: expected a number, got True"),
    "a number for a truth value": (
        verl,
        {"use_kl_loss": 1},
        "use_kl_loss: expected True or False, got 1",
    ),
    "a window where none is meant": (trl, {"beta": "0.5_5.0"}, "trl: beta = '0.5_5.0' is of the wrong kind"),
    "a word where nothing is set": (
        trl,
        {"epsilon_high": "big"},
        "epsilon_high = 'big' is of the wrong kind",
    ),
    "nothing": (trl, {"beta": None}, "trl: beta = None is of the wrong kind"),
    "no completions": (verl, {"rollout": {"n": 0}}, "rollout.n: expected at least 1, got 0"),
    "a group of one": (
        trl,
        {"num_generations": 1},
        "num_generations: TRL refuses groups of fewer than 2, got 1",
    ),
    "no passes": (trl, {"num_iterations": 0}, "num_iterations: expected at least 1, got 0"),
    "a negative budget": (
        trl,
        {"max_completion_length": -5},
        "max_completion_length: expected a number > 0, got -5",
    ),
    "a negative clip": (
        trl,
        {"epsilon": -0.2},
        "expected 0 <= clip_low < 1 and clip_high >= 0, got -0.2 and -0.2",
    ),
    "a group that is none": (verl, {"critic_of_mine.clip_ratio": 0.2}, "no key 'critic_of_mine.clip_ratio'"),
}


@pytest.mark.parametrize(("module", "config", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_mistakes_are_named(module, config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        module.recipe(**config)


def test_groups_without_effect_are_passed_over_whatever_they_hold():
    config = {
        "critic": {"anything": 1},
        "trainer": {"logger": ["console"]},
        "actor": {"clip_ratio_high": 0.28},
    }
    assert verl.recipe(**config) == verl.recipe(clip_ratio_high=0.28)


CHAPTER = {
    "grpo": {"loss_type": "grpo", "num_generations": 2, "epsilon": 0.2, "per_device_train_batch_size": 2},
    "dapo": {
        "epsilon": 0.2,
        "epsilon_high": 0.28,
        "loss_type": "dapo",
        "mask_truncated_completions": True,
        "max_completion_length": 1024,
        "num_generations": 8,
    },
    "gspo": {
        "importance_sampling_level": "sequence",
        "steps_per_generation": 4,
        "num_generations": 8,
        "epsilon": 0.2,
    },
    "dr_grpo": {"loss_type": "dr_grpo", "num_generations": 8, "beta": 0.04, "ref_model": "ref_model"},
    "sapo": {
        "loss_type": "sapo",
        "sapo_temperature_pos": 1.0,
        "sapo_temperature_neg": 1.05,
        "num_generations": 8,
    },
    "tis": {
        "use_vllm": True,
        "vllm_importance_sampling_correction": True,
        "vllm_importance_sampling_mode": "sequence_truncate",
        "vllm_importance_sampling_cap": 5.0,
    },
    "vespo": {"loss_type": "vespo"},
    "dppo": {"num_generations": 8, "beta": 0.04},
    "cispo": {
        "loss_type": "cispo",
        "scale_rewards": "batch",
        "mask_truncated_completions": True,
        "epsilon": 0.2,
        "epsilon_high": 5.0,
        "num_generations": 8,
    },
    "gdpo": {
        "multi_objective_aggregation": "normalize_then_sum",
        "reward_weights": [1.0, 0.5],
        "num_generations": 8,
    },
}
TRAINER = {"model": "m", "args": "c", "reward_funcs": ["r"], "train_dataset": "d", "tokenizer": "t"}


@pytest.mark.parametrize("config", CHAPTER.values(), ids=CHAPTER)
def test_the_snippets_of_a_textbook_are_accepted_as_they_stand(config):
    assert trl.recipe(**config, **TRAINER).source == "TRL 1.16.0"


def test_rlinfs_page_is_accepted_as_it_stands():
    page = {
        "adv_type": "grpo",
        "loss_type": "actor",
        "loss_agg_func": "token-mean",
        "group_size": 16,
        "kl_beta": 0.0,
        "kl_penalty_type": "low_var_kl",
        "ratio_clip_eps": 0.2,
        "calculate_entropy": False,
        "entropy_bonus": 0.0,
        "normalize_advantages": True,
        "early_stop_imp_ratio": 5.0,
        "use_valid_token_scale": False,
    }
    recipe = rlinf.recipe(algorithm=page)
    assert str(recipe.corrections[0]) == "early_stop(max_ratio=5.0)"
    for estimator in ("low_var_kl", "kl", "abs", "mse"):
        assert rlinf.recipe(**page | {"kl_penalty_type": estimator, "kl_beta": 0.1}).kl_coef == 0.1


def test_a_key_that_is_beyond_may_be_given_its_idle_value():
    assert verl.recipe(use_kl_in_reward=False, rollout_rs=None) == verl.recipe()


def test_levels_and_limits():
    assert trl.recipe(importance_sampling_level="sequence").level is sequence_mean_level
    assert trl.recipe(loss_type="vespo").level is sequence_sum_level
    assert trl.recipe().log_ratio_limits == GRPO.log_ratio_limits == (-inf, inf)
    assert verl.recipe(loss_mode="gspo").log_ratio_limits == (-inf, 10.0)
