"""What a transformer learns, task by task and recipe by recipe: python docs/neural_curves.py [TASK ...]

Every seed draws its own first weights and its own imitation; all recipes begin with those. The curves go to
docs/neural/TASK.json as they come, one entry a run, so that a run that was stopped goes on where it was; then
docs/neural/TASK.png is drawn, and the table of docs/neural.md printed.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from grpo_ref import RECIPES, TASKS, Recipe, config_for, iter_train
from grpo_ref.files import replace_text
from grpo_ref.learning.held_out import GREEDY, has_held_out, held_out_rates
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.pretraining import pretrain, pretrain_config_for
from grpo_ref.learning.task import Task
from grpo_ref.plots.style import COLOURS, LINES, figure_style, new_figure

PLACE = Path(__file__).parent / "neural"
ALGORITHMS = {name: RECIPES[name] for name in ("grpo", "dr_grpo", "dapo", "gspo", "cispo")}
UNPUNISHED = {"dapo, any length": replace(RECIPES["dapo"], reward=RECIPES["grpo"].reward)}
"""A right sum fills the budget of tokens, so DAPO's overlong punishment takes all that it earns."""
MINIBATCHES = 2
"""Steps on each batch: with one, the clipping rules do the same."""
BLOCK = 5
"""Updates that a point of the picture is the mean of."""
Run = dict[str, Any]


def main() -> None:
    """Train what is missing, draw, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=["names", "sums", "sorting", "liked_names"])
    parser.add_argument("--seeds", type=int, default=8)
    arguments = parser.parse_args()
    PLACE.mkdir(exist_ok=True)
    for name in arguments.tasks:
        runs = trained(name, arguments.seeds)
        draw(name, runs)
        print_table(name, runs)


def trained(name: str, seeds: int) -> list[Run]:
    """All runs on a task, those of earlier calls as they were."""
    path = PLACE / f"{name}.json"
    runs: list[Run] = json.loads(path.read_text()) if path.is_file() else []
    done = {(run["recipe"], run["seed"]) for run in runs}
    recipes = recipes_on(name)
    missing = [run for run in product(recipes, range(seeds)) if run not in done]
    for recipe, seed in track(missing, name):
        policy, begun = imitating(name, seed)
        run = (
            {"recipe": recipe, "seed": seed} | begun | rewarded(TASKS[name](), policy, recipes[recipe], seed)
        )
        runs.append(run)
        replace_text(path, json.dumps(runs) + "\n")
    return runs


def recipes_on(name: str) -> dict[str, Recipe]:
    """What is compared on a task."""
    return ALGORITHMS | UNPUNISHED if name == "sums" else ALGORITHMS


@cache
def imitating(name: str, seed: int) -> tuple[NeuralPolicy, Run]:
    """A policy that has learned to speak, and how long it took."""
    task = TASKS[name]()
    network = network_for(task, "transformer")
    begun = time.perf_counter()
    *_, last = pretrain(task, network, pretrain_config_for(task, seed=seed))
    return last.policy, {"imitation steps": last.step, "imitation seconds": time.perf_counter() - begun}


def rewarded(task: Task, policy: NeuralPolicy, recipe: Recipe, seed: int) -> Run:
    """The curve of the reward, and what is known on held-out prompts before and after."""
    config = config_for(task, "transformer", seed=seed, minibatches=MINIBATCHES)
    begun = time.perf_counter()
    curves: dict[str, list[float]] = {name: [] for name in ("reward", *watched(task))}
    for update in iter_train(task, recipe, config, policy=policy, metrics=tuple(curves)):
        for name, curve in curves.items():
            curve.append(round(float(update.metrics[name][0]), 4))
    found: Run = {"seconds": time.perf_counter() - begun, **curves}
    if has_held_out(task):
        ends = {"before": policy.weights[None], "after": update.state.params}
        for way, temperature in {"sampled": 1.0, "greedy": GREEDY}.items():
            for end, params in ends.items():
                rates = held_out_rates(task, params, policy, prompts=2000, temperature=temperature)
                found[f"held out, {way}, {end}"] = float(rates[0, 0])
    return found


def watched(task: Task) -> tuple[str, ...]:
    """The criteria that nobody is paid for."""
    return tuple(name for name, weight in zip(task.criteria, task.weights, strict=True) if weight == 0.0)


def draw(name: str, runs: list[Run]) -> None:
    """Means of each recipe over the seeds: of the reward, and of what is watched beside it."""
    shown = [of for of in ("reward", *watched(TASKS[name]())) if of in runs[0]]
    with figure_style():
        figure = new_figure(7.0, 3.6 if len(shown) == 1 else 3.2)
        for axes, of in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True):
            for recipe, colour, dash in zip(recipes_on(name), COLOURS, LINES, strict=False):
                curves = np.array([run[of] for run in runs if run["recipe"] == recipe])
                curves = curves.reshape(len(curves), -1, BLOCK).mean(-1)
                low, high = interval(curves)
                updates = BLOCK * (np.arange(curves.shape[-1]) + 0.5)
                axes.fill_between(updates, low, high, color=colour, alpha=0.2, linewidth=0)
                axes.plot(updates, curves.mean(0), color=colour, linestyle=dash, label=recipe)
            axes.set(xlabel="update", ylabel=f"{of}, mean of {BLOCK} batches")
        axes.legend()
        figure.suptitle(title_of(name, runs))
        figure.savefig(PLACE / f"{name}.png", dpi=150)


def title_of(name: str, runs: list[Run]) -> str:
    """The task and how many seeds."""
    return (
        f"{name}: a transformer trained by GRPO and others,"
        f" {len({run['seed'] for run in runs})} seeds, 95 % intervals"
    )


def interval(curves: np.ndarray) -> np.ndarray:
    """(2, ...) the bootstrap's interval of 95 % of the mean over the first axis."""
    chosen = np.random.default_rng(0).integers(len(curves), size=(1000, len(curves)))
    ends: np.ndarray = np.quantile(curves[chosen].mean(1), (0.025, 0.975), axis=0)
    return ends


def print_table(name: str, runs: list[Run]) -> None:
    """For each recipe the mean of every number over the seeds, with its interval."""
    print(f"\n{name}")
    for recipe in recipes_on(name):
        print(f"  {recipe:18}" + "  ".join(told(runs, recipe)))


def told(runs: list[Run], recipe: str) -> Iterator[str]:
    """Each number in words."""
    ours = [run | last_of(run) for run in runs if run["recipe"] == recipe]
    for what in ours[0]:
        if isinstance(ours[0][what], float):
            values = np.array([run[what] for run in ours])
            low, high = interval(values)
            yield f"{what} {values.mean():.3f} [{low:.3f}, {high:.3f}]"


def last_of(run: Run) -> Run:
    """Where the curves end: means over the last ten updates."""
    return {f"last {of}": float(np.mean(run[of][-10:])) for of in run if isinstance(run[of], list)}


if __name__ == "__main__":
    main()
