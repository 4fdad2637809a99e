"""Traps: configurations of AReaL with effects that their author is unlikely to expect."""

from collections.abc import Set
from types import SimpleNamespace
from typing import Any

from grpo_ref.explain.dialects.areal.keys import BUDGET, NORM, REJECTION
from grpo_ref.explain.dialects.areal.refusals import group
from grpo_ref.explain.trap import Trap


def _norm(s: SimpleNamespace, name: str) -> dict[str, Any]:
    return group(vars(s), name, NORM) or {}


def _rejects(s: SimpleNamespace) -> bool:
    return group(vars(s), "rejection_sampling", REJECTION) is not None


def _splits(s: SimpleNamespace, name: str, given: Set[str]) -> bool:
    """Return true if a group size is given that differs from the size of the groups."""
    norm = _norm(s, name)
    by_group = "group" in (norm.get("mean_level"), norm.get("std_level"))
    return by_group and f"{name}.group_size" in given and norm["group_size"] != vars(s)["gconfig.n_samples"]


def _has_reference(s: SimpleNamespace) -> bool:
    return vars(s)["kl_ctl"] > 0.0 and vars(s)["ref.backend"] is not None


def _budget(s: SimpleNamespace) -> Any:
    told = vars(s)["actor.max_new_tokens"]
    named = {None: BUDGET, "${gconfig.max_new_tokens}": vars(s)["gconfig.max_new_tokens"]}
    return named.get(told, told)


GROUP = {"gconfig.n_samples": 8}
TRAPS = (
    Trap(
        "A penalty against nothing",
        lambda s, given: vars(s)["kl_ctl"] != 0.0 and not _has_reference(s),
        "kl_ctl is 0.1 where it is left out, and without a section ref its log-probabilities count as 0: each token of"
        " the reward loses 0.1 times its own log-probability, so that unlikely tokens are paid for. A reference is also"
        " left out where kl_ctl is negative. Set kl_ctl to 0, or configure ref.",
        "AReaL actor.py, _compute_advantages; rl_trainer.py",
        {},
        {"kl_ctl": 0.0},
    ),
    Trap(
        "The penalty is in the reward",
        lambda s, given: _has_reference(s),
        "The KL to the reference is subtracted from the reward of each token, so the loss has no penalty, and the tokens"
        " of a completion have different advantages. It is that of the policy that sampled, at the time of sampling.",
        "AReaL actor.py, _compute_advantages",
        {"kl_ctl": 0.01, "ref.backend": "fsdp:d1"},
        {"kl_ctl": 0.0, "ref.backend": "fsdp:d1"},
    ),
    Trap(
        "Groups of one",
        lambda s, given: (
            vars(s)["gconfig.n_samples"] == 1 and _norm(s, "reward_norm").get("mean_level") == "group"
        ),
        "gconfig.n_samples is 1 where it is left out: a reward is its own mean, and every one becomes 0.",
        "AReaL cli_args.py, GenerationHyperparameters; data.py, Normalization",
        {"reward_norm.mean_level": "group", "kl_ctl": 0.0},
        {"reward_norm.mean_level": "group", "kl_ctl": 0.0, "gconfig.n_samples": 8},
    ),
    Trap(
        "A group size that is not read",
        lambda s, given: any(_splits(s, name, given) for name in ("reward_norm", "adv_norm")),
        "The group_size of a normalization is checked, and then the groups are those of the prompts, with"
        " gconfig.n_samples completions each. Groups of another size are no longer made of neighbours, as they still"
        " were in May 2026.",
        "AReaL data.py, Normalization; actor.py, _compute_advantages",
        {"reward_norm.mean_level": "group", "reward_norm.group_size": 4, "gconfig.n_samples": 8},
        {"reward_norm.mean_level": "group", "reward_norm.group_size": 8, "gconfig.n_samples": 8},
    ),
    Trap(
        "Normalized twice",
        lambda s, given: bool(_norm(s, "reward_norm")) and _norm(s, "adv_norm").get("std_level") is not None,
        "adv_norm divides by the spread over tokens after reward_norm has centered or divided the rewards. What"
        " reward_norm leaves undivided, as Dr. GRPO and RLOO mean to, is divided all the same, and bias and scale of the"
        " rewards are lost.",
        "AReaL actor.py, _compute_advantages; examples/math/gsm8k_drgrpo.yaml",
        {"reward_norm.mean_level": "group", "adv_norm.std_level": "batch"} | GROUP,
        {"reward_norm.mean_level": "group", "adv_norm.std_level": None} | GROUP,
    ),
    Trap(
        "A spread that is not around its own mean",
        lambda s, given: (
            (_norm(s, "reward_norm").get("mean_level"), _norm(s, "reward_norm").get("std_level"))
            == ("group", "batch")
        ),
        "The spread is taken around the mean that is subtracted: over the batch, but around the groups' means. It is"
        " smaller than the batch's standard deviation, as the differences between the groups are not in it.",
        "AReaL data.py, Normalization; examples/math/gsm8k_liteppo.yaml",
        {"reward_norm.mean_level": "group", "reward_norm.std_level": "batch"} | GROUP,
        {"reward_norm.mean_level": "group", "reward_norm.std_level": "group"} | GROUP,
    ),
    Trap(
        "A filter that sees no mismatch",
        lambda s, given: (
            _rejects(s)
            and not vars(s)["use_decoupled_loss"]
            and vars(s)["prox_logp_method"] != "reuse_train_logp"
        ),
        "Without use_decoupled_loss the log-probabilities that rejection_sampling compares are the same, so every ratio is"
        " 1: nothing is filtered, unless lower is above that, when nothing is left.",
        "AReaL actor.py, _compute_advantages; functional.py, ppo_actor_loss_fn",
        {"rejection_sampling.upper": 5.0},
        {"rejection_sampling.upper": 5.0, "use_decoupled_loss": True},
    ),
    Trap(
        "Decoupled, but not corrected",
        lambda s, given: vars(s)["use_decoupled_loss"] and not _rejects(s),
        "The weight for the sampler's mismatch is a part of rejection_sampling. Without it the ratio is taken to the"
        " recomputed log-probabilities, and nothing makes up for what the sampler did differently.",
        "AReaL functional.py, ppo_actor_loss_fn",
        {"use_decoupled_loss": True},
        {"use_decoupled_loss": True, "rejection_sampling.upper": 5.0},
    ),
    Trap(
        "A clip that never clips",
        lambda s, given: (
            vars(s)["ppo_n_minibatches"] == 1
            and (vars(s)["use_decoupled_loss"] or vars(s)["recompute_logprob"])
        ),
        "With one mini-batch the log-probabilities that the ratio is taken to are recomputed with the weights that are"
        " trained, so every ratio is 1 but for rounding, and eps_clip, c_clip and the level do nothing. Most of AReaL's"
        " examples are so.",
        "AReaL actor.py, _ppo_update; rl_trainer.py; examples/math/gsm8k_grpo.yaml",
        {"use_decoupled_loss": True, "ppo_n_minibatches": 1},
        {"use_decoupled_loss": True, "ppo_n_minibatches": 4},
    ),
    Trap(
        "A ratio that is always 1",
        lambda s, given: vars(s)["prox_logp_method"] == "reuse_train_logp" and not vars(s)["use_sapo_loss"],
        "With reuse_train_logp the ratio is taken to the policy being trained itself, so nothing is ever clipped, with or"
        " without use_decoupled_loss. What is far from the sampler is held back by rejection_sampling alone.",
        "AReaL actor.py, grpo_loss_fn",
        {"prox_logp_method": "reuse_train_logp"},
        {"prox_logp_method": "recompute"},
    ),
    Trap(
        "What is left out divides all the same",
        lambda s, given: vars(s)["use_decoupled_loss"] and "rejection_sampling.upper" in given,
        "The loss is divided by the number of tokens before rejection_sampling: the more it leaves out, the smaller is the"
        " step. m2_threshold, though, takes its tokens out of that number.",
        "AReaL functional.py, ppo_actor_loss_fn",
        {"use_decoupled_loss": True, "rejection_sampling.upper": 2.0},
        {"use_decoupled_loss": True, "m2_threshold": 0.04},
    ),
    Trap(
        "A ratio per completion, a mean per token",
        lambda s, given: vars(s)["importance_sampling_level"] == "sequence",
        "The ratio is that of GSPO, but the loss is a mean over the tokens of the batch, not over completions: a long one"
        " counts more.",
        "AReaL functional.py, ppo_actor_loss_fn",
        {"importance_sampling_level": "sequence"},
        {"importance_sampling_level": "token"},
    ),
    Trap(
        "Two budgets",
        lambda s, given: (
            vars(s)["overlong_reward_penalty"] and _budget(s) != vars(s)["gconfig.max_new_tokens"]
        ),
        "The punishment for length counts back from actor.max_new_tokens, 1024 where it is left out, and not from"
        " gconfig.max_new_tokens. A completion beyond it loses more than overlong_penalty_factor, without a limit.",
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
