"""NeMo-RL: each border between releases, with values from the sources at their tags."""

import numpy as np
import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.dialects.nemo_rl.kernels import compared_with_others
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.trap import sprung
from grpo_ref.explain.understanding import understood
from grpo_ref.explain.version import choose_version

NEMO_RL = DIALECTS["nemo_rl"]
BY_GROUP = {"use_leave_one_out_baseline": False}
# release, configuration, part -> text; utils.py, grpo.py and loss_functions.py at the tag
PARTS = {
    "until 0.3 the std of the others has their number as divisor": (
        *("0.3.1", {}, "advantage"),
        "compared_with_others(ddof=0, eps=0.0)",
    ),
    "and so has that of the group": ("0.2.1", BY_GROUP, "advantage", "group_normalized(ddof=0, eps=0.0)"),
    "from 0.4 on it is one less": ("0.4", BY_GROUP, "advantage", "group_normalized(ddof=1, eps=1e-06)"),
    "without division nothing changes": ("0.3.0", {"normalize_rewards": False}, "advantage", "leave_one_out"),
    "until 0.3 the log-ratio of the penalty has no limit": (
        "0.3.0",
        {},
        "penalty",
        "k3(max_log_ratio=inf, max_value=inf)",
    ),
    "from 0.4 on it has one": ("0.4", {}, "penalty", "k3(max_log_ratio=20.0, max_value=inf)"),
    "from 0.7 on the penalty has the gradient of its weight": (
        *("0.7", {}, "penalty"),
        "scored(estimator=k3, max_log_ratio=20.0, max_value=10.0)",
    ),
    "the weight of the penalty is the same": ("0.2.0", {}, "kl_coef", "0.01"),
}


@pytest.mark.parametrize(("release", "config", "part", "text"), PARTS.values(), ids=PARTS)
def test_a_release_computes_this_part(release, config, part, text):
    assert NEMO_RL.at(release).recipe(**config).parts()[part] == text


def test_the_spread_of_the_others_with_their_number_as_divisor():
    """The first of (3, 1, 0) is compared with (1, 0): (3 - 0.5) / 0.5 = 5."""
    scores = compared_with_others(np.array([[3.0, 1.0, 0.0]]), ddof=0, eps=0.0)
    np.testing.assert_allclose(scores, [[5.0, (1.0 - 1.5) / 1.5, (0.0 - 2.0) / 1.0]], rtol=1e-14)


@pytest.mark.parametrize("key", ["use_dynamic_sampling", "reward_scaling.enabled", "overlong_filtering"])
def test_keys_of_0_4_are_unknown_before(key):
    assert (NEMO_RL.at("0.3.1").key(key), NEMO_RL.at("0.4").key(key)) == (None, key)


SHAPED = {"use_dynamic_sampling": True, "reward_shaping.enabled": True}


def test_until_0_6_dynamic_sampling_looks_at_the_shaped_rewards():
    """grpo.py: `std` of shaped rewards until fc6057383, of the unshaped ones after."""
    with pytest.raises(ValueError, match=r"before 0\.7"):
        NEMO_RL.at("0.6").recipe(**SHAPED, use_leave_one_out_baseline=False)
    assert str(NEMO_RL.at("0.7").recipe(**SHAPED, use_leave_one_out_baseline=False).keep) == "mixed_groups"


def test_a_teacher_is_no_typo():
    keys = {"grpo.adv_estimator.name": "opd", "loss_fn.ratio_clip_max": 0.28}
    assert understood(NEMO_RL, keys, forked=True).config["grpo.adv_estimator.name"] == "opd"
    assert NEMO_RL.at("0.7").recipe(**{"adv_estimator.name": "opd"}).needs_teacher
    with pytest.raises(ValueError, match="expected one of 'grpo', 'reinforce_plus_plus', 'gdpo', got 'opd'"):
        NEMO_RL.at("0.6").recipe(**{"adv_estimator.name": "opd"})


def test_what_float32_leaves_of_the_variance_of_equal_rewards():
    """The formula of calculate_baseline_and_std_per_prompt in float32, as NeMo-RL PR #4161 reports it."""
    rewards = np.array([0.95, *[0.35] * 7], dtype=np.float32)
    others = 1.0 - np.eye(8, dtype=np.float32)
    mean, square = others @ rewards / np.float32(7.0), others @ rewards**2 / np.float32(7.0)
    std = np.sqrt(np.maximum((square - mean**2) * np.float32(7.0 / 6.0), 0.0))
    advantage = (rewards - mean)[0] / (std[0] + 1e-6)
    assert 1000.0 < advantage < 10000.0
    (trap,) = (
        trap
        for trap in sprung(NEMO_RL.traps, NEMO_RL.settings({}), set())
        if trap.name.startswith("use_leave_one_out_baseline")
    )
    assert "4000" in trap.text


def test_a_file_without_a_version_is_explained_for_today():
    keys = {"loss_fn.ratio_clip_max": 0.28, "grpo.num_generations_per_prompt": 8}
    version = choose_version(Launch(trainer="nemo_rl", keys=keys, why="it starts run_grpo.py"))
    assert version.dialect.release == NEMO_RL.release
