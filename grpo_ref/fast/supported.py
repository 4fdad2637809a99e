"""Check that the fast loop supports a recipe and its settings."""

import math
from collections.abc import Collection
from types import SimpleNamespace

import numpy as np

from grpo_ref.advantages import group
from grpo_ref.fast.measures import fast_metrics
from grpo_ref.filters import all_completions, all_groups
from grpo_ref.learning.arguments import check_metrics
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import Task
from grpo_ref.levels import token_level
from grpo_ref.penalties import k3
from grpo_ref.recipes import Recipe, Slot
from grpo_ref.surrogates import clipped

NOT_SUPPORTED = {"states", "step_rewards", "turn_ids", "greedy_rewards", "score_norms"}
"""Fields that an advantage may read, and that the fast loop does not have."""


def why_not(task: Task, recipe: Recipe, config: TrainConfig, state: TrainState | None = None) -> str:
    """Return the first reason why the plain loop is needed, as a sentence, or "".

    The fast loop supports the surrogate `clipped` at the token level and the penalty `k3` without limits (or
    kl_coef = 0). It does not support filters, corrections, an entropy bonus or target, refiltering, or arrays
    of another library than NumPy.
    """
    tables = (task.ref_logits,) if state is None else (task.ref_logits, state.params)
    if not all(isinstance(table, np.ndarray) for table in tables):
        return "task and state: expected NumPy arrays; on another device use train"
    no_bonus = config.entropy_coef == 0.0 and (state is None or not state.entropy_coef.any())
    supported = {
        "keep": recipe.keep.kernel is all_groups,
        "admit": recipe.admit.kernel is all_completions,
        "reward": "states" not in recipe.reward.reads,
        "advantage": not NOT_SUPPORTED & {*recipe.advantage.reads},
        **usual_loss(recipe),
        "entropy_coef": no_bonus,
        "entropy_target": config.entropy_target == 0.0,
        "refilter_every": config.refilter_every == 0,
    }
    for name, is_supported in supported.items():
        if not is_supported:
            part = recipe.parts().get(name) or f"a run with {name}"
            return f"{name}: train_many does not support {part}; use train"
    return ""


def usual_loss(recipe: Recipe) -> dict[str, bool]:
    """Return, by name, whether a part is that of a loss with the clipped surrogate per token and k3."""
    plain_k3 = recipe.penalty.kernel is k3 and not recipe.penalty.settings
    return {
        "level": recipe.level is token_level,
        "surrogate": recipe.surrogate.kernel is clipped,
        "penalty": recipe.kl_coef == 0.0 or plain_k3,
        "corrections": not recipe.corrections,
        "penalty_aggregate": recipe.kl_coef == 0.0 or recipe.penalty_aggregate is None,
        "log_ratio_limits": recipe.log_ratio_limits == (-math.inf, math.inf),
        "distill": recipe.distill is None,
    }


def is_of_groups(advantage: Slot) -> bool:
    """Return whether an advantage is one of `grpo_ref.advantages.group` and reads only the rewards."""
    return advantage.kernel.__module__ == group.__name__ and advantage.reads == ("rewards",)


def clip_bounds(recipe: Recipe) -> tuple[float, float]:
    """Return the bounds of the ratio in the recipe's `clipped` surrogate, 1 - clip_low and 1 + clip_high.

    >>> from grpo_ref.recipes import DAPO, GRPO
    >>> clip_bounds(GRPO), clip_bounds(DAPO)
    ((0.8, 1.2), (0.8, 1.28))
    """
    settings = {"clip_low": 0.2, "clip_high": 0.2} | recipe.surrogate.settings
    return 1.0 - settings["clip_low"], 1.0 + settings["clip_high"]


def checked_metrics(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState,
    metrics: Collection[str],
    threads: int,
) -> tuple[str, ...]:
    """Return the names of the metrics, or raise a ValueError if the fast loop does not support the run."""
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    if why := why_not(task, recipe, config, state):
        raise ValueError(why)
    names = check_metrics(task, metrics)
    if slow := [name for name in names if name not in fast_metrics(task)]:
        raise ValueError(f"metrics: train_many cannot give {', '.join(slow)}; use train")
    # The fast loop has its own clip, so call the kernel once for its check of the half-widths.
    recipe.surrogate(SimpleNamespace(log_ratio=np.zeros(1), advantages=np.zeros(1)))
    return names
