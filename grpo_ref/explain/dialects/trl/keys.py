"""The keys of `GRPOConfig`, the arguments of `GRPOTrainer`, TRL 1.16.0, and the keys that its command line reads.

Only `trainer` is not a key of TRL: it names the class that trains. tests/data/record/keys_trl.py compares all
others.
"""

from grpo_ref.explain.dialect import one_of
from grpo_ref.explain.settings import Settings

GRPO, GMPO = "GRPOTrainer", "GMPOTrainer"
"""The classes that train. The second one is in `trl.experimental.gmpo`."""
WINDOW_LOSSES = ("dapo", "cispo", "vespo")
"""Loss types that divide by the tokens of the generation batch and compensate for its number of steps."""
SCALES = {True: "group", False: "none", "group": "group", "batch": "batch", "none": "none"}
"""The values of `scale_rewards`, with the std that divides the advantages."""


def scale_in_effect(s: Settings) -> str:
    """Return the std that divides the advantages in this release: "group", "batch" or "none".

    Until 0.21 any text is true. In 0.22.0 and 0.22.1, "group" does not divide and all else divides by the group's std.

    Raises:
      ValueError: if TRL does not know the value.
    """
    if s.scale_rewards_meaning == "truth":
        return "group" if s.scale_rewards else "none"
    scale: str = one_of("scale_rewards", s.scale_rewards, SCALES)
    if s.scale_rewards_meaning == "swapped":
        return "none" if scale == "group" else "group"
    return scale


def has_several_steps(s: Settings) -> bool:
    """Return true if a generation batch is not trained on in exactly one optimizer step."""
    return s.steps_per_generation not in (None, s.gradient_accumulation_steps)
