"""Traps: configurations of Open Instruct with effects that their author is unlikely to expect."""

from grpo_ref.explain.trap import Trap

TRAPS = (
    Trap(
        'advantage_normalization_type is "centered" by default',
        lambda s, given: (
            s.advantage_normalization_type == "centered" and "advantage_normalization_type" not in given
        ),
        'The advantages are not divided by the std. With "standard" they are divided by the population'
        " std (ddof 0), while TRL and verl use the sample std (ddof 1).",
        "Open Instruct GRPOExperimentConfig; data_loader.py",
        {"beta": 0.0},
        {"beta": 0.0, "advantage_normalization_type": "standard"},
    ),
    Trap(
        "use_rho_correction is on by default",
        lambda s, given: bool(s.use_rho_correction) and "use_rho_correction" not in given,
        "The surrogate is multiplied by exp(old - sampler), limited to 2.",
        "Open Instruct compute_rho_correction",
        {"loss_fn": "dapo"},
        {"loss_fn": "dapo", "use_rho_correction": False},
    ),
    Trap(
        "rho_mask_sequence_level also replaces the weights",
        lambda s, given: bool(s.rho_mask_sequence_level and s.use_rho_correction),
        "rho_mask_sequence_level does not only mask: it replaces the token weights by the geometric mean"
        " of the sequence.",
        "Open Instruct compute_rho_correction",
        {"rho_mask_sequence_level": True, "rho_mask_upper_bound": 1.1},
        {"rho_mask_sequence_level": False, "rho_mask_upper_bound": 1.1},
    ),
    Trap(
        "rho_mask_*: a pack counts as one sequence",
        lambda s, given: bool(
            s.use_rho_correction and (s.rho_mask_sequence_level or s.rho_mask_tv_divergence)
        ),
        "The mean over a sequence is a mean over a pack, which holds as many completions as fit into"
        " pack_length. They share one ρ, and are dropped together. Here each completion is its own pack.",
        "Open Instruct _sequence_level_mean; rl_utils.py pack_sequences",
        {"rho_mask_tv_divergence": True, "rho_mask_upper_bound": 1.5},
        {"rho_mask_upper_bound": 1.5},
    ),
    Trap(
        "rho_mask_lower_bound is not a threshold of VACO",
        lambda s, given: bool(
            s.use_rho_correction and s.rho_mask_tv_divergence and not s.rho_mask_upper_bound > 0.0
        ),
        "Only rho_mask_upper_bound masks completions that are far from the sampler, and it must be above"
        " 1, which hardly any completion reaches. rho_mask_lower_bound masks tokens of completions that"
        " are close.",
        "Open Instruct compute_rho_correction; GRPOExperimentConfig.__post_init__",
        {"rho_mask_tv_divergence": True, "rho_mask_lower_bound": 0.2},
        {"rho_mask_tv_divergence": True, "rho_mask_upper_bound": 1.5},
    ),
    Trap(
        "Tokens that vLLM reports as NaN get the log-probability 1.0",
        lambda s, given: bool(s.use_rho_correction or s.use_vllm_logprobs),
        "If vLLM reports NaN, as for the end of an empty completion, 1.0 is used as the log-probability,"
        " not as the ratio. So ρ is πold/e instead of 1, and a rho_mask_lower_bound is likely to drop the"
        " token.",
        "Open Instruct mask_logprobs, INVALID_LOGPROB; data_loader.py process_group",
        {"use_rho_correction": True},
        {"use_rho_correction": False},
    ),
    Trap(
        "use_vllm_logprobs: the sampler is the old policy",
        lambda s, given: bool(s.use_vllm_logprobs),
        "The ratio is to vLLM's log-probabilities, so it is not 1 even in the first step, and the clip"
        " also acts on the mismatch of the two programs. Pass them as old_log_probs.",
        "Open Instruct resolve_old_logprob",
        {"use_vllm_logprobs": True, "use_rho_correction": False},
        {"use_vllm_logprobs": False, "use_rho_correction": False},
    ),
    Trap(
        "mask_truncated_completions shifts the groups",
        lambda s, given: bool(s.mask_truncated_completions),
        "Truncated completions are removed before the rewards are divided into groups. Unless whole"
        " groups remain, completions are compared with those of other prompts. If the rest does not fill"
        " whole groups, the run stops.",
        "Open Instruct data_loader.py, maybe_mask_truncated_completions",
        {"mask_truncated_completions": True},
        {"mask_truncated_completions": False},
    ),
    Trap(
        "active_sampling is off, so dropped groups are not replaced",
        lambda s, given: bool(
            s.filter_zero_std_samples and not s.active_sampling and "filter_zero_std_samples" in given
        ),
        "Groups with equal rewards are dropped, and no others are sampled instead unless active_sampling"
        " is on.",
        "Open Instruct data_loader.py, accumulate_inference_batches",
        {"filter_zero_std_samples": True},
        {"filter_zero_std_samples": True, "active_sampling": True},
    ),
    Trap(
        "loss_denominator does not change the logged loss",
        lambda s, given: s.loss_denominator != "token",
        "loss/policy_avg is always the mean over tokens. loss/total_avg is the mean over micro-batches of"
        " their contributions to the loss: with n equal micro-batches it is the loss divided by n.",
        "Open Instruct populate_sample_loss_stats, compute_metrics_from_loss_stats",
        {"loss_denominator": 40},
        {"loss_denominator": "token"},
    ),
    Trap(
        "num_mini_batches may drop micro-batches",
        lambda s, given: s.num_mini_batches > 1,
        "n micro-batches are split into mini-batches of n / num_mini_batches, rounded. There may be more"
        " or fewer mini-batches than requested, and the remaining micro-batches are dropped.",
        "Open Instruct grpo_fast.py, step",
        {"num_mini_batches": 2},
        {"num_mini_batches": 1},
    ),
    Trap(
        "kl_estimator 0 has an expected gradient of zero",
        lambda s, given: bool(s.load_ref_policy) and s.beta > 0.0 and s.kl_estimator in (0, "kl1"),
        "As a loss, estimator 0 (k1) has an expected gradient of zero.",
        "open-instruct #534",
        {"kl_estimator": 0},
        {"kl_estimator": 2},
    ),
    Trap(
        "beta is negative",
        lambda s, given: bool(s.load_ref_policy) and s.beta < 0.0,
        "A negative weight is used as it is: the loss falls as the policy moves away from the reference,"
        " without a limit.",
        "Open Instruct grpo_fast.py, step",
        {"beta": -0.05},
        {"beta": 0.05},
    ),
)
"""The traps, in the order in which they are reported."""
