"""OpenRLHF 0.10 to 0.11.2: read from the wheels, `models/loss.py` and `cli/train_ppo_ray.py`."""

import numpy as np
import pytest

from grpo_ref.explain.dialects.openrlhf import DIALECT
from grpo_ref.explain.dialects.openrlhf.kernels import (
    less_batch_mean,
    ratio_below_divergence,
    ratio_inside,
    unbiased_gradient,
)
from grpo_ref.explain.launch import launches
from grpo_ref.explain.trap import sprung

REFUSED = "refused"
PLAIN = {"algo.kl.use_loss": True}


def corrected(level, mode="mask", gating="ratio", **others):
    names = {"level": level, "mode": mode, "gating": gating} | others
    return PLAIN | {f"algo.advantage.is_correction_{name}": value for name, value in names.items()}


def by_type(kind):
    flags = {"algo.advantage.is_correction_enable": True, "algo.advantage.is_correction_type": kind}
    return PLAIN | flags


TIS = "(truncated(min_ratio=0.5, max_ratio=5.0, unknown=nan))"
ICEPOP = "(window_times_ratio(min_ratio=0.5, max_ratio=5.0))"
SEQUENCE = (
    "(indicator(level=sequence_mean_level, min_ratio=0.5, max_ratio=5.0, unknown=nan),"
    " truncated(max_ratio=inf, unknown=nan))"
)
# The flags of 0.11.2 drop NaN too, where the loss was NaN before.
DROPPED = {
    level: f"(ratio_inside(level={level}, min_ratio=0.5, max_ratio=5.0))" for level in ("token", "seq")
}
# configuration, part -> release: the part
BORDERS = {
    "tis is token and clip": (
        *(corrected("token", "clip"), "corrections"),
        {"0.11.1": REFUSED, "0.11.2": TIS},
    ),
    "icepop is token and mask": (corrected("token"), "corrections", {"0.11.2": DROPPED["token"]}),
    "seq-mask-tis is seq and mask": (corrected("seq"), "corrections", {"0.11.2": DROPPED["seq"]}),
    "the old flag of tis": (by_type("tis"), "corrections", {"0.11.0": TIS, "0.11.1": TIS}),
    "the old flag of icepop": (by_type("icepop"), "corrections", {"0.11.1": ICEPOP}),
    "the old flag of seq-mask-tis": (by_type("seq-mask-tis"), "corrections", {"0.11.1": SEQUENCE}),
    "one threshold is an upper bound": (
        *(corrected("token", "clip", threshold=[2.0]), "corrections"),
        {"0.11.2": "(truncated(min_ratio=0.0, max_ratio=2.0, unknown=nan))"},
    ),
    "a gate by the divergence": (
        *(corrected("seq", gating="binary_kl", threshold=[0.1]), "corrections"),
        {
            "0.11.1": REFUSED,
            "0.11.2": "(ratio_below_divergence(statistic=binary_kl, level=seq, max_value=0.1))",
        },
    ),
    "only the ratio of a token is limited": (corrected("seq", "clip"), "corrections", {"0.11.2": REFUSED}),
    "a divergence has no lower bound": (
        *(corrected("token", gating="tv"), "corrections"),
        {"0.11.2": REFUSED},
    ),
    "flash_reinforce": (
        *(PLAIN | {"algo.advantage.estimator": "flash_reinforce"}, "advantage"),
        {"0.11.1": REFUSED, "0.11.2": "limited(scores=less_batch_mean, limits=(-10.0, 10.0))"},
    ),
    "loss_agg_mode": (
        *(PLAIN | {"actor.loss_agg_mode": "seq-mean-token-mean"}, "aggregate"),
        {"0.11.1": REFUSED, "0.11.2": "sequence_mean_token_mean(count_empty=False)"},
    ),
    "the penalty stays a mean over tokens": (
        *(PLAIN | {"actor.loss_agg_mode": "seq-mean-token-mean"}, "penalty_aggregate"),
        {"0.11.2": "token_mean"},
    ),
    "unbiased_gradient": (
        *(PLAIN | {"algo.kl.unbiased_gradient": True}, "penalty"),
        {"0.11.0": REFUSED, "0.11.1": "unbiased_gradient(estimator=k1)"},
    ),
}


@pytest.mark.parametrize(
    ("config", "name", "release", "expected"),
    [
        pytest.param(config, name, release, expected, id=f"{row}: {release}")
        for row, (config, name, releases) in BORDERS.items()
        for release, expected in releases.items()
    ],
)
def test_a_border(config, name, release, expected):
    dialect = DIALECT.at(release)
    if expected == REFUSED:
        with pytest.raises(ValueError, match=r"has no key|expected one of|refuses"):
            dialect.recipe(**config)
    else:
        assert dialect.recipe(**config).parts()[name] == expected


def test_the_flags_of_the_correction_tell_the_release():
    assert DIALECT.fitting(["algo.advantage.is_correction_enable"])[-1].release == "0.11.1"
    assert DIALECT.fitting(["algo.advantage.is_correction_level"])[0].release == "0.11.2"
    assert DIALECT.at("3c3be623").release == "0.11.0"


def test_the_new_default_mode_is_a_trap_of_its_release():
    name = "is_correction_level: the default mode drops tokens instead of limiting them"
    config = {"algo.advantage.is_correction_level": "token"}
    told = sprung(DIALECT.traps, DIALECT.settings(config), DIALECT.given(config))
    assert name in [trap.name for trap in told]
    named = config | {"algo.advantage.is_correction_mode": "mask"}
    told = sprung(DIALECT.traps, DIALECT.settings(named), DIALECT.given(named))
    assert name not in [trap.name for trap in told]


FLAGS = "--advantage_estimator group_norm --init_kl_coef 0.01 --n_samples_per_prompt 8 --eps_clip 0.2"


@pytest.mark.parametrize("module", ["openrlhf.cli.multi_agent_train_ppo_ray", "ttrl.cli.train_ppo_naive"])
def test_an_entry_point_of_a_fork_is_a_custom_script_with_the_flags_of_openrlhf(module):
    server = "python server.py --index_path a --corpus_path b --topk 3 &\n"
    launch = launches(f"{server}python3 -m {module} {FLAGS}", "run.sh")[0]
    assert (launch.trainer, launch.program) == ("openrlhf", module)


def test_the_entry_point_of_openrlhf_is_its_own():
    (launch,) = launches(f"python3 -m openrlhf.cli.train_ppo_ray {FLAGS}", "run.sh")
    assert (launch.trainer, launch.program) == ("openrlhf", "")


# ---- its own kernels, by hand -------------------------------------------------------------------------


def test_the_mean_of_the_whole_rollout_is_subtracted():
    """The mean of 3, 1, 0 and 0 is 1."""
    assert less_batch_mean(np.array([[3.0, 1.0], [0.0, 0.0]])).tolist() == [[2.0, 0.0], [-1.0, -1.0]]


def test_a_ratio_counts_where_the_divergence_is_small():
    """q = 1/2 and 1/2 against p = 1/4 and 1/2: tv is 1/4 and 0; the ratios are 2 and 1."""
    old, sampler, mask = np.log([[[0.5, 0.5]]]), np.log([[[0.25, 0.5]]]), np.ones((1, 1, 2))
    fields = (old, sampler, mask)
    both = ratio_below_divergence(*fields, statistic="tv", max_value=0.26)
    np.testing.assert_allclose(both, [[[2.0, 1.0]]], rtol=1e-14)
    one = ratio_below_divergence(*fields, statistic="tv", max_value=0.2)
    np.testing.assert_allclose(one, [[[0.0, 1.0]]], rtol=1e-14)
    whole = ratio_below_divergence(*fields, statistic="tv", level="seq", max_value=0.13)
    np.testing.assert_allclose(whole, [[[2.0, 1.0]]], rtol=1e-14)
    # The binary KL of 1/4 to 1/2 is (1/4) log(1/2) + (3/4) log(3/2).
    border = 0.25 * np.log(0.5) + 0.75 * np.log(1.5)
    for delta, expected in ((1e-9, 2.0), (-1e-9, 0.0)):
        found = ratio_below_divergence(*fields, statistic="binary_kl", max_value=border + delta)
        np.testing.assert_allclose(found[..., 0], expected, rtol=1e-14)


# level, bounds -> weights of the ratios 2, NaN, 10 in a first completion and 4, 1, 1 in a second one
INSIDE = {
    "token": ("token", (0.5, 5.0), [[2.0, 0.0, 0.0], [4.0, 1.0, 1.0]]),
    "a narrow window of tokens": ("token", (0.5, 2.0), [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]),
    "completion": ("seq", (0.5, 5.0), [[0.0, 0.0, 0.0], [4.0, 1.0, 1.0]]),
    "a geometric mean of 1.59": ("seq", (0.5, 1.5), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    "the wrong order": ("token", (5.0, 0.5), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
}


@pytest.mark.parametrize(("level", "bounds", "weights"), INSIDE.values(), ids=INSIDE)
def test_a_ratio_counts_inside_the_window_and_nan_is_outside(level, bounds, weights):
    sampler = -np.log([[[2.0, np.nan, 10.0], [4.0, 1.0, 1.0]]])
    low, high = bounds
    fields = (np.zeros((1, 2, 3)), sampler, np.ones((1, 2, 3)))
    found = ratio_inside(*fields, level=level, min_ratio=low, max_ratio=high)
    np.testing.assert_allclose(found, [weights], rtol=1e-14)


@pytest.mark.parametrize(("estimator", "value"), [("k1", 1.0), ("k2", 0.5), ("k3", np.exp(-1.0))])
def test_the_gradient_of_the_kl_does_not_depend_on_the_estimator(estimator, value):
    """v = 1 and r = 2: the slope is 2; a ratio of 20 counts as 10."""
    policy = np.zeros((1, 1, 1))
    term = unbiased_gradient(policy, policy - 1.0, policy - np.log(2.0), estimator=estimator)
    np.testing.assert_allclose((term.value.item(), term.direct.item()), (value, 2.0), rtol=1e-14)
    far = unbiased_gradient(policy, policy - 1.0, policy - np.log(20.0), estimator=estimator)
    np.testing.assert_allclose(far.direct.item(), 10.0, rtol=1e-14)
