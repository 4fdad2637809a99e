"""TRL: what each release computes under the same keys. The rows are read from the released `grpo_trainer.py`.

grpo_conformance/releases/trl_borders.toml has the same borders, measured by running every release.
"""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.trap import sprung

TRL = DIALECTS["trl"]


def mean(release, **config):
    dialect = TRL.at(release)
    return dialect.objective.averages(dialect.settings(config)).text


def warnings(release, **config):
    dialect = TRL.at(release)
    return [trap.name for trap in sprung(dialect.traps, dialect.settings(config), dialect.given(config))]


GROUP, CENTERED = "group_normalized", "group_centered"
# release, scale_rewards -> advantage
SCALES = {
    "0.16.1, true": ("0.16.1", True, GROUP),
    "0.16.1, false": ("0.16.1", False, CENTERED),
    "any text is true": ("0.21.0", "none", GROUP),
    "the text batch too": ("0.21.0", "batch", GROUP),
    "swapped: group does not divide": ("0.22.0", "group", CENTERED),
    "swapped: true neither": ("0.22.1", True, CENTERED),
    "swapped: none divides": ("0.22.1", "none", GROUP),
    "swapped: false divides": ("0.22.0", False, GROUP),
    "swapped: batch divides by the group's std": ("0.22.1", "batch", GROUP),
    "right again: group": ("0.22.2", "group", GROUP),
    "right again: none": ("0.22.2", "none", CENTERED),
    "right again: batch": ("0.22.2", "batch", "batch_scaled"),
}


@pytest.mark.parametrize(("release", "scale", "advantage"), SCALES.values(), ids=SCALES)
def test_the_std_that_scale_rewards_chooses(release, scale, advantage):
    assert TRL.at(release).recipe(scale_rewards=scale).advantage.kernel.__name__ == advantage


TOKENS = "the generation batch, all processes and micro-batches together"
ROWS = "each micro-batch of each process, and then over these"
MASKED = {"loss_type": "dapo", "mask_truncated_completions": True}
STEPS = {"loss_type": "dapo", "steps_per_generation": 4, "gradient_accumulation_steps": 2}
BONUS = {"loss_type": "dapo", "entropy_coef": 0.01}
# release, configuration -> the set that averages are taken over
MEANS = {
    "rows": ("0.15.2", {}, ROWS),
    "bnpo": ("0.21.0", {}, ROWS),
    "dapo": ("0.22.0", {}, TOKENS),
    "truncated tokens count": ("1.8.0", MASKED, f"{TOKENS}, tokens of truncated completions included"),
    "truncated tokens do not count": ("1.9.0", MASKED, TOKENS),
    "not masked, no matter": ("1.8.0", {"loss_type": "dapo"}, TOKENS),
    "tokens of all steps": (
        "1.9.0",
        STEPS,
        f"{TOKENS}, with each step multiplied by gradient_accumulation_steps/steps_per_generation = 2/4",
    ),
    "tokens of one step": ("1.9.1", STEPS, TOKENS),
    "as many steps as micro-batches": (
        "1.9.0",
        {**STEPS, "steps_per_generation": 2},
        TOKENS,
    ),
    "padding": (
        "1.9.2",
        {"loss_type": "luspo"},
        "each micro-batch of each process, padding included, and then over these",
    ),
    "no padding": ("1.10.0", {"loss_type": "luspo"}, ROWS),
    "the bonus too": (
        "1.9.2",
        BONUS,
        f"{TOKENS}, and the entropy bonus is divided by the same number of tokens",
    ),
    "the bonus alone": ("1.10.0", BONUS, TOKENS),
    "GMPO reads no loss_type": ("1.16.0", {"trainer": "GMPOTrainer"}, ROWS),
}


@pytest.mark.parametrize(("release", "config", "text"), MEANS.values(), ids=MEANS)
def test_the_set_that_averages_are_taken_over(release, config, text):
    assert mean(release, **config) == text


# the last release without it, the first with it, the configuration
FIRST = {
    "dr_grpo": ("0.16.1", "0.17.0", {"loss_type": "dr_grpo"}),
    "dapo": ("0.21.0", "0.22.0", {"loss_type": "dapo"}),
    "cispo": ("0.25.1", "0.26.0", {"loss_type": "cispo"}),
    "sapo": ("0.25.1", "0.26.0", {"loss_type": "sapo"}),
    "luspo": ("0.27.2", "0.28.0", {"loss_type": "luspo"}),
    "vespo": ("0.29.1", "1.0.0", {"loss_type": "vespo"}),
    "a lower bound of the weights": ("1.5.1", "1.6.0", {"vllm_importance_sampling_clip_min": 0.5}),
    "GMPO": ("1.6.0", "1.7.0", {"trainer": "GMPOTrainer"}),
}


@pytest.mark.parametrize(("before", "first", "config"), FIRST.values(), ids=FIRST)
def test_the_first_release_of_a_key_or_value(before, first, config):
    with pytest.raises(ValueError, match=next(iter(config))):
        TRL.at(before).recipe(**config)
    assert TRL.at(first).recipe(**config)


KEEPS = "mask_truncated_completions keeps the denominator"
SHRINKS = "mask_truncated_completions also shrinks the denominator"
SWAPPED = "scale_rewards: the advantages are not divided by the std of the group"
TEXT = "scale_rewards is text, which counts as True"
ALL_STEPS = "steps_per_generation: the loss is divided by the tokens of all steps"
PADDING = 'loss_type="luspo" trains on padding'
ENTROPY = "entropy_coef depends on the denominator of the loss"
UNTEMPERED = "temperature does not reach the loss"
RAW = "temperature is missing in vLLM's log-probabilities"
NAN = "use_vllm: a token that vLLM cannot score makes the gradient NaN"
VLLM = {"use_vllm": True, "temperature": 0.6}
LUSPO = {"loss_type": "luspo", "importance_sampling_level": "sequence"}
# warning, configuration, the last release with it, the first without it
LAST = {
    "truncated tokens in the denominator": (KEEPS, MASKED, "1.8.0", "1.9.0"),
    "swapped": (SWAPPED, {}, "0.22.1", "0.22.2"),
    "text": (TEXT, {"scale_rewards": "none"}, "0.21.0", "0.22.0"),
    "all steps": (ALL_STEPS, STEPS, "1.9.0", "1.9.1"),
    "padding": (PADDING, {"loss_type": "luspo"}, "1.9.2", "1.10.0"),
    "padding with a penalty": (PADDING, {**LUSPO, "beta": 0.04}, "1.9.2", "1.10.0"),
    "bonus": (ENTROPY, BONUS, "1.9.2", "1.10.0"),
    "temperature, also by default": (UNTEMPERED, {}, "0.15.2", "0.16.0"),
    "raw log-probabilities": (RAW, VLLM, "0.23.1", "0.24.0"),
    "NaN": (NAN, VLLM, "1.10.0", "1.11.0"),
}


@pytest.mark.parametrize(("name", "config", "last", "after"), LAST.values(), ids=LAST)
def test_a_warning_ends_with_its_bug(name, config, last, after):
    assert name in warnings(last, **config)
    assert name not in warnings(after, **config)


def test_warnings_begin_with_their_bug():
    assert SHRINKS in warnings("1.9.0", **MASKED)
    assert SWAPPED not in warnings("0.21.0")
    assert PADDING not in warnings("1.9.2", **LUSPO)
    assert RAW not in warnings("0.23.1", use_vllm=True, temperature=1.0)


def test_dr_grpo_without_division_by_the_std_is_what_the_release_makes_of_the_key():
    name = "Dr. GRPO that still divides by the std"
    assert name in warnings("0.21.0", loss_type="dr_grpo", scale_rewards="none")
    assert name not in warnings("0.21.0", loss_type="dr_grpo", scale_rewards=False)
    assert name not in warnings("0.22.0", loss_type="dr_grpo")


MASK = {"off_policy_mask_threshold": 0.5}
# release -> the mask for old completions
OFF_POLICY = {
    "0.27.0": "off_policy_mask_since_update(threshold=0.5)",
    "0.27.1": "off_policy_mask(threshold=0.5, unknown=nan)",
    "1.10.0": "off_policy_mask(threshold=0.5, unknown=nan)",
    "1.11.0": "off_policy_mask(threshold=0.5)",
}


@pytest.mark.parametrize("release", OFF_POLICY)
def test_the_mask_for_old_completions(release):
    assert TRL.at(release).recipe(**MASK).parts()["corrections"] == f"({OFF_POLICY[release]})"


# release -> defaults that changed
DEFAULTS = {
    "0.17.0": {"temperature": 0.9, "beta": 0.04, "loss_type": "bnpo", "max_completion_length": 256},
    "0.18.0": {"temperature": 1.0, "beta": 0.04},
    "0.19.0": {"beta": 0.0},
    "0.21.0": {"loss_type": "bnpo"},
    "0.22.0": {"loss_type": "dapo"},
    "0.25.1": {"vllm_importance_sampling_mode": "token_truncate", "vllm_importance_sampling_clip_max": 2.0},
    "0.26.0": {"vllm_importance_sampling_mode": "sequence_mask", "vllm_importance_sampling_clip_max": 3.0},
    "1.9.2": {"use_bias_correction_kl": False, "max_completion_length": 256},
    "1.10.0": {"use_bias_correction_kl": True, "max_completion_length": 512},
}


@pytest.mark.parametrize("release", DEFAULTS)
def test_defaults_of_a_release(release):
    defaults = TRL.at(release).keys.defaults
    assert {key: defaults[key] for key in DEFAULTS[release]} == DEFAULTS[release]


# key -> the first and the last release whose GRPOConfig has it
NAMES = {
    "vllm_mode": ("0.18.0", "1.16.0"),
    "rollout_func": ("0.25.0", "1.16.0"),
    "vllm_dtype": ("0.15.0", "0.17.0"),
    "use_liger_loss": ("0.17.0", "0.27.2"),
    "max_prompt_length": ("0.14.0", "0.27.2"),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_releases_that_have_a_key(name):
    having = [release for release in TRL.history.releases if TRL.at(release).has(name)]
    if TRL.has(name):
        having.append(TRL.release)
    assert (having[0], having[-1]) == NAMES[name]


def test_keys_of_sampling_are_not_called_harmless():
    for key in ("top_p", "top_k", "min_p", "repetition_penalty", "generation_kwargs", "temperature"):
        assert "sampl" in TRL.keys.effects[key] or "logits" in TRL.keys.effects[key]


def test_behaviour_cannot_be_given():
    for name in ("scale_rewards_meaning", "luspo_trains_on_padding", "has_gmpo"):
        with pytest.raises(ValueError, match=f"trl has no key '{name}'"):
            TRL.recipe(**{name: True})


# TRL PR #3079, #3669, #3936 and #5902
UNSCORED = {
    "0.16.0": "reward 0",
    "0.19.1": "reward 0",
    "0.20.0": "crash",
    "0.21.0": "crash",
    "0.22.0": "reward 0",
    "1.5.1": "reward 0",
    "1.6.0": "left out",
}


@pytest.mark.parametrize("release", UNSCORED)
def test_a_completion_that_no_reward_function_scores(release):
    assert TRL.at(release).settings({})["unscored_completions"] == UNSCORED[release]
