"""Configurations of verl that do something else than their author is likely to think."""

from grpo_ref.trainers.trap import Trap

TRAPS = (
    Trap(
        "clip_ratio beside low and high",
        lambda s, given: (
            "clip_ratio" in given and s.clip_ratio_low is not None and s.clip_ratio_high is not None
        ),
        "clip_ratio counts only where clip_ratio_low or clip_ratio_high is None; both are 0.2 by default.",
        "verl ActorConfig; core_algos.compute_policy_loss_vanilla",
        {"clip_ratio": 0.1},
        {"clip_ratio": 0.1, "clip_ratio_low": None, "clip_ratio_high": None},
    ),
    Trap(
        "The dual clip is always on",
        lambda s, given: s.loss_mode == "vanilla" and "clip_ratio_c" not in given,
        "A bad token that has become 3 times likelier loses its gradient (clip_ratio_c = 3.0). For plain PPO make it large.",
        "verl compute_policy_loss_vanilla; Ye et al. 2020 (arXiv:1912.09729)",
        {"loss_mode": "vanilla"},
        {"loss_mode": "vanilla", "clip_ratio_c": 10.0},
    ),
    Trap(
        "DPPO capped at 3",
        lambda s, given: s.loss_mode in ("dppo_tv", "dppo_kl") and "clip_ratio_c" not in given,
        "DPPO's weight is meant to be capped at 20, but clip_ratio_c is 3.0 unless it is set: the 20 in the code never takes effect.",
        "verl compute_policy_loss_dppo_tv and ActorConfig",
        {"loss_mode": "dppo_tv"},
        {"loss_mode": "dppo_tv", "clip_ratio_c": 20.0},
    ),
    Trap(
        "An average that is not used",
        lambda s, given: s.loss_mode in ("gspo", "sapo", "geo_mean") and "loss_agg_mode" in given,
        "gspo and sapo force seq-mean-token-mean, geo_mean averages over all completions; loss_agg_mode is not read.",
        "verl core_algos",
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"loss_mode": "vanilla", "loss_agg_mode": "token-mean", "clip_ratio_c": 3.0},
    ),
    Trap(
        "CISPO with a lower bound",
        lambda s, given: s.loss_mode == "cispo",
        "verl's weight is clipped on both sides, to [0.8, 1.2] by default; MiniMax, TRL and Open Instruct have no lower"
        " bound, and their caps are larger.",
        "verl compute_policy_loss_cispo",
        {"loss_mode": "cispo"},
        {"loss_mode": "gpg"},
    ),
    Trap(
        "The estimator is GAE unless it is set",
        lambda s, given: "adv_estimator" not in given,
        'algorithm.adv_estimator is "gae" in verl, which needs a critic; it is taken for "grpo" here.',
        "verl AlgoConfig",
        {"loss_mode": "gpg"},
        {"loss_mode": "gpg", "adv_estimator": "grpo"},
    ),
    Trap(
        "A denominator that changes with the batch",
        lambda s, given: s.loss_agg_mode == "seq-mean-token-sum-norm" and s.loss_scale_factor is None,
        "seq-mean-token-sum-norm divides by loss_scale_factor, and without it by the padded length of the batch at hand,"
        " which varies. Dr. GRPO's constant has to be set.",
        "verl agg_loss; verl #3741",
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        {"loss_agg_mode": "seq-mean-token-sum-norm", "loss_scale_factor": 2048},
    ),
    Trap(
        "Half of Dr. GRPO",
        lambda s, given: not s.norm_adv_by_std_in_grpo and s.loss_agg_mode != "seq-mean-token-sum-norm",
        "norm_adv_by_std_in_grpo=False removes the division by the std, not the one by the length: Dr. GRPO also needs"
        " loss_agg_mode=seq-mean-token-sum-norm.",
        "verl docs, algo/grpo",
        {"norm_adv_by_std_in_grpo": False},
        {
            "norm_adv_by_std_in_grpo": False,
            "loss_agg_mode": "seq-mean-token-sum-norm",
            "loss_scale_factor": 1024,
        },
    ),
    Trap(
        "A group of one keeps its reward",
        lambda s, given: (
            vars(s)["rollout.n"] == 1 and "rollout.n" in given and s.adv_estimator in ("grpo", "rloo")
        ),
        "With rollout.n = 1 a group has mean 0 and std 1 by definition: the advantage is the raw reward.",
        "verl compute_grpo_outcome_advantage",
        {"rollout.n": 1, "adv_estimator": "grpo"},
        {"rollout.n": 8, "adv_estimator": "grpo"},
    ),
    Trap(
        "A penalty that does not pull",
        lambda s, given: bool(s.use_kl_loss) and s.kl_loss_type in ("kl", "k1", "abs"),
        "As a loss, k1 has an expected gradient of zero, and abs twice that of the total variation; k2 and the types with"
        " a + have the KL's own.",
        "Schulman 2020, Approximating KL divergence; verl #2953",
        {"use_kl_loss": True, "kl_loss_type": "k1"},
        {"use_kl_loss": True, "kl_loss_type": "k2"},
    ),
)
"""In the order in which they are told."""
