"""Unsloth: what each month computes.

The rows are read from `unsloth/models/rl.py` and `unsloth_zoo/rl_replacements.py` of that month.
"""

import pytest

from grpo_ref import slot
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.entry import entries
from grpo_ref.explain.trap import sprung
from grpo_ref.surrogates import cispo, clipped

UNSLOTH, TRL = DIALECTS["unsloth"], DIALECTS["trl"]


def mean(month, **config):
    dialect = UNSLOTH.at(month)
    return dialect.objective.averages(dialect.settings(config)).text


def warnings(month, **config):
    dialect = UNSLOTH.at(month)
    return [trap.name for trap in sprung(dialect.traps, dialect.settings(config), dialect.given(config))]


PLAIN = {"surrogate": "importance_weighted", "aggregate": "sequence_mean_token_mean"}
CLIP = "clipped(clip_low=0.2, clip_high=0.2)"
HIGH = "clipped(clip_low=0.2, clip_high=0.28)"
DAPO, DR = {"loss_type": "dapo"}, {"loss_type": "dr_grpo"}
VLLM = {"use_vllm": True, "vllm_importance_sampling_correction": True, "loss_type": "grpo"}
# month, configuration -> parts of the recipe
PARTS = {
    "no clip in its first months": (
        "2025-04",
        {},
        {**PLAIN, "kl_coef": "0.04", "advantage": "group_normalized(ddof=1, eps=0.0001)"},
    ),
    "a clip": ("2025-05", {}, {"surrogate": CLIP, "kl_coef": "0.04"}),
    "another weight of the penalty": ("2025-06", {}, {"surrogate": CLIP, "kl_coef": "0.001"}),
    "bnpo, one completion at a time": (
        "2026-08",
        {"loss_type": "bnpo"},
        {"aggregate": "sequence_mean_token_mean"},
    ),
    "bnpo, in one chunk": (
        "2026-08",
        {"loss_type": "bnpo", "unsloth_num_chunks": 1},
        {"aggregate": "token_mean"},
    ),
    "bnpo from September 2026 on": ("2026-09", {"loss_type": "bnpo"}, {"aggregate": "token_mean"}),
    "dapo was bnpo": (
        "2025-09",
        DAPO | {"beta": 0.04},
        {
            "surrogate": HIGH,
            "aggregate": "sequence_mean_token_mean",
            "kl_coef": "0.0",
            "admit": "ended_completions",
        },
    ),
    "dapo is dapo": (
        "2025-10",
        DAPO | {"epsilon_high": 0.5},
        {"surrogate": HIGH, "aggregate": "token_mean", "kl_coef": "0.001", "admit": "ended_completions"},
    ),
    "dapo with given settings": (
        "2026-10",
        DAPO | {"epsilon_high": 0.5, "mask_truncated_completions": False},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.5)", "admit": "all_completions", "kl_coef": "0.0"},
    ),
    "dapo, given": ("2026-10", DAPO, {"surrogate": HIGH, "admit": "ended_completions"}),
    "dapo by default": (
        "2026-10",
        {},
        {"surrogate": CLIP, "aggregate": "token_mean", "kl_coef": "0.0", "admit": "all_completions"},
    ),
    "the weight for other loss types": ("2026-10", {"loss_type": "grpo"}, {"kl_coef": "0.001"}),
    "dr_grpo without the std": ("2025-08", DR, {"advantage": "group_centered"}),
    "the text group stays": ("2025-09", DR, {"advantage": "group_normalized(ddof=1, eps=0.0001)"}),
    "until it is overridden too": ("2026-09", DR, {"advantage": "group_centered"}),
    "None keeps the std": (
        "2026-09",
        DR | {"scale_rewards": None},
        {"advantage": "group_normalized(ddof=1, eps=0.0001)"},
    ),
    "cispo's cap was epsilon": (
        "2026-08",
        {"loss_type": "cispo"},
        {"surrogate": "cispo(max_ratio=0.2)"},
    ),
    "no correction": ("2025-09", VLLM, {"corrections": "()"}),
    "each ratio is truncated, whatever the mode": (
        "2025-10",
        VLLM | {"vllm_importance_sampling_mode": "sequence_mask"},
        {"corrections": "(truncated(level=token_level, min_ratio=0.0, max_ratio=2.0))"},
    ),
    "the mode counts": (
        "2026-07",
        VLLM | {"vllm_importance_sampling_mode": "sequence_mask"},
        {"corrections": "(masked(level=sequence_sum_level, min_ratio=0.0, max_ratio=2.0))"},
    ),
    "limits of the penalty": (
        "2026-09",
        {"use_bias_correction_kl": False, "beta": 0.04},
        {"penalty": "k3(max_log_ratio=20.0, max_value=10.0)"},
    ),
    "no unbiased penalty": ("2026-08", {"use_bias_correction_kl": True}, {"penalty": "k3"}),
    "no entropy mask": ("2026-09", {"top_entropy_quantile": 0.2}, {"corrections": "()"}),
    "an entropy mask": (
        "2026-10",
        {"top_entropy_quantile": 0.2},
        {"corrections": "(top_entropy_in_float32(share=0.2))"},
    ),
}


@pytest.mark.parametrize(("month", "config", "parts"), PARTS.values(), ids=PARTS)
def test_a_month_computes(month, config, parts):
    usual = {"corrections": "()", "admit": "all_completions"}
    ours = usual | UNSLOTH.at(month).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_cispo_has_a_cap_of_5_in_october_2026():
    assert UNSLOTH.recipe(loss_type="cispo").surrogate == slot(cispo, max_ratio=5.0)
    assert UNSLOTH.recipe(loss_type="cispo", epsilon_high=2.0).surrogate == slot(cispo, max_ratio=2.0)


def test_sequence_level_is_read_from_september_2025_on():
    levels = [
        UNSLOTH.at(month).recipe(importance_sampling_level="sequence").level.__name__
        for month in ("2025-08", "2025-09")
    ]
    assert levels == ["token_level", "sequence_mean_level"]


# Month -> the newest TRL that pip installs beside Unsloth, from its requirements and the dates of TRL.
NEWEST_TRL = {
    "2025-02": "0.15.2",
    "2025-03": "0.15.2",
    "2025-04": "0.15.2",
    "2025-05": "0.18.1",
    "2025-06": "0.19.0",
    "2025-07": "0.20.0",
    "2025-08": "0.22.1",
    "2025-09": "0.23.0",
    "2025-10": "0.23.0",
}
LATER_KEYS = [
    *("loss_type", "epsilon", "epsilon_high", "delta", "num_iterations", "scale_rewards"),
    *("mask_truncated_completions", "steps_per_generation", "generation_batch_size"),
    *("importance_sampling_level", "top_entropy_quantile", "vllm_importance_sampling_correction"),
]


@pytest.mark.parametrize("month", NEWEST_TRL)
@pytest.mark.parametrize("key", LATER_KEYS)
def test_a_key_is_there_from_the_month_whose_trl_has_it(month, key):
    """Until August 2026, TRL's GRPOConfig raises a TypeError for a key that it does not have."""
    assert UNSLOTH.at(month).key(key) == TRL.at(NEWEST_TRL[month]).key(key)


READ_NEVER = [each for each in entries("unsloth") if each.id.endswith("-not-read")]
DROPPED = ("2026-08", "2026-09")
"""Months in which TRL up to 0.24 is allowed, and Unsloth drops a key that TRL does not have."""


@pytest.mark.parametrize("entry", READ_NEVER, ids=lambda entry: entry.id)
def test_a_key_can_be_given_in_each_month_that_does_not_read_it(entry):
    """TRL 0.24.0 is the newest that is allowed from November 2025 to September 2026."""
    newest = NEWEST_TRL.get(entry.first, "0.24.0")
    assert TRL.at(newest).key(*entry.keys) or {entry.first, entry.last} <= {*DROPPED}


# the last month that refuses it, the first that does not, the loss type
FIRST = {
    "dapo": ("2025-05", "2025-06", "dapo"),
    "cispo": ("2026-01", "2026-02", "cispo"),
    "sapo": ("2026-01", "2026-02", "sapo"),
    "vespo": ("2026-04", "2026-05", "vespo"),
    "luspo": ("2026-06", "2026-07", "luspo"),
}


@pytest.mark.parametrize(("before", "first", "loss_type"), FIRST.values(), ids=FIRST)
def test_the_first_month_of_a_loss_type(before, first, loss_type):
    with pytest.raises(ValueError, match="loss_type: expected one of"):
        UNSLOTH.at(before).recipe(loss_type=loss_type)
    assert UNSLOTH.at(first).recipe(loss_type=loss_type)


ROWS = "each micro-batch of each process, and then over these"
TOKENS = "the generation batch, all processes and micro-batches together"
# month, configuration -> the set that averages are taken over
MEANS = {
    "one completion at a time": ("2026-08", {}, f"each completion of {ROWS}"),
    "four chunks": ("2026-08", {"unsloth_num_chunks": 4}, f"each of the 4 chunks of {ROWS}"),
    "one chunk": ("2026-08", {"unsloth_num_chunks": 1}, ROWS),
    "dapo was bnpo": ("2025-09", DAPO, f"each completion of {ROWS}"),
    "dapo, divided twice": (
        "2026-08",
        DAPO,
        f"{TOKENS}, tokens of truncated completions included, and divided once more by the number of"
        " completions of a micro-batch",
    ),
    "dapo, divided once": ("2026-09", DAPO, TOKENS),
    "the default of today": ("2026-10", {}, TOKENS),
    "bnpo of today": ("2026-10", {"loss_type": "bnpo"}, ROWS),
}


@pytest.mark.parametrize(("month", "config", "text"), MEANS.values(), ids=MEANS)
def test_the_set_that_averages_are_taken_over(month, config, text):
    assert mean(month, **config) == text


FORCES = 'loss_type="dapo" forces epsilon_high=0.28 and mask_truncated_completions=True'
SETS = 'loss_type="dapo" sets epsilon_high=0.28 and mask_truncated_completions=True'
# warning, configuration, the last month with it, the first without it
LAST = {
    "level": (
        "importance_sampling_level is not read",
        {"importance_sampling_level": "sequence"},
        "2025-08",
        "2025-09",
    ),
    "bonus": ("entropy_coef is not read", {"entropy_coef": 0.01}, "2026-09", "2026-10"),
    "dapo": (FORCES, DAPO, "2026-08", "2026-09"),
    "std": ("Dr. GRPO that still divides by the std", DR, "2026-08", "2026-09"),
    "temperature": ("temperature does not reach the loss", {"temperature": 0.7}, "2025-05", "2025-06"),
    "bnpo": (
        'loss_type="bnpo" averages over completions, not tokens',
        {"loss_type": "bnpo"},
        "2026-08",
        "2026-09",
    ),
}


@pytest.mark.parametrize(("name", "config", "last", "after"), LAST.values(), ids=LAST)
def test_a_warning_ends_with_its_behaviour(name, config, last, after):
    assert name in warnings(last, **config)
    assert name not in warnings(after, **config)


def test_settings_of_dapo_were_forced_and_are_set_if_not_given():
    assert SETS in warnings("2026-10", **DAPO)
    assert SETS not in warnings("2026-10")


def test_bugs_of_a_release_of_trl_are_no_warnings_of_unsloth():
    assert not any(trap.release and trap.release in TRL.history.releases for trap in UNSLOTH.traps)


def test_an_entropy_bonus_that_is_not_read_is_not_told():
    bonus = [
        UNSLOTH.at(month).concept("weight of the entropy bonus", {"entropy_coef": 0.01})
        for month in ("2026-09", "")
    ]
    assert bonus == [0.0, 0.01]


WHEELS = {
    "2025.8.9": "2025-08",
    "2025.8": "2025-08",
    "2026.9.1": "2026-08",
    "2026.9.14": "2026-09",
    "2026.10.9": "2026-10",
}


@pytest.mark.parametrize("wheel", WHEELS)
def test_a_wheel_is_of_the_month_in_its_number(wheel):
    assert UNSLOTH.at(wheel).release == WHEELS[wheel]


def test_a_month_that_is_not_covered_is_refused():
    with pytest.raises(ValueError, match="the nearest is 2026-10"):
        UNSLOTH.at("2026-11")


def test_all_other_keys_are_those_of_trl():
    assert UNSLOTH.key("max_seq_length") == "max_seq_length"
    assert UNSLOTH.keys.table["epsilon"] == TRL.keys.table["epsilon"]
    assert UNSLOTH.at("2025-05").recipe(epsilon=0.1).surrogate == slot(clipped, clip_low=0.1, clip_high=0.1)
