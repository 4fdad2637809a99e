"""understand-r1-zero at dfca49dd (August 2025): the code of Dr. GRPO's authors."""

from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import group_centered, group_normalized
from grpo_ref.kernels.aggregation import fixed_length, sequence_mean_token_mean
from grpo_ref.kernels.filters import all_groups
from grpo_ref.kernels.levels import token_level
from grpo_ref.kernels.penalties import k3
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.recipes import Recipe, slot
from grpo_ref.trainers.dialect import Dialect, one_of

CRITICS = {
    "grpo": (slot(group_normalized, ddof=1, eps=1e-8), slot(sequence_mean_token_mean)),
    "drgrpo": (slot(group_centered), slot(fixed_length)),
}
DEFAULTS: dict[str, Any] = {
    "critic_type": "drgrpo",
    "cliprange": 0.2,
    "beta": 0.0,
    "generate_max_length": 1024,
}


def recipe(**config: Any) -> Recipe:
    """The recipe of `ZeroMathLearner`.

    Args:
      config: critic_type, cliprange, beta, generate_max_length.

    Raises:
      ValueError: if a key is unknown.

    >>> print(recipe(critic_type="grpo").advantage)
    group_normalized(ddof=1, eps=1e-08)
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    advantage, aggregate = one_of("critic_type", s.critic_type, CRITICS)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=advantage,
        level=token_level,
        surrogate=slot(clipped, clip_low=s.cliprange, clip_high=s.cliprange),
        penalty=slot(k3),
        kl_coef=s.beta,
        aggregate=aggregate,
        source=DIALECT.version,
    )


DIALECT = Dialect(
    name="understand_r1_zero",
    version="understand-r1-zero dfca49dd (2025-08-27)",
    defaults=DEFAULTS,
    build=_build,
    choices={"critic_type": tuple(CRITICS)},
    aliases={"max_completion_length": "generate_max_length"},
    about={
        "beta": "This is the weight of the KL penalty.",
        "generate_max_length": 'This is the generation budget. critic_type="drgrpo" divides by it; it is `max_length`'
        " elsewhere here.",
    },
)
