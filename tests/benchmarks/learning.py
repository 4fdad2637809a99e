"""Does every task learn with its default settings, 16 seeds in under 10 seconds?

Rewards are measured on completions sampled anew at temperature 1 from the policies before and after training.
"""

import statistics

from measure import heading, interleaved, last_of, spread

from grpo_ref import GRPO, TASKS, config_for, iter_train
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.state import Update
from grpo_ref.learning.task import Task

SEEDS, ROUNDS, MAX_SECONDS = 16, 3, 10.0
SAMPLED_PROMPTS = 2000
EXACT_MATCH, NAMES_GROWTH, NAMES_KL = 0.95, 2.0, 4.0


def main() -> None:
    """Train every task and print what it learned and whether the targets were met."""
    heading(f"learning with default settings and recipe grpo, {SEEDS} seeds")
    for build in TASKS.values():
        study(build())


def study(task: Task) -> None:
    """Time one task, and judge the policies before and after."""
    config = config_for(task, seeds=SEEDS)
    first = next(iter_train(task, GRPO, config)).metrics["reward"]
    results: list[Update] = []
    training = {"ours": lambda: results.append(last_of(iter_train(task, GRPO, config)))}
    seconds, last = interleaved(training, ROUNDS)["ours"], results[-1]
    print(f"\n{task.name}: {config.updates} updates, {config.prompts} x {config.group_size} completions")
    target("seconds", seconds, statistics.median(seconds) < MAX_SECONDS, f"median under {MAX_SECONDS:.0f}")
    print(f"  reward while training: {first.mean():.3f} -> {spread(last.metrics['reward'].tolist())}")
    before, after = rates(task, task.ref_logits[None]), rates(task, last.state.params)
    for name in task.criteria:
        print(f"  {name}: {before[name][0]:.3f} -> {spread(after[name])} over seeds")
    if task.name == "arithmetic":
        exact = after["correct"]
        target("exact match", exact, statistics.fmean(exact) >= EXACT_MATCH, f"mean at least {EXACT_MATCH}")
    if task.name == "names":
        goal = task.criteria[0]
        judge_names([rate / before[goal][0] for rate in after[goal]], last)


def rates(task: Task, logits) -> dict[str, list[float]]:
    """How often each criterion holds, seed by seed, on fresh completions at temperature 1."""
    components = sample(task, logits, prompts=SAMPLED_PROMPTS, seed=1).components.mean((1, 2))
    return dict(zip(task.criteria, components.T.tolist(), strict=True))


def judge_names(growth: list[float], last: Update) -> None:
    """The reward must grow while the names stay near the census."""
    kl = last.metrics["kl"].tolist()
    grown, near = statistics.fmean(growth) >= NAMES_GROWTH, statistics.fmean(kl) < NAMES_KL
    target("reward after / before", growth, grown, f"mean at least {NAMES_GROWTH:.0f}")
    target("KL to the reference, nats a name", kl, near, f"mean under {NAMES_KL:.0f}")


def target(name: str, values: list[float], met: bool, wanted: str) -> None:
    """One line: the values, what was wanted, and the verdict."""
    mean = statistics.fmean(values)
    print(f"  {name}: {spread(values, 2)}, mean {mean:.3f}; wanted: {wanted}   {'met' if met else 'NOT met'}")


if __name__ == "__main__":
    main()
