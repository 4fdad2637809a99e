"""RLinf: what its keys compute, in either actor, and what it alone does."""

from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.explain.conversion import convert
from grpo_ref.explain.description import explain
from grpo_ref.explain.dialects import DIALECTS, rlinf
from grpo_ref.parity.replay import rebuild

FSDP = {"actor": {"training_backend": "fsdp"}}
DECOUPLED = {"loss_type": "decoupled_actor_critic"}
K3 = "k3(max_log_ratio=20.0, max_value=10.0)"

# configuration -> parts of the recipe, as text
PARTS = {
    "normalized twice": (
        {"algorithm": {"normalize_advantages": True}, **FSDP},
        {"advantage": "normalized_twice(ddof=1, eps=1e-06, token_ddof=0, token_eps=1e-05)"},
    ),
    "normalized thrice": (
        {"algorithm": {"normalize_advantages": True}},
        {"advantage": "normalized_thrice(ddof=1, eps=1e-06, token_eps=1e-05)"},
    ),
    "not normalized again": (
        {"normalize_advantages": False},
        {"advantage": "group_normalized(ddof=1, eps=1e-06)"},
    ),
    "raw rewards": ({"adv_type": "raw", "normalize_advantages": False}, {"advantage": "raw_rewards"}),
    "no critic, so raw rewards": (
        {"adv_type": "gae", "normalize_advantages": False},
        {"advantage": "raw_rewards"},
    ),
    "the other actor standardizes them nevertheless": (
        {"adv_type": "gae", "normalize_advantages": False, **FSDP},
        {"advantage": "standardized_tokens(again=(1))"},
    ),
    "REINFORCE++ has no baseline": (
        {"adv_type": "reinpp", "normalize_advantages": False},
        {"advantage": "reinpp"},
    ),
    "a penalty in its rewards": (
        {"adv_type": "reinpp", "reinpp_kl_beta": 0.001, "kl_penalty_type": "k2", **FSDP},
        {"advantage": "reinpp_with_kl(kl_coef=0.001, estimator=k2, tokens_only=False, again=(0))"},
    ),
    "a dual clip by default": (
        {},
        {"surrogate": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)"},
    ),
    "none where the file says null": (
        {"clip_ratio_c": None},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.2)"},
    ),
    "the reference first": ({"kl_beta": 0.1, **FSDP}, {"penalty": f"swapped(estimator={K3})"}),
    "the policy first": ({"kl_beta": 0.1}, {"penalty": K3}),
    "k2 is the same either way": ({"kl_penalty_type": "mse", **FSDP}, {"penalty": "k2"}),
    "an early stop": ({"early_stop_imp_ratio": 5.0}, {"corrections": "(early_stop(max_ratio=5.0))"}),
    "an early stop that is not read": ({"early_stop_imp_ratio": 5.0, **FSDP}, {"corrections": "()"}),
    "an early stop of the penalty": (
        {"early_stop_imp_ratio": 5.0, "kl_beta": 0.1},
        {"penalty_aggregate": "unless_stopped(aggregate=token_mean, max_ratio=5.0)"},
    ),
    "the sampler's NaN stays": (
        {"importance_sampling_fix": True, "importance_sampling_clip": 2.0},
        {"corrections": "(truncated(max_ratio=2.0, unknown=nan))"},
    ),
    "the sampler's weights of several completions at once": (
        {"training_batch_size_per_gpu": 4, "importance_sampling_fix": True},
        {"corrections": "(weighed_unless_first_is_empty(weights=truncated(max_ratio=10.0, unknown=nan)))"},
    ),
    "several completions at once": (
        {"training_batch_size_per_gpu": 4},
        {"corrections": "(unless_first_is_empty)"},
    ),
    "a threshold that is not read": (
        {"behave_weight_threshold": 2.0},
        {"corrections": "()", "aggregate": "token_mean"},
    ),
    "a threshold that is": (
        {"behave_weight_threshold": 2.0, **DECOUPLED},
        {"corrections": "(behaviour_weight(max_ratio=2.0))", "aggregate": "mean_below(max_ratio=2.0)"},
    ),
    "a kind of penalty that is not read": (
        {"kl_penalty_type": "full", "kl_beta": -0.1},
        {"kl_coef": "0.0"},
    ),
    "the decoupled loss names its actor itself": (
        {**DECOUPLED, "runner": {"task_type": "embodied"}, **FSDP},
        {"corrections": "(behaviour_weight(max_ratio=inf))"},
    ),
    "a weight without a threshold": (
        DECOUPLED,
        {"corrections": "(behaviour_weight(max_ratio=inf))", "aggregate": "token_mean"},
    ),
}

# configuration -> what the refusal says
REFUSED = {
    "an embodied task": ({"runner": {"task_type": "embodied"}}, "averages over episodes"),
    "a chunk of actions": ({"reward_type": "chunk_level"}, "averages over episodes"),
    "groups left out by their rewards": ({"filter_rewards": True}, "mean reward"),
    "a critic": ({"adv_type": "gae", "critic": {"use_critic_model": True}}, "critic's values"),
    "a critic's loss": ({"loss_type": "actor_critic"}, "a critic as well"),
    "several agents": ({"adv_type": "grpo_dynamic"}, "several agents"),
    "completions that are drawn": ({"down_sampling": {"do_down_sampling": True}}, "draws some"),
    "a baseline that fails": ({"adv_type": "reinpp", "use_reinpp_baseline": True}, "IndexError"),
    "a name that is not registered": ({"loss_type": "decoupled_actor"}, "expected one of"),
    "a function's name": ({"loss_agg_func": "masked_mean"}, "expected one of"),
    "a group of one": ({"group_size": 1}, "more than 1"),
    "a decoupled loss of a language model": (
        {**DECOUPLED, "runner": {"task_type": "reasoning"}},
        "do not give it a critic's values",
    ),
    "a decoupled loss with Megatron": (
        {**DECOUPLED, "actor": {"training_backend": "megatron"}},
        "asynchronous actor",
    ),
    "an unknown penalty that is read": ({"kl_penalty_type": "full", "kl_beta": 0.1}, "expected one of"),
    "a third actor": ({"actor": {"training_backend": "fsdp2"}}, "expected one of"),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | rlinf.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


@pytest.mark.parametrize(("config", "told"), REFUSED.values(), ids=REFUSED)
def test_what_no_recipe_can_express_is_refused_with_a_reason(config, told):
    with pytest.raises(ValueError, match=told):
        rlinf.recipe(**config)


PAGE = {
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


def test_rlinfs_page_is_accepted_as_it_stands():
    recipe = rlinf.recipe(algorithm=PAGE)
    assert str(recipe.corrections[0]) == "early_stop(max_ratio=5.0)"
    for estimator in ("low_var_kl", "kl", "abs", "mse"):
        assert rlinf.recipe(**PAGE | {"kl_penalty_type": estimator, "kl_beta": 0.1}).kl_coef == 0.1


@pytest.mark.parametrize("name", ["trl", "verl", "open_instruct", "openrlhf", "understand_r1_zero"])
def test_an_early_stop_becomes_no_bound_on_the_sampler(name):
    """No other trainer has one, and a ratio held at 5 would be something else altogether."""
    found = convert(rlinf.DIALECT, DIALECTS[name], PAGE)
    assert found.lost["corrections"] == ("(early_stop(max_ratio=5.0))", "()")
    assert 5.0 not in found.config.values()


def test_an_empty_completion_makes_the_loss_no_number(asarray):
    """Two tokens of one completion and none of the other: 1/2 · 1/2 each, and 0/0."""
    nan = float("nan")
    weights = rlinf.recipe(loss_agg_func="seq-mean-token-mean").weights(asarray([[[1, 1], [0, 0]]]))
    asarray.check(weights, [[[0.25, 0.25], [nan, nan]]])


def loss_of(config, ratios, advantages=((1.0, 1.0),), mask=(((1, 1), (1, 1)),), **others):
    """The loss and its gradient where πθ/πold are the ratios, and the reference is e times likelier."""
    log_probs = np.log(np.array(ratios)) - 9.0
    old = np.full_like(log_probs, -9.0)
    recipe = rlinf.recipe(**config)
    given = {"old_log_probs": old, "ref_log_probs": log_probs + 1.0, **others}
    return policy_loss(log_probs, np.array(advantages), np.array(mask), recipe=recipe, **given)


HIGH = [[[12.0, 12.4], [12.2, 12.2]]]
"""Of mean 12.2."""


def test_an_early_stop_is_for_the_penalty_too():
    """k1 of the reference is -1 everywhere and the clipped surrogate 1.2, so unstopped -1.2 - 0.1."""
    config = {"kl_beta": 0.1, "kl_penalty_type": "k1", "early_stop_imp_ratio": 5.0}
    stopped = loss_of(config, HIGH)
    assert stopped.loss == 0.0
    assert not stopped.gradient.any()
    assert loss_of(config | {"early_stop_imp_ratio": 13.0}, HIGH).loss == pytest.approx(-1.3)
    assert loss_of(config | FSDP, HIGH).loss == pytest.approx(-1.1), "not read, and k1 is a bonus there"


def test_an_empty_first_completion_leaves_the_penalty_alone():
    """The second completion has two tokens of surrogate 1.2 and of k1 = -1."""
    config = {"kl_beta": 0.1, "kl_penalty_type": "k1"}
    mask = [[[0, 0], [1, 1]]]
    several = config | {"training_batch_size_per_gpu": 2}
    assert loss_of(config, HIGH, mask=mask).loss == pytest.approx(-1.3)
    assert loss_of(several, HIGH, mask=mask).loss == pytest.approx(-0.1)
    assert loss_of(several, HIGH, mask=[[[1, 1], [0, 0]]]).loss == pytest.approx(-1.3)
    early = several | {"early_stop_imp_ratio": 5.0}
    assert loss_of(early, HIGH, mask=mask).loss == pytest.approx(-0.1), "no ratio is looked at"


def test_a_penalty_with_its_arguments_swapped_is_a_bonus():
    """k1 is 1 in place of -1, and with a slope of -1 in place of 1: 0.5/4 per token."""
    config = {"kl_beta": 0.5, "kl_penalty_type": "k1"}
    off = {"advantages": [[0.0, 0.0]]}
    assert loss_of(config, HIGH, **off).gradient == pytest.approx(np.full((1, 2, 2), 0.125))
    assert loss_of(config | FSDP, HIGH, **off).gradient == pytest.approx(np.full((1, 2, 2), -0.125))


def test_what_the_sampler_did_not_report_makes_the_loss_no_number():
    sampler = np.array([[[-9.0, np.nan], [-9.0, -9.0]]])
    fix = {"importance_sampling_fix": True}
    assert np.isnan(loss_of(fix, HIGH, rollout_log_probs=sampler).loss)
    with np.errstate(invalid="ignore"):
        assert np.isnan(loss_of(DECOUPLED, HIGH, rollout_log_probs=sampler).loss)
    assert np.isfinite(loss_of({}, HIGH, rollout_log_probs=sampler).loss)


def test_a_threshold_takes_tokens_out_of_the_denominator():
    """Weights 1, 1, 2 and 4 of surrogates 1: without a threshold (1 + 1 + 2 + 4)/4, at 2 (1 + 1 + 2)/3."""
    sampler = -9.0 - np.log([[[1.0, 1.0], [2.0, 4.0]]])
    even = [[[1.0, 1.0], [1.0, 1.0]]]
    assert loss_of(DECOUPLED, even, rollout_log_probs=sampler).loss == pytest.approx(-2.0)
    limited = DECOUPLED | {"behave_weight_threshold": 2.0 + 1e-12}
    assert loss_of(limited, even, rollout_log_probs=sampler).loss == pytest.approx(-4 / 3)


def test_there_is_no_bonus_without_an_entropy():
    """The entropies are 2, so with one the loss is lower by 0.1 · 2."""
    shape = {"group_size": 2, "lp": [[-1.0], [-1.0]], "a": [0.0, 0.0], "m": [[1], [1]], "h": [[2.0], [2.0]]}
    given = {"log_probs": "lp", "advantages": "a", "mask": "m", "entropies": "h"}
    case = {"trainer": "rlinf", "call": "loss", "given": given}
    on, off = {"calculate_entropy": True, "entropy_bonus": 0.1}, {"entropy_bonus": 0.1}
    assert rebuild(case | {"config": on}, shape)["loss"] == pytest.approx(-0.2)
    assert rebuild(case | {"config": off}, shape)["loss"] == 0.0
    assert explain(rlinf.DIALECT, on).entropy_coef == 0.1
    assert explain(rlinf.DIALECT, off).entropy_coef == 0.0
    assert convert(rlinf.DIALECT, DIALECTS["verl"], off).config["entropy_coeff"] == 0.0
    back = convert(DIALECTS["verl"], rlinf.DIALECT, {"entropy_coeff": 0.1}).config
    assert (back["entropy_bonus"], back["calculate_entropy"]) == (0.1, True)


# mask -> advantages of rewards 1 and 0, without a baseline
REINPP = {
    "three tokens of 1, one of 0: mean 3/4, std √3/4": (
        [[[1, 1, 1], [1, 0, 0]]],
        [[[3**-0.5, 3**-0.5, 3**-0.5], [-(3**0.5), 0, 0]]],
    ),
    "the other mask begins with a zero: the last token has no reward, mean 1/2, std 1/2": (
        [[[1, 1, 1], [0, 1, 0]]],
        [[[1, 1, -1], [0, -1, 0]]],
    ),
}


@pytest.mark.parametrize(("mask", "expected"), REINPP.values(), ids=REINPP)
def test_reinforce_plus_plus_has_no_baseline(mask, expected):
    recipe = rlinf.recipe(adv_type="reinpp", normalize_advantages=False)
    record = SimpleNamespace(rewards=np.array([[1.0, 0.0]]), mask=np.array(mask))
    np.testing.assert_allclose(recipe.advantage(record), expected, rtol=1e-12)


def test_reinforce_plus_plus_pays_for_the_divergence_to_come():
    """k1 of the two tokens is 1 and 2: 1 - 3 and 1 - 2, which standardized are -1 and 1."""
    recipe = rlinf.recipe(
        adv_type="reinpp", normalize_advantages=False, reinpp_kl_beta=1.0, kl_penalty_type="k1"
    )
    record = SimpleNamespace(
        rewards=np.array([[1.0]]),
        mask=np.ones((1, 1, 2)),
        old_log_probs=np.array([[[-1.0, -1.0]]]),
        ref_log_probs=np.array([[[-2.0, -3.0]]]),
    )
    np.testing.assert_allclose(recipe.advantage(record), [[[-1.0, 1.0]]], rtol=1e-12)


def test_equal_rewards_are_divided_by_a_floor():
    """The variance is at least 1e-8 and not that much more: with 1/4 it is 1/4 and not 1/4 + 1e-8."""
    recipe = rlinf.recipe(adv_type="reinpp", normalize_advantages=False)
    record = SimpleNamespace(rewards=np.array([[1.0, 0.0]]), mask=np.ones((1, 2, 1)))
    assert recipe.advantage(record).tolist() == [[[1.0], [-1.0]]]


def test_the_first_time_counts_what_stands_between_the_tokens():
    """3, 0 and a hole, divisor 3 - 1: mean 1, std √3; then 2/√3 and -1/√3: mean 1/(2√3), std √3/2."""
    record = SimpleNamespace(rewards=np.array([[3.0, 0.0]]), mask=np.array([[[0, 1], [1, 0]]]))
    found = rlinf.recipe(adv_type="raw").advantage(record)
    first = 3**0.5 / (3**0.5 + 1e-5)
    std = first * 3**0.5 / 2
    np.testing.assert_allclose(found, [[[0, std / (std + 1e-5)], [-std / (std + 1e-5), 0]]], rtol=1e-12)


def test_a_single_token_has_no_standard_deviation():
    record = SimpleNamespace(rewards=np.array([[1.0, 0.0]]), mask=np.array([[[1], [0]]]))
    assert np.isnan(rlinf.recipe().advantage(record)[0, 0, 0])
    assert rlinf.recipe(**FSDP).advantage(record)[0, 0, 0] == 0.0


SMALL = {
    "group_size": 2,
    "policy": [[-1.0, -2.0], [-1.5, -0.5]],
    "old": [[-1.1, -2.0], [-1.2, -0.5]],
    "cost": [[-1.1, -2.0], [-1.4, -0.5]],
    "ref": [[-1.0, -1.0], [-1.0, -1.0]],
    "tokens": [[1, 0], [1, 1]],
    "better": [1.0, -1.0],
    "rewards": [1.0, 0.0],
}
"""Two completions, of one token and of two; the numbers that are expected of it were recorded from RLinf."""


def test_a_lower_width_of_1_is_no_lower_bound():
    given = {"log_probs": "policy", "old_log_probs": "old", "advantages": "better", "mask": "tokens"}
    config = {"clip_ratio_low": 1.0, "ratio_clip_eps": 0.2, "clip_ratio_c": None}
    case = {"trainer": "rlinf", "call": "loss", "config": config, "given": given}
    assert rebuild(case, SMALL)["loss"] == pytest.approx(0.211882, abs=1e-6)
    wider = rebuild({**case, "config": {**config, "clip_ratio_low": 1.5}}, SMALL)
    assert wider["loss"] == rebuild(case, SMALL)["loss"]


def test_in_the_fsdp_actor_what_is_no_token_costs_too():
    config = {
        "adv_type": "reinpp",
        "reinpp_kl_beta": 0.5,
        "kl_penalty_type": "k1",
        "normalize_advantages": False,
    }
    given = {"rewards": "rewards", "mask": "tokens", "old_log_probs": "cost", "ref_log_probs": "ref"}
    case = {"trainer": "rlinf", "call": "advantages", "given": given, "axes": ["completion", "token"]}
    ours = rebuild({**case, "config": {"algorithm": config, **FSDP}}, SMALL)["value"]
    np.testing.assert_allclose(ours, [[1.40693, 0.0], [-0.57932, -0.82761]], atol=1e-5)
    other = rebuild({**case, "config": config}, SMALL)["value"]
    assert other[0, 0] == pytest.approx(1.39971, abs=1e-5)


def test_a_negative_entropy_bonus_is_not_read():
    given = {"log_probs": "policy", "old_log_probs": "old", "advantages": "better", "mask": "tokens"}
    case = {"trainer": "rlinf", "call": "loss", "given": given | {"entropies": "cost"}}
    losses = [
        rebuild({**case, "config": {"calculate_entropy": True, "entropy_bonus": bonus}}, SMALL)["loss"]
        for bonus in (0.0, -0.1, 0.1)
    ]
    assert losses[0] == losses[1] != losses[2]


def logged_of_a_step(names, config, mask):
    """What a step of two micro-batches of one completion logs; the sampler is 0.1 off, and 0.2 and 0.4."""
    inputs = SMALL | {"sampler": [[-1.2, -2.0], [-1.0, -0.9]], "present": mask}
    given = {"log_probs": "policy", "old_log_probs": "old", "advantages": "better", "mask": "present"}
    given |= {"rollout_log_probs": "sampler", "entropies": "cost"}
    config = {"clip_ratio_c": None, "training_batch_size_per_gpu": 1, "calculate_entropy": True} | config
    case = {"trainer": "rlinf", "call": "loss of a step", "config": config, "given": given}
    return rebuild({**case, "metrics": dict.fromkeys(names, 0.0)}, inputs)["logged"]


def test_the_sampler_is_compared_with_the_last_micro_batch_alone():
    """The mean of 0.2 and 0.4; the first micro-batch is 0.1 off."""
    name = "actor/rollout_train_kl"
    assert logged_of_a_step([name], FSDP, SMALL["tokens"])[name] == pytest.approx(0.3)


def test_a_micro_batch_that_is_left_out_does_not_log_how_far_its_ratios_are_from_1():
    """The other one's are e^-0.3 and 1; its mean ratio counts half, since 0 is logged for the first one."""
    logged = logged_of_a_step(["actor/ratio", "actor/ratio_abs"], FSDP, [[0, 0], [1, 1]])
    assert logged["actor/ratio_abs"] == pytest.approx((1.0 - np.exp(-0.3)) / 2.0)
    assert logged["actor/ratio"] == pytest.approx((np.exp(-0.3) + 1.0) / 4.0)


def test_the_mean_entropy_of_an_empty_completion_is_no_number_even_where_the_loss_is_one():
    """The loss is half the mean of the other one's ratios, e^-0.3 and 1."""
    means = {"loss_agg_func": "seq-mean-token-mean", "ratio_clip_eps": 1.0, **FSDP}
    names = ["actor/entropy_loss", "actor/policy_loss"]
    logged = logged_of_a_step(names, means, [[0, 0], [1, 1]])
    assert np.isnan(logged["actor/entropy_loss"])
    assert logged["actor/policy_loss"] == pytest.approx((np.exp(-0.3) + 1.0) / 4.0)


def test_megatrons_scale_is_on_what_is_logged_of_the_surrogate_too():
    """Losses -e^0.1 of one token and (e^-0.3 + 1)/2 of two; their weights are 1/3 and 2/3 in place of 1/2."""
    names = ["actor/policy_loss", "actor/final_loss"]
    plain = {"use_valid_token_scale": False, "ratio_clip_eps": 1.0}
    low = (np.exp(-0.3) + 1.0) / 2.0
    logged = logged_of_a_step(names, plain, SMALL["tokens"])
    assert logged["actor/policy_loss"] == pytest.approx((-np.exp(0.1) + low) / 2.0)
    scaled = logged_of_a_step(names, plain | {"use_valid_token_scale": True}, SMALL["tokens"])
    assert scaled["actor/policy_loss"] == pytest.approx((-np.exp(0.1) + 2.0 * low) / 3.0)
    assert scaled["actor/final_loss"] == scaled["actor/policy_loss"]
    bonus = plain | {"use_valid_token_scale": True, "entropy_bonus": 0.1}
    assert logged_of_a_step(names, bonus, SMALL["tokens"])["actor/policy_loss"] == logged["actor/policy_loss"]
