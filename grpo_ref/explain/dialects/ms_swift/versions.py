"""ms-swift from 3.1 on, the first version with grpo: the history of each argument, from the tags of its repository.

The arguments are those of `rlhf_args.py` and the classes below it. Behaviour without an argument is in
`grpo_trainer.py`, `_compute_loss_and_metrics` and its predecessors. Two differences are not described: until
4.0.3, a penalty weighted by the sampler's mismatch had no limits, and before 3.12.3, sapo's gates lacked the
factor 4/τ.
"""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects.ms_swift.keys import ALIASES, BEHAVIOUR, DEFAULTS, Behaviour
from grpo_ref.explain.versions import History, Without, versions


def _new(version: str, default: Any) -> Mapping[str, Any]:
    """Return the history of an argument that was added in a version and does nothing at its default."""
    return {"3.1": Without(default), version: default}


AT_4_1 = Behaviour(loss_types=tuple(name for name in Behaviour().loss_types if name != "fipo"))
AT_4_0_4 = AT_4_1._replace(loss_types=tuple(name for name in AT_4_1.loss_types if name != "real"))
AT_4_0 = AT_4_0_4._replace(is_limited=False)
AT_3_12_3 = AT_4_0._replace(scales=("group", "batch", "none"))
AT_3_11_1 = AT_3_12_3._replace(loss_types=tuple(name for name in AT_3_12_3.loss_types if name != "sapo"))
AT_3_11 = AT_3_11_1._replace(checks_sampler=False)
AT_3_10 = AT_3_11._replace(loss_types=("grpo", "bnpo", "dr_grpo"))
AT_3_8 = AT_3_10._replace(scales=(True, False))
AT_3_1 = AT_3_8._replace(levels=("token", "sequence"))
HISTORY: History = {
    BEHAVIOUR: {
        "3.1": Without(AT_3_1),
        "3.8": Without(AT_3_8),
        "3.10": Without(AT_3_10),
        "3.11": Without(AT_3_11),
        "3.11.1": Without(AT_3_11_1),
        "3.12.3": Without(AT_3_12_3),
        "4.0": Without(AT_4_0),
        "4.0.4": Without(AT_4_0_4),
        "4.1": Without(AT_4_1),
        "4.2.2": Without(Behaviour()),
    },
    "loss_type": {"3.1": Without("bnpo"), "3.4": "grpo"},
    "epsilon": {"3.1": Without(None), "3.2": 0.2},
    "epsilon_high": _new("3.2.2", None),
    "num_iterations": _new("3.2", 1),
    "async_generate": _new("3.2", False),
    **{key: _new("3.3", DEFAULTS[key]) for key in ("overlong_filter", "dynamic_sample")},
    **{key: _new("3.3", DEFAULTS[key]) for key in ("soft_max_length", "soft_cache_length")},
    "scale_rewards": {"3.1": Without(True), "3.3": True, "3.10": "group"},
    **{key: _new("3.5", DEFAULTS[key]) for key in ("delta", "steps_per_generation", "generation_batch_size")},
    "vllm_mode": _new("3.5", None),
    "multi_turn_scheduler": _new("3.6", None),
    "importance_sampling_level": _new("3.7", "token"),
    "top_entropy_quantile": _new("3.7", 1.0),
    "advantage_estimator": _new("3.10", "grpo"),
    "kl_in_reward": _new("3.10", False),
    "tau_pos": _new("3.11", 1.0),
    "tau_neg": _new("3.11", 1.05),
    "rollout_importance_sampling_mode": _new("3.11", None),
    "rollout_importance_sampling_threshold": _new("3.11", 2.0),
    "off_policy_sequence_mask_delta": _new("3.12", None),
    "real_tau": _new("4.1", 0.5),
    **{key: _new("4.2.2", default) for key, default in DEFAULTS.items() if key.startswith("fipo_")},
}
"""The history of each argument.

Until 3.1 every batch served one update and there was no clip. Until 3.3 all losses were means over tokens.
"""
WENT = {
    **dict.fromkeys(("use_lmdeploy", "lmdeploy_device", "lmdeploy_session_len"), "3.5"),
    **dict.fromkeys(("num_infer_workers", "vllm_device"), "3.6"),
    **dict.fromkeys(("gc_collect_after_offload", "multi_turn_func", "tensor_parallel_size"), "3.10"),
    "ckpt_dir": "4.0",
    "train_type": "4.1",
}
"""Removed arguments, each with the first version without it. None of them affected the objective."""
CAME = {
    **{"num_infer_workers": "3.2", "gc_collect_after_offload": "3.2.1", "multi_turn_func": "3.2.2"},
    **{"vllm_tensor_parallel_size": "3.5", "vllm_use_async_engine": "3.7", "log_entropy": "3.7"},
    "tuner_type": "4.0",
}
"""Arguments that do not affect the objective, but show that a version is not older than this one."""


def foreign(name: str) -> frozenset[str]:
    """Return the arguments that a version does not have yet, or no longer has, with underscores and with hyphens."""
    at = numbered(name)
    flags = {flag for flag, first in CAME.items() if at < numbered(first)}
    flags |= {flag for flag, after in WENT.items() if numbered(after) <= at}
    return frozenset(flags | {given for given, flag in ALIASES.items() if flag in flags})


VERSIONS = {
    name: version._replace(foreign=foreign(name))
    for name, version in versions("ms-swift", HISTORY, {*WENT.values(), *CAME.values()}).items()
}
