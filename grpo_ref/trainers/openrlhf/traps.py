"""Configurations of OpenRLHF that do something else than their author is likely to think."""

from grpo_ref.trainers.trap import Trap

TRAPS = (
    Trap(
        "A clamp that does not clamp",
        lambda s, given: bool(s.enable_vllm_is_correction) and s.vllm_is_correction_type == "seq-mask-tis",
        "seq-mask-tis filters completions by their geometric mean; the token weights inside are not limited, though the"
        " comment in the code says so.",
        "OpenRLHF loss.py, PolicyLoss",
        {"enable_vllm_is_correction": True, "vllm_is_correction_type": "seq-mask-tis"},
        {"enable_vllm_is_correction": True, "vllm_is_correction_type": "tis"},
    ),
    Trap(
        "Two names for a baseline, one of them whitened",
        lambda s, given: s.advantage_estimator == "reinforce_baseline",
        "reinforce_baseline and dr_grpo both subtract the group's mean; reinforce_baseline is whitened over the batch"
        " afterwards.",
        "OpenRLHF experience_maker.py",
        {"advantage_estimator": "reinforce_baseline"},
        {"advantage_estimator": "dr_grpo"},
    ),
)
"""In the order in which they are told."""
