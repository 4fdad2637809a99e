"""RLinf: borders between months, with values from losses.py and the actors at the end of each month."""

import pytest

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.trap import sprung

RLINF = DIALECTS["rlinf"]
CLIPPED = "clipped(clip_low=0.2, clip_high=0.2)"
DUAL = "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)"
K3 = "k3(max_log_ratio=20.0, max_value=10.0)"
KL = {"kl_beta": 0.01}
# month, configuration, part -> text
PARTS = {
    "no actor passes the second clip in October 2025": ("2025-10", {}, "surrogate", CLIPPED),
    "4bc686ab4 passes it": ("2025-11", {}, "surrogate", DUAL),
    "the Megatron actor swaps the penalty in August 2025": (
        "2025-08",
        KL,
        "penalty",
        f"swapped(estimator={K3})",
    ),
    "88e46586d mends it": ("2025-09", KL, "penalty", K3),
    "aa21c65af skips by the first completion": (
        *("2026-03", {"training_batch_size_per_gpu": 8}, "corrections"),
        "(unless_first_is_empty)",
    ),
    "before, all completions count": ("2026-02", {"training_batch_size_per_gpu": 8}, "corrections", "()"),
    "release 0.2 has both": ("0.2", KL, "surrogate", DUAL),
    "and so has 0.3.0": ("0.3.0", KL, "penalty", K3),
}


@pytest.mark.parametrize(("month", "config", "part", "text"), PARTS.values(), ids=PARTS)
def test_a_month_computes_this_part(month, config, part, text):
    assert ({"corrections": "()"} | RLINF.at(month).recipe(**config).parts())[part] == text


@pytest.mark.parametrize(("month", "count"), [("2025-10", 1), ("2025-11", 0), ("", 0)])
def test_the_unread_clip_is_warned_of_until_it_is_read(month, count):
    dialect = RLINF.at(month)
    config = {"clip_ratio_c": 3.0}
    titles = [trap.name for trap in sprung(dialect.traps, dialect.settings(config), dialect.given(config))]
    assert titles.count("clip_ratio_c has no effect until November 2025") == count


@pytest.mark.parametrize(
    ("key", "before", "first"),
    [
        ("importance_sampling_fix", "2025-09", "2025-10"),
        ("clip_log_ratio_min", "2026-01", "2026-02"),
        ("behave_weight_threshold", "2026-02", "2026-03"),
    ],
)
def test_a_key_is_unknown_before_the_month_that_brings_it(key, before, first):
    assert (RLINF.at(before).key(key), RLINF.at(first).key(key)) == (None, key)
