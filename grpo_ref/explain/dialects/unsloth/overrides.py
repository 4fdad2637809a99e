"""The settings that Unsloth overrides, and the keys of TRL that its loss does not read."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.explain.settings import Settings

NEUTRAL: Mapping[str, Any] = {
    "loss_type": "grpo",
    "epsilon": None,
    "epsilon_high": None,
    "delta": None,
    "num_iterations": 1,
    "importance_sampling_level": "token",
    "vllm_importance_sampling_correction": False,
    "vllm_importance_sampling_mode": "token_truncate",
    "vllm_importance_sampling_clip_min": None,
    "off_policy_mask_threshold": None,
    "use_bias_correction_kl": False,
    "top_entropy_quantile": 1.0,
    "entropy_coef": 0.0,
    "use_adaptive_entropy": False,
}
"""The value with which TRL computes what Unsloth computes while it does not read the key."""
FORCED, IF_UNSET = "forced", "if unset"
"""Ways in which a loss type brings other settings: whatever is given, or if nothing is given."""


def overridden(s: Settings) -> Settings:
    """Return the settings with which TRL's dialect computes the loss of Unsloth.

    unsloth/models/rl.py, `check_dr_grpo`; unsloth_zoo/rl_replacements.py, `grpo_compute_loss` and `UnslothEfficientGRPO`.
    """
    loss_type = s.loss_type.lower() if isinstance(s.loss_type, str) else "dapo"
    beta = s.beta
    if beta is None:
        beta = 0.0 if loss_type in ("dapo", "dr_grpo") else 0.001
    changes = {"loss_type": loss_type, "beta": beta, **_presets(s, loss_type)}
    if s.mask_truncated_completions is None:
        changes = {"mask_truncated_completions": False, **changes}
    if loss_type == "dapo" and s.dapo_is_bnpo:
        changes |= {"loss_type": "bnpo", "beta": 0.0}
    if loss_type == "vespo" and not s.vespo_reads_sampler:
        changes["vllm_importance_sampling_correction"] = False
    changes |= {key: NEUTRAL[key] for key in s.unread_keys}
    if changes["loss_type"] == "bnpo" and has_a_chunk_per_completion(s):
        # The token mean of one completion, and then the mean over completions: what TRL calls "grpo".
        changes["loss_type"] = "grpo"
    return s.replaced(changes)


def _presets(s: Settings, loss_type: str) -> dict[str, Any]:
    """Return the settings that a loss type brings with it. An unset loss type is dapo without them."""
    if s.presets not in (FORCED, IF_UNSET):
        return {}
    if loss_type == "dr_grpo":
        is_off = s.scale_rewards is True or (s.presets == IF_UNSET and s.scale_rewards == "group")
        scale = False if is_off else True if s.scale_rewards is None else s.scale_rewards
        return {"scale_rewards": scale}
    if s.presets == FORCED:
        return {"epsilon_high": 0.28, "mask_truncated_completions": True} if loss_type == "dapo" else {}
    if loss_type == "dapo" and s.loss_type is not None:
        masks = s.mask_truncated_completions
        return {
            "epsilon_high": 0.28 if s.epsilon_high is None else s.epsilon_high,
            "mask_truncated_completions": True if masks is None else masks,
        }
    if loss_type == "cispo" and s.epsilon_high is None:
        return {"epsilon_high": 5.0}
    return {}


def has_a_chunk_per_completion(s: Settings) -> bool:
    """Return true if the loss is taken for each completion alone, and then averaged over completions."""
    return bool(s.averages_chunks) and s.unsloth_num_chunks == -1
