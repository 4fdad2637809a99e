"""`grpo-ref train`: train with live progress, into a run folder that survives being killed."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from grpo_ref.arrays import DeviceError, device_namespace, to_device, to_host
from grpo_ref.fast.usual import MEASURES
from grpo_ref.frontends.chosen import Job, chosen_recipe, chosen_task, task_settings
from grpo_ref.frontends.cli import Name
from grpo_ref.frontends.own import NameOrOwn
from grpo_ref.frontends.progress import ProgressBar
from grpo_ref.frontends.run_settings import begin_or_find, lengthen
from grpo_ref.frontends.training_report import print_report
from grpo_ref.learning.arguments import check_metrics
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.idle import coinciding, idle_parts, lacks_contrast
from grpo_ref.learning.optim import OPTIMIZERS
from grpo_ref.learning.runs import History, RunError, RunFolder
from grpo_ref.learning.state import Metrics, TrainState, initial_state
from grpo_ref.learning.tasks import TASKS
from grpo_ref.recipes import RECIPES
from grpo_ref.training import train

HELP = {
    "updates": "Number of sampled batches.",
    "seeds": "Independent runs, trained as one array.",
    "seed": "Base seed of all random numbers.",
    "prompts": "Prompts per batch.",
    "group_size": "Completions per prompt.",
    "temperature": "Of the policy, for sampling and gradient.",
    "epochs": "Passes over each batch.",
    "minibatches": "Parts, by prompts, that each pass is cut into.",
    "optimizer": f"{' or '.join(OPTIMIZERS)}.",
    "learning_rate": "Step size.",
    "max_grad_norm": "Longest gradient of a run.",
    "entropy_coef": "Weight of the entropy bonus.",
    "entropy_target": "Entropy, in nats per token, to which the weight is adapted; 0: it is constant.",
    "entropy_delta": "Step of an adaptive weight.",
    "entropy_max": "Upper bound of an adaptive weight.",
    "refilter_every": "Every so many updates, admit anew the prompts of middling pass rate; 0: never.",
    "pass_low": "Lowest pass rate that is admitted.",
    "pass_high": "Highest pass rate that is admitted.",
    "pass_reward": "A reward above it is a pass.",
    "ref_refresh": "Copy the policy to the reference every so many updates; 0: never.",
    "resamples": "Times that rejected groups are drawn anew (dynamic sampling).",
}
CLI_DEFAULTS = {"seeds": 16}
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""
METRICS_HELP = (
    "Keep only these metrics, as in reward,length. Faster where the fast loop can be taken: for a usual"
    f" recipe and no metrics but {', '.join(MEASURES)} and the task's criteria. Its curves agree with the"
    " others to about 1e-10.  [default: all]"
)


def _config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each field of `TrainConfig`; left out, it is None and the task's setting holds."""
    for item in reversed(fields(TrainConfig)):
        option = f"--{item.name.replace('_', '-')}"
        default = CLI_DEFAULTS.get(item.name, item.default)
        shown = f"{HELP[item.name]}  [default: the task's, else {default}]"
        kind = Name("optimizer", lambda: OPTIMIZERS) if item.name == "optimizer" else type(item.default)
        function = click.option(option, type=kind, default=None, help=shown)(function)
    return function


@click.command("train", epilog="Example:  grpo-ref train arithmetic --recipe dapo --seeds 8 --out runs/mine")
@click.argument(
    "name", type=NameOrOwn("task", lambda: TASKS), required=False, metavar=f"[{'|'.join(TASKS)}|MODULE:NAME]"
)
@click.option(
    "--task",
    "own_task",
    type=NameOrOwn("task", lambda: TASKS),
    metavar="MODULE:NAME",
    help="The task, as an option: a Task of your own, or a function that returns one.",
)
@click.option(
    "--recipe",
    type=NameOrOwn("recipe", lambda: RECIPES),
    default="grpo",
    show_default=True,
    metavar="NAME",
    help="The algorithm, one of `grpo-ref recipes`, or MODULE:NAME for a Recipe of your own.",
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
@click.option("--metrics", help=METRICS_HELP)
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="Where to train; gpu needs CuPy: pip install 'grpo-ref[cuda]'.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Run folder.  [default: runs/TASK-RECIPE]")
@click.option(
    "--resume",
    is_flag=True,
    help="Continue the run in that folder, to the bit as if never stopped; a larger --updates lengthens it.",
)
@click.option("--save-every", type=float, default=2.0, show_default=True, help="Seconds between saves.")
def command(
    name: str | None,
    own_task: str | None,
    recipe: str,
    kl_coef: float | None,
    task_options: tuple[str, ...],
    metrics: str | None,
    device: str,
    out: Path | None,
    resume: bool,
    save_every: float,
    **settings: Any,
) -> None:
    """Train on a task and show what was learned.

    The task is one of ours, or MODULE:NAME: a Task of your own, or a function that returns one, found from
    here. Everything goes to a run folder: config.json, metrics.csv (one row per update and seed) and
    checkpoint.npz. A run that was stopped or killed is continued by the same command with --resume, on either
    device; to the bit only where nothing ran on a GPU.
    """
    with _errors_told():
        library = device_namespace(device)
        job = _job(_one_of(name, own_task), task_options, recipe, kl_coef, metrics, device, settings)
        _warn(job)
        folder = RunFolder(out or Path("runs") / f"{job.task_name}-{job.recipe_name}".replace(":", "."))
        begin_or_find(folder, job, resume=resume, lengthen=settings["updates"] is not None)
        state, history = _held_and_trained(folder, job, library, save_every)
    print_report(Console(), job.task, state, history)
    click.echo(f"\nsaved in {folder.path}; draw it with: grpo-ref plot {folder.path}")


@contextmanager
def _errors_told() -> Iterator[None]:
    """What goes wrong, in one line and with an exit status."""
    try:
        yield
    except (ValueError, RunError, DeviceError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        click.echo("\nstopped; what is done is saved, continue with the same command and --resume", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def _one_of(name: str | None, option: str | None) -> str:
    if (name is None) == (option is None):
        raise click.UsageError(f"name one task: {', '.join(TASKS)} or MODULE:NAME")
    return str(name or option)


def _job(
    task_name: str,
    task_options: tuple[str, ...],
    recipe_name: str,
    kl_coef: float | None,
    metrics: str | None,
    device: str,
    settings: Mapping[str, Any],
) -> Job:
    """The training that the options describe."""
    options = task_settings(task_options)
    task, recipe = chosen_task(task_name, options), chosen_recipe(recipe_name)
    given = {name: value for name, value in settings.items() if value is not None}
    return Job(
        task_name=task_name,
        recipe_name=recipe_name,
        task_options=options,
        task=task,
        recipe=recipe if kl_coef is None else replace(recipe, kl_coef=kl_coef),
        config=config_for(task, **CLI_DEFAULTS | given),
        metrics=None if metrics is None else check_metrics(task, metrics.split(",")),
        device=device,
    )


def _warn(job: Job) -> None:
    """What the curves would not say: parts of the recipe that do nothing under these settings."""
    if lacks_contrast(job.task, job.recipe, job.config):
        click.echo(
            f"warning: every advantage is 0: {job.recipe_name} compares within a group, and a group of one"
            " has no contrast; take --group-size 2 or more",
            err=True,
        )
    if parts := idle_parts(job.recipe, job.config):
        click.echo(
            "note: with one optimizer step per batch every ratio is 1, and there the"
            f" {' and '.join(parts)} of {job.recipe_name} cannot be told from grpo's{_twins(job)};"
            " --epochs 2 or more tells them apart",
            err=True,
        )


def _twins(job: Job) -> str:
    """The recipes that learn the same under these settings, as the end of a sentence."""
    same = [name for name in coinciding(job.recipe) if name != job.recipe_name]
    return f": {', '.join(same)} with the same KL penalty give the same logits" if same else ""


def _held_and_trained(
    folder: RunFolder, job: Job, library: Any, save_every: float
) -> tuple[TrainState, History]:
    """The state and the metrics after the last update; no other process writes the folder meanwhile."""
    with folder.held():
        found = folder.load()
        lengthen(folder, job.config.updates)
        state, history = found or (initial_state(job.task, job.config), [])
        if found is None:
            folder.save(state, history)
        there = job._replace(task=to_device(job.task, library))
        return to_host(_trained(folder, there, state, history, save_every)), history


def _trained(
    folder: RunFolder, job: Job, state: TrainState, history: History, save_every: float
) -> TrainState:
    """Train to the end, adding to the history and saving now and then, a tenth of the time at most."""
    due = time.monotonic() + save_every
    title = f"{job.task.name}, {job.config.seeds} seeds"
    with ProgressBar(title, "update", job.config.updates, start=state.update) as progress:
        try:
            for update in train(job.task, job.recipe, job.config, state, metrics=job.metrics):
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
    shown = (name for name in ("reward", "kl", "entropy") if name in metrics)
    return "  ".join(f"{name} {metrics[name].mean():.3f}" for name in shown)
