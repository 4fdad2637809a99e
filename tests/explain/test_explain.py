"""explain: what a configuration really does, part by part and key by key."""

import pytest

from grpo_ref.explain.description import explain
from grpo_ref.explain.dialects import DIALECTS, trl, understand_r1_zero, verl


def answers(module, config):
    return {key: about for key, _, about in explain(module.DIALECT, config).keys}


def test_each_key_is_answered():
    config = {"loss_type": "dr_grpo", "num_generations": 8, "beta": 0.04, "ref_model": "m", "epsilon": 0.2}
    told = answers(trl, config)
    assert told["loss_type"] == "This sets aggregate = fixed_length."
    assert told["beta"] == "This sets kl_coef = 0.04."
    assert told["num_generations"].startswith("This is the number of completions per prompt.")
    assert told["ref_model"].startswith("GRPOTrainer has no such argument")
    assert told["epsilon"] == "This is the default."


def test_the_own_default_of_a_trainer_is_told_where_another_value_is_assumed():
    # from verl's AlgoConfig
    assert answers(verl, {"adv_estimator": "grpo"})["adv_estimator"] == "Without this key, verl takes 'gae'."


def test_several_parts_that_a_key_sets_are_all_told():
    told = answers(verl, {"loss_mode": "gpg"})["loss_mode"]
    assert told == "This sets surrogate = reinforce and log_ratio_limits = (-inf, inf)."


def test_a_key_without_effect_is_told():
    assert answers(verl, {"clip_ratio": 0.1, "clip_ratio_low": 0.2}) == {
        "clip_ratio": "This changes nothing in this configuration.",
        "clip_ratio_low": "This is the default.",
    }


def test_a_key_that_is_needed_or_does_nothing_is_told():
    told = answers(verl, {"loss_mode": "dro", "dro_beta": 0.5, "actor.optim.lr": 1e-6})
    assert told["dro_beta"] == "This key is needed: without it the configuration is refused."
    assert told["actor.optim.lr"] == "This key does not touch the objective."


def test_a_trainer_tells_of_its_own_keys_alone():
    """TRL's max_completion_length divides for dr_grpo; understand-r1-zero has no such loss type."""
    assert "dr_grpo" in answers(trl, {"max_completion_length": 64})["max_completion_length"]
    told = answers(understand_r1_zero, {"max_completion_length": 64})["max_completion_length"]
    assert 'critic_type="drgrpo"' in told


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_every_default_is_answered_in_a_full_sentence(dialect):
    stated = {key: value for key, value in dialect.keys.defaults.items() if value is not None}
    defaults = {key: value for key, value in stated.items() if key not in dialect.keys.behaviours}
    for key, _, about in explain(dialect, defaults).keys:
        assert about.endswith("."), (key, about)


def test_parts_have_sentences_and_equations():
    parts = {
        part.name: part for part in explain(trl.DIALECT, {"loss_type": "cispo", "epsilon_high": 5.0}).parts
    }
    assert parts["surrogate"].value == "cispo(max_ratio=5.0)"
    assert parts["surrogate"].equation.startswith("sₜ = sg[clip(rₜ, min_ratio, max_ratio)] A log πθ(t)")
    assert "penalty" not in parts
    assert all(part.sentence for part in parts.values())


def test_the_weight_of_the_entropy_bonus_is_told():
    assert explain(verl.DIALECT, {"actor.entropy_coeff": 0.01}).entropy_coef == 0.01
    assert explain(verl.DIALECT, {}).entropy_coef == 0.0


def test_a_configuration_without_traps_has_no_warnings():
    assert explain(understand_r1_zero.DIALECT, {"critic_type": "grpo", "beta": 0.0}).traps == []
