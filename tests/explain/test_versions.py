"""Releases of a trainer are data."""

import pytest

from grpo_ref.corrections import truncated
from grpo_ref.explain.conversion import convert
from grpo_ref.explain.dialect import BONUS, Absent, History, Name
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import slot
from grpo_ref.surrogates import clipped, importance_weighted

TRL = DIALECTS["trl"]
HISTORY = History(
    releases=("1.0", "1.1", "1.2", "1.10", "1.11"),
    changes={"a": {"1.0": 1, "1.2": 2, "1.10": 3}, "b": {"1.0": Absent(0), "1.2": 5}},
    names={"old": Name(of="a", removed="1.11"), "late": Name(since="1.1")},
)


def test_a_change_holds_until_the_next_one():
    a, b = HISTORY.changes["a"], HISTORY.changes["b"]
    assert [HISTORY.at(a, release) for release in HISTORY.releases] == [1, 1, 2, 3, 3]
    assert [HISTORY.at(b, release) for release in HISTORY.releases] == [Absent(0), Absent(0), 5, 5, 5]


def test_a_name_is_there_from_its_first_release_until_its_removal():
    old, late = HISTORY.names["old"], HISTORY.names["late"]
    assert [HISTORY.has(old, release) for release in (*HISTORY.releases, "")] == [True] * 4 + [False] * 2
    assert [HISTORY.has(late, release) for release in (*HISTORY.releases, "")] == [False] + [True] * 5


def test_releases_without_a_difference_are_one_span():
    assert HISTORY.spans == [
        ("1.0", "1.0"),
        ("1.1", "1.1"),
        ("1.2", "1.2"),
        ("1.10", "1.10"),
        ("1.11", "1.11"),
    ]
    plain = History(releases=HISTORY.releases, changes={"a": HISTORY.changes["a"]})
    assert plain.spans == [("1.0", "1.1"), ("1.2", "1.2"), ("1.10", "1.11")]


WITH_HISTORY = [name for name in DIALECTS if DIALECTS[name].history.releases]


@pytest.mark.parametrize("name", WITH_HISTORY)
def test_every_change_is_at_a_covered_release_and_of_a_key(name):
    history = DIALECTS[name].history
    assert set(history.changes) <= set(DIALECTS[name].keys.table)
    for timeline in [*history.changes.values(), history.averages]:
        for release in timeline:
            assert DIALECTS[name].at(release).release


ASKED = {
    "0.14.0": "TRL 0.14.0",
    "0.15.2": "TRL 0.15.2",
    "0.18": "TRL 0.18.0",
    "0.21": "TRL 0.21.0",
    "1.16.0": "TRL 1.16.0",
    "": "TRL 1.16.0",
}


@pytest.mark.parametrize("version", ASKED)
def test_a_release_is_known_by_its_number(version):
    assert TRL.at(version).version == ASKED[version]


NOT_COVERED = {
    "0.13": "the nearest is 0.14.0",
    "0.22.9": "the nearest is 0.22.2",
    "1.17.3": "the nearest is 1.16.0",
    "main": "expected a number from 0.14.0 to 1.16.0",
}


@pytest.mark.parametrize("version", NOT_COVERED)
def test_a_release_that_is_not_covered_is_refused(version):
    with pytest.raises(ValueError, match=f"TRL: version '{version}' is not covered; {NOT_COVERED[version]}"):
        TRL.at(version)


def test_what_trl_computed_in_its_first_version_with_grpo():
    first = TRL.at("0.14.0").recipe()
    assert (str(first.surrogate), first.kl_coef, str(first.penalty)) == ("importance_weighted", 0.04, "k3")
    assert str(first.aggregate) == "sequence_mean_token_mean"
    assert first.surrogate == slot(importance_weighted)


def test_what_an_upgrade_from_0_18_changes():
    old, new = TRL.at("0.18").recipe(), TRL.recipe()
    assert old.surrogate == new.surrogate == slot(clipped, clip_low=0.2, clip_high=0.2)
    assert set(new.differences(old)) == {"kl_coef", "penalty"}


def test_a_key_of_a_later_version_is_unknown_and_one_that_is_gone_is_known():
    old = TRL.at("0.14.0")
    assert old.key("epsilon") is None
    assert TRL.key("epsilon") == "epsilon"
    assert old.key("max_prompt_length") == "max_prompt_length"
    assert TRL.key("max_prompt_length") is None
    assert old.unknown({"epsilonn": 1}) == ["'epsilonn'"]


VERL = DIALECTS["verl"]


def test_early_verl_had_one_width_no_dual_clip_and_a_bonus():
    early = VERL.at("0.2")
    assert early.recipe(clip_ratio=0.3).surrogate == slot(clipped, clip_low=0.3, clip_high=0.3)
    assert early.keys.defaults["entropy_coeff"] == 0.001
    assert early.key("actor_rollout_ref.actor.clip_ratio_c") is None
    assert "each micro-batch" in early.objective.averages(early.settings({})).text
    assert "dual_clipped" in str(VERL.at("0.4.1").recipe().surrogate)
    assert VERL.at("0.9.1").recipe() == VERL.recipe()
    assert "micro-batches together" in VERL.at("0.9.1").objective.averages(VERL.settings({})).text


def test_the_first_verl_with_a_penalty_in_the_loss_took_it_off():
    """dp_actor.py of cd52d8b35, January 2025: policy_loss - kl_loss * kl_loss_coef."""
    config = {"adv_estimator": "grpo", "use_kl_loss": True, "kl_loss_coef": 0.04}
    found = [VERL.at(name).recipe(**config).kl_coef for name in ("0.1.1.dev", "0.2", "0.9.1")]
    assert found == [-0.04, 0.04, 0.04]
    assert VERL.key("kl_loss_is_subtracted") is None


def test_between_its_releases_verl_had_the_dual_clip_and_still_the_bonus():
    """19d0d073 of 17 April 2025: clip_ratio_c is 3.0, and entropy_coeff 0.001."""
    between = VERL.at("0.3.1.dev")
    assert between.recipe(adv_estimator="grpo").surrogate.settings["max_ratio"] == 3.0
    assert between.keys.defaults["entropy_coeff"] == 0.001
    assert between.key("norm_adv_by_std_in_grpo") is None
    assert VERL.at("0.3.0.post1").key("clip_ratio_c") is None


@pytest.mark.parametrize("name", VERL.history.releases[1:])
def test_what_a_version_of_verl_does_not_have_counts_with_a_value_that_does_nothing(name):
    assert VERL.at(name).recipe().level.__name__ == "token_level"


OPENRLHF = DIALECTS["openrlhf"]
RLOO = {"algo.advantage.estimator": "rloo", "algo.kl.init_coef": 0.0}
GSPO = {"actor.policy_loss_type": "gspo"}
CORRECTED = {"algo.advantage.is_correction_enable": True}
# version, configuration -> parts of the recipe
OF_OPENRLHF = {
    "a mean within each completion": (
        "0.6.4",
        {},
        {"aggregate": "sequence_mean_token_mean(count_empty=False)"},
    ),
    "and of the penalty": ("0.6.4", {"algo.kl.use_loss": True}, {"penalty_aggregate": "None"}),
    "tokens from 0.7 on": ("0.7.0", {}, {"aggregate": "token_mean"}),
    "rloo was whitened": (
        "0.8.4",
        RLOO,
        {"advantage": "returned(scores=leave_one_out, limits=(-10.0, 10.0), gamma=1.0, divided=True)"},
    ),
    "and is not since 0.8.5": (
        "0.8.5",
        RLOO,
        {"advantage": "limited(scores=leave_one_out, limits=(-10.0, 10.0))"},
    ),
    "no limit of the penalty": ("0.8.5", {}, {"penalty": "k1(max_log_ratio=inf)"}),
    "its limit": ("0.8.6", {}, {"penalty": "k1(max_log_ratio=10.0)"}),
    "gspo over all tokens": ("0.8.8", GSPO, {"aggregate": "token_mean"}),
    "weights for gspo": (
        "0.8.9",
        GSPO | CORRECTED,
        {"corrections": "(truncated(min_ratio=0.0, max_ratio=2.0, unknown=nan))"},
    ),
    "gspo against the sampler": (
        "0.8.10",
        GSPO | CORRECTED,
        {"surrogate": "clipped_against_sampler(clip_low=0.2, clip_high=0.2)"},
    ),
    "no limit of the log-ratio": ("0.10.2", {}, {"log_ratio_limits": "(-inf, inf)"}),
    "its limits": ("0.10.3", {}, {"log_ratio_limits": "(-20.0, 20.0)"}),
}


@pytest.mark.parametrize(("version", "config", "parts"), OF_OPENRLHF.values(), ids=OF_OPENRLHF)
def test_what_a_version_of_openrlhf_computed(version, config, parts):
    usual = {"penalty_aggregate": "None", "log_ratio_limits": "(-inf, inf)"}
    ours = usual | OPENRLHF.at(version).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_a_threshold_of_openrlhf_was_an_upper_bound_and_is_a_window():
    """One number until 0.9.0, which is 2."""
    threshold = {"enable_vllm_is_correction": True, "vllm_is_truncated_threshold": 3.0}
    (weights,) = OPENRLHF.at("0.9").recipe(**threshold).corrections
    assert (weights.kernel, weights.settings["min_ratio"], weights.settings["max_ratio"]) == (
        truncated,
        0.0,
        3.0,
    )
    with pytest.raises(ValueError, match="expected a list, got 3"):
        OPENRLHF.at("0.9.1").recipe(**threshold)


def test_flags_of_openrlhf_tell_its_version():
    newest = {
        "advantage_estimator": "OpenRLHF 0.10.1.post2",
        "use_kl_estimator_k3": "OpenRLHF 0.6.0.post3",
        "flash_attn": "OpenRLHF 0.8.9.post1",
        "use_icepop": "OpenRLHF 0.9.2",
        "algo.kl.use_loss": OPENRLHF.version,
    }
    assert {flag: OPENRLHF.fitting([flag])[-1].version for flag in newest} == newest
    assert OPENRLHF.fitting(["algo.kl.use_loss"])[0].version == "OpenRLHF 0.10.2"
    assert OPENRLHF.fitting(["use_kl_estimator_k3", "algo.kl.use_loss"]) == []


def test_flags_of_openrlhf_that_are_gone_say_what_others_say_today():
    old, icepop = OPENRLHF.at("0.6").recipe(use_kl_estimator_k3=True), OPENRLHF.at("0.9.1").recipe
    assert old.penalty == OPENRLHF.at("0.6").recipe(kl_estimator="k3").penalty
    (weights,) = icepop(use_icepop=True, enable_vllm_is_correction=True).corrections
    assert weights.kernel.__name__ == "window_times_ratio"
    (inside, _) = OPENRLHF.at("0.9.3").recipe(**CORRECTED, vllm_is_correction_type="mis").corrections
    assert inside.kernel.__name__ == "indicator"
    with pytest.raises(ValueError, match="expected one of 'group_norm', 'rloo'"):
        OPENRLHF.at("0.6").recipe(advantage_estimator="dr_grpo")


def test_over_what_openrlhf_averaged():
    told = {
        name: OPENRLHF.at(name).objective.averages(OPENRLHF.settings({})).text
        for name in ("0.10.2", "0.10.3", "0.10.4")
    }
    assert told["0.10.2"].startswith("each micro-batch of each rank")
    assert told["0.10.3"].startswith("the micro-batches that the ranks take at once")
    assert told["0.10.4"] == OPENRLHF.objective.averages(OPENRLHF.settings({})).text


def test_what_no_flag_of_openrlhf_says_cannot_be_given():
    with pytest.raises(ValueError, match="openrlhf has no key 'behaviour'"):
        OPENRLHF.recipe(behaviour=None)


OPEN_INSTRUCT = DIALECTS["open_instruct"]
# month, configuration -> parts of the recipe
OF_OPEN_INSTRUCT = {
    "torch's deviation, and every group": (
        "2025.2",
        {"number_samples_per_prompt": 8},
        {"advantage": "group_normalized(ddof=1, eps=1e-08)", "keep": "all_groups"},
    ),
    "NumPy's": ("2025.3", {}, {"advantage": "group_normalized(ddof=0, eps=1e-08)", "keep": "all_groups"}),
    "groups without contrast are left out": ("2025.4", {}, {"keep": "groups_with_std"}),
    "one width for both": (
        "2025.5",
        {"cliprange": 0.1},
        {"surrogate": "clipped(clip_low=0.1, clip_high=0.1)"},
    ),
    "two widths": ("2025.6", {"clip_higher": 0.3}, {"surrogate": "clipped(clip_low=0.2, clip_high=0.3)"}),
    "no correction yet": ("2026.2", {}, {"corrections": "()"}),
    "a cap for the sampler's ratio": (
        "2025.10",
        {"truncated_importance_sampling_ratio_cap": 3.0},
        {"corrections": "(rho_clamp(max_ratio=3.0))"},
    ),
    "and its default": ("2026.4", {}, {"corrections": "(rho_clamp(max_ratio=2.0))"}),
    "a constant denominator": (
        "2025.11",
        {"masked_mean_denominator": 4096},
        {"aggregate": "token_sum_over(tokens=4096.0)"},
    ),
    "the axis of a mean over one pack": ("2025.11", {"masked_mean_axis": 1}, {"aggregate": "token_mean"}),
    "before March 2026": (
        "2026.2",
        {},
        {
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "advantage": "group_normalized(ddof=0, eps=1e-08)",
        },
    ),
    "from then on": (
        "2026.3",
        {},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.272)", "advantage": "group_centered"},
    ),
}


@pytest.mark.parametrize(("month", "config", "parts"), OF_OPEN_INSTRUCT.values(), ids=OF_OPEN_INSTRUCT)
def test_what_open_instruct_computed_in_a_month(month, config, parts):
    usual = {"corrections": "()", "keep": "all_groups"}
    ours = usual | OPEN_INSTRUCT.at(month).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a mean over each position": ({"masked_mean_axis": 0}, "masked_mean_axis: a mean over each pack cannot"),
    "a mean over each of two packs": (
        {"masked_mean_axis": 1, "per_device_train_batch_size": 2},
        "masked_mean_axis: a mean over each pack cannot",
    ),
    "nothing to divide by": (
        {"masked_mean_denominator": 0.0},
        "masked_mean_denominator: expected a number > 0",
    ),
    "two corrections in one": (
        {"use_vllm_logprobs": True, "truncated_importance_sampling_ratio_cap": 2.0},
        "use_vllm_logprobs: refused together with truncated_importance_sampling_ratio_cap",
    ),
    "a key of later": ({"loss_denominator": 5}, "has no key 'loss_denominator'"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_open_instruct_refused_in_november_2025(config, message):
    with pytest.raises(ValueError, match=message):
        OPEN_INSTRUCT.at("2025.11").recipe(**config)


def test_keys_of_open_instruct_tell_its_month():
    newest = {
        "number_samples_per_prompt": "Open Instruct 2025.2",
        "cliprange": "Open Instruct 2025.5",
        "masked_mean_axis": "Open Instruct 2025.11",
        "truncated_importance_sampling_ratio_cap": "Open Instruct 2026.4",
        "clip_higher": OPEN_INSTRUCT.version,
    }
    assert {key: OPEN_INSTRUCT.fitting([key])[-1].version for key in newest} == newest
    assert OPEN_INSTRUCT.fitting(["num_samples_per_prompt_rollout"])[0].version == "Open Instruct 2025.3"


def test_over_what_open_instruct_averaged():
    told = {
        name: OPEN_INSTRUCT.at(name).objective.averages(OPEN_INSTRUCT.settings({})).text
        for name in ("2025.11", "2025.12")
    }
    assert told["2025.11"].startswith("the packs of each micro-batch of each rank")
    assert told["2025.12"] == OPEN_INSTRUCT.objective.averages(OPEN_INSTRUCT.settings({})).text


EASY_R1 = DIALECTS["easy_r1"]
LOW_VAR = "k3(max_log_ratio=inf, max_value=10.0)"
# version, configuration -> parts of the recipe
OF_EASY_R1 = {
    "the penalty of the actor": (
        "2025.2",
        {"worker.actor.kl_loss_coef": 0.01, "algorithm.kl_coef": 0.5},
        {"kl_coef": "0.01", "penalty": LOW_VAR, "advantage": "group_normalized(ddof=1, eps=1e-06)"},
    ),
    "or in the reward": (
        "2025.2",
        {"worker.actor.use_kl_loss": False},
        {
            "kl_coef": "0.0",
            "advantage": "penalized(scores=group_normalized(ddof=1, eps=1e-06), penalty=k1, kl_coef=0.001)",
        },
    ),
    "one width and no dual clip": (
        "2025.3",
        {"worker.actor.clip_ratio": 0.1},
        {"surrogate": "clipped(clip_low=0.1, clip_high=0.1)", "log_ratio_limits": "(-inf, inf)"},
    ),
    "two widths and a dual clip": (
        "v0.3.0",
        {},
        {"surrogate": "dual_clipped(clip_low=0.2, clip_high=0.3, max_ratio=3.0)"},
    ),
    "no limit of the penalty": (
        "2025.4",
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "low_var_kl"},
        {"penalty": LOW_VAR, "log_ratio_limits": "(-inf, inf)"},
    ),
    "limits": ("v0.3.1", {}, {"log_ratio_limits": "(-20.0, 20.0)"}),
}


@pytest.mark.parametrize(("version", "config", "parts"), OF_EASY_R1.values(), ids=OF_EASY_R1)
def test_what_a_version_of_easy_r1_computed(version, config, parts):
    ours = {"log_ratio_limits": "(-inf, inf)"} | EASY_R1.at(version).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_easy_r1_had_an_entropy_bonus_in_february_2025():
    bonus = {name: EASY_R1.at(name).concept(BONUS, {}) for name in ("2025.2", "2025.3", "")}
    assert bonus == {"2025.2": 0.001, "2025.3": 0.0, "": 0.0}


NOT_YET = {
    "grpo_passk": ("2025.10", {"adv_estimator": "grpo_passk"}),
    "gspo": ("2025.12", {"loss_type": "gspo"}),
}


@pytest.mark.parametrize("name", NOT_YET)
def test_what_easy_r1_could_not_compute_yet_is_refused(name):
    version, config = NOT_YET[name]
    with pytest.raises(ValueError, match=f"this version of EasyR1 has no {name} that works"):
        EASY_R1.at(version).recipe(**config)
    assert EASY_R1.at("2026.1").recipe(**config) == EASY_R1.recipe(**config)


def test_keys_of_easy_r1_tell_its_month():
    newest = {
        "worker.actor.kl_loss_coef": "EasyR1 2025.2",
        "worker.actor.clip_ratio": "EasyR1 2025.3",
        "worker.actor.ulysses_sequence_parallel_size": "EasyR1 2025.4",
        "worker.actor.clip_ratio_low": EASY_R1.version,
    }
    assert {key: EASY_R1.fitting([key])[-1].version for key in newest} == newest
    assert EASY_R1.fitting(["worker.actor.loss_type"])[0].version == "EasyR1 2025.10"


def test_over_what_easy_r1_averaged():
    told = {
        name: EASY_R1.at(name).objective.averages(EASY_R1.settings({})).text for name in ("2025.6", "2025.7")
    }
    assert told["2025.6"] == "each micro-batch of each rank, and then over these"
    assert told["2025.7"] == EASY_R1.objective.averages(EASY_R1.settings({})).text


def test_a_trap_of_a_later_key_is_none_of_an_earlier_version():
    """In February 2025 the actor's own key of the penalty was the one that counted."""
    names = {name: {trap.name for trap in EASY_R1.at(name).traps} for name in ("2025.2", "2025.3")}
    assert names["2025.3"] - names["2025.2"] >= {
        "worker.actor.use_kl_loss is overwritten by algorithm.use_kl_loss"
    }


def test_nothing_is_converted_into_a_key_that_is_gone():
    """EasyR1 has no bonus for the entropy any more."""
    found = convert(VERL, EASY_R1, {"adv_estimator": "grpo", "entropy_coeff": 0.01})
    assert (found.config.get("entropy_coeff"), found.dropped) == (None, {"entropy_coeff": 0.01})


MS_SWIFT = DIALECTS["ms_swift"]
# version, configuration -> parts of the recipe
OF_MS_SWIFT = {
    "no clip, and a mean over tokens": (
        "3.1.1",
        {},
        {"surrogate": "importance_weighted", "aggregate": "token_mean"},
    ),
    "a clip": (
        "3.2.0",
        {},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.2)", "aggregate": "token_mean"},
    ),
    "no scale": ("3.3.0", {"scale_rewards": False}, {"advantage": "group_centered"}),
    "a mean within each completion": ("3.4.0", {}, {"aggregate": "sequence_mean_token_mean"}),
    "a penalty without limits": ("4.0.3", {}, {"penalty": "k3"}),
    "its limits": ("4.0.4", {}, {"penalty": "k3(max_log_ratio=20.0, max_value=10.0)"}),
}


@pytest.mark.parametrize(("version", "config", "parts"), OF_MS_SWIFT.values(), ids=OF_MS_SWIFT)
def test_what_a_version_of_ms_swift_computed(version, config, parts):
    ours = MS_SWIFT.at(version).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


# the version without it, the first with it, the configuration
FIRST_IN_MS_SWIFT = {
    "each completion's own ratio": ("3.7.0", "3.8.0", {"importance_sampling_level": "sequence_token"}),
    "the spread of the batch": ("3.9.0", "3.10.0", {"scale_rewards": "batch"}),
    "cispo": ("3.10.3", "3.11.0", {"loss_type": "cispo"}),
    "sapo as it is today": ("3.12.2", "3.12.3", {"loss_type": "sapo"}),
    "gdpo": ("3.12.6", "4.0.0", {"scale_rewards": "gdpo"}),
    "real": ("4.0.4", "4.1.0", {"loss_type": "real"}),
    "fipo": ("4.2.1", "4.2.2", {"loss_type": "fipo"}),
}


@pytest.mark.parametrize(("before", "first", "config"), FIRST_IN_MS_SWIFT.values(), ids=FIRST_IN_MS_SWIFT)
def test_what_ms_swift_does_not_have_yet_is_refused(before, first, config):
    with pytest.raises(ValueError, match=next(iter(config))):
        MS_SWIFT.at(before).recipe(**config)
    assert MS_SWIFT.at(first).recipe(**config).surrogate == MS_SWIFT.recipe(**config).surrogate


def test_ms_swift_asked_for_no_mode_of_vllm_until_3_11_1():
    assert MS_SWIFT.at("3.11.0").recipe(use_vllm=True) == MS_SWIFT.at("3.11.0").recipe()
    with pytest.raises(ValueError, match="vllm_mode: ms-swift refuses use_vllm without it"):
        MS_SWIFT.at("3.11.1").recipe(use_vllm=True)


def test_arguments_of_ms_swift_tell_its_version():
    newest = {
        "vllm-device": "ms-swift 3.5.3",
        "vllm_device": "ms-swift 3.5.3",
        "multi_turn_func": "ms-swift 3.9.3",
        "train_type": "ms-swift 4.0.4",
        "tuner_type": MS_SWIFT.version,
    }
    assert {flag: MS_SWIFT.fitting([flag])[-1].version for flag in newest} == newest
    assert MS_SWIFT.fitting(["tuner-type"])[0].first == "4.0.0"


NEMO_RL = DIALECTS["nemo_rl"]
LIMITED = {"use_importance_sampling_correction": True, "truncated_importance_sampling_ratio": 2.0}
# version, configuration -> parts of the recipe
OF_NEMO_RL = {
    "the penalty alone, its value without a limit": (
        "0.4.0",
        {},
        {"penalty": "k3(max_log_ratio=20.0, max_value=inf)"},
    ),
    "its limit": ("0.5.0", {}, {"penalty": "k3(max_log_ratio=20.0, max_value=10.0)"}),
    "k1 of at most 10": (
        "0.6.0",
        {"reference_policy_kl_type": "k1"},
        {"penalty": "k1(max_log_ratio=10.0)"},
    ),
    "k2 of at most 8": (
        "0.6.0",
        {"reference_policy_kl_type": "k2", "kl_output_clamp_value": 8.0},
        {"penalty": "k2(max_log_ratio=4.0)"},
    ),
    "a ratio alone is an upper limit": (
        "0.5.0",
        LIMITED,
        {"corrections": "(finite_ratio(min_ratio=0.0, max_ratio=2.0))"},
    ),
    "a lower limit of tis was not read": (
        "0.6.0",
        LIMITED | {"truncated_importance_sampling_ratio_min": 0.5},
        {"corrections": "(finite_ratio(min_ratio=0.0, max_ratio=2.0))"},
    ),
    "and is now": (
        "0.7.0",
        LIMITED
        | {"truncated_importance_sampling_ratio_min": 0.5, "truncated_importance_sampling_type": "tis"},
        {"corrections": "(finite_ratio(min_ratio=0.5, max_ratio=2.0))"},
    ),
}


@pytest.mark.parametrize(("version", "config", "parts"), OF_NEMO_RL.values(), ids=OF_NEMO_RL)
def test_what_a_version_of_nemo_rl_computed(version, config, parts):
    ours = NEMO_RL.at(version).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_what_cannot_be_said_of_an_earlier_nemo_rl():
    with pytest.raises(ValueError, match=r"Before 0\.7 the penalty alone was weighed"):
        NEMO_RL.at("0.6").recipe(use_on_policy_kl_approximation=True)
    assert NEMO_RL.at("0.7").recipe() == NEMO_RL.recipe()
    assert NEMO_RL.fitting(["loss_fn.use_cispo"])[0].version == "NeMo-RL 0.7"
