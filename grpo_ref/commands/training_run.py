"""Train as the command line asks: print warnings, progress and a report, and write the run folder."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from grpo_ref.arrays import DeviceError, device_namespace, to_device, to_host
from grpo_ref.commands.lookups import TrainingJob, chosen_policy, chosen_recipe, chosen_task, settings_of
from grpo_ref.commands.run_settings import create_or_match, lengthen
from grpo_ref.commands.training_report import print_report
from grpo_ref.fast.transformer import fast_network
from grpo_ref.learning.arguments import check_metrics
from grpo_ref.learning.config import config_for
from grpo_ref.learning.inactive_parts import coinciding, idle_parts, lacks_contrast
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
"""Default number of runs of a table. A network takes far longer, so its default is one run."""


@contextmanager
def reported_errors() -> Iterator[None]:
    """Report errors in one line and with an exit status, instead of a traceback."""
    try:
        yield
    except (ValueError, RunError, DeviceError, FloatingPointError) as error:
        raise click.ClickException(str(error)) from error
    except MemoryError as error:
        raise click.ClickException(f"not enough memory: {error}") from error
    except KeyboardInterrupt:
        click.echo("\nstopped and saved; to continue, repeat the command with --resume", err=True)
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
    """Return the training run that the options of the command describe.

    Args:
      task_name, recipe_name: names of the library, or MODULE:NAME.
      task_options: settings of the task, KEY=VALUE each.
      kl_coef: weight that replaces the recipe's, or None.
      metrics: names separated by commas, or None for all.
      device: "cpu" or "gpu".
      settings: fields of `TrainConfig`.
      policy: one of `POLICIES`, or None for the task's own.
      policy_options, pretraining: settings of the network and of its imitation, KEY=VALUE each.

    Raises:
      ValueError: if a name or a setting is unknown, a value is out of range, or the recipe needs a
        teacher.
    """
    options = settings_of(task_options, "--task-option")
    task, recipe = chosen_task(task_name, options), chosen_recipe(recipe_name)
    if recipe.needs_teacher:
        raise ValueError(
            f"recipe: {recipe_name} distills from a teacher, which the command line does not have; train it"
            " in Python with iter_train(..., teacher=...)"
        )
    if kl_coef is not None and not 0.0 <= kl_coef < math.inf:
        raise ValueError(f"kl_coef: expected a number >= 0, got {kl_coef}")
    initial = chosen_policy(
        task,
        policy,
        settings_of(policy_options, "--policy-option"),
        settings_of(pretraining, "--pretrain"),
    )
    settings = {"seeds": DEFAULT_SEEDS if initial.network is None else 1} | dict(settings)
    return TrainingJob(
        task_name=task_name,
        recipe_name=recipe_name,
        task_options=options,
        task=task,
        recipe=recipe if kl_coef is None else replace(recipe, kl_coef=kl_coef),
        config=config_for(task, initial.kind, **settings),
        metrics=None if metrics is None else check_metrics(task, metrics.split(",")),
        device=device,
        initial=initial,
    )


def name_of(job: TrainingJob) -> str:
    """Return the name of the run folder: task, recipe, and the policy's kind if it is not the task's own."""
    kind = [] if job.initial.kind == job.task.policy else [job.initial.kind]
    return "-".join([job.task_name, job.recipe_name, *kind]).replace(":", ".")


def run(job: TrainingJob, path: Path, *, resume: bool, lengthen_it: bool, save_every: float) -> None:
    """Train into a run folder with live progress, and print a report.

    Args:
      job: training run.
      path: path of the run folder.
      resume: if true, continue the run in the folder.
      lengthen_it: if true, the run may have more updates now than when it was created.
      save_every: seconds between saves.
    """
    library = device_namespace(job.device)
    if not save_every >= 0.0:
        raise ValueError(f"save_every: expected a number of seconds >= 0, got {save_every}")
    _check_memory(job)
    _warn_of_idle_parts(job)
    folder = RunFolder(path)
    create_or_match(folder, job, resume=resume, lengthen=lengthen_it)
    state, history, policy = _train_locked(folder, job, library, save_every)
    print_report(new_console(), job.task, state, history, policy)
    click.echo(f"\nsaved in {folder.path}; draw it with: grpo-ref plot {folder.path}")


def _check_memory(job: TrainingJob) -> None:
    """Raise a MemoryError, before anything is written, if training a network needs too much memory."""
    if (network := job.initial.network) is None:
        return
    imitation = job.initial.pretraining
    check_imitation(job.task, network, max(imitation.batch, imitation.checked), imitation.dtype)
    if job.device == "cpu":
        check_update(job.task, network, job.config, imitation.dtype)


def _warn_of_idle_parts(job: TrainingJob) -> None:
    """Print a warning for each part of the recipe that has no effect under these settings."""
    if lacks_contrast(job.task, job.recipe, job.config):
        click.echo(
            f"warning: every advantage is 0, because {job.recipe_name} compares the completions of a group,"
            " and each group has one completion; use --group-size 2 or more",
            err=True,
        )
    if parts := idle_parts(job.recipe, job.config):
        click.echo(
            "note: with one optimizer step per batch, every ratio is 1. Then the"
            f" {' and '.join(parts)} of {job.recipe_name} cannot be distinguished from grpo's"
            f"{_same_recipes(job)}. Use --epochs 2 or more to see a difference.",
            err=True,
        )


def _same_recipes(job: TrainingJob) -> str:
    """List the recipes that give the same logits under these settings, as the end of a sentence."""
    same = [name for name in coinciding(job.recipe) if name != job.recipe_name]
    return f"; with the same KL penalty, {', '.join(same)} give the same logits" if same else ""


def _train_locked(
    folder: RunFolder, job: TrainingJob, library: Any, save_every: float
) -> tuple[TrainState, History, PolicyKind]:
    """Train with the folder locked; return the last state, all metrics and the policy's kind."""
    with folder.held():
        stored = folder.load()
        lengthen(folder, job.config.updates)
        policy = _policy(job, None if stored is None else stored[0])
        state, history = stored or (initial_state(job.task, job.config, policy), [])
        if stored is None:
            folder.save(state, history)
        on_device = job._replace(task=to_device(job.task, library))
        return (
            to_host(_train_and_save(folder, on_device, policy, state, history, save_every)),
            history,
            policy,
        )


def _policy(job: TrainingJob, state: TrainState | None) -> PolicyKind:
    """Return the kind of policy of the run; in a new run, a network first learns to imitate."""
    network, config = job.initial.network, job.initial.pretraining
    if network is None:
        return TABLE
    if state is not None:
        return NeuralPolicy(network, state.ref_params)
    title = f"{job.task.name}: {job.initial.kind}, imitation"
    with ProgressBar(title, "step", config.steps) as progress:
        for last in pretrain(job.task, fast_network(network), config):
            progress.show(last.step, f"loss {last.loss:.3f}  reward {last.reward:.3f}")
    return NeuralPolicy(network, last.policy.weights)


def _train_and_save(
    folder: RunFolder,
    job: TrainingJob,
    policy: PolicyKind,
    state: TrainState,
    history: History,
    save_every: float,
) -> TrainState:
    """Train to the end, append to the history, and save now and then, for at most a tenth of the time."""
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
                    started = time.monotonic()
                    folder.save(state, history)
                    due = time.monotonic() + max(save_every, 9.0 * (time.monotonic() - started))
        finally:
            if history:
                folder.save(state, history)
    return state


def _status(job: TrainingJob, policy: PolicyKind, update: Update) -> str:
    """Return some metrics as text, and for a network a completion, of a new prompt every `SHOWN` updates."""
    metrics, state = update
    shown = (name for name in ("reward", "kl", "entropy") if name in metrics)
    text = "  ".join(f"{name} {metrics[name].mean():.3f}" for name in shown)
    if policy is TABLE:
        return text
    try:
        batch = sample(job.task, state.params[:1], prompts=1, seed=state.update // SHOWN, policy=policy)
    except FloatingPointError:
        return text  # the weights have become too large; the next update raises the error
    completion = job.task.render(
        int(batch.prompts[0, 0]), to_host(batch.tokens[0, 0, 0]), to_host(batch.mask[0, 0, 0])
    )
    return f"{text}  {completion}"
