"""Does every task learn with its default settings, 16 seeds in under 10 seconds?

Rewards are measured on completions sampled anew at temperature 1 from the policies before and after training.
"""

import statistics
import time

from measure import heading, spread

from grpo_ref import GRPO, TASKS, config_for, sample, train

SEEDS, ROUNDS, MAX_SECONDS = 16, 3, 10.0
EXACT_MATCH, NAMES_KL = 0.95, 4.0


def main() -> None:
    """Train every task and print what it learned and whether the targets were met."""
    heading(f"learning with default settings and recipe grpo, {SEEDS} seeds")
    for name, build in TASKS.items():
        task = build()
        config = config_for(task, seeds=SEEDS)
        seconds = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            *_, last = train(task, GRPO, config)
            seconds.append(time.perf_counter() - begun)
        before, after = (
            sample(task, logits, prompts=2000, seed=1).components.mean((1, 2))
            for logits in (task.ref_logits[None], last.state.logits)
        )
        print(f"\n{name}: {config.updates} updates, {config.prompts} x {config.group_size} completions")
        quick = verdict(statistics.median(seconds) < MAX_SECONDS)
        print(f"  seconds, median at most {MAX_SECONDS:.0f}: {spread(seconds, 1)}   {quick}")
        for k, criterion in enumerate(task.criteria):
            print(f"  {criterion}: {before[0, k]:.3f} -> {spread(after[:, k].tolist())} over seeds")
        if name == "arithmetic":
            exact = after[:, task.criteria.index("correct")].mean()
            print(
                f"  mean exact match, at least {EXACT_MATCH}: {exact:.4f}   {verdict(exact >= EXACT_MATCH)}"
            )
        if name == "names":
            growth, kl = after[:, 0].mean() / before[0, 0], last.metrics["kl"]
            print(f"  reward after / before, at least 2: {growth:.2f}   {verdict(growth >= 2)}")
            print(
                f"  KL to the reference, nats a name, at most {NAMES_KL}: {spread(kl.tolist(), 2)}", end="   "
            )
            print(verdict(statistics.fmean(kl.tolist()) <= NAMES_KL))


def verdict(met: bool) -> str:
    """In words."""
    return "met" if met else "NOT met"


if __name__ == "__main__":
    main()
