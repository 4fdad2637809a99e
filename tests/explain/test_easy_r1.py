"""EasyR1: what its keys compute."""

import re

import numpy as np
import pytest

from grpo_ref.advantages import group_centered
from grpo_ref.explain.description import explain
from grpo_ref.explain.dialects import easy_r1
from grpo_ref.explain.dialects.common.kernels import returned_with_penalty
from grpo_ref.explain.dialects.easy_r1.kernels import dual_clipped_per_token, mean_between
from grpo_ref.explain.dialects.easy_r1.traps import TRAPS
from grpo_ref.explain.explanation import dialect_of, report
from grpo_ref.explain.launch import launches
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.trap import sprung
from grpo_ref.parity.calls.common import advantages, loss
from grpo_ref.parity.calls.easy_r1 import CALLS
from grpo_ref.parity.replay import record_of
from grpo_ref.penalties import k1
from grpo_ref.recipes import slot

DIALECT = easy_r1.DIALECT
NO_KL = {"algorithm.disable_kl": True}
IN_LOSS = {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "low_var_kl", "algorithm.kl_coef": 0.01}
# configuration -> parts of the recipe, as text
PARTS = {
    "nothing given: a penalty in the reward": (
        {},
        {
            "kl_coef": "0.0",
            "advantage": "penalized(scores=group_normalized(ddof=1, eps=1e-06), penalty=k1, kl_coef=0.001)",
            "surrogate": "dual_clipped(clip_low=0.2, clip_high=0.3, max_ratio=3.0)",
            "aggregate": "token_mean",
        },
    ),
    "a penalty in the loss": (
        IN_LOSS,
        {
            "kl_coef": "0.01",
            "penalty": "k3(max_log_ratio=20.0, max_value=10.0)",
            "advantage": "group_normalized(ddof=1, eps=1e-06)",
        },
    ),
    "no penalty anywhere": (
        NO_KL | IN_LOSS,
        {"kl_coef": "0.0", "advantage": "group_normalized(ddof=1, eps=1e-06)"},
    ),
    "the actor's own fields are filled": (
        NO_KL | {"worker.actor.use_kl_loss": True, "worker.actor.kl_coef": 0.5},
        {"kl_coef": "0.0"},
    ),
    "a loss that is not known": (
        {"worker.actor.loss_type": "dapo"},
        {"surrogate": "dual_clipped(clip_low=0.2, clip_high=0.3, max_ratio=3.0)"},
    ),
    "gspo of whole completions": (
        {"worker.actor.loss_type": "gspo"},
        {
            "level": "sequence_mean_level",
            "surrogate": "dual_clipped(clip_low=0.2, clip_high=0.3, max_ratio=3.0)",
        },
    ),
    "gspo with a gradient per token": (
        {"worker.actor.loss_type": "gspo_token", "worker.actor.loss_avg_mode": "seq"},
        {
            "level": "sequence_mean_level",
            "surrogate": "dual_clipped_per_token(clip_low=0.2, clip_high=0.3, max_ratio=3.0)",
            "aggregate": "sequence_mean_token_mean",
        },
    ),
    "sapo reads no clip": (
        {"worker.actor.loss_type": "sapo", "worker.actor.clip_ratio_low": 5.0},
        {"surrogate": "sapo(tau_positive=1.0, tau_negative=1.05)"},
    ),
    "REINFORCE++ pays token by token": (
        {"algorithm.adv_estimator": "reinforce_plus_plus", "algorithm.gamma": 0.9},
        {"advantage": "returned_with_penalty(penalty=k1, kl_coef=0.001, gamma=0.9)"},
    ),
    "a filter": (
        {"algorithm.online_filtering": True, "algorithm.filter_low": 0.1},
        {"keep": "mean_between(low=0.1, high=0.99)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = easy_r1.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a group of one": ({"worker.rollout.n": 1}, "EasyR1 refuses groups of fewer than 2 for grpo, got 1"),
    "a critic": (
        {"algorithm.adv_estimator": "gae"},
        "gae cannot be expressed here, it needs a critic's values",
    ),
    "a greedy completion": (
        {"algorithm.adv_estimator": "remax", "algorithm.use_kl_loss": False},
        "the penalty in the reward needs algorithm.use_kl_loss",
    ),
    "a penalty of two shapes": (IN_LOSS | {"algorithm.kl_penalty": "full"}, "expected one of 'kl', 'abs'"),
    "a weight that moves": (
        {"algorithm.kl_type": "adaptive"},
        "The weight of the penalty in the reward would follow",
    ),
    "a bound without logarithm": (
        {"worker.actor.clip_ratio_low": 1.5},
        "takes the logarithm of 1 - clip_ratio_low",
    ),
    "a dual clip below 1": (
        {"worker.actor.clip_ratio_dual": 0.9},
        "a bound of 1 or less cannot be expressed",
    ),
    "updates of another size": (
        {"worker.actor.global_batch_size": 200},
        "expected a multiple of global_batch_size 200",
    ),
    "a misspelt key": ({"worker.actor.clip_ratio_hi": 0.3}, "did you mean 'clip_ratio_high'"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        easy_r1.recipe(**config)


def test_an_adaptive_weight_is_constant_in_the_loss():
    assert easy_r1.recipe(**IN_LOSS, **{"algorithm.kl_type": "adaptive"}).kl_coef == 0.01


# log-ratio, advantage -> value, slope; at the default bounds 0.2, 0.3 and 3
PER_TOKEN = {
    "inside": (0.0, 2.0, 2.0, 2.0),
    "good and pushed far enough": (np.log(1.5), 1.0, 1.3, 0.0),
    "bad and too likely": (np.log(2.0), -1.0, -2.0, -2.0),
    "bad and held by the dual clip": (np.log(4.0), -1.0, -3.0, 0.0),
    "beyond what exp is given": (25.0, -1.0, -3.0, 0.0),
    "vanished": (-25.0, 1.0, np.exp(-20.0), 0.0),
}


@pytest.mark.parametrize(("log_ratio", "advantage", "value", "slope"), PER_TOKEN.values(), ids=PER_TOKEN)
def test_the_token_form_has_a_dual_clip(log_ratio, advantage, value, slope):
    term = dual_clipped_per_token(np.array([log_ratio]), np.array([advantage]))
    np.testing.assert_allclose(term.value, [value], rtol=1e-12)
    np.testing.assert_allclose(term.direct, [slope], rtol=1e-12)


def test_a_penalty_in_the_reward_is_summed_before_the_group_is_compared():
    """Costs of 1 + 1 and 1 at weight 1/2: rewards 1 and 1 become 0 and 1/2, the mean is 1/4."""
    old, ref, mask = np.zeros((1, 2, 2)), -np.ones((1, 2, 2)), np.array([[[1, 1], [1, 0]]])
    scores = penalized(
        np.ones((1, 2)), mask, old, ref, scores=slot(group_centered), penalty=slot(k1), kl_coef=0.5
    )
    np.testing.assert_allclose(scores, [[-0.25, 0.25]])


def test_a_token_pays_for_those_after_it():
    """Two tokens, reward 1, costs 1 and 1 at weight 1/2: returns 0 and 1/2, whitened to ∓1/√2."""
    old, ref, mask = np.zeros((1, 1, 2)), -np.ones((1, 1, 2)), np.ones((1, 1, 2))
    value = returned_with_penalty(np.ones((1, 1)), mask, old, ref, penalty=slot(k1), kl_coef=0.5)
    np.testing.assert_allclose(value, [[[-np.sqrt(0.5), np.sqrt(0.5)]]], rtol=1e-6)


def test_groups_are_kept_by_their_mean():
    kept = mean_between(np.array([[1.0, -1.0], [0.5, 0.5], [1.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_array_equal(kept, [False, True, True, False])


def _rows(lengths, values):
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(float)
    case = {"given": {"log_probs": "p", "mask": "m", "advantages": "a"}}
    return record_of(case, {"group_size": 2, "p": (-mask).tolist(), "m": mask.tolist(), "a": values})


SIZES = {
    "data.rollout_batch_size": 1,
    "worker.actor.global_batch_size": 1,
    "worker.rollout.n": 2,
    "trainer.n_gpus_per_node": 1,
    "worker.rollout.tensor_parallel_size": 1,
    "worker.actor.micro_batch_size_per_device_for_experience": 1,
}


def test_seq_with_micro_batches_of_one_is_the_mean_over_tokens():
    """3 tokens with A = 1 and one with A = -1, on policy: by token (3 - 1)/4, by completion 0."""
    record = _rows((3, 1), [1.0, -1.0])
    by_token = loss(DIALECT, NO_KL, record)
    assert by_token["loss"] == pytest.approx(-0.5)
    by_completion = NO_KL | {"worker.actor.loss_avg_mode": "seq"}
    assert loss(DIALECT, by_completion, record)["loss"] == pytest.approx(0.0)
    one = by_completion | SIZES | {"worker.actor.micro_batch_size_per_device_for_update": 1}
    in_ones = CALLS["loss of a mini-batch"](DIALECT, one, record)
    assert in_ones["loss"] == pytest.approx(-0.5)
    np.testing.assert_allclose(in_ones["grad_logp"], by_token["grad_logp"])


def test_the_advantages_of_the_default_are_those_of_grpo_where_nothing_has_moved():
    case = {"given": {"rewards": "r", "mask": "m", "old_log_probs": "p", "ref_log_probs": "p"}}
    arrays = {"group_size": 2, "r": [1.0, 0.0], "m": [[1.0], [1.0]], "p": [[-1.0], [-2.0]]}
    value = advantages(DIALECT, {}, record_of(case, arrays))["value"]
    expected = 0.5 / (np.sqrt(0.5) + 1e-6)
    np.testing.assert_allclose(value, [[expected, -expected]])


def test_the_example_file_of_the_repository_falls_into_no_trap():
    """`examples/config.yaml`: GRPO by token, k3 in the loss; its filter keys are not read."""
    config = {
        "algorithm": {
            "adv_estimator": "grpo",
            "use_kl_loss": True,
            "kl_penalty": "low_var_kl",
            "kl_coef": 0.01,
        },
        "worker": {
            "actor": {"global_batch_size": 128, "model": {"lora": {"rank": 0}}, "optim": {"lr": 1e-6}},
            "rollout": {"n": 5, "val_override_config": {"temperature": 0.6, "n": 1}},
            "ref": {"fsdp": {"enable_cpu_offload": True}},
        },
    }
    told = explain(DIALECT, config)
    assert told.traps == []
    about = {key: text for key, _, text in told.keys}
    assert about["worker.ref.fsdp.enable_cpu_offload"] == "This key does not touch the objective."
    assert about["algorithm.kl_coef"] == "This sets kl_coef = 0.01."


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_a_trap_is_sprung_by_its_example_and_not_by_what_is_near(trap):
    def found(config):
        return sprung((trap,), DIALECT.settings(config), DIALECT.given(config))

    assert found(trap.example) == [trap]
    assert found(trap.near) == []


def test_keys_of_the_critic_are_known_one_by_one():
    dialect = DIALECT
    assert dialect.key("worker.critic.ppo_epochs") == "critic.ppo_epochs"
    assert dialect.key("worker.critic.optim.lr") == "lr"
    assert dialect.key("worker.critic.foo_bar") is None
    assert dialect.key("worker.rollout.val_override_config.n") is not None


def test_no_trap_rests_on_the_defaults_of_a_file_that_is_missing():
    (launch,) = launches("python3 -m verl.trainer.main config=examples/config.yaml worker.rollout.n=8")
    assert launch.missing == ("examples/config.yaml",)
    assert report(*dialect_of(launch)).warnings == []
    (launch,) = launches("python3 -m verl.trainer.main worker.rollout.n=8 worker.actor.loss_type=default")
    assert "use_kl_loss is off: the penalty is in the reward" in report(*dialect_of(launch)).warnings
