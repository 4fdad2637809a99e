"""`grpo-ref check`: compare your own loss function with a recipe or with a trainer's objective."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import grpo_ref
from grpo_ref.commands.user_code import imported
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.render.choices import Name

if TYPE_CHECKING:
    from grpo_ref.check.batches import Trial
    from grpo_ref.explain.dialect import Dialect
    from grpo_ref.recipes import Recipe


@click.command(
    "check", epilog="Example:  grpo-ref check my_trainer:loss --dialect trl --set epsilon_high=0.28"
)
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--dialect",
    type=Name("dialect", lambda: DIALECTS),
    metavar="TRAINER",
    help="Compare with this trainer's loss: trl, verl, slime, ...",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A configuration key of the trainer; may be repeated.",
)
@click.option(
    "--recipe",
    type=Name("recipe", lambda: grpo_ref.RECIPES),
    metavar="RECIPE",
    help="Compare with this recipe. Give exactly one of --dialect and --recipe.",
)
@click.option(
    "--framework",
    type=Name("framework", lambda: ("numpy", "torch", "jax")),
    default="numpy",
    show_default=True,
    metavar="[numpy|torch|jax]",
    help="Library of the arrays that the function takes.",
)
@click.option(
    "--batches", type=click.IntRange(min=1), default=200, show_default=True, help="Number of batches to try."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the batches.")
@click.option(
    "--rtol", type=click.FloatRange(min=0), default=1e-6, show_default=True, help="Relative tolerance."
)
@click.option(
    "--max-length",
    type=click.IntRange(min=1),
    help="Generation budget in tokens, for a loss that divides by it.",
)
@click.option(
    "--packed", is_flag=True, help="Pass all completions in one row: (1, L) arrays, with sequence_ids (1, L)."
)
@click.option("--no-nan", is_flag=True, help="Skip batches with NaN in the padding.")
@click.option("--no-empty", is_flag=True, help="Skip batches with an empty completion.")
@click.option("--no-empty-batch", is_flag=True, help="Skip batches without any token.")
@click.option("--float32", is_flag=True, help="Pass arrays in single precision.")
def command(
    function: str,
    dialect: str | None,
    settings: tuple[str, ...],
    recipe: str | None,
    framework: str,
    batches: int,
    seed: int,
    rtol: float,
    max_length: int | None,
    packed: bool,
    no_nan: bool,
    no_empty: bool,
    no_empty_batch: bool,
    float32: bool,
) -> None:
    """Run your FUNCTION and a reference on the same generated batches, and report the first difference.

    MODULE is a module that can be imported from the current folder, or FILE.py. FUNCTION may be Class.method.

    The names of the function's parameters decide which arrays it gets: log_probs, old_log_probs,
    ref_log_probs, rollout_log_probs, teacher_log_probs and mask (N, T), advantages or rewards (N,),
    num_generations. The names that TRL, verl and OpenRLHF use for these work too. With --packed, all arrays
    are one row, and a parameter named completions gets the number of completions.

    The function returns the loss, one loss per token, (loss, metrics), or (loss, gradient). A loss without a
    gradient is differentiated for you. With numpy the gradient is computed by finite differences: a few dozen
    calls per batch.

    The batches have completions of different lengths, empty completions, no token at all, a tool's output
    that the mask excludes, extreme ratios, groups with equal rewards, groups of one, a single group, and
    garbage or NaN in the padding.

    Exit status: 0 if all batches agree, 1 if a batch differs, 2 if nothing could be run.
    """
    from grpo_ref.check.compare import compare  # NumPy, which --help does not need
    from grpo_ref.check.frameworks import LossError

    reference = _reference(dialect, settings, recipe)
    loss = _load(function)
    if max_length is None and dialect is not None and "max_length" in reference.aggregate.reads:
        max_length = _budget(DIALECTS[dialect], settings)
    try:
        result = compare(
            loss,
            reference,
            framework=framework,
            batches=batches,
            seed=seed,
            rtol=rtol,
            max_length=max_length,
            nan_in_padding=not no_nan,
            empty_completions=not no_empty,
            empty_batches=not no_empty_batch,
            dtype="float32" if float32 else "float64",
            packed=packed,
            track=_with_progress,
        )
    except LossError as error:
        raise click.UsageError(f"{function} failed {error}") from error
    except ImportError as error:
        raise click.UsageError(f"{error}; install {framework} to check a function that uses it") from error
    click.echo(str(result))
    raise click.exceptions.Exit(0 if result.agrees else 1)


def _reference(dialect: str | None, settings: tuple[str, ...], recipe: str | None) -> "Recipe":
    """Return the recipe to compare with."""
    if (dialect is None) == (recipe is None):
        raise click.UsageError("name what to compare with: either --dialect or --recipe")
    if recipe is not None:
        if settings:
            raise click.UsageError("--set changes a dialect; it needs --dialect instead of --recipe")
        return grpo_ref.RECIPES[recipe]
    try:
        return DIALECTS[str(dialect)].recipe(**_keys(str(dialect), settings))
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _budget(dialect: "Dialect", settings: tuple[str, ...]) -> int | None:
    """Return the constant that the trainer divides by, and print it; None if it is the padded length."""
    for key, length in dialect.budget(_keys(dialect.name, settings)).items():
        click.echo(f"divided by {key} = {length}", err=True)
        return length
    return None


def _keys(dialect: str, settings: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys of --set, which gives single keys or a file."""
    from grpo_ref.explain.command_line import launched

    keys: dict[str, Any] = launched(settings, dialect)[0][1].keys
    return keys


def _with_progress(batches: list["Trial"]) -> Iterator["Trial"]:
    """Yield the batches and show how many are done."""
    from grpo_ref.render.progress import ProgressBar

    with ProgressBar("checking", "batch", len(batches)) as progress:
        for done, batch in enumerate(batches, start=1):
            yield batch
            progress.show(done, "")


def _load(name: str) -> Any:
    """Import the function to check."""
    loss = imported(name, kind="FUNCTION")
    if not callable(loss):
        raise click.UsageError(f"{name}: expected a function, got {type(loss).__name__}")
    return loss
