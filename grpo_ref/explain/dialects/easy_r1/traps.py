"""Traps: configurations of EasyR1 with effects that their author is unlikely to expect."""

from grpo_ref.explain.dialects.easy_r1.keys import SET_BY_ALGORITHM
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

KNOWN = ("default", "gspo", "gspo_token", "cispo", "sapo")
CLIPS = {"clip_ratio_low", "clip_ratio_high"}
SHORT = 0.01
"""Largest width of a clip that fits the mean log-ratio of a completion.

Wider clips are meant for token ratios.
"""


def _in_reward(s: Settings) -> bool:
    return not s.disable_kl and not s.use_kl_loss and s.kl_coef != 0.0


def _in_loss(s: Settings) -> bool:
    return not s.disable_kl and s.use_kl_loss and s.kl_coef != 0.0


TRAPS = (
    Trap(
        "loss_type is unknown, so PPO's clip is used",
        lambda s, given: s.loss_type not in KNOWN,
        "loss_type is compared with gspo, gspo_token, cispo and sapo. For any other name, even a misspelt"
        " one, EasyR1 computes the clipped loss of PPO, without an error.",
        "EasyR1 core_algos.py, compute_policy_loss",
        {"worker.actor.loss_type": "dapo"},
        {"worker.actor.loss_type": "gspo"},
    ),
    Trap(
        "loss_avg_mode=seq depends on the micro-batches",
        lambda s, given: s.loss_avg_mode == "seq",
        "loss_avg_mode=seq is the mean over the completions of one micro-batch, and micro-batches count"
        " by their tokens. With micro-batches of one completion it is exactly the mean over all tokens."
        " With dynamic_batching, which is on by default, it depends on how completions are packed.",
        "EasyR1 dp_actor.py, update_policy",
        {"worker.actor.loss_avg_mode": "seq"},
        {"worker.actor.loss_avg_mode": "token"},
    ),
    Trap(
        "use_kl_loss is off: the penalty is in the reward",
        lambda s, given: _in_reward(s),
        "Without use_kl_loss, the penalty is summed over a completion and subtracted from its reward"
        " before the group is compared. Its weight is kl_coef, 0.001 by default. Set disable_kl, or"
        " use_kl_loss.",
        "EasyR1 ray_trainer.py, fit and apply_kl_penalty",
        {},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "low_var_kl"},
    ),
    Trap(
        "kl_penalty=kl has an expected gradient of zero in the loss",
        lambda s, given: _in_loss(s) and s.kl_penalty == "kl",
        "kl_penalty is kl by default, the plain log-ratio. In the loss its expected gradient is 0: it"
        " adds noise and no pull to the reference. Set low_var_kl or mse.",
        "EasyR1 core_algos.py, compute_kl; config.py",
        {"algorithm.use_kl_loss": True},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "mse"},
    ),
    Trap(
        "disable_kl turns off every penalty",
        lambda s, given: s.disable_kl and bool({"use_kl_loss", "kl_coef", "kl_penalty"} & given),
        "disable_kl removes the reference, and with it every penalty. use_kl_loss, kl_coef and kl_penalty"
        " are then ignored.",
        "EasyR1 ray_trainer.py, RayPPOTrainer",
        {"algorithm.disable_kl": True, "algorithm.use_kl_loss": True},
        {"algorithm.disable_kl": True},
    ),
    Trap(
        "worker.actor.use_kl_loss is overwritten by algorithm.use_kl_loss",
        lambda s, given: any(f"actor.{key}" in given for key in SET_BY_ALGORITHM),
        "worker.actor has fields of these names, but those of algorithm overwrite them. Unlike in verl,"
        " set use_kl_loss, kl_penalty and kl_coef in algorithm.",
        "EasyR1 trainer/config.py, PPOConfig.post_init",
        {"worker.actor.use_kl_loss": True},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "low_var_kl"},
    ),
    Trap(
        "kl_type=adaptive does not change a penalty in the loss",
        lambda s, given: _in_loss(s) and s.kl_type == "adaptive",
        "kl_type=adaptive changes only the weight of a penalty in the reward. In the loss the weight is"
        " always kl_coef.",
        "EasyR1 dp_actor.py, update_policy",
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "mse", "algorithm.kl_type": "adaptive"},
        {"algorithm.use_kl_loss": True, "algorithm.kl_penalty": "mse"},
    ),
    Trap(
        "filter_low and filter_high compare the mean reward",
        lambda s, given: s.online_filtering and s.filter_low < s.filter_high,
        "A group is kept if its mean is strictly between filter_low and filter_high, 0.01 and 0.99 by"
        " default. With rewards of -1 and 1, this drops every group in which at most half of the"
        " completions are right, and it keeps groups of equal rewards between the bounds. Dropped groups"
        " are replaced: more groups are sampled until the batch is full.",
        "EasyR1 ray_trainer.py, _make_batch_data",
        {"algorithm.online_filtering": True},
        {"algorithm.online_filtering": False},
    ),
    Trap(
        "filter_key selects groups by another reward",
        lambda s, given: s.online_filtering and s.filter_key != "overall",
        "The groups are selected by the number that filter_key names, and trained on with overall. A"
        " group with equal overall rewards may be kept, and one with different overall rewards dropped.",
        "EasyR1 ray_trainer.py, _make_batch_data",
        {"algorithm.online_filtering": True, "algorithm.filter_key": "accuracy"},
        {"algorithm.online_filtering": True},
    ),
    Trap(
        "clip_ratio_dual is ignored by this loss_type",
        lambda s, given: (
            (s.loss_type == "sapo" and bool(given & (CLIPS | {"clip_ratio_dual"})))
            or (s.loss_type == "cispo" and "clip_ratio_dual" in given)
        ),
        "sapo has a soft gate instead of every clip, and cispo does not read clip_ratio_dual.",
        "EasyR1 core_algos.py, compute_policy_loss",
        {"worker.actor.loss_type": "sapo", "worker.actor.clip_ratio_high": 0.28},
        {"worker.actor.loss_type": "sapo"},
    ),
    Trap(
        "clip_ratio_low is a lower bound of cispo's weight",
        lambda s, given: s.loss_type == "cispo" and s.clip_ratio_low < 1.0,
        "cispo weights a token by its ratio, limited to 1 - clip_ratio_low and 1 + clip_ratio_high. A"
        " token that has become unlikely keeps most of its weight. The paper has no lower bound. Set"
        " clip_ratio_low to 1.",
        "EasyR1 core_algos.py, compute_policy_loss",
        {"worker.actor.loss_type": "cispo"},
        {"worker.actor.loss_type": "cispo", "worker.actor.clip_ratio_low": 1.0},
    ),
    Trap(
        "clip_ratio_low and clip_ratio_high are too large for gspo",
        lambda s, given: s.loss_type in ("gspo", "gspo_token") and s.clip_ratio_low > SHORT,
        "gspo's ratio is a mean over the completion, which hardly changes. The defaults, 0.2 and 0.3,"
        " never clip it. The paper uses 0.0003 and 0.0004.",
        "EasyR1 core_algos.py, compute_policy_loss; actor/config.py",
        {"worker.actor.loss_type": "gspo"},
        {"worker.actor.loss_type": "gspo", "worker.actor.clip_ratio_low": 3e-4},
    ),
    Trap(
        "gamma is ignored by this estimator",
        lambda s, given: s.gamma != 1.0 and s.adv_estimator != "reinforce_plus_plus",
        "Only reinforce_plus_plus and gae read gamma. grpo, grpo_passk and rloo give every token the same"
        " advantage.",
        "EasyR1 core_algos.py",
        {"algorithm.gamma": 0.99},
        {"algorithm.gamma": 0.99, "algorithm.adv_estimator": "reinforce_plus_plus"},
    ),
)
"""The traps, in the order in which they are reported."""
