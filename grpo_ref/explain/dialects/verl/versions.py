"""verl from its first release on: the history of each key, from `ppo_trainer.yaml` and `core_algos.py`.

Forks such as TinyZero, Search-R1 and simpleRL-reason carry an early verl.
"""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialects.verl.keys import ACTOR, BY_PLACE, INNER, SUBTRACTED
from grpo_ref.explain.versions import History, Without, versions


def _new(version: str, default: Any, before: Any = None) -> Mapping[str, Any]:
    """Return the history of a key added in a version: its default from then on, and the equivalent value before."""
    return {"0.1": Without(default if before is None else before), version: default}


MAIN = "0.3.1"
"""Not a release, but the main branch between 0.3 and 0.4, from 4 to 17 April 2025, from which many forks started.

It already had the dual clip, and still had the bonus.
"""
FIRST = "0.1.1"
"""Not a release, but the main branch from 23 January to 1 February 2025.

It lasts from commit cd52d8b35, which added GRPO, until a65c9157b. It subtracted the penalty from the loss, so
that the penalty was maximized. TinyZero and Search-R1 carry this version.
"""
CORRECTION = "algorithm.rollout_correction"
HISTORY: History = {
    "clip_ratio_low": {"0.1": Without(None), MAIN: 0.2},
    "clip_ratio_high": {"0.1": Without(None), MAIN: 0.2},
    "clip_ratio_c": {"0.1": Without(None), MAIN: 3.0},
    "loss_agg_mode": _new(MAIN, "token-mean"),
    "loss_scale_factor": {"0.1": Without(None), "0.7": None},
    "norm_adv_by_std_in_grpo": _new("0.4", True),
    "entropy_coeff": {"0.1": 0.001, "0.4": 0.0},
    "use_kl_loss": {"0.1": Without(False), FIRST: False},
    SUBTRACTED: {"0.1": Without(False), FIRST: Without(True), "0.2": Without(False)},
    "use_kl_in_reward": {"0.1": Without(None), MAIN: False},
    "kl_loss_coef": _new(FIRST, 0.001),
    "kl_loss_type": _new(FIRST, "low_var_kl"),
    "loss_mode": _new("0.5", "vanilla"),
    "tau_pos": _new("0.7", 1.0),
    "tau_neg": _new("0.7", 1.05),
    **{
        key: {"0.1": Without(value), "0.7": value}
        for place in (CORRECTION, f"{ACTOR}.{INNER}")
        for key, value in BY_PLACE[place].items()
    },
}
"""The history of each key.

In releases before 0.4 a bad token had no bound, because there was no dual clip. The penalty was in the reward
unless it was in the loss.
"""
EARLY = "each micro-batch of each rank, and then over these"
"""The set over which versions before 0.6 averaged."""
VERSIONS = {
    name: version._replace(mean="" if name == "0.7" else EARLY)
    for name, version in versions("verl", HISTORY).items()
}
CLUES = {"ppo_micro_batch_size": "0.2", "log_prob_micro_batch_size": "0.2", "n_agent": "0.2"}
"""Keys that are rarely used since another key replaced them, each with the last version before that."""
