"""The curves of a training: by what each update is measured, one number per run."""

from collections.abc import Sequence

from grpo_ref.arrays import array_namespace, to_host
from grpo_ref.kernels.metrics import (
    dead_group_fraction,
    distinct_ngrams,
    mean_entropy,
    mean_length,
    reward_width,
)
from grpo_ref.learning.policies.table import Visited, gather, gather_states
from grpo_ref.learning.state import Metrics
from grpo_ref.learning.tasks.task import Task
from grpo_ref.types import Completions

METRICS = {
    "reward": "mean reward, as the verifier gave it",
    "kl": "KL divergence to the reference in nats per completion, exact in every visited state",
    "entropy": "entropy of the policy in nats per token",
    "length": "tokens per completion",
    "truncated": "share of completions without an end",
    "dead_groups": "share of groups without contrast: all rewards are equal",
    "reward_width": "standard deviation of all rewards",
    "distinct_bigrams": "share of distinct pairs of neighbouring tokens",
    "ref_log_prob": "log-probability under the reference in nats per completion",
    "kept_groups": "share of groups that the recipe's filter let pass, after resampling",
    "clip_low": "share of tokens stopped at the lower bound of the ratio",
    "clip_high": "share of tokens stopped at the upper bound of the ratio",
    "approx_kl": "KL divergence from the old to the new policy in nats per token, estimated",
    "ess": "effective sample size under the ratios, as a share of the tokens",
    "ratio_min": "smallest ratio",
    "ratio_max": "largest ratio",
    "loss": "the loss, without the entropy bonus",
    "grad_norm": "Euclidean norm of the gradient before it is clipped",
}
"""Every metric of the plain loop and what it means; a task adds one for each of its criteria.

The first nine are of the batch as drawn, before any filter. Those after kept_groups are means over the
optimizer's steps; where a batch has a single step, every ratio is 1 and nothing is clipped.
"""

OF_REFERENCE = frozenset({"kl", "ref_log_prob"})
"""The metrics for which the reference must be asked."""


def metric_names(task: Task) -> tuple[str, ...]:
    """The names of all metrics of a training on the task."""
    return tuple(dict.fromkeys((*task.criteria, *METRICS)))


def of_batch(task: Task, batch: Completions, old: Visited, ref: Visited) -> Metrics:
    """What the policy does before anything is learned: of the batch as drawn, before any filter.

    Args:
      task: which the batch is of.
      batch: (S, P, G, T) completions.
      old: what the policies that drew them say in its places.
      ref: what the references say there, the places in the same rows.
    """
    mask = batch.mask
    ref_log_probs = gather(ref.policy.log_probs, ref.states, batch.tokens)
    divergence = gather_states(old.policy.divergences(ref.policy.log_probs), old.states)
    criteria = {name: batch.components[..., k].mean((-2, -1)) for k, name in enumerate(task.criteria)}
    return criteria | {
        "reward": batch.rewards.mean((-2, -1)),
        "kl": (divergence * mask).sum(-1).mean((-2, -1)),
        "entropy": mean_entropy(gather_states(old.policy.entropies(), old.states), mask),
        "length": mean_length(mask),
        "truncated": 1.0 - batch.ended.mean((-2, -1)),
        "dead_groups": dead_group_fraction(batch.rewards),
        "reward_width": reward_width(batch.rewards),
        "distinct_bigrams": distinct_ngrams(batch.tokens, mask, n=2, vocabulary=len(task.vocabulary)),
        "ref_log_prob": (ref_log_probs * mask).sum(-1).mean((-2, -1)),
    }


def over_steps(log: Sequence[Metrics]) -> Metrics:
    """Means over the steps; the KL is left out: it is known better than from the penalty's estimate."""
    xp = array_namespace(*log[0].values())
    steps = {name: [metrics[name] for metrics in log] for name in log[0] if name != "kl"}
    return {name: xp.mean(xp.stack(of), axis=0) if len(of) > 1 else of[0] for name, of in steps.items()}


def on_host(metrics: Metrics) -> Metrics:
    """As NumPy arrays, all in one transfer."""
    together = array_namespace(*metrics.values()).stack(list(metrics.values()))
    return dict(zip(metrics, to_host(together), strict=True))
