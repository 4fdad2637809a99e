"""The exercises: the only place where the library's kernels meet the grader."""

from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.problems.advantages import (
    centred,
    gdpo,
    group_normalized,
    leave_one_out,
    mixed_groups,
    ranks,
)
from grpo_ref.course.problems.aggregation import (
    completion_mask,
    fixed_length,
    sequence_mean,
    soft_overlong,
    token_mean,
)
from grpo_ref.course.problems.clinic import (
    easy_and_hard,
    falling_reward,
    idle_clip,
    large_groups,
    read_the_curve,
    talking_on,
    walking_away,
)
from grpo_ref.course.problems.kl import estimators, exact_kl, expected_gradient, k3, k3_slope, normalized_kl
from grpo_ref.course.problems.objective import dapo_loss, grpo_gradient, grpo_loss, grpo_objective
from grpo_ref.course.problems.probabilities import entropy, log_softmax, sampling, token_log_probs
from grpo_ref.course.problems.ratios import (
    cispo,
    clipped,
    clipped_slope,
    dual_clip,
    sapo,
    scenarios,
    sequence_ratio,
    token_ratio,
)
from grpo_ref.course.problems.training import (
    policy_gradient,
    scatter_add,
    train_bandit,
    train_language,
    update,
)

CHAPTERS = {
    "probabilities": "Probabilities and log-probabilities",
    "advantages": "Groups and advantages",
    "ratios": "Ratios and clipping",
    "kl": "How far from the reference",
    "aggregation": "How much each token counts",
    "objective": "The whole objective",
    "training": "Training",
    "clinic": "The clinic",
}
"""The chapters in order: folder name -> title."""

MODULES = (
    *(log_softmax, token_log_probs, entropy, sampling),
    *(group_normalized, centred, leave_one_out, mixed_groups, gdpo, ranks),
    *(token_ratio, scenarios, clipped, clipped_slope, dual_clip, cispo, sapo, sequence_ratio),
    *(exact_kl, estimators, k3, k3_slope, normalized_kl, expected_gradient),
    *(completion_mask, token_mean, sequence_mean, fixed_length, soft_overlong),
    *(grpo_objective, grpo_loss, grpo_gradient, dapo_loss),
    *(policy_gradient, scatter_add, update, train_bandit, train_language),
    *(read_the_curve, falling_reward, easy_and_hard, large_groups, idle_clip, walking_away, talking_on),
)
"""The exercises in the order of the course, a line a chapter."""

PROBLEMS: dict[str, Problem] = {module.PROBLEM.id: module.PROBLEM for module in MODULES}
"""Every exercise by id, in the order of the course."""
