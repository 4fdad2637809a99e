"""Measure the CPU seconds of commands in fresh interpreters: warm, and as a first run.

The CPU seconds include all processes that the command starts. They change less than the time on the clock
when others use the machine. On a quiet machine a user waits about as long, or less where two processes run
side by side. Warm: the command has run before. First run: the packages are not compiled, as `uv` leaves them.
Python's own modules are compiled, those of grpo_ref, NumPy and other packages are not.

A target is a number of bare interpreters, because a busy or slow machine slows both: 0.15 s is ten times
15 ms.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from measure import heading, interleaved, spread

from grpo_ref.course.layout import file_of

ROUNDS = 9
ROOT = Path(__file__).parents[2]
SOLVED = "kl/k3"
"""The exercise that is graded, with its model answer."""
STEPS = 1_000
LAUNCH, LOG = "run.sh", "log.jsonl"
OVERRIDES = """python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo algorithm.use_kl_in_reward=False algorithm.kl_ctrl.kl_coef=0.001 \\
    data.train_files=train.parquet data.val_files=test.parquet data.train_batch_size=1024 \\
    data.max_prompt_length=512 data.max_response_length=1024 data.filter_overlong_prompts=True \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.model.use_remove_padding=True \\
    actor_rollout_ref.actor.optim.lr=1e-6 actor_rollout_ref.actor.ppo_mini_batch_size=256 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=16 actor_rollout_ref.actor.use_kl_loss=True \\
    actor_rollout_ref.actor.kl_loss_coef=0.001 actor_rollout_ref.actor.kl_loss_type=low_var_kl \\
    actor_rollout_ref.actor.entropy_coeff=0 actor_rollout_ref.actor.loss_agg_mode=token-mean \\
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=8 \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\
    trainer.critic_warmup=0 trainer.n_gpus_per_node=8 trainer.nnodes=1 trainer.total_epochs=15
"""


class Action(NamedTuple):
    """A command, and how many bare interpreters it may take at most; None: no target."""

    command: list[str]
    target: float | None = None


def interpreters(seconds: float) -> float:
    """Return how many bare interpreters of 15 ms take these seconds."""
    return seconds / 0.015


def python(code: str) -> list[str]:
    """A fresh interpreter that runs some code."""
    return [sys.executable, "-c", code]


def program(*arguments: str) -> list[str]:
    """The command line, as its installed script runs it."""
    return [*python("from grpo_ref.cli import main; main()"), *arguments]


BARE = "bare python"
ACTIONS = {
    BARE: Action(python("pass")),
    "import numpy": Action(python("import numpy")),
    "import grpo_ref": Action(python("import grpo_ref"), 5),
    "grpo-ref --help": Action(program("--help"), 5),
    "grpo-ref plot --help": Action(program("plot", "--help"), 5),
    "grpo-ref list": Action(program("list"), interpreters(0.15)),
    "grpo-ref hint": Action(program("hint", SOLVED, "--steps", "1"), interpreters(0.15)),
    "grpo-ref recipes": Action(program("recipes"), interpreters(0.15)),
    "grpo-ref explain FILE": Action(program("explain", LAUNCH), interpreters(0.5)),
    "grpo-ref grade ONE": Action(program("grade", SOLVED), interpreters(0.35)),
    "grpo-ref diagnose LOG": Action(program("diagnose", LOG), interpreters(1.0)),
}


def main() -> None:
    """Time each action in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="", help="a part of a command's name")
    options = parser.parse_args()
    heading("start-up: median CPU seconds [minimum, maximum], warm and as a first run")
    print(f"  load average before the start {os.getloadavg()[0]:.1f}")
    chosen = {name: action for name, action in ACTIONS.items() if options.only in name or name == BARE}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        compiled = folder / "compiled"
        for action in chosen.values():
            run(action.command, folder, compiled)
        warm = interleaved(
            {name: partial(run, action.command, folder, compiled) for name, action in chosen.items()},
            options.rounds,
            clock=children_cpu,
        )
        first = {name: first_runs(action, folder, compiled) for name, action in chosen.items()}
    print(f"  {'':22} {'warm':22} {'bare':>5}  {'first run':22} {'bare':>5}  target (twice for a first run)")
    for name, action in chosen.items():
        print(row(action, name, warm, first[name]))


def children_cpu() -> float:
    """CPU seconds of all processes that this one has started and that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def run(command: list[str], folder: Path, compiled: Path) -> None:
    """One process, to its end, with its compiled modules in a folder."""
    settings = os.environ | {"PYTHONPYCACHEPREFIX": str(compiled), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        command, cwd=folder, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    if done.returncode not in (0, 1):  # diagnose ends with 1 where it has found something
        raise SystemExit(done.stderr.decode())


def first_runs(action: Action, folder: Path, compiled: Path) -> list[float]:
    """CPU seconds of three runs with only Python's own modules compiled."""
    seconds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as name:
            python_only = Path(name, "compiled")
            shutil.copytree(
                compiled, python_only, ignore=lambda path, names: list(filter(others(path), names))
            )
            begun = children_cpu()
            run(action.command, folder, python_only)
            seconds.append(children_cpu() - begun)
    return seconds


def others(path: str):
    """A filter of the files in a folder of compiled modules that are not Python's own."""
    inside = "site-packages" in path or path.endswith(str(ROOT))
    return lambda name: inside or name == "site-packages"


def prepare(folder: Path) -> None:
    """Write exercises, one of them solved, a launch file of verl and a log of TRL."""
    for arguments in (("init", "exercises"), ("solution", SOLVED, "--yes")):
        done = subprocess.run(program(*arguments), check=True, cwd=folder, capture_output=True, text=True)
    (folder / "exercises" / file_of(SOLVED)).write_text(done.stdout, encoding="utf-8")
    (folder / LAUNCH).write_text(OVERRIDES, encoding="utf-8")
    sys.path.append(str(ROOT / "tests"))
    import numpy as np
    from simulated_logs import TOKEN_MEAN, logged

    rng = np.random.default_rng(0)
    rows = [{"step": step + 1, **logged(rng, TOKEN_MEAN)[0]} for step in range(STEPS)]
    (folder / LOG).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")


def row(action: Action, name: str, warm: dict[str, list[float]], first: list[float]) -> str:
    """The time of one action, warm and as a first run, and whether they are within their target."""
    bare = statistics.median(warm[BARE])
    ratios = [statistics.median(seconds) / bare for seconds in (warm[name], first)]
    verdict = ""
    if action.target:
        limits = action.target, 2 * action.target
        warm_is, first_is = (
            "reached" if ratio <= limit else "missed" for ratio, limit in zip(ratios, limits, strict=True)
        )
        verdict = f"{action.target:3.0f}: {warm_is}, first run {first_is}"
    columns = f"{spread(warm[name]):22} {ratios[0]:5.1f}  {spread(first):22} {ratios[1]:5.1f}"
    return f"  {name:22} {columns}  {verdict}".rstrip()


if __name__ == "__main__":
    main()
