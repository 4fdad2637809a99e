"""The traps of Unsloth: settings that it overrides. TRL's own traps hold after the overrides."""

from collections.abc import Set
from dataclasses import replace

from grpo_ref.explain.dialects.trl.traps import TRAPS as OF_TRL
from grpo_ref.explain.dialects.unsloth.overrides import overridden
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

DEFAULTS_OF_TRL = {
    "loss_type": "dapo",
    "beta": 0.0,
    "vllm_importance_sampling_correction": True,
    "use_bias_correction_kl": True,
}
"""Defaults of TRL that Unsloth changes. The examples of TRL's traps rest on them."""
SOURCE = "unsloth/models/rl.py, check_dr_grpo"


def _after_overrides(trap: Trap) -> Trap:
    """Return a trap of TRL whose condition sees the overridden settings."""

    def sprung(s: Settings, given: Set[str]) -> bool:
        return trap.sprung(overridden(s), given)

    beside = {} if "trainer" in trap.example else DEFAULTS_OF_TRL
    return replace(trap, sprung=sprung, example={**beside, **trap.example}, near={**beside, **trap.near})


OVERRIDDEN = (
    Trap(
        'loss_type="dapo" forces epsilon_high=0.28 and mask_truncated_completions=True',
        lambda s, given: (
            s.loss_type == "dapo" and (s.epsilon_high != 0.28 or s.mask_truncated_completions is not True)
        ),
        "Unsloth sets both, whatever the configuration says, and prints a note. Choose another loss_type if you want"
        " other values.",
        SOURCE,
        {"loss_type": "dapo"},
        {"loss_type": "dapo", "epsilon_high": 0.28, "mask_truncated_completions": True},
    ),
    Trap(
        'scale_rewards=True becomes False with loss_type="dr_grpo"',
        lambda s, given: s.loss_type == "dr_grpo" and s.scale_rewards is True,
        "Unsloth overrides it and prints a note. None keeps the division by the std, and so does the text"
        ' "group", which is the default of newer TRL.',
        SOURCE,
        {"loss_type": "dr_grpo", "scale_rewards": True},
        {"loss_type": "dr_grpo", "scale_rewards": False},
    ),
)
TRAPS = (*OVERRIDDEN, *map(_after_overrides, OF_TRL))
