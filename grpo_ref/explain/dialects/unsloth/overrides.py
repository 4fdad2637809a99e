"""The settings that Unsloth overrides."""

from grpo_ref.explain.settings import Settings


def overridden(s: Settings) -> Settings:
    """Return the settings after the overrides of Unsloth.

    loss_type="dapo" forces epsilon_high = 0.28 and masks truncated completions. loss_type="dr_grpo" turns
    scale_rewards=True into False and None into True; the text "group" stays.

    unsloth/models/rl.py, `check_dr_grpo`, since June 2025.
    """
    loss_type = s.loss_type.lower() if isinstance(s.loss_type, str) else s.loss_type
    if loss_type == "dapo":
        return s.replaced(loss_type="dapo", epsilon_high=0.28, mask_truncated_completions=True)
    if loss_type == "dr_grpo":
        scale = {True: False, None: True}.get(s.scale_rewards, s.scale_rewards)
        return s.replaced(loss_type="dr_grpo", scale_rewards=scale)
    return s
