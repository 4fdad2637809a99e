"""EasyR1 month by month, as of the end of each month.

Most scripts carry a copy of EasyR1 and name no release.

Read from the configurations, `core_algos.py` and `dp_actor.py`.
"""

import math
from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import Version, numbered
from grpo_ref.explain.versions import History, Without, versions


def _new(month: str, default: Any) -> Mapping[str, Any]:
    """Return the history of a key that was added in a month and does nothing at its default."""
    return {"2025.2": Without(default), month: default}


HISTORY: History = {
    "clip_ratio": {"2025.2": 0.2, "2025.4": Without(None)},
    "clip_ratio_low": _new("2025.4", 0.2),
    "clip_ratio_high": {"2025.2": Without(0.2), "2025.4": 0.3},
    "clip_ratio_dual": {"2025.2": Without(None), "2025.4": 3.0},
    "entropy_coeff": {"2025.2": 0.001, "2025.3": Without(0.0)},
    "actor.use_kl_loss": {"2025.2": True, "2025.3": False},
    "kl_loss_coef": {"2025.2": 0.001, "2025.3": Without(None)},
    "kl_loss_type": {"2025.2": "low_var_kl", "2025.3": Without(None)},
    "use_kl_loss": _new("2025.3", False),
    "disable_kl": _new("2025.3", False),
    "kl_horizon": {"2025.2": 0.0, "2025.6": 10000.0},
    "online_filtering": _new("2025.6", False),
    "filter_key": _new("2025.6", "overall"),
    "filter_low": _new("2025.6", 0.01),
    "filter_high": _new("2025.6", 0.99),
    "loss_avg_mode": _new("2025.6", "token"),
    "max_log_ratio": {"2025.2": Without(math.inf), "2025.6": Without(20.0)},
    "loss_type": _new("2025.10", "default"),
    "tau_positive": _new("2025.12", 1.0),
    "tau_negative": _new("2025.12", 1.05),
    "not_yet": {
        "2025.2": Without(("grpo_passk", "gspo")),
        "2025.12": Without(("gspo",)),
        "2026.1": Without(()),
    },
}
"""The history of each key.

Until December 2025, grpo_passk did not set the rewards of a group's other members to 0. Until January 2026,
gspo multiplied arrays of different shapes.
"""
MEANS = {"2025.2": "each micro-batch of each rank, and then over these", "2025.7": ""}
"""The first month of each way to average; "" is the present way."""
RELEASES = {"v0.3.0": "2025.4", "v0.3.1": "2025.6", "v0.3.2": "2025.9"}
"""Each release, with the month that describes it."""
_WENT = """return_raw_input_ids=2025.3 return_raw_prompt=2025.3 val_generations_to_log_to_wandb=2025.3 test_freq=2025.3
remove_previous_ckpt=2025.3 del_local_ckpt_after_load=2025.3 lr_warmup_steps_ratio=2025.3 param_offload=2025.3
optimizer_offload=2025.3 do_sample=2025.3 system_prompt=2025.4 total_episodes=2025.6 score_function=2025.6 free_cache_engine=2025.4
max_num_seqs=2025.4 compute_score=2025.4 warmup_style=2025.11 reward_type=2025.11"""
WENT = dict(pair.split("=") for pair in _WENT.split())
"""Removed keys that did not affect the objective, each with the first version without it."""
FORMER = {"ulysses_sequence_parallel_size": "ulysses_size"}
"""Names of keys until May 2025."""


def _completed(name: str, version: Version) -> Version:
    begun = [mean for first, mean in MEANS.items() if numbered(first) <= numbered(name)]
    return version._replace(
        others=frozenset(key for key, after in WENT.items() if numbered(name) < numbered(after)),
        aliases=FORMER if numbered(name) < (2025, 6) else {},
        mean=begun[-1],
    )


MONTHS = {
    name: _completed(name, version)
    for name, version in versions("EasyR1", HISTORY, {*WENT.values(), *MEANS, *RELEASES.values()}).items()
}
VERSIONS = MONTHS | {
    release: MONTHS[month]._replace(title=f"EasyR1 {release}") for release, month in RELEASES.items()
}
