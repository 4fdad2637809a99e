"""The whole training loop, from sampling to Adam: ours beside PyTorch eager, JAX jit and a plain loop.

Given the same uniform numbers, all sides have the same rewards and end with the same policies (to 1e-6, in
float64); that is checked before anything is timed. Ours is `train_many`; `train`, which also computes the
metrics of every update, stands beside it, and so does the form with loops that Numba compiles (extra
`compiled`). Timed, the peers compute in float32, each with random numbers of its own. A peer that is not
installed is left out, and that is said (extra `bench`).
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from many_seeds import print_profile
from measure import heading, interleaved, last_of, machine, spread, versions
from naive_loop import train_naively
from training_peers import PEERS

from grpo_ref import GRPO, TASKS, iter_train
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.task import Task

CASES = {
    "100 seeds, 1 epoch": (100, 1),
    "100 seeds, 4 epochs": (100, 4),
    "1 seed, 1 epoch": (1, 1),
    "1 seed, 4 epochs": (1, 4),
}
TARGETS = {
    100: {"PyTorch": 4.0, "JAX": 1.0},
    1: {"PyTorch": 5.0},
}
"""Seeds -> how many times faster than the best form of a library the fastest of ours should be."""
FULL, CHECKED, LOOP_UPDATES = 300, 20, 3
"""Updates of a whole training run, of the check, and of the timed plain loop."""
OURS, DOUBLE, READABLE, LOOP = "ours, float32", "ours, float64", "train", "plain loop"
COMPILED, THREADS = "grpo_ref, compiled", 2
HAS_NUMBA = importlib.util.find_spec("numba") is not None
Actions = dict[str, Callable[[], Any]]


def main() -> None:
    """Check, time, and print tables; write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=60, help="of each timed training run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--plot", type=Path, help="draw the ratios here (PNG)")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(ours_alone(arguments.alone, arguments.updates, arguments.rounds)))
        return
    heading(f"training on arithmetic, {arguments.updates} updates timed")
    print("  " + ", ".join(f"{name} {version}" for name, version in versions(PEERS).items()))
    load = os.getloadavg()[0]
    print(f"  load average before the start {load:.1f}: near 0 on an idle machine")
    task = TASKS["arithmetic"](largest=3)
    check_all(task)
    figures = {name: compare(task, name, arguments.updates, arguments.rounds) for name in CASES}
    alone = print_alone(arguments.updates, arguments.rounds)
    print_extras(task, arguments.updates)
    setup = {"updates": arguments.updates, "rounds": arguments.rounds, "load": load}
    if arguments.json:
        report = {"machine": machine() | versions(PEERS), **setup, "cases": figures, "ours_alone_ms": alone}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    if arguments.plot:
        draw({name: figure["ms_an_update"] for name, figure in figures.items()}, arguments.plot)


def installed() -> dict[str, Callable[..., Any]]:
    """The peers that can run here."""
    return {name: prepare for name, (module, prepare) in PEERS.items() if importlib.util.find_spec(module)}


def settings(seeds: int, epochs: int, updates: int) -> TrainConfig:
    """Sixteen prompts of eight completions in a batch."""
    return TrainConfig(
        updates=updates, seeds=seeds, epochs=epochs, prompts=16, group_size=8, learning_rate=0.3
    )


# ---- do all sides compute the same? ----------------------------------------------------------------


def check_all(task: Task) -> None:
    """Stop unless every peer follows ours, and a run of ours is the same beside any others."""
    for epochs in (1, 4):
        config = settings(3, epochs, CHECKED)
        curves, logits = ours(task, config)
        more, theirs = ours(task, replace(config, seeds=8))
        np.testing.assert_array_equal(more[:3], curves)
        np.testing.assert_array_equal(theirs[:3], logits)
        if HAS_NUMBA:
            for found, expected in zip(ours(task, config, compiled=True), (curves, logits), strict=True):
                np.testing.assert_array_equal(found, expected)
        for prepare in installed().values():
            check(prepare(task, config, uniforms(task, config))(), curves, logits)
        if epochs == 1:
            check(train_naively(task, config)[::-1], curves[0], logits[0])
        check_own_numbers(task, epochs)
    print("  checked: all sides agree on the same numbers; 3 of 8 seeds are 3 seeds, to the bit")


def check(theirs: Any, curves: np.ndarray, logits: np.ndarray) -> None:
    """One peer, to 1e-6."""
    for found, expected in zip(theirs, (curves, logits), strict=True):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=1e-6)


def check_own_numbers(task: Task, epochs: int) -> None:
    """As they are timed, on numbers of their own, peers learn as fast: the mean of all rewards, to 0.05."""
    config = settings(100, epochs, CHECKED)
    reward = ours(task, config)[0].mean()
    for prepare in installed().values():
        np.testing.assert_allclose(np.mean(prepare(task, config)()[0]), reward, rtol=0, atol=0.05)


def ours(task: Task, config: TrainConfig, *, compiled: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Rewards (S, updates) and logits (S, N, V) of our side."""
    rewards = []
    for update in train_many(task, GRPO, config, compiled=compiled):
        rewards.append(update.metrics["reward"])
    return np.stack(rewards, -1), update.state.params


def our_actions(task: Task, config: TrainConfig) -> Actions:
    """Our sides, to be timed."""
    actions: Actions = {
        OURS: lambda: last_of(train_many(task, GRPO, config, dtype=np.float32)),
        DOUBLE: lambda: last_of(train_many(task, GRPO, config)),
        READABLE: lambda: last_of(iter_train(task, GRPO, config)),
    }
    threads = min(THREADS, config.seeds)
    loops = {"dtype": np.float32, "threads": threads, "compiled": True}
    if HAS_NUMBA:
        actions[COMPILED] = lambda: last_of(train_many(task, GRPO, config, **loops))
    return actions


def uniforms(task: Task, config: TrainConfig) -> np.ndarray:
    """(updates, S, P, 1 + G T) the numbers that `train` draws."""
    shape = (config.updates, config.prompts, 1 + config.group_size * task.max_length)
    generators = [np.random.default_rng([config.seed, run]) for run in range(config.seeds)]
    return np.stack([generator.random(shape) for generator in generators], axis=1)


# ---- how long does it take? ------------------------------------------------------------------------


def compare(task: Task, name: str, updates: int, rounds: int) -> dict[str, Any]:
    """One case, all sides, in turns: milliseconds an update, and seconds that a first call takes longer."""
    seeds, epochs = CASES[name]
    config = settings(seeds, epochs, updates)
    actions = our_actions(task, config)
    actions |= {peer: prepare(task, config) for peer, prepare in installed().items()}
    first = {side: timed(action) for side, action in actions.items()}
    if epochs == 1:
        actions[LOOP] = lambda: train_naively(task, replace(config, updates=LOOP_UPDATES))
    seconds = interleaved(actions, rounds)
    factors = {side: 1e3 / updates for side in actions} | {LOOP: 1e3 * seeds / LOOP_UPDATES}
    cost = {side: [factors[side] * value for value in values] for side, values in seconds.items()}
    compiling = {
        side: first[side] - statistics.median(seconds[side])
        for side in first
        if side.startswith("JAX") or side == COMPILED
    }
    print_case(name, seeds, cost, compiling)
    return {"ms_an_update": cost, "compile_seconds": compiling}


def timed(action: Callable[[], Any]) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def print_case(name: str, seeds: int, cost: dict[str, list[float]], compiling: dict[str, float]) -> None:
    """A line a side, and a verdict a library."""
    print(f"\n  {name}: ms an update, time relative to ours, seconds for {FULL} updates")
    ratios = {side: np.divide(values, cost[OURS]).tolist() for side, values in cost.items()}
    for side, values in cost.items():
        whole = FULL * statistics.median(values) / 1e3
        print(f"    {side:20} {spread(values):30} {spread(ratios[side], 2):22} x {whole:9.3f} s", end="")
        print(f"   compile {compiling[side]:.1f} s" if side in compiling else "")
    best = COMPILED if HAS_NUMBA else OURS
    for library, target in TARGETS[seeds].items():
        forms = [side for side in cost if side.startswith(library)]
        if forms:
            reached = min(lowest(cost[side], cost[best]) for side in forms)
            verdict = "met" if reached >= target else "NOT met"
            print(f"    {best}: at least {target:.0f} x the best {library}: {reached:.2f}, {verdict}")


def lowest(theirs: list[float], mine: list[float]) -> float:
    """The median of the ratios or the ratio of the best rounds, whichever is lower: on a busy machine a
    peer's threads may stall, which is nobody's merit.
    """
    ratios = np.divide(theirs, mine)
    return min(float(np.median(ratios)), min(theirs) / min(mine))


def print_alone(updates: int, rounds: int) -> dict[str, list[float]]:
    """Ours in a process of its own, in which no other library has changed how memory is handed out."""
    print("\n  ours in a process of its own: ms an update")
    found = {}
    for name in CASES:
        sizes = ["--updates", str(updates), "--rounds", str(rounds)]
        command = [sys.executable, __file__, "--alone", name, *sizes]
        found[name] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(f"    {name:20} {spread(found[name])}")
    return found


def ours_alone(name: str, updates: int, rounds: int) -> list[float]:
    """Milliseconds per update of one case in this process, after a run that is not counted."""
    task, config = TASKS["arithmetic"](largest=3), settings(*CASES[name], updates)
    action = our_actions(task, config)[OURS]
    action()
    return [1e3 * value / updates for value in interleaved({OURS: action}, rounds)[OURS]]


def print_extras(task: Task, updates: int) -> None:
    """What ours computes beside, and where its time goes."""
    config = settings(100, 1, updates)
    names = ", ".join(last_of(iter_train(task, GRPO, replace(config, updates=1))).metrics)
    print("\n  the peers and train_many return the mean reward of every update; train has these metrics:")
    print(textwrap.fill(names, 100, initial_indent="    ", subsequent_indent="    "))
    for epochs in (1, 4):
        print(f"\n  train_many, 100 seeds, epochs: {epochs}")
        print_profile(task, replace(config, epochs=epochs), train_many)


# ---- picture ---------------------------------------------------------------------------------------


def draw(figures: dict[str, dict[str, list[float]]], path: Path) -> None:
    """How many times longer than ours each side takes, with the range over the rounds."""
    import matplotlib.pyplot as plt
    from matplotlib import ticker

    sides = [
        side
        for side in [COMPILED, READABLE, *installed(), LOOP]
        if any(side in cost for cost in figures.values())
    ]
    figure, axes = plt.subplots(figsize=(9, 1.1 * len(figures) + 1.5), layout="constrained")
    height = 0.8 / len(sides)
    for index, side in enumerate(sides):
        rows = [row for row, cost in enumerate(figures.values()) if side in cost]
        ratios = [np.divide(cost[side], cost[OURS]) for cost in figures.values() if side in cost]
        middle = np.median(ratios, axis=-1)
        reach = [middle - np.min(ratios, axis=-1), np.max(ratios, axis=-1) - middle]
        places = np.array(rows) + (index - (len(sides) - 1) / 2) * height
        shade = str(0.25 + 0.7 * index / max(len(sides) - 1, 1))
        style = {"color": shade, "edgecolor": "black", "capsize": 2, "label": side}
        axes.barh(places, middle - 1.0, height, left=1.0, xerr=reach, **style)
    axes.axvline(1.0, color="black", linewidth=1.0)
    axes.set_yticks(range(len(figures)), list(figures))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(
        "time / time of train_many in float32 (median, range over rounds; right of 1: ours is faster)"
    )
    axes.set_ylabel("case")
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    figure.legend(loc="outside upper center", ncols=4, fontsize="small")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
