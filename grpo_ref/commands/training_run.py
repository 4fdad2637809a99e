"""A training as the command line asks for it: its warnings, its run folder, its progress and its report."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from grpo_ref.arrays import DeviceError, device_namespace, to_device, to_host
from grpo_ref.commands.chosen import TrainingJob, chosen_policy, chosen_recipe, chosen_task, settings_of
from grpo_ref.commands.run_settings import begin_or_find, lengthen
from grpo_ref.commands.training_report import print_report
from grpo_ref.learning.arguments import check_metrics
from grpo_ref.learning.config import config_for
from grpo_ref.learning.idle import coinciding, idle_parts, lacks_contrast
from grpo_ref.learning.policies.memory import check_imitation, check_update
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.pretraining import pretrain
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.runs import History, RunError, RunFolder
from grpo_ref.learning.state import TrainState, Update, initial_state
from grpo_ref.render.output import INTERRUPTED
from grpo_ref.render.progress import ProgressBar
from grpo_ref.render.tables import new_console
from grpo_ref.training import iter_train

SHOWN = 10
DEFAULT_SEEDS = 16
"""Runs of a table if none are asked for; of a network, which takes far longer, it is one."""


@contextmanager
def errors_told() -> Iterator[None]:
    """What goes wrong, in one line and with an exit status."""
    try:
        yield
    except (ValueError, RunError, DeviceError, FloatingPointError) as error:
        raise click.ClickException(str(error)) from error
    except MemoryError as error:
        raise click.ClickException(f"not enough memory: {error}") from error
    except KeyboardInterrupt:
        click.echo("\nstopped; what is done is saved, continue with the same command and --resume", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


def job_of(
    task_name: str,
    task_options: tuple[str, ...],
    recipe_name: str,
    kl_coef: float | None,
    metrics: str | None,
    device: str,
    settings: Mapping[str, Any],
    policy: str | None = None,
    policy_options: tuple[str, ...] = (),
    pretraining: tuple[str, ...] = (),
) -> TrainingJob:
    """The training that the options of the command describe.

    Args:
      task_name, recipe_name: of ours, or MODULE:NAME.
      task_options: each KEY=VALUE.
      kl_coef: in place of the recipe's, if it is given.
      metrics: names with commas between them; None for all.
      device: "cpu" or "gpu".
      settings: fields of `TrainConfig`.
      policy: one of `POLICIES`; None for the one that suits the task.
      policy_options, pretraining: each KEY=VALUE, of the network and of its imitation.

    Raises:
      ValueError: if a name or a setting is not known, or out of range.
    """
    options = settings_of(task_options, "--task-option")
    task, recipe = chosen_task(task_name, options), chosen_recipe(recipe_name)
    if kl_coef is not None and not 0.0 <= kl_coef < math.inf:
        raise ValueError(f"kl_coef: expected a number >= 0, got {kl_coef}")
    begun = chosen_policy(
        task,
        policy,
        settings_of(policy_options, "--policy-option"),
        settings_of(pretraining, "--pretrain"),
    )
    settings = {"seeds": DEFAULT_SEEDS if begun.network is None else 1} | dict(settings)
    return TrainingJob(
        task_name=task_name,
        recipe_name=recipe_name,
        task_options=options,
        task=task,
        recipe=recipe if kl_coef is None else replace(recipe, kl_coef=kl_coef),
        config=config_for(task, begun.kind, **settings),
        metrics=None if metrics is None else check_metrics(task, metrics.split(",")),
        device=device,
        begun=begun,
    )


def name_of(job: TrainingJob) -> str:
    """Of its run folder: task and recipe, and the kind of policy if it is not the one that suits the task."""
    kind = [] if job.begun.kind == job.task.policy else [job.begun.kind]
    return "-".join([job.task_name, job.recipe_name, *kind]).replace(":", ".")


def run(job: TrainingJob, path: Path, *, resume: bool, lengthen_it: bool, save_every: float) -> None:
    """Train into a run folder, with live progress, and print what was learned.

    Args:
      job: what to train.
      path: of the run folder.
      resume: whether a run that is there is continued.
      lengthen_it: whether it may have more updates than it was made with.
      save_every: seconds between saves.
    """
    library = device_namespace(job.device)
    if not save_every >= 0.0:
        raise ValueError(f"save_every: expected a number of seconds >= 0, got {save_every}")
    _check_memory(job)
    _warn(job)
    folder = RunFolder(path)
    begin_or_find(folder, job, resume=resume, lengthen=lengthen_it)
    state, history, policy = _held_and_trained(folder, job, library, save_every)
    print_report(new_console(), job.task, state, history, policy)
    click.echo(f"\nsaved in {folder.path}; draw it with: grpo-ref plot {folder.path}")


def _check_memory(job: TrainingJob) -> None:
    """Raise a MemoryError, before anything is written, if a network's training would not fit the machine."""
    if (network := job.begun.network) is None:
        return
    imitation = job.begun.pretraining
    check_imitation(job.task, network, max(imitation.batch, imitation.checked), imitation.dtype)
    if job.device == "cpu":
        check_update(job.task, network, job.config, imitation.dtype)


def _warn(job: TrainingJob) -> None:
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


def _twins(job: TrainingJob) -> str:
    """The recipes that learn the same under these settings, as the end of a sentence."""
    same = [name for name in coinciding(job.recipe) if name != job.recipe_name]
    return f": {', '.join(same)} with the same KL penalty give the same logits" if same else ""


def _held_and_trained(
    folder: RunFolder, job: TrainingJob, library: Any, save_every: float
) -> tuple[TrainState, History, PolicyKind]:
    """State and metrics after the last update, and what the state means; nobody else writes meanwhile."""
    with folder.held():
        found = folder.load()
        lengthen(folder, job.config.updates)
        policy = _policy(job, None if found is None else found[0])
        state, history = found or (initial_state(job.task, job.config, policy), [])
        if found is None:
            folder.save(state, history)
        there = job._replace(task=to_device(job.task, library))
        return to_host(_trained(folder, there, policy, state, history, save_every)), history, policy


def _policy(job: TrainingJob, state: TrainState | None) -> PolicyKind:
    """What the parameters of the run mean; a network of a new run learns to imitate first."""
    network, config = job.begun.network, job.begun.pretraining
    if network is None:
        return TABLE
    if state is not None:
        return NeuralPolicy(network, state.ref_params)
    title = f"{job.task.name}: {job.begun.kind}, imitation"
    with ProgressBar(title, "step", config.steps) as progress:
        for last in pretrain(job.task, network, config):
            progress.show(last.step, f"loss {last.loss:.3f}  reward {last.reward:.3f}")
    return last.policy


def _trained(
    folder: RunFolder,
    job: TrainingJob,
    policy: PolicyKind,
    state: TrainState,
    history: History,
    save_every: float,
) -> TrainState:
    """Train to the end, adding to the history and saving now and then, a tenth of the time at most."""
    due = time.monotonic() + save_every
    seeds = job.config.seeds
    title = f"{job.task.name}, {seeds} seed{'s' if seeds > 1 else ''}"
    with ProgressBar(title, "update", job.config.updates, start=state.update) as progress:
        try:
            for update in iter_train(
                job.task, job.recipe, job.config, state, metrics=job.metrics, policy=policy
            ):
                history.append(update.metrics)
                state = update.state
                progress.show(state.update, _status(job, policy, update))
                if time.monotonic() >= due:
                    begun = time.monotonic()
                    folder.save(state, history)
                    due = time.monotonic() + max(save_every, 9.0 * (time.monotonic() - begun))
        finally:
            if history:
                folder.save(state, history)
    return state


def _status(job: TrainingJob, policy: PolicyKind, update: Update) -> str:
    """Some metrics, and for a network what it writes, a new prompt every `SHOWN` updates."""
    metrics, state = update
    shown = (name for name in ("reward", "kl", "entropy") if name in metrics)
    told = "  ".join(f"{name} {metrics[name].mean():.3f}" for name in shown)
    if policy is TABLE:
        return told
    try:
        drawn = sample(job.task, state.params[:1], prompts=1, seed=state.update // SHOWN, policy=policy)
    except FloatingPointError:
        return told  # weights that are too large: the next update says so
    text = job.task.render(
        int(drawn.prompts[0, 0]), to_host(drawn.tokens[0, 0, 0]), to_host(drawn.mask[0, 0, 0])
    )
    return f"{told}  {text}"
