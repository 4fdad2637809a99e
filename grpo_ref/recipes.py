"""Recipes: an algorithm is a table of parts, and a variant is its difference from a known one.

    GRPO    = Recipe(advantage=..., level=..., surrogate=..., penalty=..., kl_coef=..., aggregate=..., ...)
    DR_GRPO = replace(GRPO, advantage=slot(group_centred), aggregate=slot(fixed_length), kl_coef=0.0)

A part is a kernel with its settings, `slot(kernel, setting=value)`. A kernel's positional parameters name the
fields that it reads from the batch, its keyword-only parameters are the settings; so a part can be called
with any record that has those fields, printed, compared and pickled, and a new part needs no new plumbing.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from grpo_ref.advantages import group_centred, group_normalized, leave_one_out, raw_rewards
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, sequence_mean_token_sum, token_mean
from grpo_ref.arrays import Array
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import token_level
from grpo_ref.penalties import k3
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import clipped, reinforce


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
        inputs = (getattr(record, name) for name in _parameters(self.kernel, keyword_only=False))
        return self.kernel(*inputs, **self.settings)

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
    return str(getattr(value, "__name__", value))


@dataclass(frozen=True)
class Recipe:
    """One algorithm: what happens between the verifier's reward and the gradient, part by part.

    Attributes:
      reward: what is done to the reward first, (P, G) -> (P, G).
      keep: which groups take part, (P, G) rewards -> (P,) bool.
      advantage: rewards (P, G) -> advantages (P, G).
      level: over what stretch the ratio is taken, (log_ratio, mask) -> log_ratio.
      surrogate: what each token contributes, to be maximised, -> Term.
      penalty: the estimate of the KL to the reference, -> Term.
      kl_coef: weight of the penalty, >= 0; at 0 no reference is needed.
      aggregate: the weight of each token, mask -> W.
      source: the paper that the recipe follows.
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

    def __post_init__(self) -> None:
        if not self.kl_coef >= 0.0:
            raise ValueError(f"kl_coef: expected a number >= 0, got {self.kl_coef}")

    def __str__(self) -> str:
        return "\n".join(f"{name:10} {text}" for name, text in self.parts().items())

    def parts(self) -> dict[str, str]:
        """The parts by name, each as readable text."""
        return {part.name: _plain(getattr(self, part.name)) for part in fields(self)}

    def differences(self, base: "Recipe") -> dict[str, str]:
        """The parts in which this recipe differs from another one, the source left out.

        >>> DR_GRPO.differences(GRPO)
        {'advantage': 'group_centred', 'kl_coef': '0.0', 'aggregate': 'fixed_length'}
        """
        ours, theirs = self.parts(), base.parts()
        return {name: text for name, text in ours.items() if text != theirs[name] and name != "source"}


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

RECIPES: dict[str, Recipe] = {
    "grpo": GRPO,
    "dr_grpo": DR_GRPO,
    "dapo": DAPO,
    "reinforce": REINFORCE,
    "rloo": RLOO,
}
"""Every algorithm by name; the command line, the tests, the README's table and the plots enumerate this."""
