"""The exercises: the only place where the library's kernels meet the grader."""

from grpo_ref.grading.problem import Problem
from grpo_ref.problems.advantages import group_normalized, leave_one_out, mixed_groups
from grpo_ref.problems.aggregation import fixed_length, sequence_mean, soft_overlong, token_mean
from grpo_ref.problems.kl import exact_kl, k3, k3_slope
from grpo_ref.problems.objective import grpo_loss, grpo_objective
from grpo_ref.problems.probabilities import entropy, log_softmax, token_log_probs
from grpo_ref.problems.ratios import clipped, clipped_slope, dual_clip, sequence_ratio
from grpo_ref.problems.training import policy_gradient, scatter_add

CHAPTERS = {
    "probabilities": "Probabilities and log-probabilities",
    "advantages": "Groups and advantages",
    "ratios": "Ratios and clipping",
    "kl": "How far from the reference",
    "aggregation": "How much each token counts",
    "objective": "The whole objective",
    "training": "Training",
}
"""The chapters in order: folder name -> title."""

MODULES = (
    log_softmax,
    token_log_probs,
    entropy,
    group_normalized,
    leave_one_out,
    mixed_groups,
    clipped,
    clipped_slope,
    dual_clip,
    sequence_ratio,
    exact_kl,
    k3,
    k3_slope,
    token_mean,
    sequence_mean,
    fixed_length,
    soft_overlong,
    grpo_objective,
    grpo_loss,
    policy_gradient,
    scatter_add,
)

PROBLEMS: dict[str, Problem] = {module.PROBLEM.id: module.PROBLEM for module in MODULES}
"""Every exercise by id, in the order of the course."""
