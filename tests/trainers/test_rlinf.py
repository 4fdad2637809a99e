"""RLinf: what its keys compute, and what it alone does."""

import pytest

from grpo_ref.trainers import rlinf

# configuration -> parts of the recipe, as text
PARTS = {
    "normalized twice": (
        {"algorithm": {"normalize_advantages": True}},
        {"advantage": "normalized_twice(ddof=1, eps=1e-06, token_ddof=0, token_eps=1e-05)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | rlinf.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


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


def test_an_empty_completion_makes_the_loss_no_number(asarray):
    """Two tokens of one completion and none of the other: 1/2 · 1/2 each, and 0/0."""
    nan = float("nan")
    weights = rlinf.recipe(loss_agg_func="seq-mean-token-mean").weights(asarray([[[1, 1], [0, 0]]]))
    asarray.check(weights, [[[0.25, 0.25], [nan, nan]]])
