"""Traps: configurations of RLinf with effects that their author is unlikely to expect."""

from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap


def _actor(s: Settings) -> str:
    """Return the name of the actor."""
    return str(s["actor.training_backend"])


TRAPS = (
    Trap(
        "normalize_advantages standardizes once more",
        lambda s, given: bool(s.normalize_advantages) and s.loss_type == "actor",
        "normalize_advantages standardizes once more over all tokens of the batch, where long completions"
        " count more. The Megatron actor does it twice, first with the divisor n - 1. It is True in the"
        " documentation and in 117 of the 141 shipped files that set it; there is no default.",
        "RLinf distributed.masked_normalization; megatron_worker.py, run_training",
        {"normalize_advantages": True},
        {"normalize_advantages": False},
    ),
    Trap(
        "kl_beta: the FSDP actor swaps the arguments of the penalty",
        lambda s, given: s.kl_beta > 0.0 and _actor(s) == "fsdp",
        "In this version the FSDP actor calls the penalty with its arguments swapped: k1 becomes a bonus,"
        " and k3 estimates the other direction. The Megatron actor does not swap them.",
        "RLinf PR #1400",
        {"kl_beta": 0.01, "actor": {"training_backend": "fsdp"}},
        {"kl_beta": 0.01, "actor": {"training_backend": "megatron"}},
    ),
    Trap(
        "clip_ratio_c is not set, but FSDP uses 3.0",
        lambda s, given: s.has_dual_clip and "clip_ratio_c" not in given,
        "By default the FSDP actor uses 3.0, a second clip for bad tokens. Only null turns it off. The"
        " Megatron actor has no default and refuses the file.",
        "RLinf fsdp_actor_worker.py, training_step; megatron_actor_worker.py, __init__",
        {"ratio_clip_eps": 0.2},
        {"ratio_clip_eps": 0.2, "clip_ratio_c": None},
    ),
    Trap(
        "clip_ratio_c has no effect until November 2025",
        lambda s, given: not s.has_dual_clip and s.clip_ratio_c is not None and "clip_ratio_c" in given,
        "The loss reads c_clip, and the actor does not pass it, so there is no second clip for bad tokens."
        " It acts since 2025-11-26.",
        "RLinf PR #323",
        {"clip_ratio_c": 3.0},
        {"clip_ratio_c": None},
        release="2025-10",
    ),
    Trap(
        "kl_beta: the Megatron actor swaps the arguments of the penalty until September 2025",
        lambda s, given: s.swaps_penalty and s.kl_beta > 0.0 and _actor(s) == "megatron",
        "The penalty is called with its arguments swapped: k1 becomes a bonus, and k3 estimates the other"
        " direction. It is mended on 2025-09-25.",
        "RLinf PR #129",
        {"kl_beta": 0.01},
        {"kl_beta": 0.0},
        release="2025-08",
    ),
    Trap(
        "training_batch_size_per_gpu changes the average",
        lambda s, given: (
            s.loss_agg_func != "seq-mean-token-sum"
            and not (s.use_valid_token_scale and _actor(s) == "megatron")
            and "training_batch_size_per_gpu" in given
        ),
        "The loss is averaged inside each micro-batch of training_batch_size_per_gpu completions, and"
        " then over micro-batches. With one completion in each, token-mean is the mean per completion."
        " With the Megatron actor, use_valid_token_scale makes it the mean over all tokens.",
        "RLinf fsdp_actor_worker.py, gradient_accumulation; megatron_actor_worker.py",
        {"training_batch_size_per_gpu": 1},
        {"training_batch_size_per_gpu": 1, "use_valid_token_scale": True},
    ),
    Trap(
        "use_valid_token_scale scales the loss, not the advantages",
        lambda s, given: bool(s.use_valid_token_scale) and _actor(s) == "megatron",
        "The documentation says that advantages are divided by the number of valid tokens. The code"
        " scales the loss so that averages over micro-batches become the average over all tokens. That"
        " includes the tokens of the other n_minibatches, so each mini-batch has a smaller loss.",
        "RLinf megatron_worker.py, _setup_valid_token_scale",
        {"use_valid_token_scale": True},
        {"use_valid_token_scale": False},
    ),
    Trap(
        "early_stop_imp_ratio and use_valid_token_scale are Megatron's",
        lambda s, given: (
            _actor(s) == "fsdp" and (s.use_valid_token_scale or s.early_stop_imp_ratio is not None)
        ),
        "The FSDP actor reads neither early_stop_imp_ratio nor use_valid_token_scale. Its shipped files"
        " have both.",
        "RLinf fsdp_actor_worker.py, training_step",
        {"early_stop_imp_ratio": 5.0, "actor": {"training_backend": "fsdp"}},
        {"early_stop_imp_ratio": 5.0, "actor": {"training_backend": "megatron"}},
    ),
    Trap(
        "early_stop_imp_ratio stops only single micro-batches",
        lambda s, given: s.early_stop_imp_ratio is not None and _actor(s) == "megatron",
        "If the mean ratio of a micro-batch exceeds the bound, its loss is multiplied by 0, including"
        " penalty and bonus. Other micro-batches continue, low ratios never stop one, and NaN stays NaN.",
        "RLinf megatron_actor_worker.py",
        {"early_stop_imp_ratio": 5.0},
        {"early_stop_imp_ratio": None},
    ),
    Trap(
        "An empty first completion removes a micro-batch's loss",
        lambda s, given: s.looks_at_first and s.training_batch_size_per_gpu > 1 and s.loss_type == "actor",
        "If the first completion of a micro-batch has no token, the surrogate of the whole micro-batch is"
        " 0, and so are its metrics. The penalty stays. The code is meant for micro-batches without any"
        " token. With Megatron, a step with such micro-batches and others ends in a KeyError, because they"
        " log different metrics.",
        "RLinf losses.py, fast_path_zero_loss_mask",
        {"training_batch_size_per_gpu": 8},
        {"training_batch_size_per_gpu": 1},
    ),
    Trap(
        "loss_agg_func: an empty completion makes the loss NaN",
        lambda s, given: (
            s.loss_agg_func == "seq-mean-token-mean"
            and s.loss_type == "actor"
            and (s.training_batch_size_per_gpu > 1 or s.kl_beta > 0.0 or s.entropy_bonus > 0.0)
        ),
        "Lengths are not bounded below: one completion without tokens makes the loss 0/0. Alone in a"
        " micro-batch it is excluded, but its penalty and its bonus are 0/0 there too.",
        "RLinf utils.py",
        {"loss_agg_func": "seq-mean-token-mean", "training_batch_size_per_gpu": 8},
        {"loss_agg_func": "seq-mean-token-mean", "training_batch_size_per_gpu": 1},
    ),
    Trap(
        "A NaN from the sampler makes the loss NaN",
        lambda s, given: bool(s.importance_sampling_fix) and s.loss_type == "actor",
        "A log-probability that the sampler reports as NaN makes the loss NaN. TRL treats such a token as"
        " one without mismatch.",
        "RLinf fsdp_actor_worker.py and megatron_actor_worker.py, importance_sampling_fix",
        {"importance_sampling_fix": True},
        {"importance_sampling_fix": False},
    ),
    Trap(
        "behave_weight_threshold needs the decoupled loss",
        lambda s, given: s.behave_weight_threshold is not None and s.loss_type == "actor",
        "Only the decoupled loss, loss_type decoupled_actor_critic, reads behave_weight_threshold."
        " Without a threshold its behaviour weight has no limit.",
        "RLinf losses.py, compute_decoupled_ppo_actor_loss; async_ppo_fsdp_worker.py",
        {"behave_weight_threshold": 2.0},
        {"behave_weight_threshold": 2.0, "loss_type": "decoupled_actor_critic"},
    ),
    Trap(
        "adv_type=reinpp has no baseline",
        lambda s, given: s.adv_type == "reinpp",
        "reinpp does not subtract the mean of the group, so all completions of an easy prompt are"
        " encouraged. use_reinpp_baseline, which is meant to, ends in an IndexError.",
        "RLinf advantages.py, compute_reinpp_advantages",
        {"adv_type": "reinpp"},
        {"adv_type": "grpo"},
    ),
    Trap(
        "calculate_entropy only logs the entropy",
        lambda s, given: bool(s.calculate_entropy) and s.entropy_bonus == 0.0,
        "calculate_entropy computes the entropy for the metrics. To encourage exploration, set"
        " entropy_bonus.",
        "RLinf actor workers",
        {"calculate_entropy": True},
        {"calculate_entropy": True, "entropy_bonus": 0.01},
    ),
    Trap(
        "entropy_bonus needs calculate_entropy",
        lambda s, given: not s.calculate_entropy and s.entropy_bonus > 0.0,
        "entropy_bonus does nothing unless calculate_entropy is True.",
        "RLinf actor workers, calculate_entropy_loss",
        {"entropy_bonus": 0.01},
        {"calculate_entropy": True, "entropy_bonus": 0.01},
    ),
    Trap(
        "kl_beta or reinpp_kl_beta is negative, so there is no penalty",
        lambda s, given: s.kl_beta < 0.0 or s.reinpp_kl_beta < 0.0,
        "Below 0, kl_beta and reinpp_kl_beta load no reference and add nothing to the loss or the reward.",
        "RLinf fsdp_actor_worker.py, training_step; advantages.py, compute_reinpp_advantages",
        {"kl_beta": -0.01},
        {"kl_beta": 0.01},
    ),
)
"""The traps, in the order in which they are reported."""
