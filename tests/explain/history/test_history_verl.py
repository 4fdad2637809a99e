"""Releases of verl: each border of `releases/verl_borders.toml`, with values from the source."""

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.dialects.verl.kernels import summed_over_rows
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.trap import sprung
from grpo_ref.explain.version import choose_version

VERL = DIALECTS["verl"]
SUM_NORM = {"loss_agg_mode": "seq-mean-token-sum-norm"}
PER_COMPLETION = {"loss_agg_mode": "seq-mean-token-mean"}
GSPO = {"loss_mode": "gspo", "loss_agg_mode": "token-mean"}
KL = {"use_kl_loss": True, "kl_loss_type": "low_var_kl"}
ENGINE = {"trainer.use_legacy_worker_impl": "disable"}

# release, configuration -> parts of the recipe, as text
PARTS = {
    "before April 2025 there is no dual clip": (
        "0.3.0.post1",
        {},
        {"surrogate": "clipped(clip_low=0.2, clip_high=0.2)"},
    ),
    "then there is one": (
        "0.4.0",
        {},
        {"surrogate": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)"},
    ),
    "a far log-ratio overflows": (
        "0.4.0",
        KL,
        {"log_ratio_limits": "(-inf, inf)", "penalty": "k3(max_log_ratio=inf, max_value=10.0)"},
    ),
    "it is limited to 20 nats": (
        "0.4.1",
        KL,
        {"log_ratio_limits": "(-20.0, 20.0)", "penalty": "k3(max_log_ratio=20.0, max_value=10.0)"},
    ),
    "empty completions count in the mean of the sums": (
        "0.6.0",
        {"loss_agg_mode": "seq-mean-token-sum"},
        {"aggregate": "sequence_mean_token_sum"},
    ),
    "they are excluded": (
        "0.6.1",
        PER_COMPLETION,
        {"aggregate": "sequence_mean_token_mean(count_empty=False)"},
    ),
    "for gspo too": ("0.7.1", GSPO, {"aggregate": "sequence_mean_token_mean(count_empty=False)"}),
    "they count again": ("0.8.0", PER_COMPLETION, {"aggregate": "sequence_mean_token_mean"}),
    "they count in the engine": ("0.7.1", PER_COMPLETION | ENGINE, {"aggregate": "sequence_mean_token_mean"}),
    "sum-norm is a sum over the rows at first": ("0.4.0", SUM_NORM, {"aggregate": "summed_over_rows"}),
    "sum-norm is a sum over the rows to the end": ("0.7.0", SUM_NORM, {"aggregate": "summed_over_rows"}),
    "sum-norm divides by the rows with a token": (
        "0.7.1",
        SUM_NORM,
        {"aggregate": "fixed_length(count_empty=False)"},
    ),
    "sum-norm divides by all rows": ("0.8.0", SUM_NORM, {"aggregate": "fixed_length"}),
    "gspo forces its average": (
        "0.9.0",
        GSPO,
        {"aggregate": "sequence_mean_token_mean", "penalty_aggregate": "token_mean"},
    ),
    "gspo obeys loss_agg_mode": ("0.9.1", GSPO, {"aggregate": "token_mean", "penalty_aggregate": "the same"}),
    "a penalty with a plus": (
        "0.8.0",
        {"use_kl_loss": True, "kl_loss_type": "k3+"},
        {"penalty": "straight_through(estimator=limited_k3)"},
    ),
    "weights from 0.6.1 on": (
        "0.6.1",
        {"rollout_is": "token"},
        {"corrections": "(truncated(level=token_level, max_ratio=2.0, max_log_ratio=20.0, unknown=nan))"},
    ),
}


@pytest.mark.parametrize(("release", "config", "parts"), PARTS.values(), ids=PARTS)
def test_what_a_release_computed(release, config, parts):
    ours = {"log_ratio_limits": "(-inf, inf)", "penalty_aggregate": "the same"}
    ours |= VERL.at(release).recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


# value -> key, the last release without it, the first release with it
ARRIVALS = {
    "grpo": ("adv_estimator", "0.1", "0.1.1.dev"),
    "reinforce_plus_plus": ("adv_estimator", "0.1.1.dev", "0.2"),
    "rloo": ("adv_estimator", "0.2.0.post2", "0.3.0.post0"),
    "reinforce_plus_plus_baseline": ("adv_estimator", "0.3.0.post1", "0.3.1.dev"),
    "opo": ("adv_estimator", "0.3.1.dev", "0.4.0"),
    "grpo_passk": ("adv_estimator", "0.3.1.dev", "0.4.0"),
    "rloo_vectorized": ("adv_estimator", "0.5.0", "0.6.0"),
    "gdpo": ("adv_estimator", "0.7.0", "0.7.1"),
    "clip_cov": ("loss_mode", "", "0.4.1"),
    "gpg": ("loss_mode", "0.4.1", "0.5.0"),
    "gspo": ("loss_mode", "0.5.0", "0.6.0"),
    "geo_mean": ("loss_mode", "0.5.0", "0.6.0"),
    "sapo": ("loss_mode", "0.6.1", "0.7.0"),
    "cispo": ("loss_mode", "0.6.1", "0.7.0"),
    "bypass_mode": ("loss_mode", "0.6.1", "0.7.0"),
    "dppo_tv": ("loss_mode", "0.7.0", "0.7.1"),
    "seq-mean-token-sum-norm": ("loss_agg_mode", "0.3.1.dev", "0.4.0"),
    "token-sum": ("loss_agg_mode", "0.8.0", "0.9.0"),
    "k2": ("kl_loss_type", "0.3.1.dev", "0.4.0"),
    "k1+": ("kl_loss_type", "0.7.1", "0.8.0"),
    "low_var_kl+": ("kl_loss_type", "0.7.1", "0.8.0"),
}


@pytest.mark.parametrize("value", ARRIVALS)
def test_a_value_is_refused_until_the_release_that_has_it(value):
    key, without, first = ARRIVALS[value]
    config = {key: value} | ({"use_kl_loss": True} if key == "kl_loss_type" else {})
    assert VERL.at(first).recipe(**config)
    if without:
        with pytest.raises(ValueError, match=f"{key}: expected one of .*got '"):
            VERL.at(without).recipe(**config)


def test_other_rules_of_rejection_before_0_7_1_cannot_be_expressed():
    config = {"rollout_rs": "token_k1", "rollout_rs_threshold": 2.0}
    with pytest.raises(ValueError, match="rollout_rs: token_k1 cannot be expressed here"):
        VERL.at("0.7.0").recipe(**config)
    assert VERL.at("0.7.1").recipe(**config).admit == VERL.recipe(**config).admit


MEANS = {
    "0.1": ({}, "micro"),
    "0.7.1": ({}, "micro"),
    "0.7.0": (ENGINE, "mini"),
    "0.8.0": ({}, "mini"),
    "": ({}, "mini"),
}


@pytest.mark.parametrize("release", MEANS)
def test_over_what_a_release_averages(release):
    config, batch = MEANS[release]
    dialect = VERL.at(release)
    starts = {"micro": "each micro-batch of each rank", "mini": "a mini-batch"}[batch]
    assert dialect.objective.averages(dialect.settings(config)).text.startswith(starts)


# trap -> configuration, a release without the trap, the first and the last one with it, one without it
TRAPS = {
    "ppo_epochs is not read": ({"ppo_epochs": 2}, "0.1", "0.1.1.dev", "0.2.0.post2", "0.3.0.post0"),
    "kl_loss_coef is subtracted": ({"use_kl_loss": True}, "", "0.1.1.dev", "0.1.1.dev", "0.2"),
    "loss_agg_mode=seq-mean-token-sum-norm is a sum": (SUM_NORM, "", "0.4.0", "0.7.0", "0.7.1"),
    "loss_scale_factor is not read": (SUM_NORM | {"loss_scale_factor": 8}, "", "0.7.0", "0.7.1", "0.8.0"),
    "loss_scale_factor is not set": (SUM_NORM, "0.7.1", "0.8.0", "0.9.1", ""),
    "loss_agg_mode=seq-mean-token-mean divides 0 by 0": (PER_COMPLETION, "", "0.3.1.dev", "0.6.0", "0.6.1"),
    "ppo_mini_batch_size is the whole batch": (
        {"data.train_batch_size": 256},
        "0.5.0",
        "0.6.0",
        "0.7.1",
        "0.8.0",
    ),
    "adv_estimator=reinforce_plus_plus gives no reward": (
        {"adv_estimator": "reinforce_plus_plus", "multi_turn.enable": True},
        "",
        "0.4.0",
        "0.8.0",
        "0.9.0",
    ),
    "filter_groups.enable is read by": ({"filter_groups.enable": True}, "", "0.4.0", "0.8.0", "0.9.0"),
    "loss_agg_mode does not change": (GSPO, "", "0.6.0", "0.9.0", "0.9.1"),
    "gspo is averaged by loss_agg_mode": (GSPO, "0.9.0", "0.9.1", "0.9.1", ""),
    "clip_ratio_c is 3.0 by default": ({"adv_estimator": "grpo"}, "0.3.0.post1", "0.4.1", "0.9.1", ""),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_of_the_releases_that_behave_so(name):
    config, before, first, last, after = TRAPS[name]
    found = {release: _falls(release, name, config) for release in (before, first, last, after) if release}
    assert found == {release: release in (first, last) for release in found}


def _falls(release, name, config):
    dialect = VERL.at(release)
    traps = sprung(dialect.traps, dialect.settings(config), dialect.given(config))
    return any(trap.name.startswith(name) for trap in traps)


def test_with_two_mini_batches_or_in_the_engine_the_old_log_probs_are_the_given_ones():
    name, whole = "ppo_mini_batch_size is the whole batch", {"data.train_batch_size": 256}
    assert _falls("0.7.1", name, whole)
    assert not _falls("0.7.1", name, {"data.train_batch_size": 512})
    assert not _falls("0.7.1", name, whole | {"ppo_epochs": 2})
    assert not _falls("0.7.1", name, whole | ENGINE)


def test_before_0_7_1_sum_norm_grows_with_the_number_of_completions():
    """Three completions of one token, A = 1, ratio 1, and a length of 4: 3/4 in 0.7.0, and 1/4 in 0.7.1."""
    log_probs, advantages, mask = np.full((1, 3, 4), -1.0), np.ones((1, 3)), np.zeros((1, 3, 4))
    mask[..., 0] = 1.0
    losses = [
        policy_loss(
            log_probs,
            advantages,
            mask,
            recipe=VERL.at(release).recipe(**SUM_NORM),
            old_log_probs=log_probs,
            max_length=4,
        ).loss
        for release in ("0.7.0", "0.7.1")
    ]
    assert losses == pytest.approx([-0.75, -0.25])


def test_a_length_below_1_is_refused():
    with pytest.raises(ValueError, match="expected at least 1 token, got 0"):
        summed_over_rows(np.ones((1, 1, 1)), 0)


# a key of an earlier configuration file -> the newest release that fits
LAST = {
    "actor_rollout_ref.actor.fsdp_config.grad_offload": "verl 0.2.0.post2",
    "trainer.val_generations_to_log_to_wandb": "verl 0.3.0.post1",
    "actor_rollout_ref.rollout.multi_turn.max_turns": "verl 0.4.0",
    "trainer.profile_steps": "verl 0.5.0",
    "reward_model.launch_reward_fn_async": "verl 0.7.0",
    "trainer.use_legacy_worker_impl": "verl 0.7.1",
}


def test_keys_of_earlier_files_date_a_launch():
    assert {key: VERL.fitting([key])[-1].version for key in LAST} == LAST


def test_the_sampler_reports_its_log_probabilities_by_default_from_0_9_0_on():
    found = {
        name: VERL.at(name).keys.defaults["rollout.calculate_log_probs"] for name in ("0.8.0", "0.9.0", "")
    }
    assert found == {"0.8.0": False, "0.9.0": True, "": True}


def test_keys_that_matter_decide_the_release_if_no_release_has_all_keys():
    """grad_offload is gone since 0.3.0, and clip_ratio_high came after it: a fork with an old file."""
    keys = {
        "algorithm.adv_estimator": "grpo",
        "actor_rollout_ref.actor.clip_ratio_high": 0.28,
        "actor_rollout_ref.actor.fsdp_config.grad_offload": False,
    }
    version = choose_version(Launch("verl", "keys that change its objective", keys))
    assert version.dialect.version == VERL.version
    assert version.candidates[0].version == "verl 0.3.1.dev"


def test_copies_of_old_verl_never_had_the_dual_clip():
    assert "have no dual clip, because verl had none" in VERL.program.forks
