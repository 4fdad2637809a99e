"""Configurations of RLinf that do something else than their author is likely to think."""

from grpo_ref.trainers.trap import Trap

TRAPS = (
    Trap(
        "Normalised a second time",
        lambda s, given: bool(s.normalize_advantages),
        "normalize_advantages standardizes once more over all tokens of the batch, where long completions have more say."
        " The documentation has True, the shipped YAML files have False.",
        "RLinf advantages.py, distributed.masked_normalization",
        {"normalize_advantages": True},
        {"normalize_advantages": False},
    ),
    Trap(
        "A KL bonus in one of the two actors",
        lambda s, given: s.kl_beta > 0.0,
        "At this version the FSDP actor calls the penalty with its arguments swapped: k1 becomes a bonus, k3 the other"
        " direction. The Megatron actor does not.",
        "RLinf PR #1400",
        {"kl_beta": 0.01},
        {"kl_beta": 0.0},
    ),
    Trap(
        "A scale that is not on the advantages",
        lambda s, given: bool(s.use_valid_token_scale),
        "The documentation says that advantages are divided by the number of valid tokens; the code scales the loss so that"
        " averages over micro-batches become the average over all tokens (Megatron only).",
        "RLinf megatron_worker.py, _setup_valid_token_scale",
        {"use_valid_token_scale": True},
        {"use_valid_token_scale": False},
    ),
    Trap(
        "An early stop that stops little",
        lambda s, given: s.early_stop_imp_ratio is not None,
        "The loss of a micro-batch whose mean ratio exceeds the bound is multiplied by 0: that micro-batch and no other, for"
        " high ratios and not for low ones, and a NaN stays NaN (Megatron only).",
        "RLinf megatron_actor_worker.py",
        {"early_stop_imp_ratio": 5.0},
        {"early_stop_imp_ratio": None},
    ),
    Trap(
        "NaN from one empty completion",
        lambda s, given: s.loss_agg_func.replace("_", "-") == "seq-mean-token-mean",
        "Lengths are not bounded below: one completion without tokens makes the loss 0/0.",
        "RLinf utils.py",
        {"loss_agg_func": "seq-mean-token-mean"},
        {"loss_agg_func": "seq-mean-token-sum"},
    ),
    Trap(
        "An entropy that is only recorded",
        lambda s, given: bool(s.calculate_entropy) and s.entropy_bonus == 0.0,
        "calculate_entropy computes the entropy for the metrics; exploration is encouraged by entropy_bonus.",
        "RLinf actor workers",
        {"calculate_entropy": True},
        {"calculate_entropy": True, "entropy_bonus": 0.01},
    ),
)
"""In the order in which they are told."""
