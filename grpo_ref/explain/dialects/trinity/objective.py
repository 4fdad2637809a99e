"""The objective of Trinity-RFT: the meaning of its keys, and the recipe that they give."""

import math
from typing import Any

from grpo_ref.advantages import batch_scaled, group_centered, group_normalized, leave_one_out, raw_rewards
from grpo_ref.aggregation import sequence_mean_token_mean, sequence_mean_token_sum, token_mean
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, NotExpressed, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.trinity.kernels import opmd
from grpo_ref.explain.dialects.trinity.phrases import PHRASES
from grpo_ref.explain.dialects.trinity.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import absolute, k1, k2, k3, no_penalty
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, dual_clipped, gspo_token, importance_weighted, reinforce, sapo, topr

ALGORITHMS = {
    **{"grpo": ("grpo", "ppo"), "dapo": ("grpo", "ppo"), "rloo": ("rloo", "ppo"), "opmd": ("opmd", "opmd")},
    **{"cispo": ("grpo", "cispo"), "gspo": ("grpo", "gspo"), "sapo": ("grpo", "sapo")},
    "topr": ("reinforce", "topr"),
}
"""The advantage and the policy loss of each algorithm."""
OTHER_ALGORITHMS = {
    **{
        "ppo": "it needs a critic",
        "reinforceplusplus": "it whitens token returns",
        "raft": "it has no advantage",
    },
    **{
        "asymre": "its baseline is shifted",
        "sppo": "it is a square",
    },
    **{
        "rec": "its loss has other regions",
        "gigpo": "it compares steps",
        "multi_step_grpo": "it compares steps",
    },
    **{"mix": "it adds a supervised loss", "mix_chord": "it adds a supervised loss", "dpo": "it needs pairs"},
    **{"on_policy_distill": "it needs a teacher", "jsd": "it needs a teacher", "sft": "it has no advantage"},
}
PENALTIES = {
    **{"k1": slot(k1), "k2": slot(k2), "k3": slot(k3), "abs": slot(absolute), "none": slot(no_penalty)},
    "low_var_kl": slot(k3, max_log_ratio=20.0, max_value=10.0),
}
AGGREGATES = {
    "token-mean": slot(token_mean),
    "seq-mean-token-mean": slot(sequence_mean_token_mean),
    "seq-mean-token-sum": slot(sequence_mean_token_sum),
}


def recipe(**config: Any) -> Recipe:
    """Return the recipe that Trinity-RFT computes.

    Args:
      config: the keys of its YAML files, in the group algorithm or not.

    Raises:
      ValueError: if a key is unknown, or if Trinity would refuse a value.

    >>> print(recipe(algorithm={"algorithm_type": "cispo"}).surrogate)
    cispo(min_ratio=0.0, max_ratio=1.28)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    if s.algorithm_type in OTHER_ALGORITHMS:
        raise NotExpressed("algorithm_type", s.algorithm_type, OTHER_ALGORITHMS[s.algorithm_type])
    advantage, loss = one_of("algorithm_type", s.algorithm_type, ALGORITHMS)
    loss = s.policy_loss_fn or loss
    is_off = s.kl_loss_fn == "none"
    if s.kl_loss_fn == "corrected_k3":
        raise NotExpressed("kl_loss_fn", s.kl_loss_fn, "its ratio is limited to 2")
    if s.loss_agg_mode == "seq-mean-token-sum-norm":
        raise NotExpressed(
            "loss_agg_mode", s.loss_agg_mode, "the sum is not divided by the number of completions"
        )
    return Recipe(
        reward=slot(task_reward),
        keep=_keep(s),
        advantage=_advantage(s, s.advantage_fn or advantage),
        level=sequence_mean_level if loss == "gspo" else token_level,
        surrogate=_surrogate(s, loss),
        penalty=one_of("kl_loss_fn", s.kl_loss_fn, PENALTIES),
        kl_coef=0.0 if is_off else s["kl_loss_fn_args.kl_coef"],
        aggregate=one_of("loss_agg_mode", s.loss_agg_mode, AGGREGATES),
        source=DIALECT.version,
        log_ratio_limits=(-20.0, 20.0) if loss in ("ppo", "importance_sampling") else (-math.inf, math.inf),
    )


def _keep(s: Settings) -> Slot:
    threshold = s["advantage_fn_args.std_threshold"]
    if threshold:
        raise NotExpressed("advantage_fn_args.std_threshold", threshold, "as groups are dropped by their std")
    return slot(all_groups if threshold is None else mixed_groups)


def _advantage(s: Settings, name: str) -> Slot:
    if name == "grpo" and s["advantage_fn_args.std_cal_level"] == "batch":
        return slot(batch_scaled, ddof=1, eps=s["advantage_fn_args.epsilon"])
    one_of("advantage_fn_args.std_cal_level", s["advantage_fn_args.std_cal_level"], {"group": 0, "batch": 0})
    kernels = {
        "grpo": slot(group_normalized, ddof=1, eps=s["advantage_fn_args.epsilon"], keep_singletons=True),
        "rloo": slot(leave_one_out, keep_singletons=True),
        "opmd": slot(group_centered, keep_singletons=True),
        "reinforce": slot(raw_rewards),
    }
    chosen: Slot = one_of("advantage_fn", name, kernels)
    return chosen


def _surrogate(s: Settings, loss: str) -> Slot:
    low, high = clip_range(s, loss)
    kernels = {
        "ppo": slot(
            dual_clipped,
            clip_low=min(low, NO_CLIP_LOW),
            clip_high=high,
            max_ratio=s["policy_loss_fn_args.clip_ratio_c"],
        ),
        "gspo": slot(gspo_token, clip_low=min(low, NO_CLIP_LOW), clip_high=high),
        "cispo": slot(cispo, min_ratio=1.0 - low, max_ratio=1.0 + high),
        "sapo": slot(
            sapo,
            tau_positive=s["policy_loss_fn_args.tau_pos"],
            tau_negative=s["policy_loss_fn_args.tau_neg"],
        ),
        "topr": slot(topr),
        "opmd": slot(opmd, tau=s["policy_loss_fn_args.tau"]),
        "importance_sampling": slot(importance_weighted),
    }
    chosen: Slot = one_of("policy_loss_fn", loss, kernels)
    return chosen


def clip_range(s: Settings, loss: str) -> tuple[float, float]:
    """Return the half-widths of the clip. The default depends on the policy loss."""
    usual = {"gspo": (3e-4, 4e-4), "cispo": (1.0, 0.28)}.get(loss, (0.2, 0.2))
    both = s["policy_loss_fn_args.clip_range"]
    given = s["policy_loss_fn_args.clip_range_low"], s["policy_loss_fn_args.clip_range_high"]
    low, high = (
        own if own is not None else default if both is None else both
        for own, default in zip(given, usual, strict=True)
    )
    return low, high


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        # TrinityPolicyLoss divides by the micro-batch's own number, and verl's engine from 0.8 on adds the gradients.
        averages=lambda s: Averages(
            "each micro-batch; the sum over the micro-batches of a rank is not divided by their number (with verl 0.8)",
            over="micro-batch",
            across="sum",
        ),
        phrases=PHRASES,
        forms={opmd: reinforce},
    ),
    TRAPS,
)
