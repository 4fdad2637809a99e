"""The recipes as values: they print, compare, travel, and differ from GRPO in a few parts."""

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref import DAPO, GRPO, RECIPES, policy_loss
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.levels import sequence_mean_level
from grpo_ref.surrogates import gspo_token


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_prints_compares_and_travels(recipe):
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert recipe.source in str(recipe)
    assert recipe.differences(recipe) == {}
    changed = recipe.differences(GRPO)
    restored = replace(recipe, **{part: getattr(GRPO, part) for part in changed}, source=GRPO.source)
    assert restored == GRPO


def test_what_dapo_changes():
    assert DAPO.differences(GRPO) == {
        "reward": "soft_overlong(buffer=0.2, weight=0.5)",
        "keep": "mixed_groups",
        "surrogate": "clipped(clip_low=0.2, clip_high=0.28)",
        "kl_coef": "0.0",
        "aggregate": "token_mean",
    }


SHAPE = (2, 3, 4)
RATIOS = hnp.arrays(np.float64, SHAPE, elements=st.floats(-2.0, 2.0, width=16))
SIGNED = hnp.arrays(np.float64, SHAPE[:-1], elements=st.floats(-2.0, 2.0, width=16)).map(
    lambda a: np.repeat(a[..., None], SHAPE[-1], axis=-1)
)


@given(RATIOS, SIGNED, hnp.arrays(np.int64, SHAPE[:-1], elements=st.integers(1, 4)))
def test_gspo_token_is_gspo_for_one_advantage_per_completion(log_ratio, advantages, lengths):
    mask = np.arange(SHAPE[-1]) < lengths[..., None]
    gspo = replace(GRPO, level=sequence_mean_level, kl_coef=0.0)
    by_token = replace(gspo, surrogate=partial_slot(gspo_token))
    new = np.full(SHAPE, -3.0) + log_ratio
    ours, theirs = (
        policy_loss(new, advantages, mask, recipe=recipe, old_log_probs=np.full(SHAPE, -3.0))
        for recipe in (by_token, gspo)
    )
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-12, atol=1e-14)


def partial_slot(kernel):
    return replace(GRPO.surrogate, kernel=kernel)


# recipe -> its keys in TRL's paper index (f2cd57710, docs/source/paper_index.md), with our loss type if none
INDEX = {
    "intellect_2": {"delta": 4.0, "epsilon": 0.2, "beta": 0.001, "loss_type": "grpo"},
    "luspo": {
        "loss_type": "luspo",
        "importance_sampling_level": "sequence",
        "epsilon": 2e-3,
        "epsilon_high": 2.5e-3,
    },
    "gspo": {
        "loss_type": "grpo",
        "importance_sampling_level": "sequence",
        "beta": 0.0,
        "epsilon": 3e-4,
        "epsilon_high": 4e-4,
    },
    "gmpo": {"trainer": "GMPOTrainer", "epsilon": 0.4, "beta": 0.0},
    "dapo": {"loss_type": "dapo", "epsilon": 0.2, "epsilon_high": 0.28, "beta": 0.0},
    "lite_ppo": {"scale_rewards": "batch", "loss_type": "dapo", "beta": 0.0},
    "sapo": {"loss_type": "sapo", "sapo_temperature_pos": 1.0, "sapo_temperature_neg": 1.05},
    "gdpo": {"multi_objective_aggregation": "normalize_then_sum", "loss_type": "grpo"},
}


@pytest.mark.parametrize(("name", "keys"), INDEX.items(), ids=INDEX)
def test_constants_are_those_of_trls_paper_index(name, keys):
    ours, theirs = RECIPES[name], DIALECTS["trl"].recipe(**keys)
    assert (ours.level, ours.kl_coef, ours.aggregate) == (theirs.level, theirs.kl_coef, theirs.aggregate)
    assert theirs.surrogate.settings.items() <= default_settings(ours.surrogate).items()
    assert theirs.advantage.settings.items() <= default_settings(ours.advantage).items()


def default_settings(part):
    """All settings of a part, those that have their default included."""
    parameters = inspect.signature(part.kernel).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY} | part.settings


def test_a_difference_from_grpo_is_one_line():
    for name, recipe in RECIPES.items():
        assert name == "grpo" or 1 <= len(recipe.differences(GRPO)) <= 6
