"""Training runs with one fault each, to practise diagnosis from their curves.

Each run comes with its owner's complaint, and with the curves of a healthy run on the same seeds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grpo_ref.advantages import batch_normalized, group_normalized
from grpo_ref.check.mistakes.kernels import attracting_k3, padded_mean, stale_clipped
from grpo_ref.learning.config import config_for
from grpo_ref.learning.curves import Metrics
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.tasks import TASKS
from grpo_ref.training import iter_train


def inverted_clip(history: Metrics) -> Metrics:
    """Return metrics that report the tokens inside the clip range as clipped: a fault of the metric alone."""
    clip = history["clip_low"] + history["clip_high"]
    return {**history, "clip_low": 0.0 * clip, "clip_high": 1.0 - clip}


def unchanged(history: Metrics) -> Metrics:
    """Return the metrics as they are."""
    return history


@dataclass(frozen=True)
class FaultyRun:
    """A training run with one fault.

    Attributes:
      complaint: description of the problem by the owner of the run.
      fault: the fault, in one sentence.
      sign: feature of the curves by which the fault is recognized.
      recipe: the recipe that the run computes.
      healthy: the recipe that the run should compute.
      task: name of the task.
      task_options: settings of the task.
      settings: fields of `TrainConfig`.
      chart: function that the owner's plotting applies to the metrics of an update.
      panels: names of the metrics to look at.
    """

    complaint: str
    fault: str
    sign: str
    recipe: Recipe
    healthy: Recipe = GRPO
    task: str = "arithmetic"
    task_options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    chart: Callable[[Metrics], Metrics] = unchanged
    panels: tuple[str, ...] = ("reward", "kl", "entropy", "grad_norm", "length", "clip")

    def charts(self, *, seeds: int = 16) -> dict[str, list[Metrics]]:
        """Return the metrics of each update of the healthy run and of the faulty run, on the same seeds."""
        return {
            "healthy": self._history(self.healthy, unchanged, seeds),
            "faulty": self._history(self.recipe, self.chart, seeds),
        }

    def _history(self, recipe: Recipe, chart: Callable[[Metrics], Metrics], seeds: int) -> list[Metrics]:
        task = TASKS[self.task](**self.task_options)
        config = config_for(task, seeds=seeds, **self.settings)
        return [chart(update.metrics) for update in iter_train(task, recipe, config)]


SMALL = {"largest": 3}
QUICK = {"updates": 80, "prompts": 16, "group_size": 8}

FAULTY_RUNS: dict[str, FaultyRun] = {
    "A": FaultyRun(
        complaint="I raised the weight of the KL penalty, and the KL rose with it.",
        fault="The KL penalty has the wrong sign: it is a reward for leaving the reference.",
        sign="The KL grows to more than twice the KL of the healthy run, while the reward looks even better.",
        recipe=replace(GRPO, penalty=slot(attracting_k3), kl_coef=0.2),
        healthy=replace(GRPO, kl_coef=0.2),
        task="names",
        settings={"updates": 100, "prompts": 8},
        panels=("reward", "kl", "ref_log_prob"),
    ),
    "B": FaultyRun(
        complaint="Half of my prompts are never learned, and the policy drifts further and further.",
        fault="Mean and std are taken over the whole batch instead of over the group.",
        sign="A group whose answers are all right or all wrong gets advantages that are not zero: at the"
        " start and at the end nearly all groups have equal rewards, and still the gradient stays large and"
        " the KL rises.",
        recipe=replace(GRPO, advantage=slot(batch_normalized), kl_coef=0.0),
        healthy=replace(GRPO, kl_coef=0.0),
        task_options={**SMALL, "format_weight": 0.0},
        settings={**QUICK, "updates": 120},
        panels=("dead_groups", "grad_norm", "kl", "reward", "entropy", "length"),
    ),
    "C": FaultyRun(
        complaint="It hardly learns, and the more room I give it the less: the gradient norm depends on"
        " max_length.",
        fault="The mean over a completion's tokens divides by the padded length.",
        sign="The gradient norm is smaller from the first update on, and more so the larger the budget.",
        recipe=replace(GRPO, aggregate=slot(padded_mean)),
        task_options={**SMALL, "max_length": 12},
        settings={**QUICK, "optimizer": "sgd", "learning_rate": 30.0},
        panels=("reward", "grad_norm", "length"),
    ),
    "D": FaultyRun(
        complaint="With groups of two my gradients are 0.71 times those of a colleague.",
        fault="One takes the std of a sample (ddof=1), the other that of the population (ddof=0): with G = 2"
        " the advantages are ±0.71 or ±1. Both are in use; the fault is not to know which.",
        sign="The gradient norm of the very first update is smaller by exactly √2; with Adam nothing"
        " else shows.",
        recipe=replace(GRPO, advantage=slot(group_normalized, ddof=1, eps=1e-4)),
        healthy=replace(GRPO, advantage=slot(group_normalized, ddof=0, eps=1e-4)),
        task_options=SMALL,
        settings={**QUICK, "group_size": 2, "prompts": 64},
        panels=("reward", "grad_norm", "entropy"),
    ),
    "E": FaultyRun(
        complaint="It learns for ten updates, then it stops.",
        fault="old_log_probs are never refreshed: the ratio is to the policy at the start of training.",
        sign="The KL to the first policy stops at a small value and the entropy stays high: in the whole run"
        " no token is pushed further than the clip range from its first probability.",
        recipe=replace(GRPO, surrogate=slot(stale_clipped), kl_coef=0.0),
        healthy=replace(GRPO, kl_coef=0.0),
        task_options=SMALL,
        settings=QUICK,
        panels=("reward", "kl", "entropy"),
    ),
    "F": FaultyRun(
        complaint="Nearly all of my tokens are clipped, even in the first step of each batch.",
        fault="Nothing but the metric: it counts the tokens inside the clip range.",
        sign="Reward and gradient are those of the healthy run; and with one step a batch every ratio is 1,"
        " so the clipped share must be 0.",
        recipe=GRPO,
        task_options=SMALL,
        settings=QUICK,
        chart=inverted_clip,
        panels=("reward", "grad_norm", "clip"),
    ),
}
"""The faulty runs by letter."""
