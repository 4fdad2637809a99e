"""Loss and gradient from logits: ours beside PyTorch eager, torch.compile and JAX jit, in one run.

All sides give the same loss and gradient before anything is timed. Beside them stands what no pure NumPy
form can pass: np.exp alone over the same array with as many threads, and reading the logits and writing the
gradient once. A peer that is not installed is left out, and that is said (extra `bench`).
"""

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from measure import heading, interleaved, machine, spread, versions
from peers import PEERS, RECIPE, THREADS

from grpo_ref import policy_loss_from_logits, token_log_probs

SHAPES = {
    "2048 rows, V = 32000, float32": (16, 128, 32000, np.float32),
    "2048 rows, V = 32000, float64": (16, 128, 32000, np.float64),
    "4096 rows, V = 4096, float32": (32, 128, 4096, np.float32),
    "16384 rows, V = 64, float32": (64, 256, 64, np.float32),
    "16384 rows, V = 64, float64": (64, 256, 64, np.float64),
}
COMPILED, HAS_NUMBA = "grpo_ref, compiled", importlib.util.find_spec("numba") is not None
OURS, FRESH, EXP, COPY = "ours, out given", "ours, fresh", "np.exp alone, 2 threads", "read and write once"
TARGETS = {
    32000: {EXP: 0.5, "PyTorch eager": 5.0, "torch.compile": 3.5, "JAX jit": 5.0},
    64: {"PyTorch eager": 1.5, "torch.compile": 1.2, "JAX jit": 1.2},
}
"""Vocabulary -> how many times as long as the fastest of ours a side should take, at least. Of the most that
NumPy allows, np.exp alone, ours reaches that share.
"""
GROWTH = {
    "rows at V = 4096": [(1, rows, 4096) for rows in (4, 40, 400, 4000)],
    "V at 2048 rows": [(16, 128, vocabulary) for vocabulary in (32, 320, 3200, 32000)],
}
MEMORY_SHAPE = (16, 64, 32000)


def main() -> None:
    """Check, time, and print tables; write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--plot", type=Path, help="draw the ratios here (PNG)")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of:
        print(extra_memory(arguments.memory_of))
        return
    heading("loss and gradient from logits, seconds")
    print("  " + ", ".join(f"{name} {version}" for name, version in versions(PEERS).items()))
    figures = {name: compare(name, *shape, arguments.rounds) for name, shape in SHAPES.items()}
    growth = {name: grow(name, shapes, arguments.rounds) for name, shapes in GROWTH.items()}
    memory = print_memory()
    report = {"machine": machine() | versions(PEERS), "seconds": figures, "growth": growth, "memory": memory}
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    if arguments.plot:
        draw(figures, arguments.plot)


def inputs(rows: int, length: int, vocabulary: int, dtype: Any) -> dict[str, np.ndarray]:
    """Logits, tokens, and what else a loss needs."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((rows, length, vocabulary), np.float32).astype(dtype, copy=False)
    tokens = rng.integers(0, vocabulary, (rows, length))
    at = token_log_probs(logits, tokens)
    old, ref = (at + 0.1 * rng.normal(size=at.shape) for _ in range(2))
    return {
        "logits": logits,
        "tokens": tokens,
        "old": old,
        "ref": ref,
        "advantages": rng.normal(size=rows),
    }


def ours(arrays: dict[str, np.ndarray], **more: Any) -> Any:
    """Our side."""
    return policy_loss_from_logits(
        arrays["logits"],
        arrays["tokens"],
        arrays["advantages"],
        np.ones(arrays["tokens"].shape),
        recipe=RECIPE,
        old_log_probs=arrays["old"],
        ref_log_probs=arrays["ref"],
        metrics=(),
        threads=THREADS,
        **more,
    )


def compare(
    name: str, rows: int, length: int, vocabulary: int, dtype: Any, rounds: int
) -> dict[str, list[float]]:
    """One shape, all sides, in turns.

    A target is met if the median of the ratios reaches it and the ratio of the best rounds too: on a busy
    machine a peer's threads may stall for ten milliseconds, which is nobody's merit.
    """
    arrays = inputs(rows, length, vocabulary, dtype)
    logits, out = arrays["logits"], np.empty_like(arrays["logits"])
    actions: dict[str, Callable[[], Any]] = {
        OURS: lambda: ours(arrays, out=out),
        FRESH: lambda: ours(arrays),
        EXP: lambda: in_halves(np.exp, logits, out),
        COPY: lambda: in_halves(lambda source, out: np.copyto(out, source), logits, out),
    }
    if HAS_NUMBA:
        actions[COMPILED] = lambda: ours(arrays, out=out, compiled=True)
        close = 1e-6 if dtype == np.float32 else 1e-10
        check(COMPILED, lambda: ours(arrays, compiled=True)[:2], ours(arrays), close)
    for peer, (module, prepare) in PEERS.items():
        if importlib.util.find_spec(module):
            actions[peer] = prepare(arrays)
            check(peer, actions[peer], ours(arrays), 1e-4 if dtype == np.float32 else 1e-10)
    seconds = interleaved(actions, rounds)
    print(f"\n  {name}")
    fastest = min(
        (side for side in (OURS, COMPILED) if side in seconds), key=lambda side: np.median(seconds[side])
    )
    for action, values in seconds.items():
        ratios = np.divide(values, seconds[fastest])
        target = TARGETS.get(vocabulary, {}).get(action)
        reached = min(np.median(ratios), min(values) / min(seconds[fastest]))
        verdict = "" if target is None else f"   at least {target}: {met(reached >= target)}"
        print(f"    {action:24} {spread(values, 4)}   {spread(ratios.tolist(), 2)} x {fastest}{verdict}")
    return seconds


def met(yes: Any) -> str:
    """A verdict."""
    return "met" if yes else "NOT met"


def check(peer: str, run: Callable[[], Any], mine: Any, close: float) -> None:
    """Stop unless a peer computes the same; the precision is that of its own sums."""
    loss, gradient = run()
    assert abs(loss - mine.loss) < close, (peer, loss, mine.loss)
    assert np.abs(gradient - mine.gradient).max() < close * np.abs(mine.gradient).max(), peer


def in_halves(action: Callable[..., Any], source: np.ndarray, out: np.ndarray) -> None:
    """A function of an array on two threads, half of the rows each."""
    parts = zip(np.array_split(source, THREADS), np.array_split(out, THREADS), strict=True)
    with ThreadPoolExecutor(THREADS) as pool:
        for future in [pool.submit(action, given, out=target) for given, target in parts]:
            future.result()


def grow(name: str, shapes: list[tuple[int, int, int]], rounds: int) -> dict[int, list[float]]:
    """Nanoseconds a logit, over three decades: flat where the cost is linear."""
    cost: dict[int, list[float]] = {}
    print(f"\n  growth with {name}: nanoseconds a logit")
    for shape in shapes:
        arrays = inputs(*shape, np.float32)
        size, out = arrays["logits"].size, np.empty_like(arrays["logits"])
        seconds = interleaved({OURS: lambda arrays=arrays, out=out: ours(arrays, out=out)}, rounds)[OURS]
        cost[size] = [1e9 * value / size for value in seconds]
        print(f"    {size:>10} logits   {spread(cost[size], 2)}")
    return cost


# ---- memory ----------------------------------------------------------------------------------------


def print_memory() -> dict[str, float]:
    """Peak memory beyond the logits, in multiples of them, each side in a process of its own."""
    sides = [FRESH, "ours, in place"]
    sides += [peer for peer, (module, _) in PEERS.items() if importlib.util.find_spec(module)]
    print(f"\n  peak extra memory at {MEMORY_SHAPE}, float32, in multiples of the logits")
    found = {}
    for side in sides:
        command = [sys.executable, __file__, "--memory-of", side]
        found[side] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(f"    {side:24} {found[side]:.3f}")
    return found


def extra_memory(side: str) -> float:
    """Of one side in this process; a small run first loads what has to be loaded."""
    small, large = inputs(2, 4, 32, np.float32), inputs(*MEMORY_SHAPE, np.float32)
    runs: dict[str, Callable[[dict[str, np.ndarray]], Any]] = {
        FRESH: lambda arrays: ours(arrays),
        "ours, in place": lambda arrays: ours(arrays, out=arrays["logits"]),
    }
    run = runs.get(side, lambda arrays: PEERS[side][1](arrays)())
    run(small)
    before = peak_bytes()
    run(large)
    return (peak_bytes() - before) / large["logits"].nbytes


def peak_bytes() -> int:
    """The most memory that this process has ever held; Linux only."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


# ---- picture ---------------------------------------------------------------------------------------


def draw(figures: dict[str, dict[str, list[float]]], path: Path) -> None:
    """How many times longer each side takes, with the range over the rounds."""
    import matplotlib.pyplot as plt
    from matplotlib import ticker

    sides = [side for side in next(iter(figures.values())) if side not in (OURS, COPY)]
    figure, axes = plt.subplots(figsize=(9, 0.9 * len(figures) + 1.5), layout="constrained")
    height = 0.8 / len(sides)
    for index, side in enumerate(sides):
        ratios = [np.divide(seconds[side], seconds[OURS]) for seconds in figures.values()]
        middle = [np.median(ratio) for ratio in ratios]
        reach = [
            [value - ratio.min() for value, ratio in zip(middle, ratios, strict=True)],
            [ratio.max() - value for value, ratio in zip(middle, ratios, strict=True)],
        ]
        places = np.arange(len(figures)) + (index - (len(sides) - 1) / 2) * height
        shade = str(0.25 + 0.6 * index / max(len(sides) - 1, 1))
        axes.barh(places, middle, height, xerr=reach, color=shade, edgecolor="black", label=side)
    axes.axvline(1.0, color="black", linewidth=1.0)
    axes.set_yticks(range(len(figures)), list(figures))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("time / time of policy_loss_from_logits with out given (median, range over rounds)")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    figure.legend(loc="outside upper center", ncols=len(sides), fontsize="small")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
