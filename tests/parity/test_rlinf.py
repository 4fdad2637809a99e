"""RLinf: the calls and metrics of its recorded cases."""

import numpy as np
import pytest

from grpo_ref.parity.replay import rebuild

SMALL = {
    "group_size": 2,
    "policy": [[-1.0, -2.0], [-1.5, -0.5]],
    "old": [[-1.1, -2.0], [-1.2, -0.5]],
    "cost": [[-1.1, -2.0], [-1.4, -0.5]],
    "ref": [[-1.0, -1.0], [-1.0, -1.0]],
    "tokens": [[1, 0], [1, 1]],
    "better": [1.0, -1.0],
    "rewards": [1.0, 0.0],
}
"""Two completions, of one token and of two; the numbers that are expected of it were recorded from RLinf."""


def test_what_a_step_logs_is_the_mean_over_its_micro_batches():
    """Ratios e^0.1, and e^-0.3 with 1: their means are 1.10517 and 0.87041, and the mean of these 0.98779."""
    given = {"log_probs": "policy", "old_log_probs": "old", "advantages": "better", "mask": "tokens"}
    config = {"ratio_clip_eps": 0.2, "clip_ratio_c": None, "training_batch_size_per_gpu": 1}
    case = {"trainer": "rlinf", "call": "loss of a step", "config": config, "given": given}
    logged = rebuild({**case, "metrics": {"actor/ratio": 0.0, "actor/approx_kl": 0.0}}, SMALL)["logged"]
    assert logged["actor/ratio"] == pytest.approx((np.exp(0.1) + (np.exp(-0.3) + 1.0) / 2.0) / 2.0)
    assert logged["actor/approx_kl"] == pytest.approx(0.025)
