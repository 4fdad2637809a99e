"""`grpo-ref train`: train with live progress, into a run folder that survives being killed."""

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
SHOWN_DEFAULTS = {"seeds": "16, of a network 1"}
METRICS_HELP = (
    "Keep only these metrics, as in reward,length. Faster where the fast loop can be taken: for a usual"
    f" recipe and no metrics but {', '.join(OF_COMPLETIONS)} and the task's criteria. Its curves agree"
    " with the others to about 1e-10.  [default: all]"
)


def _config_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each field of `TrainConfig`; left out, it is None and the task's setting holds."""
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
    help="The task, as an option: a Task of your own, or a function that returns one.",
)
@click.option(
    "--recipe",
    type=NameOrOwn("recipe", lambda: grpo_ref.RECIPES),
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
@click.option(
    "--policy",
    type=Name("policy", lambda: POLICIES),
    metavar="NAME",
    help=f"What is trained: {', '.join(POLICIES)}.  [default: the task's, else table]",
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
    help="A setting of the imitation with which a network begins, as in steps=200; may be repeated.",
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
    """Train on a task and show what was learned.

    The task is one of ours, or MODULE:NAME: a Task of your own, or a function that returns one, found from
    here. Everything goes to a run folder: config.json, metrics.csv (one row per update and seed) and
    checkpoint.npz. A run that was stopped or killed is continued by the same command with --resume, on either
    device; to the bit only where nothing ran on a GPU.
    """
    from grpo_ref.commands.training_run import errors_told, job_of, name_of, run

    given = {field: value for field, value in settings.items() if value is not None}
    with errors_told():
        job = job_of(
            _one_of(name, own_task),
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


def _one_of(name: str | None, option: str | None) -> str:
    if (name is None) == (option is None):
        raise click.UsageError(f"name one task: {', '.join(TASKS)} or MODULE:NAME")
    return str(name or option)
