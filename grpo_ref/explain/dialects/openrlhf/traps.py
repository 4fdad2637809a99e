"""Traps: configurations of OpenRLHF with effects that their author is unlikely to expect."""

from types import SimpleNamespace
from typing import Any

from grpo_ref.explain.trap import Trap

CORRECTED = {"algo.advantage.is_correction_enable": True}


def _in_reward(s: SimpleNamespace) -> bool:
    return not vars(s)["algo.kl.use_loss"] and vars(s)["algo.kl.init_coef"] > 0.0


def _corrects(s: SimpleNamespace, **others: Any) -> bool:
    """Return true if the sampler's mismatch is corrected, for this loss or by this kind."""
    settings = vars(s)
    told = {"loss": settings["actor.policy_loss_type"], "kind": settings["algo.advantage.is_correction_type"]}
    return bool(settings["algo.advantage.is_correction_enable"]) and others.items() <= told.items()


def _backwards(low: float, high: float) -> bool:
    return low > high


TRAPS = (
    Trap(
        "The penalty is in the reward",
        lambda s, given: _in_reward(s),
        "Without algo.kl.use_loss, the KL to the reference is subtracted from the reward of each token, with"
        " algo.kl.init_coef as its weight, which is 0.01 where it is left out: the loss has no penalty, and the tokens"
        " of a completion have different advantages. Set algo.kl.use_loss, or algo.kl.init_coef to 0.",
        "OpenRLHF experience_maker.py, make_experience and compute_reward",
        {},
        {"algo.kl.use_loss": True},
    ),
    Trap(
        "A penalty with an average of its own",
        lambda s, given: (
            vars(s)["actor.policy_loss_type"] == "gspo"
            and vars(s)["algo.kl.use_loss"]
            and vars(s)["algo.kl.init_coef"] > 0.0
        ),
        "gspo is averaged by completion, but the penalty is averaged over the tokens of the batch all the same, so a long"
        " completion has more of it.",
        "OpenRLHF ppo_actor.py, training_step",
        {"actor.policy_loss_type": "gspo", "algo.kl.use_loss": True},
        {"actor.policy_loss_type": "ppo", "algo.kl.use_loss": True},
    ),
    Trap(
        "A correction that is none",
        lambda s, given: _corrects(s, loss="gspo"),
        "With gspo the correction gives no weights: the ratio is taken against the sampler's log-probabilities instead of"
        " the learner's old ones, whatever the type and the thresholds say.",
        "OpenRLHF loss.py, PolicyLoss",
        {"actor.policy_loss_type": "gspo"} | CORRECTED,
        {"actor.policy_loss_type": "ppo"} | CORRECTED,
    ),
    Trap(
        "A clamp that does not clamp",
        lambda s, given: _corrects(s, loss="ppo", kind="seq-mask-tis"),
        "seq-mask-tis filters completions by their geometric mean; the token weights inside are not limited, though the"
        " comment in the code says so.",
        "OpenRLHF loss.py, PolicyLoss",
        CORRECTED | {"algo.advantage.is_correction_type": "seq-mask-tis"},
        CORRECTED | {"algo.advantage.is_correction_type": "tis"},
    ),
    Trap(
        "One NaN is enough",
        lambda s, given: _corrects(s),
        "A single token for which the sampler reports NaN makes the whole loss NaN; nothing takes it for a mismatch of"
        " none, and no window leaves it out, as 0 times NaN is NaN.",
        "OpenRLHF loss.py, PolicyLoss",
        CORRECTED,
        {"algo.advantage.is_correction_enable": False},
    ),
    Trap(
        "Two names for a baseline, one of them whitened",
        lambda s, given: vars(s)["algo.advantage.estimator"] == "reinforce_baseline",
        "reinforce_baseline and dr_grpo both subtract the group's mean; reinforce_baseline is whitened over the tokens of"
        " the batch afterwards, unless algo.advantage.no_std_norm leaves the division out.",
        "OpenRLHF experience_maker.py",
        {"algo.advantage.estimator": "reinforce_baseline"},
        {"algo.advantage.estimator": "dr_grpo"},
    ),
    Trap(
        "A discount that is put back to 1",
        lambda s, given: (
            vars(s)["algo.advantage.gamma"] != 1.0 and vars(s)["algo.advantage.estimator"] != "reinforce"
        ),
        "algo.advantage.gamma is set to 1.0 for every estimator with a group, with a warning in the log.",
        "OpenRLHF experience_maker.py, compute_advantages_and_returns",
        {"algo.advantage.estimator": "rloo", "algo.advantage.gamma": 0.9},
        {"algo.advantage.estimator": "reinforce", "algo.advantage.gamma": 0.9},
    ),
    Trap(
        "Limits of what is left of the reward",
        lambda s, given: "reward.clip_range" in given,
        "reward.clip_range limits what is left after the group's mean was taken off or divided by its spread, not the"
        " reward itself.",
        "OpenRLHF experience_maker.py and compute_reward",
        {"reward.clip_range": [-1.0, 1.0]},
        {},
    ),
    Trap(
        "A filter that asks for the mean",
        lambda s, given: vars(s)["algo.dynamic_filtering_enable"],
        "A group is kept if the mean of its scores is strictly inside algo.dynamic_filtering_range, 0 to 1 where it is"
        " left out. With scores of -1 and 1 that drops every group that fails at least as often as not; and groups of"
        " equal scores between the bounds are kept.",
        "OpenRLHF samples_generator.py, _generate_vllm",
        {"algo.dynamic_filtering_enable": True},
        {"algo.dynamic_filtering_enable": False},
    ),
    Trap(
        "A clip that is not read",
        lambda s, given: {"actor.eps_clip", "actor.eps_clip_low_high"} <= given,
        "actor.eps_clip_low_high takes the place of actor.eps_clip, which is not read then.",
        "OpenRLHF train_ppo_ray.py",
        {"actor.eps_clip": 0.1, "actor.eps_clip_low_high": [0.2, 0.28]},
        {"actor.eps_clip_low_high": [0.2, 0.28]},
    ),
    Trap(
        "A negative weight is none",
        lambda s, given: vars(s)["algo.kl.init_coef"] < 0.0,
        "Below 0, algo.kl.init_coef loads no reference and adds nothing to the loss or the reward.",
        "OpenRLHF train_ppo_ray.py; ppo_actor.py, training_step",
        {"algo.kl.init_coef": -0.01, "algo.kl.use_loss": True},
        {"algo.kl.init_coef": 0.01, "algo.kl.use_loss": True},
    ),
    Trap(
        "A window the wrong way round",
        lambda s, given: (
            _corrects(s, loss="ppo") and _backwards(*vars(s)["algo.advantage.is_correction_threshold"])
        ),
        "With the higher number of algo.advantage.is_correction_threshold first, no ratio is inside: tis takes the second"
        " number for every token's weight, icepop and seq-mask-tis leave out all of them, so the loss is 0.",
        "OpenRLHF loss.py, PolicyLoss; torch.clamp",
        CORRECTED | {"algo.advantage.is_correction_threshold": [5.0, 0.5]},
        CORRECTED | {"algo.advantage.is_correction_threshold": [0.5, 5.0]},
    ),
    Trap(
        "A clip that does not hold 1",
        lambda s, given: min(vars(s)["actor.eps_clip_low_high"] or [vars(s)["actor.eps_clip"]]) < 0.0,
        "actor.eps_clip_low_high are two widths, both positive: of [-0.2, 0.2] the lower bound is 1.2, and where the lower"
        " bound is above the upper one, the upper one alone counts. On policy some tokens are clipped already.",
        "OpenRLHF loss.py, PolicyLoss",
        {"actor.eps_clip_low_high": [-0.2, 0.2]},
        {"actor.eps_clip_low_high": [0.2, 0.2]},
    ),
)
"""The traps, in the order in which they are reported."""
