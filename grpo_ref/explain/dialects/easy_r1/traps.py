"""Traps: configurations of EasyR1 with effects that their author is unlikely to expect."""

from types import SimpleNamespace

from grpo_ref.explain.dialects.easy_r1.keys import SET_BY_ALGORITHM
from grpo_ref.explain.trap import Trap

KNOWN = ("default", "gspo", "gspo_token", "cispo", "sapo")
CLIPS = {"clip_ratio_low", "clip_ratio_high"}
SHORT = 0.01
"""Largest width of a clip that fits the mean log-ratio of a completion.

Wider clips are meant for token ratios.
"""


def _in_reward(s: SimpleNamespace) -> bool:
    return not s.disable_kl and not s.use_kl_loss and s.kl_coef != 0.0


def _in_loss(s: SimpleNamespace) -> bool:
    return not s.disable_kl and s.use_kl_loss and s.kl_coef != 0.0


TRAPS = (
    Trap(
        "A loss that is not known",
        lambda s, given: s.loss_type not in KNOWN,
        "loss_type is compared with gspo, gspo_token, cispo and sapo; whatever else it is, misspelt or not,"
        " the clipped loss of PPO is computed, without an error.",
        "EasyR1 core_algos.py, compute_policy_loss",
        {"worker.actor.loss_type": "dapo"},
        {"worker.actor.loss_type": "gspo"},
    ),
    Trap(
        "An average over completions that is none",
        lambda s, given: s.loss_avg_mode == "seq",
        "loss_avg_mode=seq is the mean over the completions of one micro-batch, and micro-batches count by"
        " their tokens: with micro-batches of one completion it is exactly the mean over all tokens, and"
        " with dynamic_batching, which is on where it is left out, it depends on how completions are"
        " packed.",
        "EasyR1 dp_actor.py, update_policy",
        {"worker.actor.loss_avg_mode": "seq"},
        {"worker.actor.loss_avg_mode": "token"},
    ),
    Trap(
        "The penalty is in the reward",
        lambda s, given: _in_reward(s),
        "Without use_kl_loss, the penalty is summed over a completion and taken off its reward before the"
        " group is compared, with kl_coef as its weight, 0.001 where it is left out. Set disable_kl, or"
        " use_kl_loss.",
        "EasyR1 ray_trainer.py, fit and apply_kl_penalty",
        {},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "low_var_kl"},
    ),
    Trap(
        "A penalty that pulls nowhere",
        lambda s, given: _in_loss(s) and s.kl_penalty == "kl",
        "kl_penalty is kl where it is left out, the plain log-ratio. In the loss its expected gradient is"
        " 0: it adds noise and no pull to the reference. Set low_var_kl or mse.",
        "EasyR1 core_algos.py, compute_kl; config.py",
        {"algorithm.use_kl_loss": True},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "mse"},
    ),
    Trap(
        "A penalty that is switched off elsewhere",
        lambda s, given: s.disable_kl and bool({"use_kl_loss", "kl_coef", "kl_penalty"} & given),
        "disable_kl leaves out the reference, and with it every penalty, whatever use_kl_loss, kl_coef and"
        " kl_penalty say.",
        "EasyR1 ray_trainer.py, RayPPOTrainer",
        {"algorithm.disable_kl": True, "algorithm.use_kl_loss": True},
        {"algorithm.disable_kl": True},
    ),
    Trap(
        "A penalty in the wrong group",
        lambda s, given: any(f"actor.{key}" in given for key in SET_BY_ALGORITHM),
        "worker.actor has fields of these names, but the ones of algorithm take their place: unlike in"
        " verl, use_kl_loss, kl_penalty and kl_coef are to be set in algorithm.",
        "EasyR1 trainer/config.py, PPOConfig.post_init",
        {"worker.actor.use_kl_loss": True},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "low_var_kl"},
    ),
    Trap(
        "An adaptive weight that stays where it is",
        lambda s, given: _in_loss(s) and s.kl_type == "adaptive",
        "kl_type=adaptive changes the weight of a penalty in the reward alone; in the loss it is kl_coef"
        " throughout.",
        "EasyR1 dp_actor.py, update_policy",
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "mse", "algorithm.kl_type": "adaptive"},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "mse"},
    ),
    Trap(
        "A filter that asks for the mean",
        lambda s, given: s.online_filtering,
        "A group is kept if the mean of its numbers is strictly between filter_low and filter_high, 0.01"
        " and 0.99 where they are left out: with rewards of -1 and 1 every group that fails half the time"
        " or more is dropped, and a group of equal rewards in between is kept. Such groups take the place"
        " of none: the batch is filled from further ones.",
        "EasyR1 ray_trainer.py, _make_batch_data",
        {"algorithm.online_filtering": True},
        {"algorithm.online_filtering": False},
    ),
    Trap(
        "A filter by another reward",
        lambda s, given: s.online_filtering and s.filter_key != "overall",
        "The groups are chosen by the number that filter_key names, and trained on with overall: a group"
        " without contrast in overall may be kept, and one with contrast dropped.",
        "EasyR1 ray_trainer.py, _make_batch_data",
        {"algorithm.online_filtering": True, "algorithm.filter_key": "accuracy"},
        {"algorithm.online_filtering": True},
    ),
    Trap(
        "A clip that is not read",
        lambda s, given: (
            (s.loss_type == "sapo" and bool(given & (CLIPS | {"clip_ratio_dual"})))
            or (s.loss_type == "cispo" and "clip_ratio_dual" in given)
        ),
        "sapo has a soft gate in place of every clip, and cispo does not read clip_ratio_dual.",
        "EasyR1 core_algos.py, compute_policy_loss",
        {"worker.actor.loss_type": "sapo", "worker.actor.clip_ratio_high": 0.28},
        {"worker.actor.loss_type": "sapo"},
    ),
    Trap(
        "A weight with a floor",
        lambda s, given: s.loss_type == "cispo" and s.clip_ratio_low < 1.0,
        "cispo weighs a token by its ratio between 1 - clip_ratio_low and 1 + clip_ratio_high: a token that"
        " has become unlikely keeps most of its weight. The paper has no bound below; set clip_ratio_low to"
        " 1.",
        "EasyR1 core_algos.py, compute_policy_loss",
        {"worker.actor.loss_type": "cispo"},
        {"worker.actor.loss_type": "cispo", "worker.actor.clip_ratio_low": 1.0},
    ),
    Trap(
        "A clip of tokens for the ratio of a completion",
        lambda s, given: s.loss_type in ("gspo", "gspo_token") and s.clip_ratio_low > SHORT,
        "gspo's ratio is a mean over the completion, which hardly moves; 0.2 and 0.3, where the clip is"
        " left out, never hold it. The paper has 0.0003 and 0.0004.",
        "EasyR1 core_algos.py, compute_policy_loss; actor/config.py",
        {"worker.actor.loss_type": "gspo"},
        {"worker.actor.loss_type": "gspo", "worker.actor.clip_ratio_low": 3e-4},
    ),
    Trap(
        "A discount that is not read",
        lambda s, given: s.gamma != 1.0 and s.adv_estimator != "reinforce_plus_plus",
        "gamma is read by reinforce_plus_plus and by gae; grpo, grpo_passk and rloo give every token the"
        " same advantage.",
        "EasyR1 core_algos.py",
        {"algorithm.gamma": 0.99},
        {"algorithm.gamma": 0.99, "algorithm.adv_estimator": "reinforce_plus_plus"},
    ),
)
"""The traps, in the order in which they are reported."""
