"""The traps of Unsloth: settings that it overrides or ignores. TRL's own traps hold after the overrides."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from grpo_ref.explain.dialects.trl.keys import WINDOW_LOSSES
from grpo_ref.explain.dialects.trl.traps import TRAPS as OF_TRL
from grpo_ref.explain.dialects.unsloth.overrides import (
    FORCED,
    IF_UNSET,
    has_a_chunk_per_completion,
    overridden,
)
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

SOURCE = "unsloth/models/rl.py, check_dr_grpo"
KERNEL = "unsloth_zoo/rl_replacements.py, grpo_compute_loss"
UNTIL_AUGUST = {"epsilon_high is not set, so CISPO's cap is 0.2", "Dr. GRPO that still divides by the std"}
"""Traps of TRL that Unsloth has until August 2026."""
UNREAD: dict[str, tuple[Any, str]] = {
    "importance_sampling_level": ("sequence", "2025-08"),
    "vllm_importance_sampling_correction": (True, "2025-09"),
    "vllm_importance_sampling_mode": ("sequence_mask", "2026-06"),
    "vllm_importance_sampling_clip_min": (0.5, "2026-06"),
    "off_policy_mask_threshold": (0.5, "2026-01"),
    "use_bias_correction_kl": (True, "2026-08"),
    "top_entropy_quantile": (0.2, "2026-09"),
    "entropy_coef": (0.01, "2026-09"),
    "use_adaptive_entropy": (True, "2026-09"),
}
"""Keys of TRL that Unsloth did not read: a value, and the last month."""


def _unread(key: str, value: Any, month: str) -> Trap:
    """Return the trap of a key that the loss does not read."""
    return Trap(
        f"{key} is not read",
        lambda s, given: key in given and key in s.unread_keys,
        f"Unsloth has a loss of its own, which does not read {key} until {month}. The value has no effect.",
        KERNEL,
        {key: value},
        {},
        release=month,
    )


def _after_overrides(trap: Trap) -> Trap:
    """Return a trap of TRL whose condition sees the overridden settings."""

    def sprung(s: Settings, given: Set[str]) -> bool:
        return trap.sprung(overridden(s), given)

    # Unsloth does not correct the sampler's mismatch by default, and the examples of TRL's traps rest on the correction.
    beside = (
        {"vllm_importance_sampling_correction": True} if "use_vllm" in {*trap.example, *trap.near} else {}
    )
    return replace(
        trap,
        sprung=sprung,
        example={**beside, **trap.example},
        near={**beside, **trap.near},
        release="2026-08" if trap.name in UNTIL_AUGUST else "",
    )


OWN = (
    Trap(
        'loss_type="dapo" sets epsilon_high=0.28 and mask_truncated_completions=True',
        lambda s, given: (
            s.presets == IF_UNSET
            and s.loss_type == "dapo"
            and (s.epsilon_high is None or s.mask_truncated_completions is None)
        ),
        'Unsloth sets those of the two that are not given if loss_type="dapo" is given. The same loss type as the default'
        " does not set them.",
        SOURCE,
        {"loss_type": "dapo"},
        {"loss_type": "dapo", "epsilon_high": 0.28, "mask_truncated_completions": True},
    ),
    Trap(
        'loss_type="dapo" forces epsilon_high=0.28 and mask_truncated_completions=True',
        lambda s, given: (
            s.presets == FORCED
            and s.loss_type == "dapo"
            and (s.epsilon_high != 0.28 or s.mask_truncated_completions is not True)
        ),
        "Unsloth sets both, whatever the configuration says, and prints a note. Choose another loss_type if you want"
        " other values.",
        SOURCE,
        {"loss_type": "dapo"},
        {"loss_type": "dapo", "epsilon_high": 0.28, "mask_truncated_completions": True},
        release="2026-08",
    ),
    Trap(
        'loss_type="dapo" is bnpo without a KL penalty',
        lambda s, given: bool(s.dapo_is_bnpo) and s.loss_type == "dapo",
        'From June to September 2025, Unsloth turns "dapo" into "bnpo" and sets beta=0.0. In chunks of one completion, bnpo'
        " is the mean over completions.",
        SOURCE,
        {"loss_type": "dapo"},
        {"loss_type": "bnpo"},
        release="2025-09",
    ),
    Trap(
        'loss_type="bnpo" averages over completions, not tokens',
        lambda s, given: s.loss_type == "bnpo" and "loss_type" in given and has_a_chunk_per_completion(s),
        "Until August 2026, Unsloth takes the loss of one completion at a time (unsloth_num_chunks=-1) and averages over"
        ' completions. Tokens of short completions count more, exactly as with "grpo". Set unsloth_num_chunks=1 for the'
        " mean over the tokens of a micro-batch.",
        "unsloth_zoo/rl_replacements.py, UnslothEfficientGRPO",
        {"loss_type": "bnpo"},
        {"loss_type": "grpo"},
        release="2026-08",
    ),
    Trap(
        'loss_type="dapo": the loss is divided by the completions of a micro-batch too',
        lambda s, given: (
            overridden(s).loss_type in WINDOW_LOSSES and bool(s.averages_chunks) and s.unsloth_num_chunks != 1
        ),
        "Until August 2026, Unsloth averages over chunks (of one completion by default) a loss that is already divided by"
        " all tokens. The gradient of dapo, cispo and vespo is smaller than TRL's by the number of chunks. Adam hides the"
        " factor; gradient clipping does not.",
        "unsloth_zoo/rl_replacements.py, UnslothEfficientGRPO",
        {"loss_type": "dapo"},
        {"loss_type": "grpo"},
        release="2026-08",
    ),
    Trap(
        'scale_rewards becomes False with loss_type="dr_grpo"',
        lambda s, given: (
            s.loss_type == "dr_grpo"
            and "scale_rewards" in given
            and overridden(s).scale_rewards is False
            and s.scale_rewards is not False
        ),
        "Unsloth overrides it and prints a note. scale_rewards=None keeps the division by the std.",
        SOURCE,
        {"loss_type": "dr_grpo", "scale_rewards": True},
        {"loss_type": "dr_grpo", "scale_rewards": False},
    ),
    Trap(
        "temperature does not reach the loss",
        lambda s, given: not s.logits_are_divided_by_temperature and s.temperature != 1.0,
        "Until May 2025, Unsloth uses temperature for sampling only. The loss has the log-probabilities of temperature 1,"
        " which is not the distribution that was sampled.",
        KERNEL,
        {"temperature": 0.7},
        {"temperature": 1.0},
        release="2025-05",
    ),
)
TRAPS = (
    *OWN,
    *(_unread(key, value, month) for key, (value, month) in UNREAD.items()),
    *(_after_overrides(trap) for trap in OF_TRL if not trap.release),
)
