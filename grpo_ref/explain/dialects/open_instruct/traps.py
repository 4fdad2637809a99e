"""Traps: configurations of Open Instruct with effects that their author is unlikely to expect."""

from grpo_ref.explain.trap import Trap

TRAPS = (
    Trap(
        "Centered, not normalized",
        lambda s, given: "advantage_normalization_type" not in given,
        'advantage_normalization_type is "centered": the advantages are not divided by the std. With "standard" they are'
        " divided by the population std (ddof 0), where TRL and verl take the sample's (ddof 1).",
        "Open Instruct GRPOExperimentConfig; data_loader.py",
        {"beta": 0.0},
        {"beta": 0.0, "advantage_normalization_type": "standard"},
    ),
    Trap(
        "A correction that nobody asked for",
        lambda s, given: bool(s.use_rho_correction) and "use_rho_correction" not in given,
        "use_rho_correction is on: the surrogate is multiplied by exp(old - sampler), limited to 2.",
        "Open Instruct compute_rho_correction",
        {"loss_fn": "dapo"},
        {"loss_fn": "dapo", "use_rho_correction": False},
    ),
    Trap(
        "A sequence mask that replaces the weights",
        lambda s, given: bool(s.rho_mask_sequence_level and s.use_rho_correction),
        "rho_mask_sequence_level does not only mask: the token weights are replaced by the geometric mean of the sequence.",
        "Open Instruct compute_rho_correction",
        {"rho_mask_sequence_level": True, "rho_mask_upper_bound": 1.1},
        {"rho_mask_sequence_level": False, "rho_mask_upper_bound": 1.1},
    ),
    Trap(
        "A row is taken for a sequence",
        lambda s, given: bool(
            s.use_rho_correction and (s.rho_mask_sequence_level or s.rho_mask_tv_divergence)
        ),
        "The mean over a sequence is one over a pack, which holds as many completions as fit into pack_length: they share"
        " one ρ, and are dropped together. Here a completion is a pack of its own.",
        "Open Instruct _sequence_level_mean; rl_utils.py pack_sequences",
        {"rho_mask_tv_divergence": True, "rho_mask_upper_bound": 1.5},
        {"rho_mask_upper_bound": 1.5},
    ),
    Trap(
        "A threshold that VACO cannot have",
        lambda s, given: bool(
            s.use_rho_correction and s.rho_mask_tv_divergence and not s.rho_mask_upper_bound > 0.0
        ),
        "Only rho_mask_upper_bound masks completions that are far from the sampler, and it has to be above 1, where hardly"
        " any is; rho_mask_lower_bound masks tokens of those that are near.",
        "Open Instruct compute_rho_correction; GRPOExperimentConfig.__post_init__",
        {"rho_mask_tv_divergence": True, "rho_mask_lower_bound": 0.2},
        {"rho_mask_tv_divergence": True, "rho_mask_upper_bound": 1.5},
    ),
    Trap(
        "A token that the sampler does not know",
        lambda s, given: bool(s.use_rho_correction or s.use_vllm_logprobs),
        "Where vLLM reports NaN, as for the end of an empty completion, 1.0 is taken for its log-probability: not for the"
        " ratio. So ρ is πold/e, and not 1, and a rho_mask_lower_bound is likely to drop the token.",
        "Open Instruct mask_logprobs, INVALID_LOGPROB; data_loader.py process_group",
        {"use_rho_correction": True},
        {"use_rho_correction": False},
    ),
    Trap(
        "The sampler is the old policy",
        lambda s, given: bool(s.use_vllm_logprobs),
        "The ratio is to vLLM's log-probabilities, so it is not 1 in the first step either, and the clip acts on the mismatch"
        " of the two programs. Pass them as old_log_probs.",
        "Open Instruct resolve_old_logprob",
        {"use_vllm_logprobs": True, "use_rho_correction": False},
        {"use_vllm_logprobs": False, "use_rho_correction": False},
    ),
    Trap(
        "Truncated rows shift the groups",
        lambda s, given: bool(s.mask_truncated_completions),
        "Truncated completions are removed before the rewards are cut into groups: completions are compared with those of"
        " other prompts, unless whole groups remain. If what is left does not come out even, the run stops.",
        "Open Instruct data_loader.py, maybe_mask_truncated_completions",
        {"mask_truncated_completions": True},
        {"mask_truncated_completions": False},
    ),
    Trap(
        "Dropped groups leave a smaller batch",
        lambda s, given: bool(
            s.filter_zero_std_samples and not s.active_sampling and "filter_zero_std_samples" in given
        ),
        "Groups without contrast are dropped, and nothing is drawn in their place unless active_sampling is on.",
        "Open Instruct data_loader.py, accumulate_inference_batches",
        {"filter_zero_std_samples": True},
        {"filter_zero_std_samples": True, "active_sampling": True},
    ),
    Trap(
        "A logged loss of another average",
        lambda s, given: s.loss_denominator != "token",
        "loss/policy_avg is the mean over tokens, whatever loss_denominator says, and loss/total_avg the mean over"
        " micro-batches of what each adds to the loss: of n alike, the nth part of it.",
        "Open Instruct populate_sample_loss_stats, compute_metrics_from_loss_stats",
        {"loss_denominator": 40},
        {"loss_denominator": "token"},
    ),
    Trap(
        "Packs that are left over",
        lambda s, given: s.num_mini_batches > 1,
        "n micro-batches are cut into mini-batches of n / num_mini_batches, rounded: there may be more or fewer than asked"
        " for, and those left over are dropped.",
        "Open Instruct grpo_fast.py, step",
        {"num_mini_batches": 2},
        {"num_mini_batches": 1},
    ),
    Trap(
        "A penalty that does not pull",
        lambda s, given: bool(s.load_ref_policy) and s.beta > 0.0 and s.kl_estimator == 0,
        "As a loss, estimator 0 (k1) has an expected gradient of zero.",
        "open-instruct #534",
        {"kl_estimator": 0},
        {"kl_estimator": 2},
    ),
    Trap(
        "A weight that pushes away",
        lambda s, given: bool(s.load_ref_policy) and s.beta < 0.0,
        "A negative weight is taken as it is: the loss falls the farther the policy is from the reference, and nothing"
        " holds it back.",
        "Open Instruct grpo_fast.py, step",
        {"beta": -0.05},
        {"beta": 0.05},
    ),
)
"""The traps, in the order in which they are reported."""
