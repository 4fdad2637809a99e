"""`grpo-ref train`: train with live progress, and save so that a killed run can be resumed."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

import grpo_ref
from grpo_ref.commands.user_code import NameOrOwn
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import OF_COMPLETIONS
from grpo_ref.learning.optim import OPTIMIZERS
from grpo_ref.learning.policies import POLICIES
from grpo_ref.render.choices import Name
from grpo_ref.render.output import plain_option
from grpo_ref.tasks import TASKS

HELP = {
    "updates": "Number of sampled batches.",
    "seeds": "Number of independent runs, trained side by side. Small policies save time by this. Networks"
    " of the default size take as long as one run after another.",
    "seed": "Base seed of all random numbers.",
    "prompts": "Prompts per batch.",
    "group_size": "Completions per prompt.",
    "temperature": "Temperature of the policy, for sampling and gradient.",
    "epochs": "Passes over each batch.",
    "minibatches": "Number of minibatches per pass; each has whole groups.",
    "optimizer": f"{' or '.join(OPTIMIZERS)}.",
    "learning_rate": "Step size.",
    "max_grad_norm": "Maximum norm of a run's gradient; longer gradients are scaled down.",
    "entropy_coef": "Weight of the entropy bonus.",
    "entropy_target": "Target entropy in nats per token, to which the weight is adapted; 0: constant weight.",
    "entropy_delta": "Step of an adaptive weight.",
    "entropy_max": "Upper bound of an adaptive weight.",
    "refilter_every": "Select the prompts of medium pass rate again after this many updates; 0: never.",
    "pass_low": "Lowest pass rate of a selected prompt.",
    "pass_high": "Highest pass rate of a selected prompt.",
    "pass_reward": "A completion passes if its reward is above this number.",
    "ref_refresh": "Copy the policy to the reference after this many updates; 0: never.",
    "resamples": "How often to resample rejected groups (dynamic sampling).",
}
SHOWN_DEFAULTS = {"seeds": "16, or 1 for a network"}
METRICS_HELP = (
    "Keep only these metrics, as in reward,length. With a common recipe and no metrics other than"
    f" {', '.join(OF_COMPLETIONS)} and the task's criteria, a faster loop is used. Its curves agree with"
    " those of the plain loop to about 1e-10.  [default: all]"
)


def _config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each field of `TrainConfig`. A missing option is None: the task's setting is used."""
    for item in reversed(fields(TrainConfig)):
        option = f"--{item.name.replace('_', '-')}"
        default = SHOWN_DEFAULTS.get(item.name, item.default)
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
    help="The task, as an option: your own Task, or a function that returns one.",
)
@click.option(
    "--recipe",
    type=NameOrOwn("recipe", lambda: grpo_ref.RECIPES),
    default="grpo",
    show_default=True,
    metavar="NAME",
    help="The algorithm: a name from `grpo-ref recipes`, or MODULE:NAME for your own Recipe.",
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
@click.option(
    "--policy",
    type=Name("policy", lambda: POLICIES),
    metavar="NAME",
    help=f"Policy to train: {', '.join(POLICIES)}.  [default: the task's, else table]",
)
@click.option(
    "--policy-option",
    "policy_options",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the network, as in width=128; may be repeated.",
)
@click.option(
    "--pretrain",
    "pretraining",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the imitation before training, as in steps=200; networks only; may be repeated.",
)
@_config_options
@click.option("--metrics", help=METRICS_HELP)
@click.option(
    "--device",
    type=click.Choice(["cpu", "gpu"]),
    default="cpu",
    show_default=True,
    help="Device to train on; gpu needs CuPy: pip install 'grpo-ref[cuda]'.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Run folder.  [default: runs/TASK-RECIPE]")
@click.option(
    "--resume",
    is_flag=True,
    help="Continue the run in the folder, as if it had not stopped. A larger --updates extends it.",
)
@click.option("--save-every", type=float, default=2.0, show_default=True, help="Seconds between saves.")
@plain_option
def command(
    name: str | None,
    own_task: str | None,
    recipe: str,
    kl_coef: float | None,
    task_options: tuple[str, ...],
    policy: str | None,
    policy_options: tuple[str, ...],
    pretraining: tuple[str, ...],
    metrics: str | None,
    device: str,
    out: Path | None,
    resume: bool,
    save_every: float,
    plain: bool,
    **settings: Any,
) -> None:
    """Train on a task, and print metrics and completions before and after.

    The task is one of the names above, or MODULE:NAME for your own: a Task, or a function that returns one,
    importable from the current folder.

    The run folder gets config.json, metrics.csv (one row per update and seed) and checkpoint.npz. To continue
    a run that was stopped or killed, repeat the command with --resume, on either device. On the CPU, the
    result is the same to the bit as without a stop.
    """
    from grpo_ref.commands.training_run import job_of, name_of, reported_errors, run

    given = {field: value for field, value in settings.items() if value is not None}
    with reported_errors():
        job = job_of(
            _task_name(name, own_task),
            task_options,
            recipe,
            kl_coef,
            metrics,
            device,
            given,
            policy,
            policy_options,
            pretraining,
        )
        path = out or Path("runs") / name_of(job)
        longer = settings["updates"] is not None
        run(job, path, resume=resume, lengthen_it=longer, save_every=save_every)


def _task_name(name: str | None, option: str | None) -> str:
    """Return the task's name, which is given either as an argument or as an option."""
    if (name is None) == (option is None):
        raise click.UsageError(f"name one task: {', '.join(TASKS)} or MODULE:NAME")
    return str(name or option)
