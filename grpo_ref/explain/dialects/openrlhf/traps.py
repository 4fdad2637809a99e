"""Traps: configurations of OpenRLHF with effects that their author is unlikely to expect."""

from typing import Any

from grpo_ref.explain.dialects.openrlhf.keys import SCHEMES, correction_of
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

CORRECTED = {"algo.advantage.is_correction_enable": True}


def _in_reward(s: Settings) -> bool:
    return not s["algo.kl.use_loss"] and s["algo.kl.init_coef"] > 0.0


def _corrects(s: Settings, *, loss: str = "", kind: str = "") -> bool:
    """Return true if the sampler's mismatch is corrected, for this loss or by this scheme."""
    correction = correction_of(s)
    if correction is None or (loss and s["actor.policy_loss_type"] != loss):
        return False
    return not kind or correction == SCHEMES[kind]


def _backwards(threshold: Any) -> bool:
    """Return true if the first of two bounds is the higher one."""
    return isinstance(threshold, list) and len(threshold) == 2 and threshold[0] > threshold[1]


TRAPS = (
    Trap(
        "is_correction_level: the default mode drops tokens instead of limiting them",
        lambda s, given: (
            s["algo.advantage.is_correction_level"] == "token"
            and s["algo.advantage.is_correction_gating"] == "ratio"
            and s["algo.advantage.is_correction_mode"] == "mask"
            and "algo.advantage.is_correction_mode" not in given
        ),
        "Until 0.11.1 a correction that is switched on limits the weights (tis). Since 0.11.2 its default,"
        " is_correction_mode=mask, drops tokens outside the thresholds (icepop). Set is_correction_mode to clip for the"
        " old default.",
        "OpenRLHF 0.11.2, train_ppo_ray.py; loss.py, PolicyLoss",
        {"algo.advantage.is_correction_level": "token"},
        {"algo.advantage.is_correction_level": "token", "algo.advantage.is_correction_mode": "clip"},
    ),
    Trap(
        "algo.kl.use_loss is off: the penalty is in the reward",
        lambda s, given: _in_reward(s),
        "Without algo.kl.use_loss, the KL to the reference is subtracted from the reward of each token."
        " Its weight is algo.kl.init_coef, 0.01 by default. The loss has no penalty, and the tokens of a"
        " completion have different advantages. Set algo.kl.use_loss, or algo.kl.init_coef to 0.",
        "OpenRLHF experience_maker.py, make_experience and compute_reward",
        {},
        {"algo.kl.use_loss": True},
    ),
    Trap(
        "policy_loss_type=gspo: the penalty is averaged over tokens",
        lambda s, given: (
            s["actor.policy_loss_type"] == "gspo" and s["algo.kl.use_loss"] and s["algo.kl.init_coef"] > 0.0
        ),
        "gspo is averaged per completion, but the penalty is averaged over the tokens of the batch, so a"
        " long completion has more of it.",
        "OpenRLHF ppo_actor.py, training_step",
        {"actor.policy_loss_type": "gspo", "algo.kl.use_loss": True},
        {"actor.policy_loss_type": "ppo", "algo.kl.use_loss": True},
    ),
    Trap(
        "eps_clip is PPO's, far too large for gspo",
        lambda s, given: (
            s["actor.policy_loss_type"] == "gspo"
            and (s["actor.eps_clip_low_high"] or [s["actor.eps_clip"]])[0] >= 0.01
        ),
        "gspo's ratio is a mean over the completion, which hardly changes. The default, 0.2, never clips it."
        " The paper uses 0.0003 and 0.0004.",
        "OpenRLHF loss.py, PolicyLoss; Zheng et al. 2025, GSPO (arXiv:2507.18071)",
        {"actor.policy_loss_type": "gspo"},
        {"actor.policy_loss_type": "gspo", "actor.eps_clip_low_high": [3e-4, 4e-4]},
    ),
    Trap(
        "is_correction_enable adds no weights with gspo",
        lambda s, given: _corrects(s, loss="gspo"),
        "With gspo the correction gives no weights. Instead the ratio is taken to the sampler's"
        " log-probabilities, not to the learner's old ones, whatever the type and the thresholds are.",
        "OpenRLHF loss.py, PolicyLoss",
        {"actor.policy_loss_type": "gspo"} | CORRECTED,
        {"actor.policy_loss_type": "ppo"} | CORRECTED,
    ),
    Trap(
        "is_correction_type=seq-mask-tis does not limit token weights",
        lambda s, given: _corrects(s, loss="ppo", kind="seq-mask-tis"),
        "seq-mask-tis filters completions by their geometric mean. The token weights inside have no"
        " limit, although a comment in the code says so.",
        "OpenRLHF loss.py, PolicyLoss",
        CORRECTED | {"algo.advantage.is_correction_type": "seq-mask-tis"},
        CORRECTED | {"algo.advantage.is_correction_type": "tis"},
    ),
    Trap(
        "is_correction_enable: one NaN makes the loss NaN",
        lambda s, given: _corrects(s),
        "A single token for which the sampler reports NaN makes the whole loss NaN. It is not treated as"
        " a token without mismatch, and no window excludes it, because 0 times NaN is NaN.",
        "OpenRLHF loss.py, PolicyLoss",
        CORRECTED,
        {"algo.advantage.is_correction_enable": False},
    ),
    Trap(
        "estimator=reinforce_baseline is also whitened",
        lambda s, given: s["algo.advantage.estimator"] == "reinforce_baseline",
        "reinforce_baseline and dr_grpo both subtract the group's mean. reinforce_baseline is then"
        " whitened over the tokens of the batch, where algo.advantage.no_std_norm omits the division.",
        "OpenRLHF experience_maker.py",
        {"algo.advantage.estimator": "reinforce_baseline"},
        {"algo.advantage.estimator": "dr_grpo"},
    ),
    Trap(
        "algo.advantage.gamma is reset to 1.0",
        lambda s, given: s["algo.advantage.gamma"] != 1.0 and s["algo.advantage.estimator"] != "reinforce",
        "algo.advantage.gamma is set to 1.0 for every estimator with a group, with a warning in the log.",
        "OpenRLHF experience_maker.py, compute_advantages_and_returns",
        {"algo.advantage.estimator": "rloo", "algo.advantage.gamma": 0.9},
        {"algo.advantage.estimator": "reinforce", "algo.advantage.gamma": 0.9},
    ),
    Trap(
        "reward.clip_range limits the advantage, not the reward",
        lambda s, given: "reward.clip_range" in given,
        "reward.clip_range limits the reward after the group's mean was subtracted, or after the division"
        " by its spread. It does not limit the reward itself.",
        "OpenRLHF experience_maker.py and compute_reward",
        {"reward.clip_range": [-1.0, 1.0]},
        {},
    ),
    Trap(
        "algo.dynamic_filtering_range compares the mean score",
        lambda s, given: s["algo.dynamic_filtering_enable"],
        "A group is kept if its mean score lies strictly between the bounds, 0 and 1 by default. With"
        " scores of -1 and 1, this drops every group in which at most half of the completions are right."
        " It also keeps groups whose scores are all equal, if they lie between the bounds. For scores of"
        " -1 and 1, set the range to -1 1.",
        "OpenRLHF samples_generator.py, _generate_vllm",
        {"algo.dynamic_filtering_enable": True},
        {"algo.dynamic_filtering_enable": False},
    ),
    Trap(
        "actor.eps_clip is ignored: actor.eps_clip_low_high is set",
        lambda s, given: {"actor.eps_clip", "actor.eps_clip_low_high"} <= given,
        "actor.eps_clip_low_high replaces actor.eps_clip, which is then not read.",
        "OpenRLHF train_ppo_ray.py",
        {"actor.eps_clip": 0.1, "actor.eps_clip_low_high": [0.2, 0.28]},
        {"actor.eps_clip_low_high": [0.2, 0.28]},
    ),
    Trap(
        "algo.kl.init_coef is negative, so there is no penalty",
        lambda s, given: s["algo.kl.init_coef"] < 0.0,
        "Below 0, algo.kl.init_coef loads no reference and adds nothing to the loss or the reward.",
        "OpenRLHF train_ppo_ray.py; ppo_actor.py, training_step",
        {"algo.kl.init_coef": -0.01, "algo.kl.use_loss": True},
        {"algo.kl.init_coef": 0.01, "algo.kl.use_loss": True},
    ),
    Trap(
        "is_correction_threshold has its bounds swapped",
        lambda s, given: _corrects(s, loss="ppo") and _backwards(s["algo.advantage.is_correction_threshold"]),
        "If the first number of algo.advantage.is_correction_threshold is the higher one, no ratio is"
        " inside. tis then uses the second number as every token's weight; icepop and seq-mask-tis exclude"
        " all tokens, so the loss is 0.",
        "OpenRLHF loss.py, PolicyLoss; torch.clamp",
        CORRECTED | {"algo.advantage.is_correction_threshold": [5.0, 0.5]},
        CORRECTED | {"algo.advantage.is_correction_threshold": [0.5, 5.0]},
    ),
    Trap(
        "actor.eps_clip_low_high has a negative width",
        lambda s, given: min(s["actor.eps_clip_low_high"] or [s["actor.eps_clip"]]) < 0.0,
        "actor.eps_clip_low_high are two widths, both positive. With [-0.2, 0.2] the lower bound is 1.2."
        " If the lower bound is above the upper one, only the upper one counts. Then some tokens are"
        " clipped even on-policy.",
        "OpenRLHF loss.py, PolicyLoss",
        {"actor.eps_clip_low_high": [-0.2, 0.2]},
        {"actor.eps_clip_low_high": [0.2, 0.2]},
    ),
)
"""The traps, in the order in which they are reported."""
