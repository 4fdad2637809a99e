"""OpenRLHF at 3c3be623 (August 2026), `PolicyLoss` and the experience maker."""

from math import inf
from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import group_centered, group_normalized, leave_one_out, whitened
from grpo_ref.kernels.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.kernels.corrections import indicator, masked, truncated
from grpo_ref.kernels.filters import all_groups, mixed_groups
from grpo_ref.kernels.levels import sequence_mean_level, token_level
from grpo_ref.kernels.penalties import k1, k2, k3
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import clipped, dual_clipped
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import Dialect, counted, one_of
from grpo_ref.trainers.openrlhf.keys import ABOUT, CONCEPTS, DEFAULTS, OTHERS
from grpo_ref.trainers.openrlhf.traps import TRAPS

ADVANTAGES = {
    "group_norm": slot(group_normalized, ddof=1, eps=1e-9),
    "dr_grpo": slot(group_centered),
    "rloo": slot(leave_one_out),
    "reinforce_baseline": slot(whitened),
}
PENALTIES = {
    "k1": slot(k1, max_log_ratio=10.0),
    "k2": slot(k2),
    "k3": slot(k3, max_value=10.0),
}


def recipe(**config: Any) -> Recipe:
    """The recipe that OpenRLHF computes.

    Args:
      config: arguments of `PolicyLoss` and of the experience maker, or their command-line names.

    Raises:
      ValueError: if a key is unknown, or a value is one that OpenRLHF would refuse.

    >>> recipe(policy_loss_type="gspo").level.__name__
    'sequence_mean_level'
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    sequence = one_of("policy_loss_type", s.policy_loss_type, {"ppo": False, "gspo": True})
    low, high = s.eps_clip_low_high or (s.eps_clip, s.eps_clip)
    clips = {
        "clip_low": low if s.clip_eps_low is None else s.clip_eps_low,
        "clip_high": high if s.clip_eps_high is None else s.clip_eps_high,
    }
    per_completion = slot(sequence_mean_token_mean, count_empty=False, eps=1e-8)
    by_token = s.token_level_loss and not sequence
    return Recipe(
        reward=slot(task_reward),
        keep=slot(mixed_groups if s.dynamic_filtering else all_groups),
        advantage=one_of("advantage_estimator", s.advantage_estimator, ADVANTAGES),
        level=sequence_mean_level if sequence else token_level,
        surrogate=slot(clipped, **clips)
        if s.dual_clip is None
        else slot(dual_clipped, **clips, max_ratio=s.dual_clip),
        penalty=one_of("kl_estimator", s.kl_estimator, PENALTIES),
        kl_coef=s.init_kl_coef if s.use_kl_loss else 0.0,
        aggregate=slot(token_mean, eps=1e-8) if by_token else per_completion,
        source=DIALECT.version,
        corrections=_corrections(s),
        log_ratio_limits=(-inf, inf) if sequence else (-20.0, 20.0),
    )


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    if not s.enable_vllm_is_correction:
        return ()
    low, high = s.vllm_is_truncated_threshold
    window = {"min_ratio": low, "max_ratio": high}
    kinds = {
        "tis": (slot(truncated, **window),),
        "icepop": (slot(masked, **window),),
        "seq-mask-tis": (
            slot(indicator, level=sequence_mean_level, **window),
            slot(truncated, max_ratio=inf),
        ),
    }
    corrections: tuple[Slot, ...] = one_of("vllm_is_correction_type", s.vllm_is_correction_type, kinds)
    return corrections


DIALECT = Dialect(
    name="openrlhf",
    version="OpenRLHF 3c3be623 (2026-08-13)",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "advantage_estimator": tuple(ADVANTAGES),
        "policy_loss_type": ("ppo", "gspo"),
        "token_level_loss": (True, False),
        "use_kl_loss": (True, False),
        "kl_estimator": tuple(PENALTIES),
        "enable_vllm_is_correction": (True, False),
        "vllm_is_correction_type": ("tis", "icepop", "seq-mask-tis"),
        "dynamic_filtering": (True, False),
    },
    others=OTHERS,
    concepts=CONCEPTS,
    about=ABOUT,
    traps=TRAPS,
    metrics={"clip_ratio": counted("clip_low", "clip_high")},
)
