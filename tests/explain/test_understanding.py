"""The keys of a file, sorted."""

import pytest

from grpo_ref.explain import understood
from grpo_ref.explain.dialect import COMPLETIONS
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch import Unknown

TRL = DIALECTS["trl"]
HOLE = Unknown("$X", "$X is not set in this file")


def test_keys_are_sorted_by_what_they_do():
    found = understood(
        TRL, {"beta": 0.04, "bf16": True, "my_reward": "math", "epsilon": HOLE, "output_dir": HOLE}
    )
    assert found.config == {"beta": 0.04}
    assert found.without_effect == {"bf16": True, "output_dir": HOLE}
    assert found.strangers == {"my_reward": ""}
    assert [each.key for each in found.unsure] == ["epsilon"]


def test_what_depends_on_an_unknown_value_is_said():
    (unsure,) = understood(TRL, {"epsilon": HOLE}).unsure
    assert unsure.parts == ("surrogate",)
    (unsure,) = understood(TRL, {"beta": HOLE}).unsure
    assert unsure.parts == ("kl_coef",)
    (unsure,) = understood(TRL, {"num_generations": HOLE}).unsure
    assert unsure.parts == ()


@pytest.mark.parametrize("key", ["epsilonn", "epsilo", "los_type", "num_generation", "scale_reward"])
def test_a_slip_in_a_key_that_matters_stops(key):
    with pytest.raises(ValueError, match=f"trl has no key '{key}' \\(did you mean"):
        understood(TRL, {key: 1})
    assert key in understood(TRL, {key: 1}, strict=False).strangers


@pytest.mark.parametrize("key", ["max_prompt_lenght", "run_nam", "eval_num_generations", "entropy_loss_kind"])
def test_a_slip_in_another_key_does_not(key):
    assert key in understood(TRL, {key: 1}).strangers


def test_a_flag_may_be_turned_off_by_its_name():
    dialect = DIALECTS["open_instruct"]
    assert understood(dialect, {"no_filter_zero_std_samples": True}).config == {
        "filter_zero_std_samples": False
    }
    assert "no_such_key" in understood(dialect, {"no_such_key": True}).strangers


def test_a_list_of_which_a_part_is_unknown_is_refused():
    with pytest.raises(ValueError, match=r"reward_weights: a part of \['1.0', '\$X'\] is unknown"):
        understood(TRL, {"reward_weights": [1.0, HOLE]})


VERL, SLIME, AREAL = DIALECTS["verl"], DIALECTS["slime"], DIALECTS["areal"]
# trainer, keys -> what is not known, and the parts that it may change
OF_FORKS = {
    "an estimator": (VERL, {"algorithm.adv_estimator": "raft"}, {"algorithm.adv_estimator": ("advantage",)}),
    "a loss": (VERL, {"actor.loss_mode": "kl_cov"}, {"actor.loss_mode": ("surrogate", "aggregate")}),
    "a size of a group": (VERL, {"actor.n": 6}, {"actor.n": (COMPLETIONS,)}),
    "the size that is known anyhow": (VERL, {"rollout.n": 6, "actor.n": 6}, {}),
    "a number that is given anyhow": (
        TRL,
        {"epsilon_high": 0.28, "clip_high": 0.28, "kl_coef": 0.28},
        {"kl_coef": ("kl_coef",)},
    ),
    "off": (VERL, {"actor.loss_mode": "vanilla", "algorithm.use_kl_sum": False}, {}),
    "switched off": (VERL, {"length_penalty.enable": False, "length_penalty.scale": 1.0}, {}),
    "of the sampler": (VERL, {"actor_rollout_ref.rollout.entropy_weight": 0.2}, {}),
    "nothing of the objective": (VERL, {"retriever.topk": 3, "trainer.loss_chunk_size": 4}, {}),
    "a function of one's own": (
        SLIME,
        {"custom_advantage_function_path": "mine.f"},
        {"custom_advantage_function_path": ("advantage",)},
    ),
    "an average whose name goes on where one of verl's ends": (
        VERL,
        {"actor.loss_agg_mode": "seq-mean-token-sum-length-norm"},
        {"actor.loss_agg_mode": ("aggregate",)},
    ),
    "an estimator that no recipe can express": (
        VERL,
        {
            "algorithm.adv_estimator": "optimal_token_baseline",
            "algorithm.rollout_correction.rollout_is": "token",
        },
        {"algorithm.adv_estimator": ("advantage",)},
    ),
    "advantages that no recipe can express": (
        DIALECTS["rlinf"],
        {"algorithm.adv_type": "grpo_dynamic"},
        {"algorithm.adv_type": ("advantage",)},
    ),
    "a section of an earlier version with another loss": (
        DIALECTS["prime_rl"],
        {"rollouts_per_example": 16, "environment.id": "math"},
        {"environment.id": ("surrogate", "aggregate", "admit")},
    ),
    "a key that was taken out": (
        AREAL,
        {"actor.behav_imp_weight_cap": 5.0},
        {"actor.behav_imp_weight_cap": ("corrections",)},
    ),
}


@pytest.mark.parametrize(("dialect", "keys", "unsure"), OF_FORKS.values(), ids=OF_FORKS)
def test_what_a_fork_may_change_is_not_known(dialect, keys, unsure):
    found = understood(dialect, keys, forked=True)
    assert {each.key: each.parts for each in found.unsure} == unsure


NOT_OF_FORKS = {
    "a slip in a value": (VERL, {"actor.policy_loss.loss_mode": "vanila"}, "expected one of 'vanilla'"),
    "a critic": (VERL, {"algorithm.adv_estimator": "bi_level_gae"}, "got 'bi_level_gae'"),
    "a teacher": (SLIME, {"advantage_estimator": "on_policy_distillation"}, "got 'on_policy_distillation'"),
    "another loss": (VERL, {"actor.tb_type": "tempered"}, "a fork with another loss"),
}


@pytest.mark.parametrize(("dialect", "keys", "message"), NOT_OF_FORKS.values(), ids=NOT_OF_FORKS)
def test_what_is_no_fork_of_this_family_is_refused(dialect, keys, message):
    with pytest.raises(ValueError, match=message):
        understood(dialect, keys, forked=True)


def test_without_a_file_a_value_that_is_not_there_is_left_for_the_trainer_to_refuse():
    assert understood(VERL, {"algorithm.adv_estimator": "raft"}).config == {"algorithm.adv_estimator": "raft"}


def test_a_setting_with_two_names_and_two_values_is_unknown():
    """Search-R1 samples n_agent completions of each prompt and leaves verl's own n at 1."""
    keys = {"rollout.n_agent": 16, "rollout.n": 1, "actor.clip_ratio": 0.2}
    found = understood(DIALECTS["verl"], keys, forked=True)
    assert found.config == {"actor.clip_ratio": 0.2}
    assert (found.unsure[0].key, found.unsure[0].value.text) == ("rollout.n_agent", "16 or 1")
    same = understood(DIALECTS["verl"], {"rollout.n_agent": 16, "rollout.n": 16}, forked=True)
    assert same.unsure == []


def test_a_value_of_a_fork_makes_the_parts_unknown_that_the_known_values_change():
    keys = {"actor.rejection_sampling.metric": "binary_kl", "actor.rejection_sampling.upper": 2.0}
    keys |= {"actor.use_decoupled_loss": True, "actor.rejection_sampling.level": "token"}
    found = understood(DIALECTS["areal"], {"gconfig.n_samples": 4, **keys}, forked=True)
    assert [(each.key, each.parts) for each in found.unsure] == [
        ("actor.rejection_sampling.metric", ("corrections",))
    ]


def test_a_section_that_is_not_read_gives_no_second_value():
    keys = {"training_mode": "agentic_grpo", "grpo_config.beta": 0.08, "agentic_grpo_config.beta": 0.0}
    found = understood(DIALECTS["tunix"], keys, forked=True)
    assert found.unsure == []


def test_an_added_loss_is_unknown_and_the_other_parts_are_explained():
    found = understood(DIALECTS["slime"], {"moe_aux_loss_coeff": 0.01, "eps_clip": 0.1}, forked=True)
    assert [each.parts for each in found.unsure] == [("addition",)]
