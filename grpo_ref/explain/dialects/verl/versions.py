"""verl from its first release on: what each key was, read from `ppo_trainer.yaml` and `core_algos.py` of the releases.

Forks such as TinyZero, Search-R1 and simpleRL-reason carry an early verl with them.
"""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialects.verl.keys import ACTOR, BY_PLACE, INNER, SUBTRACTED
from grpo_ref.explain.versions import History, Without, versions


def _new(version: str, default: Any, before: Any = None) -> Mapping[str, Any]:
    """A key that came with a version: its default from then on, and what was done before."""
    return {"0.1": Without(default if before is None else before), version: default}


MAIN = "0.3.1"
"""No release, but what lay between 0.3 and 0.4: the main branch from 4 to 17 April 2025, which many forks started from.
It had the dual clip already, and the bonus still."""
FIRST = "0.1.1"
"""No release either: the main branch from 23 January to 1 February 2025, from its commit cd52d8b35 on, which brought
GRPO, until a65c9157b. It took the penalty off the loss, so that it was maximized; TinyZero and Search-R1 carry it."""
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
"""In releases before 0.4 a bad token had no bound: there was no dual clip. The penalty was in the reward unless it was
in the loss."""
EARLY = "each micro-batch of each rank, and then over these"
"""Over what was averaged until 0.6."""
VERSIONS = {
    name: version._replace(mean="" if name == "0.7" else EARLY)
    for name, version in versions("verl", HISTORY).items()
}
CLUES = {"ppo_micro_batch_size": "0.2", "log_prob_micro_batch_size": "0.2", "n_agent": "0.2"}
"""Keys that hardly anybody sets since another took their place, each with the last version before that."""
