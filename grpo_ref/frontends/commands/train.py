"""`grpo-ref train`: train with live progress, into a run folder that survives being killed."""

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from inspect import signature
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from grpo_ref.arrays import DeviceError, device_namespace, to_device, to_host
from grpo_ref.frontends.cli import Name, suggestion
from grpo_ref.frontends.progress import ProgressBar
from grpo_ref.frontends.training_report import print_report
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.optim import OPTIMIZERS
from grpo_ref.learning.runs import History, RunError, RunFolder
from grpo_ref.learning.state import Metrics, TrainState, initial_state
from grpo_ref.learning.tasks import TASKS
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import RECIPES, Recipe
from grpo_ref.training import train

HELP = {
    "updates": "Number of sampled batches.",
    "seeds": "Independent runs, trained as one array.",
    "seed": "Base seed of all random numbers.",
    "prompts": "Prompts a batch.",
    "group_size": "Completions a prompt.",
    "temperature": "Of the policy, for sampling and gradient.",
    "epochs": "Passes over each batch.",
    "minibatches": "Parts, by prompts, that each pass is cut into.",
    "optimizer": f"{' or '.join(OPTIMIZERS)}.",
    "learning_rate": "Step size.",
    "max_grad_norm": "Longest gradient of a run.",
    "entropy_coef": "Weight of the entropy bonus.",
    "entropy_target": "Entropy, in nats a token, to which the weight is adapted; 0: it is constant.",
    "entropy_delta": "Step of an adaptive weight.",
    "entropy_max": "Upper bound of an adaptive weight.",
    "refilter_every": "Admit anew every so many updates the prompts of middling pass rate; 0: never.",
    "pass_low": "Lowest pass rate that is admitted.",
    "pass_high": "Highest pass rate that is admitted.",
    "pass_reward": "A reward above it is a pass.",
    "ref_refresh": "Copy the policy to the reference every so many updates; 0: never.",
    "resamples": "Times that rejected groups are drawn anew (dynamic sampling).",
}
CLI_DEFAULTS = {"seeds": 16}
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def _config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each field of `TrainConfig`; left out, it is None and the task's setting holds."""
    for item in reversed(fields(TrainConfig)):
        option = f"--{item.name.replace('_', '-')}"
        default = CLI_DEFAULTS.get(item.name, item.default)
        shown = f"{HELP[item.name]}  [default: the task's, else {default}]"
        kind = Name("optimizer", OPTIMIZERS) if item.name == "optimizer" else type(item.default)
        function = click.option(option, type=kind, default=None, help=shown)(function)
    return function


@click.command("train", epilog="Example:  grpo-ref train arithmetic --recipe dapo --seeds 8 --out runs/mine")
@click.argument("task", type=Name("task", TASKS), metavar=f"[{'|'.join(TASKS)}]")
@click.option(
    "--recipe", type=Name("recipe", RECIPES), default="grpo", show_default=True, help="The algorithm."
)
@click.option("--kl-coef", type=float, help="Weight of the KL penalty.  [default: the recipe's]")
@click.option(
    "--task-option",
    "-o",
    "task_options",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the task, as in goal=alternates; may be repeated.",
)
@_config_options
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="Where to train; gpu needs CuPy: pip install 'grpo-ref[cuda]'.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Run folder.  [default: runs/TASK-RECIPE]")
@click.option(
    "--resume", is_flag=True, help="Continue the run in that folder, to the bit as if never stopped."
)
@click.option("--save-every", type=float, default=2.0, show_default=True, help="Seconds between saves.")
def command(
    task: str,
    recipe: str,
    kl_coef: float | None,
    task_options: tuple[str, ...],
    device: str,
    out: Path | None,
    resume: bool,
    save_every: float,
    **settings: Any,
) -> None:
    """Train on a task and show what was learned.

    Everything goes to a run folder: config.json, metrics.csv (one row an update and seed) and checkpoint.npz.
    A run that was stopped or killed is continued by the same command with --resume, on either device; to the
    bit only where nothing ran on a GPU.
    """
    try:
        library = device_namespace(device)
        chosen = _task(task, task_options)
        algorithm = RECIPES[recipe] if kl_coef is None else replace(RECIPES[recipe], kl_coef=kl_coef)
        config = config_for(chosen, **CLI_DEFAULTS | {k: v for k, v in settings.items() if v is not None})
        described = _described(task, task_options, recipe, algorithm, config)
        described |= {"device": device} if device != "cpu" else {}
        folder = RunFolder(Path("runs") / f"{task}-{recipe}" if out is None else out)
        _open(folder, described, resume)
        with folder.held():
            state, history = folder.load() or (initial_state(chosen, config), [])
            there = to_device(chosen, library)
            state = to_host(_run(folder, there, algorithm, config, state, history, save_every))
    except (ValueError, RunError, DeviceError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("\nstopped; what is done is saved, continue with the same command and --resume", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    print_report(Console(), chosen, state, history)
    click.echo(f"\nsaved in {folder.path}; draw it with: grpo-ref plot {folder.path}")


def _task(name: str, options: tuple[str, ...]) -> Task:
    """The task with its settings; numbers are read as numbers."""
    settings = dict(_key_value(option) for option in options)
    defaults = {parameter.name: parameter.default for parameter in signature(TASKS[name]).parameters.values()}
    for key, value in settings.items():
        if key not in defaults:
            raise ValueError(f"--task-option: {name} has no setting {key!r}. {suggestion(key, defaults)}")
        if not isinstance(value, type(defaults[key]) | int):
            expected = type(defaults[key]).__name__
            raise ValueError(f"--task-option {key}: expected a value of type {expected}, got {value!r}")
    return TASKS[name](**settings)


def _key_value(option: str) -> tuple[str, Any]:
    key, equals, value = option.partition("=")
    if not equals:
        raise ValueError(f"--task-option: expected KEY=VALUE, got {option!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _described(
    task: str, task_options: tuple[str, ...], recipe: str, algorithm: Recipe, config: TrainConfig
) -> dict[str, Any]:
    """What the run's config.json says; JSON has no infinity, so a missing limit is null."""
    settings = {name: None if value == math.inf else value for name, value in asdict(config).items()}
    parts = algorithm.parts()
    return {
        "task": task,
        "task_options": dict(_key_value(option) for option in task_options),
        "recipe": recipe,
        "parts": parts,
        "train": settings,
    }


def _open(folder: RunFolder, described: Mapping[str, Any], resume: bool) -> None:
    """Begin a new run, or see that the one that is there is the same, whichever device it was on."""
    if folder.is_new() or not resume:
        folder.create(described)
        if resume:
            click.echo(f"{folder.path} holds no run to continue: this one is new", err=True)
        return
    stored, asked = ({**config, "device": "any"} for config in (folder.config(), described))
    if different := _differences(stored, asked):
        raise RunError(f"{folder.path} holds another run: {'; '.join(different)}")


def _differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Every setting that is not the same, with both values."""
    told = []
    for name in dict.fromkeys([*stored, *asked]):
        theirs, ours = stored.get(name), asked.get(name)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            told += _differences(theirs, ours)
        elif ours != theirs:
            told.append(f"{name} is {theirs!r} there and {ours!r} here")
    return told


def _run(
    folder: RunFolder,
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState,
    history: History,
    save_every: float,
) -> TrainState:
    """Train to the end, adding to the history and saving now and then, a tenth of the time at most."""
    due = time.monotonic() + save_every
    title = f"{task.name}, {config.seeds} seeds"
    with ProgressBar(title, "update", config.updates, start=state.update) as progress:
        try:
            for update in train(task, recipe, config, state):
                history.append(update.metrics)
                state = update.state
                progress.show(state.update, _status(update.metrics))
                if time.monotonic() >= due:
                    begun = time.monotonic()
                    folder.save(state, history)
                    due = time.monotonic() + max(save_every, 9.0 * (time.monotonic() - begun))
        finally:
            if history:
                folder.save(state, history)
    return state


def _status(metrics: Metrics) -> str:
    return "  ".join(f"{name} {metrics[name].mean():.3f}" for name in ("reward", "kl", "entropy"))
