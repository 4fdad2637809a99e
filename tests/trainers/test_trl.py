"""TRL: what its keys compute, and what it alone does."""

import pytest

from grpo_ref import sequence_mean_level, sequence_sum_level
from grpo_ref.trainers import trl
from grpo_ref.trainers.trl.scores import scored_normalized, scored_sum

# configuration -> parts of the recipe, as text
PARTS = {
    "defaults": (
        {},
        {
            "advantage": "group_normalized(ddof=1, eps=0.0001)",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "kl_coef": "0.0",
            "aggregate": "token_mean",
        },
    ),
    "one epsilon for both sides": ({"epsilon": 0.1}, {"surrogate": "clipped(clip_low=0.1, clip_high=0.1)"}),
    "dr_grpo changes the denominator alone": (
        {"loss_type": "dr_grpo"},
        {"aggregate": "fixed_length", "advantage": "group_normalized(ddof=1, eps=0.0001)"},
    ),
    "cispo's cap falls back to epsilon": ({"loss_type": "cispo"}, {"surrogate": "cispo(max_ratio=0.2)"}),
    "vespo takes the sequence's sum": ({"loss_type": "vespo"}, {"level": "sequence_sum_level"}),
    "False is an old name of none": ({"scale_rewards": False}, {"advantage": "group_centered"}),
    "an old name of the cap": (
        {"use_vllm": True, "vllm_importance_sampling_cap": 5.0},
        {"corrections": "(masked(level=sequence_sum_level, min_ratio=0.0, max_ratio=5.0))"},
    ),
    "no correction without vLLM": ({"vllm_importance_sampling_correction": True}, {"corrections": "()"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | trl.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_levels():
    assert trl.recipe(importance_sampling_level="sequence").level is sequence_mean_level
    assert trl.recipe(loss_type="vespo").level is sequence_sum_level


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


# ---- quirks ---------------------------------------------------------------------------------------


def test_a_generation_batch_that_is_trained_in_steps_counts_more(asarray):
    """Three tokens, twice as many steps a generation as micro-batches a step: 2/3 each."""
    recipe = trl.recipe(gradient_accumulation_steps=2, steps_per_generation=4)
    assert str(recipe.aggregate) == "generation_mean(scale=2.0)"
    weights = recipe.weights(asarray([[[1, 1], [1, 0]]]))
    asarray.check(weights, [[[2 / 3, 2 / 3], [2 / 3, 0]]])


def test_completions_without_a_score_are_no_siblings(asarray):
    """Of 1, nothing and 0 the mean is 1/2 and the sample std √1/2; one scored completion has no contrast."""
    nan = float("nan")
    values = scored_normalized(asarray([[1.0, nan, 0.0], [nan, nan, 5.0]]), ddof=1, eps=1e-4)
    half = 0.5 / (0.5**0.5 + 1e-4)
    asarray.check(values, [[half, 0.0, -half], [0.0, 0.0, 0.0]])


def test_a_score_is_the_sum_of_what_the_functions_say(asarray):
    nan = float("nan")
    asarray.check(scored_sum(asarray([[[1.0, 0.5], [nan, 0.5], [nan, nan]]])), [[1.5, 0.5, nan]])
