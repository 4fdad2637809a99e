"""The paper's form of an algorithm, at the numbers of a configuration.

It is the recipe of the algorithm's name in `grpo_ref.recipes`, with the widths of the clip, the temperatures and the
weight of the penalty that the configuration sets. Its averages are those of one optimizer step: all
micro-batches together. It has no shaping of rewards and no choice of groups, since these come before the loss.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups
from grpo_ref.loss import policy_loss
from grpo_ref.parity.live.cases import Case, rows_of
from grpo_ref.recipes import RECIPES, Recipe, slot
from grpo_ref.rewards import task_reward

OF_TRL = ("grpo", "dr_grpo", "dapo", "cispo", "luspo", "sapo", "vespo")
"""Values of loss_type that are names of recipes."""
OF_VERL = {
    **{name: name for name in ("gspo", "gpg", "sapo", "cispo", "clip_cov", "kl_cov")},
    "geo_mean": "gmpo",
}
"""Values of verl's loss_mode, with the recipe that each one names."""
OF_AVERAGE = {"token-mean": "dapo", "seq-mean-token-mean": "grpo", "seq-mean-token-sum-norm": "dr_grpo"}
"""Values of verl's loss_agg_mode with loss_mode "vanilla", with the algorithm whose average each one is."""
OF_ESTIMATOR = {
    **{name: name for name in ("grpo", "rloo", "opo", "gpg")},
    "reinforce_plus_plus": "reinforce_pp",
    "reinforce_plus_plus_baseline": "reinforce_pp_baseline",
    "grpo_passk": "pass_at_k",
    "grpo_vectorized": "grpo",
    "rloo_vectorized": "rloo",
}
"""Values of verl's adv_estimator, with the recipe that each one names."""
WORKERS = ("policy_loss", "update", "engine", "step")


def name_of(trainer: str, case: Case, s: Settings) -> str:
    """Return the name of the recipe that a configuration names, or "" if it names none."""
    if trainer == "trl":
        if s.loss_type == "grpo" and s.importance_sampling_level == "sequence":
            return "gspo"
        return s.loss_type if s.loss_type in OF_TRL else ""
    if case.call == "advantage":
        return OF_ESTIMATOR.get(case.function, "")
    if case.call not in WORKERS:
        return ""
    return OF_AVERAGE.get(s.loss_agg_mode, "") if s.loss_mode == "vanilla" else OF_VERL.get(s.loss_mode, "")


def paper_form(name: str, explained: Recipe) -> Recipe:
    """Return the recipe of a name, with the numbers that the configuration sets."""
    paper = RECIPES[name]
    numbers = {
        setting: explained.surrogate.settings.get(setting, value)
        for setting, value in paper.surrogate.settings.items()
    }
    return replace(
        paper,
        reward=slot(task_reward),
        keep=slot(all_groups),
        surrogate=slot(paper.surrogate.kernel, **numbers),
        kl_coef=explained.kl_coef,
    )


def of_steps(recipe: Recipe, record: SimpleNamespace, completions: int, length: int | None) -> Floats:
    """Return the (B, T) gradient of a loss over each optimizer step.

    Args:
      recipe: the paper's form.
      record: (B, ...) arrays: log_probs, mask, advantages, and others that `policy_loss` takes.
      completions: completions of one step.
      length: the generation budget, for a constant denominator.
    """
    total: Floats = np.zeros_like(record.mask)
    for start in range(0, len(total), completions):
        given = vars(rows_of(record, slice(start, start + completions)))
        arrays = [given.pop(name) for name in ("log_probs", "advantages", "mask")]
        result = policy_loss(*arrays, recipe=recipe, max_length=length, metrics=(), **given)
        total[start : start + completions] = np.asarray(result.gradient)[0]
    return total
