"""The metrics of a training run: one number per update and run."""

from collections.abc import Callable, Collection, Sequence

from grpo_ref.arrays import Bools, Floats, array_namespace, to_host
from grpo_ref.learning.policies.table import Visited, gather_states
from grpo_ref.learning.task import Task
from grpo_ref.metrics import (
    dead_group_fraction,
    distinct_ngrams,
    mean_entropy,
    mean_length,
    reward_width,
)
from grpo_ref.types import Completions

Metrics = dict[str, Floats]
"""Name -> (S,), one number per run. `METRICS` explains the names."""

METRICS = {
    "reward": "mean reward from the verifier",
    "kl": "KL divergence to the reference in nats per completion, exact in every visited state",
    "entropy": "entropy of the policy in nats per token",
    "length": "tokens per completion",
    "truncated": "share of completions without an end",
    "dead_groups": "share of groups with equal rewards",
    "reward_width": "standard deviation of all rewards",
    "distinct_bigrams": "share of distinct pairs of neighbouring tokens",
    "ref_log_prob": "log-probability under the reference in nats per completion",
    "kept_groups": "share of groups that pass the recipe's filter, after resampling",
    "clip_low": "share of tokens clipped at the lower bound of the ratio",
    "clip_high": "share of tokens clipped at the upper bound of the ratio",
    "approx_kl": "KL divergence from the old to the new policy in nats per token, estimated",
    "ess": "effective sample size under the ratios, as a share of the tokens",
    "ratio_min": "smallest ratio",
    "ratio_max": "largest ratio",
    "loss": "the loss, without the entropy bonus",
    "grad_norm": "Euclidean norm of the gradient before it is clipped",
}
"""The metrics of the plain loop and their meaning. A task adds one for each of its criteria.

The first nine describe the sampled batch before any filter. Those after kept_groups are means over the
optimizer's steps. With one step per batch, every ratio is 1 and nothing is clipped.
"""

OF_REFERENCE = frozenset({"kl", "ref_log_prob"})
"""The metrics that need the log-probabilities of the reference."""


def metric_names(task: Task) -> tuple[str, ...]:
    """Return the names of all metrics of a training run on the task."""
    return tuple(dict.fromkeys((*task.criteria, *METRICS)))


OF_COMPLETIONS: dict[str, Callable[[Completions], Floats]] = {
    "reward": lambda batch: batch.rewards.mean((-2, -1)),
    "length": lambda batch: mean_length(batch.mask),
    "truncated": lambda batch: 1.0 - batch.ended.mean((-2, -1)),
    "dead_groups": lambda batch: dead_group_fraction(batch.rewards),
    "reward_width": lambda batch: reward_width(batch.rewards),
}
"""The metrics that are computed from the sampled batch alone."""

OF_POLICIES: dict[str, Callable[[Completions, Visited, Visited], Floats]] = {
    # The KL divergence is exact in every visited state, so that it has less noise than an estimate from the
    # sampled tokens, which is what trainers log.
    "kl": lambda batch, old, ref: _per_completion(
        gather_states(old.policy.divergences(ref.policy.log_probs), old.states), batch.mask
    ),
    "entropy": lambda batch, old, ref: mean_entropy(
        gather_states(old.policy.entropies(), old.states), batch.mask
    ),
    "ref_log_prob": lambda batch, old, ref: _per_completion(ref.log_probs, batch.mask),
}
"""The metrics that also need the batch under the policies that sampled it, and under the references."""


def of_batch(task: Task, batch: Completions, old: Visited, ref: Visited, names: Collection[str]) -> Metrics:
    """Return the requested metrics of a sampled batch.

    Args:
      task: the task of the batch.
      batch: (S, P, G, T) completions.
      old: the batch under the policies that sampled it.
      ref: the batch under the references, with the same rows as `old`.
      names: names of metrics; those that are not computed from a sampled batch are ignored.
    """
    metrics = of_completions(task, batch, names)
    if "distinct_bigrams" in names:
        vocabulary = len(task.vocabulary)
        metrics["distinct_bigrams"] = distinct_ngrams(batch.tokens, batch.mask, n=2, vocabulary=vocabulary)
    return metrics | {name: of(batch, old, ref) for name, of in OF_POLICIES.items() if name in names}


def of_completions(task: Task, batch: Completions, names: Collection[str]) -> Metrics:
    """Return the requested metrics among `OF_COMPLETIONS` and the task's criteria, each (S,)."""
    criteria = {
        name: batch.components[..., k].mean((-2, -1)) for k, name in enumerate(task.criteria) if name in names
    }
    return criteria | {name: of(batch) for name, of in OF_COMPLETIONS.items() if name in names}


def _per_completion(values: Floats, mask: Bools) -> Floats:
    """Return (S,) the mean over the completions of the sum over their tokens."""
    sums: Floats = (values * mask).sum(-1).mean((-2, -1))
    return sums


def over_steps(log: Sequence[Metrics]) -> Metrics:
    """Return the mean of each metric over the optimizer's steps."""
    xp = array_namespace(*log[0].values())
    steps = {name: [metrics[name] for metrics in log] for name in log[0]}
    return {name: xp.mean(xp.stack(of), axis=0) if len(of) > 1 else of[0] for name, of in steps.items()}


def on_host(metrics: Metrics) -> Metrics:
    """Return the metrics as NumPy arrays, moved to the host in one transfer."""
    if not metrics:
        return {}
    together = array_namespace(*metrics.values()).stack(list(metrics.values()))
    return dict(zip(metrics, to_host(together), strict=True))
