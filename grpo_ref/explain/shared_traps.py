"""Traps shared by all trainers. They are detected in the recipe, whatever keys it was written in."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from grpo_ref.advantages import best_of_group, group_centered, group_normalized, leave_one_out, ranked
from grpo_ref.levels import token_level
from grpo_ref.penalties import k1, k3
from grpo_ref.recipes import Recipe, slot
from grpo_ref.surrogates import clipped, dual_clipped, two_sided_clipped

FAR = 1.0
"""A width of the clip from which on hardly any token is clipped."""
GROUPED = (group_centered, group_normalized, leave_one_out, ranked, best_of_group)
CLIPS = (clipped, dual_clipped, two_sided_clipped)


@dataclass(frozen=True)
class SharedTrap:
    """A trap: a choice that the author of a configuration is unlikely to mean.

    Attributes:
      name: the trap in a few words.
      holds: true for a recipe that falls into the trap, given the number of completions per prompt if that is
        known.
      text: the effect of the choice, and how to avoid it.
      source: the publication or code that describes the trap.
      instead: the recipe without the trap.
    """

    name: str
    holds: Callable[[Recipe, int | None], bool]
    text: str
    source: str
    instead: Callable[[Recipe], Recipe]


def _width(recipe: Recipe) -> float:
    """Return the width of the clip above the ratio 1."""
    return float(recipe.surrogate.settings.get("clip_high", 0.2))


SHARED_TRAPS = (
    SharedTrap(
        "One completion per prompt, but a baseline from its group",
        lambda recipe, size: size == 1 and recipe.advantage.kernel in GROUPED and recipe.distill is None,
        "With one completion per prompt there is nothing to compare it with. Its advantage is 0, or its plain reward"
        " if the trainer keeps groups of one. Sample at least two completions.",
        "Shao et al. 2024, GRPO, eq. 1 (arXiv:2402.03300)",
        lambda recipe: recipe,
    ),
    SharedTrap(
        "The KL has a negative weight, so it is maximized",
        lambda recipe, size: recipe.kl_coef < 0.0,
        "The weight of the KL is negative, so the distance from the reference is rewarded instead of penalized.",
        "the sign of the loss, grpo_ref.loss",
        lambda recipe: replace(recipe, kl_coef=-recipe.kl_coef),
    ),
    SharedTrap(
        "The estimator k1 in the loss has an expected gradient of 0",
        lambda recipe, size: recipe.kl_coef > 0.0 and recipe.penalty.kernel is k1,
        "The derivative of k1 with respect to the policy is that of its log-probability, whose expectation is 0. As"
        " a loss, k1 is only noise. Use k2 or k3, or put k1 into the reward.",
        "Tang and Munos 2025 (arXiv:2506.09477); Schulman 2020, Approximating KL divergence",
        lambda recipe: replace(recipe, penalty=slot(k3)),
    ),
    SharedTrap(
        "The upper clip is so wide that it hardly ever acts",
        lambda recipe, size: (
            recipe.surrogate.kernel in CLIPS and recipe.level is token_level and _width(recipe) > FAR
        ),
        "The probability of a token may more than double before the clip acts. For encouraged tokens, such a wide"
        " clip is almost the same as no clip.",
        "Schulman et al. 2017, PPO (arXiv:1707.06347), which uses 0.2",
        lambda recipe: replace(
            recipe, surrogate=slot(recipe.surrogate.kernel, **{**recipe.surrogate.settings, "clip_high": 0.2})
        ),
    ),
)
"""The shared traps. Those that change the gradient equally are shown in this order."""
