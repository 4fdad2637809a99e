"""Tunix: what its keys compute."""

import json
import re
from math import e, exp, inf, log

import numpy as np
import pytest

from grpo_ref.aggregation import fixed_length
from grpo_ref.explain import explain
from grpo_ref.explain.conversion import convert
from grpo_ref.explain.dialects import DIALECTS, tunix
from grpo_ref.explain.dialects.tunix.kernels import mean_of_limited, punished_by_characters
from grpo_ref.explain.launch import launches
from grpo_ref.parity.calls.common import loss
from grpo_ref.parity.replay import RECORDINGS, record_of

DIALECT = tunix.DIALECT
DAPO = {"config_class": "DAPOConfig"}
DR = {"config_class": "DrGRPOConfig"}
AGENTIC = {"training_mode": "agentic_grpo"}
# configuration -> parts of the recipe, as text
PARTS = {
    "nothing given": (
        {},
        {
            "advantage": "group_normalized(ddof=1, eps=1e-06)",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "penalty": "k1",
            "kl_coef": "0.04",
            "aggregate": "sequence_mean_token_mean(count_empty=False)",
            "reward": "task_reward",
        },
    ),
    "DAPO": (
        DAPO,
        {
            "surrogate": "clipped(clip_low=0.2, clip_high=0.28)",
            "kl_coef": "0.0",
            "aggregate": "token_mean",
            "keep": "all_groups",
            "reward": "punished_by_characters(budget=20480, tail=4096, factor=1.0)",
        },
    ),
    "DAPO without its punishment": (
        DAPO | {"overlong_buffer": {"enable": False}},
        {"reward": "task_reward"},
    ),
    "Dr. GRPO": (
        DR,
        {"advantage": "group_centered", "aggregate": "fixed_length(count_empty=False)", "kl_coef": "0.04"},
    ),
    "a sequence's ratio": (
        {"loss_algo": "gspo-token", "epsilon": 0.01},
        {
            "level": "mean_of_limited",
            "surrogate": "gspo_token(clip_low=0.01, clip_high=0.01, max_log_ratio=10.0)",
        },
    ),
    "a clamped square": (
        {"kl_loss_mode": "mse_kl", "kl_clamp_value": 2.0},
        {"penalty": "k2(max_log_ratio=2.0)"},
    ),
    "a filter of what is cut off": (AGENTIC | {"overlong_filter": True}, {"admit": "ended_completions"}),
    "a section": ({"grpo_config": {"beta": 0.08, "epsilon": 0.1}}, {"kl_coef": "0.08"}),
    "the section of another mode": ({"agentic_grpo_config": {"beta": 0.08}}, {"kl_coef": "0.04"}),
    "both sections": (
        AGENTIC | {"grpo_config": {"beta": 0.08}, "agentic_grpo_config": {"beta": 0.5, "epsilon_high": 0.3}},
        {"kl_coef": "0.5", "surrogate": "clipped(clip_low=0.2, clip_high=0.3)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"admit": "all_completions"} | tunix.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a group of one": (
        {"num_generations": 1},
        "num_generations: Tunix refuses groups of fewer than 2, got 1",
    ),
    "an upper width of plain GRPO": ({"epsilon_high": 0.28}, "refuses it for GRPOConfig, which has no such"),
    "a penalty of DAPO": (DAPO | {"beta": 0.04}, "beta: Tunix refuses it for DAPOConfig, got 0.04"),
    "bounds in the wrong order": (
        DAPO | {"epsilon": 0.3},
        "Tunix refuses one below epsilon, got 0.28 and 0.3",
    ),
    "half a buffer": (
        DAPO | {"overlong_buffer": {"enable": True}},
        "refuses it without overlong_buffer_length",
    ),
    "an estimator of Dr. GRPO": (DR | {"advantage_estimator": "grpo"}, "which has no such argument"),
    "DAPO in many turns": (AGENTIC | DAPO, "refuses DAPOConfig for agentic_grpo"),
    "a loss of PPO": ({"policy_loss_fn": "ppo"}, "Tunix refuses ppo for GRPO"),
    "a loss of one's own": ({"policy_loss_fn": "mine"}, "mine cannot be expressed here"),
    "a name of a penalty": ({"kl_loss_mode": "k3"}, "kl_loss_mode: Tunix refuses 'k3'"),
    "a dual clip": ({"epsilon_c": 3.0}, "tunix has no key 'epsilon_c'"),
    "packed rows": (
        {
            "loss_agg_mode": "sequence-mean-token-scale",
            "rl_training_config": {"max_seq_token_per_tpu": 4096},
        },
        "refuses sequence-mean-token-scale where completions are packed",
    ),
    "a filter of many turns": ({"overlong_filter": True}, "overlong_filter: Tunix refuses it for GRPOConfig"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tunix.recipe(**config)


# ---- its own kernels, by hand -------------------------------------------------------------------------


def test_a_token_is_limited_before_the_mean():
    """(20 + 2) / 2, where 25 and 2 would make 13.5."""
    found = mean_of_limited(np.array([[[25.0, 2.0, 9.0]]]), np.array([[[1, 1, 0]]]))
    assert found.tolist() == [[[11.0, 11.0, 0.0]]]


def test_length_is_punished_in_characters_and_without_a_floor():
    """A budget of 20 with a tail of 8: 12 are free, 16 lose 1/2 of the weight, and 28 twice of it."""
    rewards, lengths = np.ones((1, 3)), np.array([[12, 16, 28]])
    found = punished_by_characters(rewards, lengths, budget=20, tail=8, factor=0.5)
    assert found.tolist() == [[1.0, 0.75, 0.0]]


ARRAYS = {
    "group_size": 2,
    "p": [[log(1.5), 0.0], [1.0, 7.0]],
    "o": [[0.0, 0.0], [0.0, 0.0]],
    "s": [[-log(2.0), 0.0], [-1.0, 0.0]],
    "m": [[1, 1], [1, 0]],
    "a": [1.0, -2.0],
}
GIVEN = {"log_probs": "p", "old_log_probs": "o", "mask": "m", "advantages": "a"}
# the ratios are 1.5 and 1 of advantage 1, and e of advantage -2; what the clip at 1.2 leaves is summed
SUMS = (1.2 + 1.0, -2 * e)
AVERAGES = {
    "token-mean": -sum(SUMS) / 3,
    "sequence-mean-token-mean": -(SUMS[0] / 2 + SUMS[1]) / 2,
    "sequence-mean-token-scale": -sum(SUMS) / 2 / 2,
    "seq-mean-token-sum": -sum(SUMS) / 2,
    "sequence-mean-token-sum-norm": -sum(SUMS) / 2,
}


@pytest.mark.parametrize("mode", AVERAGES)
def test_the_averages_by_hand(mode):
    config = {"beta": 0.0, "loss_agg_mode": mode}
    found = loss(DIALECT, config, record_of({"given": GIVEN}, ARRAYS))
    np.testing.assert_allclose(found["loss"], AVERAGES[mode], rtol=1e-12)


def test_a_completion_without_tokens_counts_only_where_the_norm_is_their_number():
    arrays = ARRAYS | {"m": [[1, 1], [0, 0]]}
    record = record_of({"given": GIVEN}, arrays)
    config = {"beta": 0.0, "loss_agg_mode": "seq-mean-token-sum"}
    assert loss(DIALECT, config, record)["loss"] == pytest.approx(-2.2)
    config = {"beta": 0.0, "loss_agg_mode": "sequence-mean-token-sum-norm"}
    assert loss(DIALECT, config, record)["loss"] == pytest.approx(-1.1)


def test_gspo_has_a_gradient_of_its_own_for_each_token():
    """The mean log-ratio of the first is log(1.5)/2, inside a clip at 1.3; each token gets √1.5 / (2·2)."""
    config = {"beta": 0.0, "loss_algo": "gspo-token", "epsilon": 0.3}
    found = loss(DIALECT, config, record_of({"given": GIVEN}, ARRAYS))
    np.testing.assert_allclose(found["grad_logp"][0, 0], [-(1.5**0.5) / 4] * 2, rtol=1e-12)
    np.testing.assert_allclose(found["grad_logp"][0, 1], [e, 0.0], rtol=1e-12)


def test_the_mismatch_weighs_tokens_up_to_the_threshold():
    """Learner to sampler 2, 1 and e, the last limited to 2: 2·1.2 and 1 of A = 1, -2·2e; 3 tokens."""
    config = {"beta": 0.0, "loss_agg_mode": "token-mean", "sampler_is": "token"}
    record = record_of({"given": GIVEN | {"rollout_log_probs": "s"}}, ARRAYS)
    assert loss(DIALECT, config, record)["loss"] == pytest.approx(-(2.4 + 1.0 - 4 * e) / 3)
    off = loss(DIALECT, config | {"use_rollout_logps": False}, record)["loss"]
    assert off == pytest.approx(AVERAGES["token-mean"])


def test_the_mean_log_ratio_is_limited_to_10():
    config = {"beta": 0.0, "loss_algo": "gspo-token"}
    arrays = ARRAYS | {"p": [[0.0, 0.0], [15.0, 0.0]]}
    found = loss(DIALECT, config, record_of({"given": GIVEN}, arrays))
    np.testing.assert_allclose(found["loss"], -(1.0 - 2.0 * exp(10.0)) / 2, rtol=1e-12)
    assert found["grad_logp"][0, 1].tolist() == [0.0, 0.0]


# ---- versions -----------------------------------------------------------------------------------------

OLD = {
    "0.1.3": {
        "aggregate": "token_mean",
        "penalty": "k3",
        "advantage": "group_normalized(ddof=1, eps=0.0001)",
    },
    "0.1.6": {"aggregate": "sequence_mean_token_mean", "penalty": "k3"},
    "0.1.7": {"aggregate": "sequence_mean_token_mean(count_empty=False)", "penalty": "k1"},
}


@pytest.mark.parametrize("version", OLD)
def test_an_older_version_has_other_defaults(version):
    recipe = DIALECT.at(version).recipe(num_generations=4)
    assert {name: recipe.parts()[name] for name in OLD[version]} == OLD[version]
    assert recipe.log_ratio_limits == ((-20.0, 20.0) if version == "0.1.7" else (-inf, inf))


# version, loss_algo -> the loss that its own `grpo_loss_fn` gives, recorded with JAX, in float32
RECORDED = {
    ("0.1.3", "grpo"): -0.42551741,
    ("0.1.3", "gspo-token"): -0.27459449,
    ("0.1.4", "grpo"): -0.21889994,
    ("0.1.6", "gspo-token"): -0.27459449,
    ("0.1.7", "grpo"): -0.27662867,
    ("0.1.7", "gspo-token"): -0.34346211,
}


@pytest.mark.parametrize(("version", "algorithm"), RECORDED)
def test_an_older_version_gives_its_own_loss(version, algorithm):
    """On the recorded inputs, with two completions without a token."""
    inputs = json.loads((RECORDINGS / "inputs.json").read_text())
    inputs["tilted"] = [1.2, -0.7, 0.4, -0.9, 0.6, 0.0, 1.1, 0.0, -1.5, 0.3, 2.0, -0.8]
    given = {"log_probs": "logp", "old_log_probs": "old_logp", "ref_log_probs": "ref_logp"}
    record = record_of({"given": given | {"mask": "mask_empty", "advantages": "tilted"}}, inputs)
    config = {"num_generations": 4, "loss_algo": algorithm}
    found = loss(DIALECT.at(version), config, record)["loss"]
    np.testing.assert_allclose(found, RECORDED[version, algorithm], rtol=1e-6)


def test_the_first_versions_average_by_the_algorithm():
    assert (
        DIALECT.at("0.1.0").recipe(loss_algo="gspo-token").parts()["aggregate"] == "sequence_mean_token_mean"
    )
    with pytest.raises(ValueError, match="has no key 'loss_agg_mode'"):
        DIALECT.at("0.1.0").recipe(loss_agg_mode="token-mean")


# ---- real launches ------------------------------------------------------------------------------------

SCRIPT = """
python3 -m tunix.cli.grpo_main base_config.yaml override_config_file=mine.yaml \\
  grpo_config.epsilon=0.1 rollout_config.temperature=0.9
"""
MINE = "grpo_config:\n  num_generations: 8\n"


def test_a_script_reads_its_files_in_their_order():
    (launch,) = launches(SCRIPT, "run.sh", {"mine.yaml": MINE}.get)
    assert (launch.trainer, launch.is_sure) == ("tunix", True)
    told = {key: value for key, value in launch.keys.items() if key.startswith("grpo_config")}
    assert told == {
        "grpo_config.beta": 0.08,
        "grpo_config.num_generations": 8,
        "grpo_config.epsilon": 0.1,
    }


MADE = {
    "from tunix.rl.grpo.grpo_learner import GRPOConfig\nGRPOConfig(beta=0.1)": {},
    "from tunix import GrpoConfig\nGrpoConfig(beta=0.1)": {},
    "from tunix.rl.grpo import dapo_learner as d\nd.DAPOConfig(epsilon=0.1)": DAPO,
    "from tunix.rl.grpo.drgrpo_learner import DrGRPOConfig\nDrGRPOConfig(beta=0.1)": DR,
    "from tunix.rl.agentic.agentic_grpo_learner import GRPOConfig\nGRPOConfig(beta=0.1)": AGENTIC,
    "from tunix import AgenticGRPOConfig as C\nC(beta=0.1)": AGENTIC,
}


@pytest.mark.parametrize("source", MADE)
def test_the_class_of_a_script_is_known(source):
    (launch,) = launches(source, "train.py")
    assert launch.trainer == "tunix"
    chosen = {key: value for key, value in launch.keys.items() if key in ("training_mode", "config_class")}
    assert chosen == MADE[source]


def test_a_notebook_pins_a_version():
    (launch,) = launches('# pip install "google-tunix[prod]==0.1.3"\n' + next(iter(MADE)), "train.py")
    assert launch.version == "0.1.3"


def test_a_section_that_is_not_read_is_told():
    config = {"agentic_grpo_config": {"beta": 0.0}}
    told = explain(DIALECT, config)
    assert "training_mode reads only its own section" in [warned.name for warned in told.traps]
    about = {key: text for key, _, text in told.keys}
    assert about["agentic_grpo_config.beta"] == "Its section is not read: training_mode chooses another."


def test_a_constant_length_comes_from_elsewhere():
    """Of TRL's Dr. GRPO; the budget is one of the rollout, and no field of a configuration."""
    there = convert(DIALECTS["trl"], DIALECT, {"loss_type": "dr_grpo", "scale_rewards": "none", "beta": 0.0})
    assert there.config == {"config_class": "DrGRPOConfig", "beta": 0.0}
    assert DIALECT.recipe(**there.config).aggregate.kernel is fixed_length
