"""Does training 64 seeds as one array cost at most 1/20 of 64 runs of the straightforward loop?

Ours trains 64 seeds at once. The straightforward loop trains one seed; its time is multiplied by 64, which is
fair, since its runs share nothing. Both sides take turns in one process, and give the same policy.
"""

import argparse
import cProfile
import json
import pstats
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from measure import heading, interleaved, last_of, machine, spread
from naive_loop import train_naively

from grpo_ref import GRPO, TASKS, config_for, iter_train
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.state import Update
from grpo_ref.learning.task import Task

SEEDS, UPDATES, TARGET = 64, 10, 20.0
CHECKED_RUNS = (0, 5)
FUNCTIONS = 10


def main() -> None:
    """Check, time and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    heading(f"{SEEDS} seeds as one array against {SEEDS} runs of the straightforward loop, {UPDATES} updates")
    tasks = {name: TASKS[name]() for name in ("arithmetic", "names")}
    for task in tasks.values():
        check_agreement(task, settings(task))
    print("checked: both sides have the same curves and end with the same policies")
    figures = {name: compare(task, settings(task), arguments.rounds) for name, task in tasks.items()}
    if arguments.json:
        setup = {"seeds": SEEDS, "updates": UPDATES, "rounds": arguments.rounds}
        arguments.json.write_text(
            json.dumps({"machine": machine(), **setup, "tasks": figures}, indent=2) + "\n"
        )


def settings(task: Task) -> TrainConfig:
    """The task's own settings, but for fewer updates."""
    return config_for(task, seeds=SEEDS, updates=UPDATES)


def check_agreement(task: Task, config: TrainConfig) -> None:
    """Rewards of every update, and the policies after the last one."""
    rewards = []
    for update in iter_train(task, GRPO, config):
        rewards.append(update.metrics["reward"])
    for run in CHECKED_RUNS:
        logits, curve = train_naively(task, config, run=run)
        np.testing.assert_allclose([reward[run] for reward in rewards], curve, rtol=0, atol=1e-10)
        np.testing.assert_allclose(update.state.params[run], logits, rtol=0, atol=1e-10)


def compare(task: Task, config: TrainConfig, rounds: int) -> dict[str, object]:
    """One task, both sides, in turns."""
    length = np.mean([update.metrics["length"].mean() for update in iter_train(task, GRPO, config)])
    sides = {
        "ours": lambda: last_of(iter_train(task, GRPO, config)),
        "loop": lambda: train_naively(task, config),
    }
    seconds = interleaved(sides, rounds)
    ours = [1e3 * value / UPDATES for value in seconds["ours"]]
    loop = [1e3 * SEEDS * value / UPDATES for value in seconds["loop"]]
    ratios = [theirs / mine for theirs, mine in zip(loop, ours, strict=True)]
    tokens = SEEDS * config.prompts * config.group_size * float(length)
    speed = [tokens / (1e-3 * value) / 1e6 for value in ours]
    verdict = "met" if np.median(ratios) >= TARGET else "NOT met"
    print(f"\n{task.name}: {config.prompts} prompts x {config.group_size} completions of {length:.1f} tokens")
    print(f"  ours, ms an update of {SEEDS} seeds    {spread(ours, 1)}")
    print(f"  loop, ms an update of {SEEDS} seeds    {spread(loop, 1)}")
    print(f"  loop / ours, at least {TARGET:.0f}         {spread(ratios, 1)}   {verdict}")
    print(f"  ours, million tokens a second    {spread(speed, 2)}")
    print_profile(task, config)
    return {"ours_ms": ours, "loop_ms": loop, "ratio": ratios, "million_tokens_a_second": speed}


def print_profile(
    task: Task, config: TrainConfig, loop: Callable[..., Iterable[Update]] = iter_train
) -> None:
    """Where our time goes, by function, without what it calls."""
    profile = cProfile.Profile()
    profile.runcall(lambda: last_of(loop(task, GRPO, config)))
    own = {where: entry[2] for where, entry in pstats.Stats(profile).stats.items()}
    print("  where the time goes")
    for where in sorted(own, key=own.get, reverse=True)[:FUNCTIONS]:
        print(f"    {100 * own[where] / sum(own.values()):4.1f} %  {label(*where)}")


def label(file: str, line: int, function: str) -> str:
    """A function of a module, or one of NumPy's that has no file."""
    return function if line == 0 else f"{Path(file).stem}.{function}"


if __name__ == "__main__":
    main()
