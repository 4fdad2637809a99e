"""Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.

    GRPO    = Recipe(advantage=..., level=..., surrogate=..., penalty=..., kl_coef=..., aggregate=..., ...)
    DR_GRPO = replace(GRPO, advantage=slot(group_centred), aggregate=slot(fixed_length), kl_coef=0.0)

A part is a kernel with its settings, `slot(kernel, setting=value)`. A kernel's positional parameters name the
fields that it reads from the batch, its keyword-only parameters are the settings; so a part can be called
with any record that has those fields, printed, compared and pickled, and a new part needs no new plumbing.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from grpo_ref.advantages import (
    batch_normalized,
    batch_scaled,
    best_of_group,
    discounted,
    gpg,
    group_centred,
    group_normalized,
    leave_one_out,
    length_weighted,
    normalized_then_summed,
    ranked,
    raw_rewards,
    whitened,
)
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, sequence_mean_token_sum, token_mean
from grpo_ref.arrays import Array
from grpo_ref.corrections import masked, top_entropy, truncated, unlikely_under_reference
from grpo_ref.filters import all_completions, all_groups, ended_completions, mixed_groups
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import k3
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import (
    cispo,
    clip_cov,
    clipped,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
    gated_ratio,
    geometric_mean_clipped,
    gspo_token,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
    symmetric_kl,
    symmetric_tv,
    two_sided_clipped,
    vespo,
)


@dataclass(frozen=True)
class Slot:
    """A kernel with its settings, to be called with one record instead of many arrays.

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> part = slot(group_normalized, ddof=0, eps=0.0)
    >>> part(SimpleNamespace(rewards=np.array([[1.0, 0.0]])))
    array([[ 1., -1.]])
    >>> print(part)
    group_normalized(ddof=0, eps=0.0)
    """

    kernel: Callable[..., Any]
    settings: dict[str, Any] = field(default_factory=dict)

    def __call__(self, record: Any) -> Any:
        """Call the kernel with the record's fields of its positional parameters' names."""
        return self.kernel(*(self._input(record, name) for name in self.reads), **self.settings)

    @property
    def reads(self) -> tuple[str, ...]:
        """The record's fields that the kernel reads."""
        return _parameters(self.kernel, keyword_only=False)

    def _input(self, record: Any, name: str) -> Any:
        value = getattr(record, name)
        if value is None:
            raise ValueError(f"{name}: {self.kernel.__name__} needs it, and none was given")
        return value

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={_plain(value)}" for name, value in self.settings.items())
        return f"{self.kernel.__name__}({settings})" if settings else self.kernel.__name__


def slot(kernel: Callable[..., Any], **settings: Any) -> Slot:
    """A kernel and its settings as a part of a recipe.

    Raises:
      ValueError: if the kernel has no setting of that name.
    """
    known = _parameters(kernel, keyword_only=True)
    for name in settings:
        if name not in known:
            raise ValueError(
                f"{kernel.__name__} has no setting {name!r}; it has {', '.join(known) or 'none'}"
            )
    return Slot(kernel, settings)


@cache
def _parameters(kernel: Callable[..., Any], *, keyword_only: bool) -> tuple[str, ...]:
    parameters = inspect.signature(kernel).parameters.values()
    return tuple(p.name for p in parameters if (p.kind is p.KEYWORD_ONLY) == keyword_only)


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_plain, value))})"
    return str(getattr(value, "__name__", value))


@dataclass(frozen=True)
class Recipe:
    """One algorithm: what happens between the verifier's reward and the gradient, part by part.

    Attributes:
      reward: what is done to the reward first, (P, G) -> (P, G).
      keep: which groups take part, (P, G) rewards -> (P,) bool; the others are drawn anew.
      advantage: rewards (P, G) -> advantages (P, G), or (P, G, T).
      level: over what stretch the ratio is taken, (log_ratio, mask) -> log_ratio.
      surrogate: what each token contributes, to be maximised, -> Term.
      penalty: the estimate of the KL to the reference, -> Term.
      kl_coef: weight of the penalty, >= 0; at 0 no reference is needed.
      aggregate: the weight of each token, mask -> W.
      source: the paper that the recipe follows.
      admit: which completions take part, -> (P, G) bool; the tokens of the others are masked out.
      corrections: constant weights on the surrogate, each -> (P, G, T); their product is used. A surrogate
        that reads `correction` does so itself.
      log_ratio_limits: the levelled log-ratio is limited to these two, in nats; the slope is 0 outside.
    """

    reward: Slot
    keep: Slot
    advantage: Slot
    level: Callable[[Array, Array], Array]
    surrogate: Slot
    penalty: Slot
    kl_coef: float
    aggregate: Slot
    source: str
    admit: Slot = Slot(all_completions)
    corrections: tuple[Slot, ...] = ()
    log_ratio_limits: tuple[float, float] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        if not self.kl_coef >= 0.0:
            raise ValueError(f"kl_coef: expected a number >= 0, got {self.kl_coef}")

    def __str__(self) -> str:
        return "\n".join(f"{name:10} {text}" for name, text in self.parts().items())

    @property
    def reads(self) -> set[str]:
        """The fields that any of its parts reads."""
        parts = (self.reward, self.keep, self.admit, self.advantage, self.surrogate, self.aggregate)
        slots = (*parts, self.penalty, *self.corrections)
        return {name for part in slots for name in part.reads}

    def parts(self) -> dict[str, str]:
        """The parts by name, each as readable text; the last three only where they do anything."""
        shown = {part.name: getattr(self, part.name) for part in fields(self)}
        defaults = {part.name: part.default for part in fields(self)}
        return {name: _plain(value) for name, value in shown.items() if value != defaults[name]}

    def differences(self, base: "Recipe") -> dict[str, str]:
        """The parts in which this recipe differs from another one, the source left out.

        >>> DR_GRPO.differences(GRPO)
        {'advantage': 'group_centred', 'kl_coef': '0.0', 'aggregate': 'fixed_length'}
        """
        names = [part.name for part in fields(self) if part.name != "source"]
        ours, theirs = ({name: _plain(getattr(one, name)) for name in names} for one in (self, base))
        return {name: text for name, text in ours.items() if text != theirs[name]}


GRPO = Recipe(
    reward=slot(task_reward),
    keep=slot(all_groups),
    advantage=slot(group_normalized, ddof=1, eps=1e-4),
    level=token_level,
    surrogate=slot(clipped, clip_low=0.2, clip_high=0.2),
    penalty=slot(k3),
    kl_coef=0.04,
    aggregate=slot(sequence_mean_token_mean),
    source="Shao et al. 2024, DeepSeekMath, eq. 3 (arXiv:2402.03300)",
)

DR_GRPO = replace(
    GRPO,
    advantage=slot(group_centred),
    aggregate=slot(fixed_length),
    kl_coef=0.0,
    source="Liu et al. 2025, Understanding R1-Zero-like training (arXiv:2503.20783)",
)

DAPO = replace(
    GRPO,
    reward=slot(soft_overlong, buffer=0.2),
    keep=slot(mixed_groups),
    surrogate=slot(clipped, clip_low=0.2, clip_high=0.28),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Yu et al. 2025, DAPO, eq. 8 (arXiv:2503.14476)",
)

REINFORCE = replace(
    GRPO,
    advantage=slot(raw_rewards),
    surrogate=slot(reinforce),
    aggregate=slot(sequence_mean_token_sum),
    kl_coef=0.0,
    source="Williams 1992, Simple statistical gradient-following algorithms",
)

RLOO = replace(
    REINFORCE,
    advantage=slot(leave_one_out),
    source="Ahmadian et al. 2024, Back to basics (arXiv:2402.14740)",
)

# ---- the clip family -----------------------------------------------------------------------------

LITE_PPO = replace(
    GRPO,
    advantage=slot(batch_scaled),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Liu et al. 2025, Tricks or traps? Lite PPO (arXiv:2508.08221)",
)

TWO_GRPO = replace(
    GRPO,
    advantage=slot(group_normalized, ddof=0, eps=1e-4),
    source="2025, It takes two: your GRPO is secretly DPO; for groups of two (arXiv:2510.00977)",
)

INTELLECT_2 = replace(
    GRPO,
    surrogate=slot(two_sided_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0),
    kl_coef=0.0,
    source="Prime Intellect 2025, INTELLECT-2 (arXiv:2505.07291)",
)

GMPO = replace(
    GRPO,
    surrogate=slot(geometric_mean_clipped, clip_low=0.4, clip_high=0.4),
    kl_coef=0.0,
    source="Zhao et al. 2025, Geometric-mean policy optimization (arXiv:2507.20673)",
)

# ---- the ratio of a sequence ---------------------------------------------------------------------

GSPO = replace(
    GRPO,
    level=sequence_mean_level,
    surrogate=slot(clipped, clip_low=3e-4, clip_high=4e-4),
    kl_coef=0.0,
    source="Zheng et al. 2025, Group sequence policy optimization (arXiv:2507.18071)",
)

GSPO_TOKEN = replace(GSPO, surrogate=slot(gspo_token, clip_low=3e-4, clip_high=4e-4))

LUSPO = replace(
    GSPO,
    aggregate=slot(sequence_mean_token_sum),
    source="Length-unbiased sequence policy optimization (arXiv:2602.05261)",
)

# ---- soft and detached weights -------------------------------------------------------------------

CISPO = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    surrogate=slot(cispo, max_ratio=5.0),
    source="MiniMax 2025, MiniMax-M1 (arXiv:2506.13585)",
)

SAPO = replace(GRPO, surrogate=slot(sapo), kl_coef=0.0, source="Gao et al. 2025, SAPO (arXiv:2511.20347)")

VESPO = replace(
    CISPO,
    level=sequence_sum_level,
    surrogate=slot(vespo),
    source="Variational sequence-level soft policy optimization (arXiv:2602.10693)",
)

# ---- a divergence for a trust region -------------------------------------------------------------

DPPO_TV = replace(
    CISPO, surrogate=slot(dppo_tv), source="Divergence proximal policy optimization (arXiv:2602.04879)"
)
DPPO_KL = replace(DPPO_TV, surrogate=slot(dppo_kl))
DPPO_TOP_TV = replace(DPPO_TV, surrogate=slot(dppo_top_tv))
DPPO_TOP_KL = replace(DPPO_TV, surrogate=slot(dppo_top_kl))

# ---- entropy -------------------------------------------------------------------------------------

CLIP_COV = replace(
    LITE_PPO,
    advantage=GRPO.advantage,
    surrogate=slot(clip_cov),
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617)",
)
KL_COV = replace(CLIP_COV, surrogate=slot(kl_cov))
HIGH_ENTROPY = replace(
    DAPO,
    corrections=(slot(top_entropy, share=0.2),),
    source="Wang et al. 2025, Beyond the 80/20 rule (arXiv:2506.01939)",
)

# ---- plain policy gradients ----------------------------------------------------------------------

REINFORCE_PP = replace(
    GRPO,
    advantage=slot(discounted, gamma=1.0),
    aggregate=slot(token_mean),
    kl_coef=0.0,
    source="Hu 2025, REINFORCE++ (arXiv:2501.03262)",
)
REINFORCE_PP_BASELINE = replace(REINFORCE_PP, advantage=slot(whitened))
GPG = replace(
    REINFORCE,
    advantage=slot(gpg),
    aggregate=slot(token_mean),
    source="Chu et al. 2025, GPG (arXiv:2504.02546)",
)
OPO = replace(REINFORCE, advantage=slot(length_weighted), source="Hao et al. 2025, OPO (arXiv:2505.23585)")
DRO = replace(
    REINFORCE,
    advantage=slot(group_centred),
    surrogate=slot(squared_ratio, beta=0.1),
    aggregate=slot(token_mean),
    source="Richemond et al. 2024, DRO (arXiv:2405.19107)",
)

# ---- advantages ----------------------------------------------------------------------------------

GDPO = replace(GRPO, advantage=slot(normalized_then_summed), kl_coef=0.0, source="GDPO (arXiv:2601.05242)")
GOPO = replace(GRPO, advantage=slot(ranked), source="Group ordinal policy optimization (arXiv:2602.03876)")
PASS_AT_K = replace(
    GRPO, advantage=slot(best_of_group), source="Walder & Karkhanis 2025, pass@k (arXiv:2503.19595)"
)

# ---- a sampler that is not quite the learner -----------------------------------------------------

TIS = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    corrections=(slot(truncated, max_ratio=2.0),),
    source="Yao et al. 2025, truncated importance sampling",
)
MIS = replace(
    TIS,
    corrections=(slot(masked, level=sequence_sum_level, max_ratio=3.0),),
    source='TRL 1.16.0, vllm_importance_sampling_mode="sequence_mask"',
)
ICEPOP = replace(
    TIS, corrections=(slot(masked, min_ratio=0.5, max_ratio=5.0),), source="Ling team 2025, IcePop"
)
DECOUPLED_PPO = replace(
    TIS,
    corrections=(slot(truncated, max_ratio=5.0),),
    source="Hilton et al. 2022, decoupled PPO (arXiv:2110.00641): old is proximal, rollout the behaviour",
)

# ---- as a textbook has them, where it differs from papers and trainers ---------------------------

BOOK = "a book chapter on GRPO (2026)"
BOOK_DR_GRPO = replace(GRPO, corrections=(slot(unlikely_under_reference),), source=f"{BOOK}, sec. 7.5.4")
BOOK_CISPO = replace(
    DAPO,
    reward=slot(task_reward),
    keep=slot(all_groups),
    advantage=slot(batch_normalized),
    admit=slot(ended_completions),
    source=f"{BOOK}, sec. 7.5.10",
)
BOOK_SAPO = replace(SAPO, surrogate=slot(gated_ratio), source=f"{BOOK}, sec. 7.5.6")
BOOK_VESPO = replace(
    VESPO,
    surrogate=slot(vespo, k_positive=1.0, lambda_positive=1.0, k_negative=1.0, lambda_negative=1.0),
    source=f"{BOOK}, sec. 7.5.8, which has one k and one λ and gives neither",
)
BOOK_DPPO_TV = replace(DPPO_TV, surrogate=slot(symmetric_tv), source=f"{BOOK}, sec. 7.5.9")
BOOK_DPPO_KL = replace(DPPO_TV, surrogate=slot(symmetric_kl), source=f"{BOOK}, sec. 7.5.9")

RECIPES: dict[str, Recipe] = {
    "grpo": GRPO,
    "dr_grpo": DR_GRPO,
    "dapo": DAPO,
    "lite_ppo": LITE_PPO,
    "two_grpo": TWO_GRPO,
    "intellect_2": INTELLECT_2,
    "gmpo": GMPO,
    "gspo": GSPO,
    "gspo_token": GSPO_TOKEN,
    "luspo": LUSPO,
    "cispo": CISPO,
    "sapo": SAPO,
    "vespo": VESPO,
    "dppo_tv": DPPO_TV,
    "dppo_kl": DPPO_KL,
    "dppo_top_tv": DPPO_TOP_TV,
    "dppo_top_kl": DPPO_TOP_KL,
    "clip_cov": CLIP_COV,
    "kl_cov": KL_COV,
    "high_entropy": HIGH_ENTROPY,
    "reinforce": REINFORCE,
    "rloo": RLOO,
    "reinforce_pp": REINFORCE_PP,
    "reinforce_pp_baseline": REINFORCE_PP_BASELINE,
    "gpg": GPG,
    "opo": OPO,
    "dro": DRO,
    "gdpo": GDPO,
    "gopo": GOPO,
    "pass_at_k": PASS_AT_K,
    "tis": TIS,
    "mis": MIS,
    "icepop": ICEPOP,
    "decoupled_ppo": DECOUPLED_PPO,
    "book_dr_grpo": BOOK_DR_GRPO,
    "book_cispo": BOOK_CISPO,
    "book_sapo": BOOK_SAPO,
    "book_vespo": BOOK_VESPO,
    "book_dppo_tv": BOOK_DPPO_TV,
    "book_dppo_kl": BOOK_DPPO_KL,
}
"""Every algorithm by name; the command line, the tests, the README's table and the plots enumerate this."""
