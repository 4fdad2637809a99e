"""Traps: configurations of Trinity-RFT with effects that their author is unlikely to expect."""

from grpo_ref.explain.trap import Trap

CLIPS = {f"policy_loss_fn_args.clip_range{end}" for end in ("", "_low", "_high")}
VALIDATOR = "Trinity-RFT common/config_validator.py, check_and_set"
TRAPS = (
    Trap(
        "policy_loss_fn_args.loss_agg_mode is overridden",
        lambda s, given: (
            s["policy_loss_fn_args.loss_agg_mode"] is not None
            and s["policy_loss_fn_args.loss_agg_mode"] != s.loss_agg_mode
        ),
        "loss_agg_mode of the group algorithm replaces it, and is token-mean if it is not set. Set that key.",
        VALIDATOR,
        {"policy_loss_fn_args": {"loss_agg_mode": "seq-mean-token-mean", "clip_range": 0.2}},
        {"loss_agg_mode": "seq-mean-token-mean"},
    ),
    Trap(
        'algorithm_type="gspo" averages over tokens',
        lambda s, given: s.algorithm_type == "gspo" and s.loss_agg_mode == "token-mean",
        "loss_agg_mode is token-mean for every algorithm, so long completions weigh more. GSPO takes the mean within each"
        " completion, seq-mean-token-mean.",
        VALIDATOR,
        {"algorithm_type": "gspo"},
        {"algorithm_type": "gspo", "loss_agg_mode": "seq-mean-token-mean"},
    ),
    Trap(
        "policy_loss_fn_args is set without clip_range",
        lambda s, given: (
            s.algorithm_type in ("grpo", "dapo", "rloo")
            and s.policy_loss_fn in (None, "ppo")
            and any(key.startswith("policy_loss_fn_args.") for key in given)
            and not CLIPS & given
        ),
        "A given policy_loss_fn_args replaces all defaults, clip_range included, and the loss stops without one. Add"
        " clip_range: 0.2, the default that is assumed here.",
        VALIDATOR,
        {"policy_loss_fn_args": {"clip_ratio_c": 4.0}},
        {"policy_loss_fn_args": {"clip_ratio_c": 4.0, "clip_range": 0.2}},
    ),
    Trap(
        "repeat_times is 1: the reward is the advantage",
        lambda s, given: s.repeat_times == 1 and s.algorithm_type in ("grpo", "dapo", "rloo", "opmd"),
        "A single completion is compared with 0, so its advantage is its reward.",
        "Trinity-RFT algorithm/advantage_fn/grpo_advantage.py, calculate_group_advantage",
        {"repeat_times": 1},
        {"repeat_times": 8},
    ),
)
"""The traps, in the order in which they are reported."""
