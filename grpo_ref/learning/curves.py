"""The curves of a training: by what each update is measured, one number per run."""

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
"""Name -> (S,), one number per run; `METRICS` says what each name means."""

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


OF_COMPLETIONS: dict[str, Callable[[Completions], Floats]] = {
    "reward": lambda batch: batch.rewards.mean((-2, -1)),
    "length": lambda batch: mean_length(batch.mask),
    "truncated": lambda batch: 1.0 - batch.ended.mean((-2, -1)),
    "dead_groups": lambda batch: dead_group_fraction(batch.rewards),
    "reward_width": lambda batch: reward_width(batch.rewards),
}
"""Those that need nothing but the batch as it was drawn."""

OF_POLICIES: dict[str, Callable[[Completions, Visited, Visited], Floats]] = {
    "kl": lambda batch, old, ref: _per_completion(
        gather_states(old.policy.divergences(ref.policy.log_probs), old.states), batch.mask
    ),
    "entropy": lambda batch, old, ref: mean_entropy(
        gather_states(old.policy.entropies(), old.states), batch.mask
    ),
    "ref_log_prob": lambda batch, old, ref: _per_completion(ref.log_probs, batch.mask),
}
"""Those that need what the policies that drew the batch, and the references, say in its places."""


def of_batch(task: Task, batch: Completions, old: Visited, ref: Visited, wanted: Collection[str]) -> Metrics:
    """What the policy does before anything is learned: of the batch as drawn, before any filter.

    Args:
      task: which the batch is of.
      batch: (S, P, G, T) completions.
      old: what the policies that drew them say in its places.
      ref: what the references say there, the places in the same rows.
      wanted: names of metrics; those of other things than the batch are passed over.
    """
    found = of_completions(task, batch, wanted)
    if "distinct_bigrams" in wanted:
        vocabulary = len(task.vocabulary)
        found["distinct_bigrams"] = distinct_ngrams(batch.tokens, batch.mask, n=2, vocabulary=vocabulary)
    return found | {name: of(batch, old, ref) for name, of in OF_POLICIES.items() if name in wanted}


def of_completions(task: Task, batch: Completions, wanted: Collection[str]) -> Metrics:
    """Those of `OF_COMPLETIONS` and the task's criteria that are wanted, each (S,)."""
    criteria = {
        name: batch.components[..., k].mean((-2, -1))
        for k, name in enumerate(task.criteria)
        if name in wanted
    }
    return criteria | {name: of(batch) for name, of in OF_COMPLETIONS.items() if name in wanted}


def _per_completion(values: Floats, mask: Bools) -> Floats:
    """(S,) the mean over the completions of the sum over their tokens."""
    sums: Floats = (values * mask).sum(-1).mean((-2, -1))
    return sums


def over_steps(log: Sequence[Metrics]) -> Metrics:
    """Means over the steps."""
    xp = array_namespace(*log[0].values())
    steps = {name: [metrics[name] for metrics in log] for name in log[0]}
    return {name: xp.mean(xp.stack(of), axis=0) if len(of) > 1 else of[0] for name, of in steps.items()}


def on_host(metrics: Metrics) -> Metrics:
    """As NumPy arrays, all in one transfer."""
    if not metrics:
        return {}
    together = array_namespace(*metrics.values()).stack(list(metrics.values()))
    return dict(zip(metrics, to_host(together), strict=True))
