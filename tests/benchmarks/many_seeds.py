"""Does training 64 seeds as one array cost at most 1/20 of 64 runs of the straightforward loop?

Ours trains 64 seeds at once. The straightforward loop trains one seed; its time is multiplied by 64, which is
fair, since its runs share nothing. Both sides take turns in one process, and give the same policy.
"""

import argparse
import cProfile
import json
import pstats
from pathlib import Path

import numpy as np
from measure import heading, interleaved, machine, spread
from naive_loop import train_naively

from grpo_ref import GRPO, TASKS, Task, TrainConfig, config_for, train

SEEDS, UPDATES, TARGET = 64, 3, 20.0


def main() -> None:
    """Check, time and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    heading(f"{SEEDS} seeds as one array against {SEEDS} runs of the straightforward loop, {UPDATES} updates")
    figures = {name: compare(TASKS[name](), arguments.rounds) for name in ("arithmetic", "names")}
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": machine(), "tasks": figures}, indent=2) + "\n")


def compare(task: Task, rounds: int) -> dict[str, object]:
    """One task, both sides."""
    config = config_for(task, seeds=SEEDS, updates=UPDATES)
    *_, last = train(task, GRPO, config)
    np.testing.assert_allclose(last.state.logits[5], train_naively(task, config, run=5), rtol=1e-9, atol=1e-9)
    sides = {"ours": lambda: list(train(task, GRPO, config)), "loop": lambda: train_naively(task, config)}
    seconds = interleaved(sides, rounds)
    ours = [1e3 * value / UPDATES for value in seconds["ours"]]
    loop = [1e3 * SEEDS * value / UPDATES for value in seconds["loop"]]
    ratios = [theirs / mine for theirs, mine in zip(loop, ours, strict=True)]
    tokens = SEEDS * config.prompts * config.group_size * float(last.metrics["length"].mean())
    speed = [tokens / (1e-3 * value) / 1e6 for value in ours]
    verdict = "met" if np.median(ratios) >= TARGET else "NOT met"
    sizes = f"{config.prompts} prompts x {config.group_size} completions"
    print(f"\n{task.name}: {sizes}; both sides end with the same policy")
    print(f"  ours, ms an update of {SEEDS} seeds    {spread(ours, 1)}")
    print(f"  loop, ms an update of {SEEDS} seeds    {spread(loop, 1)}")
    print(f"  loop / ours, at least {TARGET:.0f}         {spread(ratios, 1)}   {verdict}")
    print(f"  ours, million tokens a second    {spread(speed, 2)}")
    print_profile(task, config)
    return {"ours_ms": ours, "loop_ms": loop, "ratio": ratios, "million_tokens_a_second": speed}


def print_profile(task: Task, config: TrainConfig) -> None:
    """Where our time goes, by function."""
    profile = cProfile.Profile()
    profile.runcall(lambda: list(train(task, GRPO, config)))
    entries = pstats.Stats(profile).get_stats_profile().func_profiles
    total = sum(entry.tottime for entry in entries.values())
    print("  where the time goes")
    for name, entry in sorted(entries.items(), key=lambda item: -item[1].tottime)[:8]:
        print(f"    {100 * entry.tottime / total:4.1f} %  {name}")


if __name__ == "__main__":
    main()
