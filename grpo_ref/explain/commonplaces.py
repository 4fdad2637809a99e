"""What goes wrong with any trainer: seen in the recipe itself, whatever keys it was written in."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from grpo_ref.kernels.advantages import best_of_group, group_centered, group_normalized, leave_one_out, ranked
from grpo_ref.kernels.levels import token_level
from grpo_ref.kernels.penalties import k1, k3
from grpo_ref.kernels.surrogates import clipped, dual_clipped, two_sided_clipped
from grpo_ref.recipes import Recipe, slot

FAR = 1.0
"""A width of the clip from which on hardly any ratio of a token is held."""
GROUPED = (group_centered, group_normalized, leave_one_out, ranked, best_of_group)
CLIPS = (clipped, dual_clipped, two_sided_clipped)


@dataclass(frozen=True)
class Commonplace:
    """Something that an author is not likely to mean.

    Attributes:
      name: in a few words.
      holds: of a recipe and the number of completions per prompt, where that is known.
      text: what really happens, and what to do about it.
      source: where that can be read.
      instead: the recipe without it.
    """

    name: str
    holds: Callable[[Recipe, int | None], bool]
    text: str
    source: str
    instead: Callable[[Recipe], Recipe]


def _width(recipe: Recipe) -> float:
    """The width of the clip above the ratio 1."""
    return float(recipe.surrogate.settings.get("clip_high", 0.2))


COMMONPLACES = (
    Commonplace(
        "One completion and a baseline of its group",
        lambda recipe, size: size == 1 and recipe.advantage.kernel in GROUPED,
        "With one completion per prompt there is no group to compare with: its advantage is 0, or its plain reward"
        " where the trainer keeps singletons. Sample at least two.",
        "Shao et al. 2024, GRPO, eq. 1 (arXiv:2402.03300)",
        lambda recipe: recipe,
    ),
    Commonplace(
        "A penalty that is maximized",
        lambda recipe, size: recipe.kl_coef < 0.0,
        "The weight of the KL is negative, so that the distance from the reference is rewarded and not punished.",
        "the sign of the loss, grpo_ref.loss",
        lambda recipe: replace(recipe, kl_coef=-recipe.kl_coef),
    ),
    Commonplace(
        "k1 in the loss",
        lambda recipe, size: recipe.kl_coef > 0.0 and recipe.penalty.kernel is k1,
        "The derivative of k1 with respect to the policy is that of its log-probability, whose expectation is 0: as"
        " a loss it is noise, and pulls nowhere. Use k2 or k3, or put k1 into the reward.",
        "Tang and Munos 2025 (arXiv:2506.09477); Schulman 2020, Approximating KL divergence",
        lambda recipe: replace(recipe, penalty=slot(k3)),
    ),
    Commonplace(
        "A clip that hardly ever acts",
        lambda recipe, size: (
            recipe.surrogate.kernel in CLIPS and recipe.level is token_level and _width(recipe) > FAR
        ),
        "The ratio of a token may grow beyond twice its old value before the clip holds it. One that wide is as good"
        " as none for tokens that are encouraged.",
        "Schulman et al. 2017, PPO (arXiv:1707.06347), which uses 0.2",
        lambda recipe: replace(
            recipe, surrogate=slot(recipe.surrogate.kernel, **{**recipe.surrogate.settings, "clip_high": 0.2})
        ),
    ),
)
"""In the order in which they are told where they change as much."""
