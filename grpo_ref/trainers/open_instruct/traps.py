"""Configurations of Open Instruct that do something else than their author is likely to think."""

from grpo_ref.trainers.trap import Trap

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
        "A beta without a reference",
        lambda s, given: not s.load_ref_policy and "beta" in given and s.beta > 0.0,
        "load_ref_policy is off, so there is no reference and beta has no effect.",
        "Open Instruct grpo_fast.py",
        {"beta": 0.05, "load_ref_policy": False},
        {"beta": 0.05, "load_ref_policy": True},
    ),
    Trap(
        "Truncated rows shift the groups",
        lambda s, given: bool(s.mask_truncated_completions),
        "Truncated completions are removed before the rewards are cut into groups; unless whole groups remain, completions"
        " are compared with those of other prompts.",
        "Open Instruct data_loader.py, read and not run",
        {"mask_truncated_completions": True},
        {"mask_truncated_completions": False},
    ),
    Trap(
        "A penalty that does not pull",
        lambda s, given: bool(s.load_ref_policy) and s.beta > 0.0 and s.kl_estimator == 0,
        "As a loss, estimator 0 (k1) has an expected gradient of zero.",
        "open-instruct #534",
        {"kl_estimator": 0},
        {"kl_estimator": 2},
    ),
)
"""In the order in which they are told."""
