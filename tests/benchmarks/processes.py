"""Whole commands, as a user meets them: fresh processes, with imports and compilation, until they have ended.

First the training of `training.py`, 300 updates, by us and by the peers that are installed (extra `bench`),
each in a process of its own, warm. Then commands of the project, warm and cold. Warm is a command after
another: all modules are compiled already. Cold is the first one after an installation that has compiled
nothing: each module, of Python and of every package, is compiled from its source, because compiled files are
looked for and written in an empty folder (PYTHONPYCACHEPREFIX).
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import heading, interleaved, machine, spread, versions
from startup import program, python
from training import CASES
from training_peers import PEERS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PRELUDE = """
from grpo_ref import GRPO, TASKS, iter_train
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.learning.config import TrainConfig
task = TASKS["arithmetic"](largest=3)
config = TrainConfig(
    updates={updates}, seeds={seeds}, epochs={epochs}, prompts=16, group_size=8, learning_rate=0.3
)
"""
OURS = "train_many, float32"
SIDES = {
    OURS: "for update in train_many(task, GRPO, config, dtype='float32'): pass",
    "train": "for update in iter_train(task, GRPO, config): pass",
}
COMPILED = "grpo_ref, compiled"
LOOPS = "for update in train_many(task, GRPO, config, dtype='float32', compiled=True): pass"
CHOSEN = ("PyTorch, 1 thread", "JAX inverse CDF")
"""The faster form of each library on a busy machine; `training.py` has them all."""
PEER = "from training_peers import PEERS; PEERS[{peer!r}][1](task, config)()"
NEW = "a new path"
"""Stands for a run folder or a cache that is not there yet."""
LOSS = """import numpy as np

def loss(log_probs, old_log_probs, advantages, mask):
    ratio = np.exp(np.where(mask > 0, log_probs - old_log_probs, 0.0))
    gain = np.minimum(ratio * advantages[:, None], np.clip(ratio, 0.8, 1.2) * advantages[:, None])
    return -np.where(mask > 0, gain, 0.0).sum() / (len(mask) * 1024)
"""
DR_GRPO = ("loss_type=dr_grpo", "scale_rewards=none", "max_completion_length=1024")
COMMANDS = {
    "train bandit": ("train", "bandit", "--out", NEW),
    "train arithmetic": ("train", "arithmetic", "--out", NEW),
    "train names": ("train", "names", "--out", NEW),
    "train names, 1 seed, reward": ("train", "names", "--seeds", "1", "--metrics", "reward", "--out", NEW),
    "experiment run group_mean": ("experiment", "run", "group_mean", "--cache", NEW),
    "grade kl/k3": ("grade", "kl/k3", "--folder", "exercises"),
    "grade": ("grade", "--folder", "exercises"),
    "explain trl beta=0.04": ("explain", "trl", "beta=0.04"),
    "check loss.py:loss": (
        "check",
        "loss.py:loss",
        "--dialect",
        "trl",
        *(word for key in DR_GRPO for word in ("--set", key)),
    ),
}
TRAINING, WARM, COLD, IMPORTS = "training", "warm", "cold", "imports"
Figures = dict[str, dict[str, list[float]]]
"""Case -> side -> seconds of each round."""


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help=f"{TRAINING!r}, or a part of a command's name")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    heading("whole commands: median seconds [minimum, maximum]")
    print(f"  load average before the start {os.getloadavg()[0]:.1f}: near 0 on an idle machine")
    figures: dict[str, Any] = {"machine": machine() | versions(PEERS)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.only in ("", TRAINING):
            figures["training"] = measure_training(folder, arguments.updates, arguments.rounds)
        if arguments.only != TRAINING:
            figures["commands"] = measure_commands(folder, arguments.only, arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures) + "\n")


def run(command: list[str], folder: Path, compiled: Path, **more: str) -> str:
    """One process, to its end, with its compiled modules there; what it says of errors."""
    settings = os.environ | {"PYTHONPYCACHEPREFIX": str(compiled), "PYTHONDONTWRITEBYTECODE": ""} | more
    return subprocess.run(
        command, check=True, cwd=folder, env=settings, capture_output=True, text=True
    ).stderr


def import_seconds(command: list[str], folder: Path, compiled: Path) -> float:
    """How long a process and those that it starts spend on imports, as Python itself counts."""
    said = run(command, folder, compiled, PYTHONPROFILEIMPORTTIME="1")
    return sum(int(spent) for spent in re.findall(r"^import time: +(\d+) \|", said, re.MULTILINE)) / 1e6


# ---- training --------------------------------------------------------------------------------------


def measure_training(folder: Path, updates: int, rounds: int) -> Figures:
    """Each side of each case in processes of its own, and its time relative to ours of the same round."""
    print("  " + ", ".join(f"{name} {version}" for name, version in versions(PEERS).items()))
    peers = [name for name in CHOSEN if importlib.util.find_spec(PEERS[name][0])]
    loops = {COMPILED: LOOPS} if importlib.util.find_spec("numba") else {}
    bodies = SIDES | loops | {peer: PEER.format(peer=peer) for peer in peers}
    for body in bodies.values():  # so that all modules are compiled
        run(trainer(1, 1, 1, body), HERE, folder / "compiled")
    figures: Figures = {}
    for name, (seeds, epochs) in CASES.items():
        actions = {
            side: partial(run, trainer(updates, seeds, epochs, body), HERE, folder / "compiled")
            for side, body in bodies.items()
        }
        seconds = figures[name] = interleaved(actions, rounds)
        print(f"\n  {name}: seconds for {updates} updates, time relative to ours")
        for side, values in seconds.items():
            ratios = [theirs / ours for theirs, ours in zip(values, seconds[OURS], strict=True)]
            print(f"    {side:20} {spread(values, 2):22} {spread(ratios, 2):22}")
    return figures


def trainer(updates: int, seeds: int, epochs: int, body: str) -> list[str]:
    """A process that trains."""
    return python(PRELUDE.format(updates=updates, seeds=seeds, epochs=epochs) + body)


# ---- commands --------------------------------------------------------------------------------------


def measure_commands(folder: Path, only: str, rounds: int) -> Figures:
    """Each command, warm and cold, and how much of the warm one is imports."""
    shutil.copytree(ROOT / "solutions", folder / "exercises")
    (folder / "loss.py").write_text(LOSS, encoding="utf-8")
    figures: Figures = {}
    print(f"\n  {'command':28} {WARM:22} {COLD:22} {IMPORTS}")
    for name, words in COMMANDS.items():
        if only in name:
            seconds = figures[name] = timed(words, folder, rounds)
            imports = statistics.median(seconds[IMPORTS])
            print(f"  {name:28} {spread(seconds[WARM]):22} {spread(seconds[COLD]):22} {imports:.3f}")
    return figures


def timed(words: tuple[str, ...], folder: Path, rounds: int) -> dict[str, list[float]]:
    """A command, which writes to a new path each time, with its modules compiled and without."""

    def new() -> Path:
        return Path(tempfile.mkdtemp(dir=folder), "new")

    def command() -> list[str]:
        return program(*(str(new()) if word is NEW else word for word in words))

    kept = new()
    run(command(), folder, kept)
    actions: dict[str, Callable[[], Any]] = {
        WARM: lambda: run(command(), folder, kept),
        COLD: lambda: run(command(), folder, new()),
    }
    imports = [import_seconds(command(), folder, kept) for _ in range(rounds)]
    return interleaved(actions, rounds) | {IMPORTS: imports}


if __name__ == "__main__":
    main()
