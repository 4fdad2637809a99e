"""The training to call: it takes the fast loop by itself where that one applies, the plain one elsewhere.

`learning.loop` is the loop to read, with all metrics; `fast.many_seeds` gives the same curves several times
faster, for the usual recipes and few metrics.
"""

from collections.abc import Collection, Iterator

from grpo_ref.fast.many_seeds import train_many
from grpo_ref.fast.measures import fast_metrics
from grpo_ref.fast.usual import why_not
from grpo_ref.learning.arguments import check_arguments, check_metrics
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.loop import plain_loop
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import Recipe

MOST_TOKENS = 256
"""The fast loop goes through the vocabulary token by token: beyond this size the plain one is faster."""


def train(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState | None = None,
    *,
    metrics: Collection[str] | None = None,
    policy: PolicyKind = TABLE,
) -> Iterator[Update]:
    """Train until config.updates updates are done, yielding after each.

    There are two loops. The plain one does everything. The fast one, `train_many`, is taken by itself where
    it applies: the metrics asked for are among those that it gives (`fast_metrics`), the recipe is a usual
    one (`why_not`), the policy is a table of at most 256 tokens, the arrays are NumPy's. Both draw the same
    random numbers and give the same curves to rounding (about 1e-10, less well where many steps on a batch
    magnify it); with metrics left out it is always the plain one, to the bit.

    Args:
      task: what to learn.
      recipe: the algorithm.
      config: sizes and step sizes.
      state: where to continue, from either device and either loop; left out, at the task's reference policy.
      metrics: names of the metrics that are needed, as in ("reward",); left out, all of them.
      policy: what the parameters mean: those of a table, or of a network that `pretrain` has made.

    Returns:
      An iterator of Update(metrics, state). The metrics, name -> (S,), are NumPy arrays, one number per run;
      the state is where the task is. All metrics are those of `learning.curves.METRICS`, and the mean of each
      of the task's criteria by its name.

    Raises:
      TypeError: if an argument is not of its type, as when two are swapped.
      ValueError: if a metric is unknown, the state is of another policy, task or optimizer, or the network
        does not fit the task.
      MemoryError: if a network is so large that the machine could not hold an update.
      FloatingPointError: after an update that has left parameters which are not finite, as when the learning
        rate is too large; it is not yielded. Also where the weights have become too large for a network.

    >>> from grpo_ref import GRPO, TASKS, config_for, train
    >>> task = TASKS["bandit"]()
    >>> for last in train(task, GRPO, config_for(task, seeds=4, updates=50)):
    ...     pass    # a list of all updates would keep every policy in memory
    >>> last.metrics["reward"].shape
    (4,)
    """
    check_arguments(task, recipe, config, state, policy)
    if metrics is None:
        return plain_loop(task, recipe, config, state, policy)
    wanted = check_metrics(task, metrics)
    small = policy is TABLE and task.transitions.shape[1] <= MOST_TOKENS
    if small and set(wanted) <= set(fast_metrics(task)) and not why_not(task, recipe, config, state):
        return train_many(task, recipe, config, state, metrics=wanted)
    return plain_loop(task, recipe, config, state, policy, wanted)
