"""Traps: configurations of RLinf with effects that their author is unlikely to expect."""

from types import SimpleNamespace

from grpo_ref.explain.trap import Trap


def _actor(s: SimpleNamespace) -> str:
    """Return the name of the actor."""
    return str(vars(s)["actor.training_backend"])


TRAPS = (
    Trap(
        "Normalised a second time",
        lambda s, given: bool(s.normalize_advantages) and s.loss_type == "actor",
        "normalize_advantages standardizes once more over all tokens of the batch, where long completions have more say;"
        " the Megatron actor does it twice, first with the divisor n - 1. The documentation has True, as have 117 of"
        " the 141 shipped files that say it; there is no default.",
        "RLinf distributed.masked_normalization; megatron_worker.py, run_training",
        {"normalize_advantages": True},
        {"normalize_advantages": False},
    ),
    Trap(
        "A KL bonus in one of the two actors",
        lambda s, given: s.kl_beta > 0.0 and _actor(s) == "fsdp",
        "At this version the FSDP actor calls the penalty with its arguments swapped: k1 becomes a bonus, k3 the other"
        " direction. The Megatron actor does not.",
        "RLinf PR #1400",
        {"kl_beta": 0.01, "actor": {"training_backend": "fsdp"}},
        {"kl_beta": 0.01, "actor": {"training_backend": "megatron"}},
    ),
    Trap(
        "A dual clip that nobody asked for",
        lambda s, given: "clip_ratio_c" not in given,
        "Without clip_ratio_c the FSDP actor takes 3.0, a second clip for bad tokens; only null turns it off. The"
        " Megatron actor has no default and refuses the file.",
        "RLinf fsdp_actor_worker.py, training_step; megatron_actor_worker.py, __init__",
        {"ratio_clip_eps": 0.2},
        {"ratio_clip_eps": 0.2, "clip_ratio_c": None},
    ),
    Trap(
        "An average of averages",
        lambda s, given: (
            s.loss_agg_func != "seq-mean-token-sum"
            and not (s.use_valid_token_scale and _actor(s) == "megatron")
            and "training_batch_size_per_gpu" in given
        ),
        "The loss is averaged inside each micro-batch of training_batch_size_per_gpu completions, and then over the"
        " micro-batches; with one completion in each, token-mean is the mean per completion. use_valid_token_scale"
        " with the Megatron actor makes it the mean over all tokens.",
        "RLinf fsdp_actor_worker.py, gradient_accumulation; megatron_actor_worker.py",
        {"training_batch_size_per_gpu": 1},
        {"training_batch_size_per_gpu": 1, "use_valid_token_scale": True},
    ),
    Trap(
        "A scale that is not on the advantages",
        lambda s, given: bool(s.use_valid_token_scale) and _actor(s) == "megatron",
        "The documentation says that advantages are divided by the number of valid tokens; the code scales the loss so that"
        " averages over micro-batches become the average over all tokens, those of the other n_minibatches included,"
        " which makes each of their losses as much smaller.",
        "RLinf megatron_worker.py, _setup_valid_token_scale",
        {"use_valid_token_scale": True},
        {"use_valid_token_scale": False},
    ),
    Trap(
        "Keys of the other actor",
        lambda s, given: (
            _actor(s) == "fsdp" and (s.use_valid_token_scale or s.early_stop_imp_ratio is not None)
        ),
        "The FSDP actor reads neither early_stop_imp_ratio nor use_valid_token_scale; its shipped files have both.",
        "RLinf fsdp_actor_worker.py, training_step",
        {"early_stop_imp_ratio": 5.0, "actor": {"training_backend": "fsdp"}},
        {"early_stop_imp_ratio": 5.0, "actor": {"training_backend": "megatron"}},
    ),
    Trap(
        "An early stop that stops little",
        lambda s, given: s.early_stop_imp_ratio is not None and _actor(s) == "megatron",
        "The loss of a micro-batch whose mean ratio exceeds the bound is multiplied by 0, its penalty and its bonus"
        " included: that micro-batch and no other, for high ratios and not for low ones, and a NaN stays NaN.",
        "RLinf megatron_actor_worker.py",
        {"early_stop_imp_ratio": 5.0},
        {"early_stop_imp_ratio": None},
    ),
    Trap(
        "A batch without a loss for one empty completion",
        lambda s, given: s.training_batch_size_per_gpu > 1 and s.loss_type == "actor",
        "If the first completion of a micro-batch has no token, the surrogate of the whole micro-batch is 0 and so are its"
        " metrics; the penalty stays. It was meant for a micro-batch without any token. With Megatron a step that has such"
        " micro-batches and others ends in a KeyError, as they log different metrics.",
        "RLinf losses.py, fast_path_zero_loss_mask",
        {"training_batch_size_per_gpu": 8},
        {"training_batch_size_per_gpu": 1},
    ),
    Trap(
        "NaN from one empty completion",
        lambda s, given: (
            s.loss_agg_func == "seq-mean-token-mean"
            and s.loss_type == "actor"
            and (s.training_batch_size_per_gpu > 1 or s.kl_beta > 0.0 or s.entropy_bonus > 0.0)
        ),
        "Lengths are not bounded below: one completion without tokens makes the loss 0/0. In a micro-batch of its own it is"
        " left out, but its penalty and its bonus are 0/0 there too.",
        "RLinf utils.py",
        {"loss_agg_func": "seq-mean-token-mean", "training_batch_size_per_gpu": 8},
        {"loss_agg_func": "seq-mean-token-mean", "training_batch_size_per_gpu": 1},
    ),
    Trap(
        "NaN from the sampler",
        lambda s, given: bool(s.importance_sampling_fix) and s.loss_type == "actor",
        "A log-probability that the sampler reports as NaN makes the loss NaN; TRL takes such a token for one without"
        " mismatch.",
        "RLinf fsdp_actor_worker.py and megatron_actor_worker.py, importance_sampling_fix",
        {"importance_sampling_fix": True},
        {"importance_sampling_fix": False},
    ),
    Trap(
        "A threshold that nobody reads",
        lambda s, given: s.behave_weight_threshold is not None and s.loss_type == "actor",
        "behave_weight_threshold is read by the decoupled loss alone, loss_type decoupled_actor_critic. Without a threshold"
        " its behaviour weight is not limited.",
        "RLinf losses.py, compute_decoupled_ppo_actor_loss; async_ppo_fsdp_worker.py",
        {"behave_weight_threshold": 2.0},
        {"behave_weight_threshold": 2.0, "loss_type": "decoupled_actor_critic"},
    ),
    Trap(
        "REINFORCE++ without a baseline",
        lambda s, given: s.adv_type == "reinpp",
        "reinpp does not take off the mean of the group, so all completions of an easy prompt are encouraged; and"
        " use_reinpp_baseline, which should, ends in an IndexError.",
        "RLinf advantages.py, compute_reinpp_advantages",
        {"adv_type": "reinpp"},
        {"adv_type": "grpo"},
    ),
    Trap(
        "An entropy that is only recorded",
        lambda s, given: bool(s.calculate_entropy) and s.entropy_bonus == 0.0,
        "calculate_entropy computes the entropy for the metrics; exploration is encouraged by entropy_bonus.",
        "RLinf actor workers",
        {"calculate_entropy": True},
        {"calculate_entropy": True, "entropy_bonus": 0.01},
    ),
    Trap(
        "A bonus without an entropy",
        lambda s, given: not s.calculate_entropy and s.entropy_bonus > 0.0,
        "entropy_bonus does nothing unless calculate_entropy is True.",
        "RLinf actor workers, calculate_entropy_loss",
        {"entropy_bonus": 0.01},
        {"calculate_entropy": True, "entropy_bonus": 0.01},
    ),
    Trap(
        "A negative weight is none",
        lambda s, given: s.kl_beta < 0.0 or s.reinpp_kl_beta < 0.0,
        "Below 0, kl_beta and reinpp_kl_beta load no reference and add nothing to the loss or the reward.",
        "RLinf fsdp_actor_worker.py, training_step; advantages.py, compute_reinpp_advantages",
        {"kl_beta": -0.01},
        {"kl_beta": 0.01},
    ),
)
"""The traps, in the order in which they are reported."""
