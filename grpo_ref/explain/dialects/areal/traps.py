"""Traps: configurations of AReaL with effects that their author is unlikely to expect."""

from collections.abc import Set
from typing import Any

from grpo_ref.explain.dialects.areal.keys import BUDGET, NORM, REJECTION, weights_of_teacher
from grpo_ref.explain.dialects.areal.refusals import group
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap


def _norm(s: Settings, name: str) -> dict[str, Any]:
    return group(s, name, NORM) or {}


def _rejects(s: Settings) -> bool:
    return group(s, "rejection_sampling", REJECTION) is not None


def _splits(s: Settings, name: str, given: Set[str]) -> bool:
    """Return true if a group size is given that differs from the size of the groups."""
    norm = _norm(s, name)
    by_group = "group" in (norm.get("mean_level"), norm.get("std_level"))
    return by_group and f"{name}.group_size" in given and norm["group_size"] != s["gconfig.n_samples"]


def _has_reference(s: Settings) -> bool:
    return s["kl_ctl"] > 0.0 and s["ref.backend"] is not None


def _budget(s: Settings) -> Any:
    told = s["actor.max_new_tokens"]
    named = {None: BUDGET, "${gconfig.max_new_tokens}": s["gconfig.max_new_tokens"]}
    return named.get(told, told)


def _mixes_teacher(s: Settings) -> bool:
    weights = weights_of_teacher(s)
    return weights is not None and weights[0] != 0.0 and weights[1] != 0.0


GROUP = {"gconfig.n_samples": 8}
TRAPS = (
    Trap(
        "The teacher has no effect on the gradient",
        lambda s, given: _mixes_teacher(s),
        "If teacher.rl_loss_weight is not 0, log πθ - log πteacher of each token is a term of the loss and is"
        " differentiated. The teacher's part is a constant, so every token is pushed down equally, and on average"
        " over the policy's own tokens not at all. Set rl_loss_weight to 0 to learn from the teacher.",
        "AReaL actor.py, grpo_loss_fn, joint distillation",
        {"teacher.path": "large", "kl_ctl": 0.0},
        {"teacher.path": "large", "teacher.rl_loss_weight": 0.0, "kl_ctl": 0.0},
    ),
    Trap(
        "kl_ctl is set but there is no reference model",
        lambda s, given: s["kl_ctl"] != 0.0 and not _has_reference(s),
        "kl_ctl is 0.1 by default. Without a section ref, the reference's log-probabilities count as 0:"
        " each token's reward loses 0.1 times its own log-probability, so unlikely tokens are rewarded. A"
        " negative kl_ctl also disables the reference. Set kl_ctl to 0, or configure ref.",
        "AReaL actor.py, _compute_advantages; rl_trainer.py",
        {},
        {"kl_ctl": 0.0},
    ),
    Trap(
        "kl_ctl: the penalty is in the reward",
        lambda s, given: _has_reference(s),
        "The KL to the reference is subtracted from the reward of each token, so the loss has no penalty,"
        " and the tokens of a completion have different advantages. It is the KL of the sampling policy,"
        " at sampling time.",
        "AReaL actor.py, _compute_advantages",
        {"kl_ctl": 0.01, "ref.backend": "fsdp:d1"},
        {"kl_ctl": 0.0, "ref.backend": "fsdp:d1"},
    ),
    Trap(
        "gconfig.n_samples is 1: every reward becomes 0",
        lambda s, given: s["gconfig.n_samples"] == 1 and _norm(s, "reward_norm").get("mean_level") == "group",
        "gconfig.n_samples is 1 by default. A reward is then its own mean, so every reward becomes 0.",
        "AReaL cli_args.py, GenerationHyperparameters; data.py, Normalization",
        {"reward_norm.mean_level": "group", "kl_ctl": 0.0},
        {"reward_norm.mean_level": "group", "kl_ctl": 0.0, "gconfig.n_samples": 8},
    ),
    Trap(
        "group_size of a normalization is ignored",
        lambda s, given: any(_splits(s, name, given) for name in ("reward_norm", "adv_norm")),
        "The group_size of a normalization is checked, but the groups are always those of the prompts,"
        " with gconfig.n_samples completions each. Until May 2026, groups of another size were made of"
        " neighbours.",
        "AReaL data.py, Normalization; actor.py, _compute_advantages",
        {"reward_norm.mean_level": "group", "reward_norm.group_size": 4, "gconfig.n_samples": 8},
        {"reward_norm.mean_level": "group", "reward_norm.group_size": 8, "gconfig.n_samples": 8},
    ),
    Trap(
        "adv_norm divides after reward_norm",
        lambda s, given: bool(_norm(s, "reward_norm")) and _norm(s, "adv_norm").get("std_level") is not None,
        "adv_norm divides by the spread over tokens after reward_norm has centered or divided the"
        " rewards. Dr. GRPO and RLOO do not divide in reward_norm, but here the advantages are divided"
        " anyway, and bias and scale of the rewards are lost.",
        "AReaL actor.py, _compute_advantages; examples/math/gsm8k_drgrpo.yaml",
        {"reward_norm.mean_level": "group", "adv_norm.std_level": "batch"} | GROUP,
        {"reward_norm.mean_level": "group", "adv_norm.std_level": None} | GROUP,
    ),
    Trap(
        "std_level=batch measures the spread around the groups' means",
        lambda s, given: (
            (_norm(s, "reward_norm").get("mean_level"), _norm(s, "reward_norm").get("std_level"))
            == ("group", "batch")
        ),
        "The spread is taken over the batch, but around the mean that is subtracted, that of the group."
        " It is smaller than the batch's standard deviation, because it excludes the differences between"
        " groups.",
        "AReaL data.py, Normalization; examples/math/gsm8k_liteppo.yaml",
        {"reward_norm.mean_level": "group", "reward_norm.std_level": "batch"} | GROUP,
        {"reward_norm.mean_level": "group", "reward_norm.std_level": "group"} | GROUP,
    ),
    Trap(
        "rejection_sampling filters nothing without use_decoupled_loss",
        lambda s, given: (
            _rejects(s) and not s["use_decoupled_loss"] and s["prox_logp_method"] != "reuse_train_logp"
        ),
        "Without use_decoupled_loss the two log-probabilities that rejection_sampling compares are equal,"
        " so every ratio is 1 and nothing is filtered. If lower is above 1, everything is filtered.",
        "AReaL actor.py, _compute_advantages; functional.py, ppo_actor_loss_fn",
        {"rejection_sampling.upper": 5.0},
        {"rejection_sampling.upper": 5.0, "use_decoupled_loss": True},
    ),
    Trap(
        "use_decoupled_loss corrects nothing without rejection_sampling",
        lambda s, given: s["use_decoupled_loss"] and not _rejects(s),
        "The weight for the sampler's mismatch is a part of rejection_sampling. Without it the ratio is"
        " taken to the recomputed log-probabilities, and nothing corrects the mismatch.",
        "AReaL functional.py, ppo_actor_loss_fn",
        {"use_decoupled_loss": True},
        {"use_decoupled_loss": True, "rejection_sampling.upper": 5.0},
    ),
    Trap(
        "ppo_n_minibatches is 1, so eps_clip has no effect",
        lambda s, given: s["ppo_n_minibatches"] == 1 and (s["use_decoupled_loss"] or s["recompute_logprob"]),
        "With one mini-batch, the old log-probabilities are recomputed with the weights that are trained."
        " So every ratio is 1 except for rounding, and eps_clip, c_clip and the level do nothing. This"
        " holds for most of AReaL's examples.",
        "AReaL actor.py, _ppo_update; rl_trainer.py; examples/math/gsm8k_grpo.yaml",
        {"use_decoupled_loss": True, "ppo_n_minibatches": 1},
        {"use_decoupled_loss": True, "ppo_n_minibatches": 4},
    ),
    Trap(
        "prox_logp_method=reuse_train_logp: the ratio is always 1",
        lambda s, given: s["prox_logp_method"] == "reuse_train_logp" and not s["use_sapo_loss"],
        "With reuse_train_logp the ratio is taken to the policy being trained, so nothing is ever"
        " clipped, with or without use_decoupled_loss. Only rejection_sampling limits tokens that are far"
        " from the sampler.",
        "AReaL actor.py, grpo_loss_fn",
        {"prox_logp_method": "reuse_train_logp"},
        {"prox_logp_method": "recompute"},
    ),
    Trap(
        "rejection_sampling keeps the denominator",
        lambda s, given: s["use_decoupled_loss"] and "rejection_sampling.upper" in given,
        "The loss is divided by the number of tokens before rejection_sampling. The more tokens are"
        " excluded, the smaller the step. m2_threshold, in contrast, removes its tokens from that number.",
        "AReaL functional.py, ppo_actor_loss_fn",
        {"use_decoupled_loss": True, "rejection_sampling.upper": 2.0},
        {"use_decoupled_loss": True, "m2_threshold": 0.04},
    ),
    Trap(
        "importance_sampling_level=sequence averages over tokens",
        lambda s, given: s["importance_sampling_level"] == "sequence",
        "The ratio is that of GSPO, but the loss is a mean over the tokens of the batch, not over"
        " completions. A long completion counts more.",
        "AReaL functional.py, ppo_actor_loss_fn",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "token"},
    ),
    Trap(
        "eps_clip is PPO's, far too large for importance_sampling_level=sequence",
        lambda s, given: (
            s["importance_sampling_level"] == "sequence" and not s["use_sapo_loss"] and s["eps_clip"] >= 0.01
        ),
        "The ratio of a sequence is a geometric mean, which hardly changes. The default, 0.2, never clips it."
        " The paper uses 0.0003 and 0.0004.",
        "AReaL functional.py, ppo_actor_loss_fn; Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "sequence", "eps_clip": 3e-4},
    ),
    Trap(
        "actor.max_new_tokens, not gconfig's, sets the length penalty",
        lambda s, given: s["overlong_reward_penalty"] and _budget(s) != s["gconfig.max_new_tokens"],
        "The length penalty uses actor.max_new_tokens, 1024 by default, and not gconfig.max_new_tokens. A"
        " completion beyond it loses more than overlong_penalty_factor, without a limit.",
        "AReaL functional.py, reward_overlong_penalty",
        {"overlong_reward_penalty": True, "overlong_tokens": 512, "overlong_penalty_factor": 1.0},
        {
            "overlong_reward_penalty": True,
            "overlong_tokens": 512,
            "overlong_penalty_factor": 1.0,
            "actor.max_new_tokens": 16384,
        },
    ),
)
"""The traps, in the order in which they are reported."""
