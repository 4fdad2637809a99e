"""`grpo-ref experiment`: test claims of the literature, and report the results."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grpo_ref.lab import EXPERIMENTS
from grpo_ref.render.choices import Name
from grpo_ref.render.output import plain_option

if TYPE_CHECKING:
    from grpo_ref.lab.framework.experiment import Experiment

SEEDS, QUICK_SEEDS = 128, 16

names_argument = click.argument(
    "names", nargs=-1, type=Name("experiment", lambda: EXPERIMENTS), metavar="[NAME]..."
)
seeds_option = click.option(
    "--seeds",
    type=click.IntRange(2),
    show_default=str(SEEDS),
    help="Number of independent runs of each variant.",
)
seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Base seed.")
quick_option = click.option(
    "--quick",
    is_flag=True,
    help=f"Run {QUICK_SEEDS} seeds without tuned settings, for a first look; too few for most verdicts.",
)
cache_option = click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/experiments"),
    show_default=True,
    help="Folder of stored results.",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/report"),
    show_default=True,
    help="Folder for the table of all claims (README.md and report.html) and a folder for each claim.",
)

readme_option = click.option(
    "--readme",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File whose summary of the verdicts is updated.",
)
texts_option = click.option(
    "--texts",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    show_default="the folder of --out",
    help="Folder with the hand-written text of each claim, CLAIM/text.md.",
)


def _seeds(seeds: int | None, quick: bool) -> int:
    """Return the requested number of runs."""
    if quick and seeds is not None:
        raise click.UsageError(f"--quick means {QUICK_SEEDS} seeds: give --quick or --seeds, not both")
    return QUICK_SEEDS if quick else seeds or SEEDS


def _selected(names: Collection[str], quick: bool = False) -> "list[Experiment]":
    """Return the named experiments, each once, or all; with quick, without tuned settings."""
    from grpo_ref.lab.sweeping import quicker

    named = [EXPERIMENTS[name] for name in dict.fromkeys(names or EXPERIMENTS)]
    return quicker(named) if quick else named


def _jobs(context: click.Context, option: click.Parameter, jobs: int) -> int:
    """Return the number of processes, or -1 for one per core."""
    if jobs < 1 and jobs != -1:
        raise click.BadParameter(f"expected at least 1, or -1 for one per core, got {jobs}")
    return jobs


@click.group("experiment", epilog="Example:  grpo-ref experiment run clip_higher --quick")
def command() -> None:
    """Test what the literature claims, on toy tasks, over many seeds, with confidence intervals."""


@command.command("list", epilog="Example:  grpo-ref experiment list")
@plain_option
def list_command(plain: bool) -> None:
    """List the experiments with their claims."""
    from grpo_ref.lab.sweeping import print_list

    print_list(EXPERIMENTS.values())


@command.command("predict", epilog="Example:  grpo-ref experiment predict clip_higher --out report")
@names_argument
@out_option
@click.option("--tag", default="", help="Git tag under which you will commit the predictions.")
def predict(names: tuple[str, ...], out: Path, tag: str) -> None:
    """Write down the predictions of the experiments NAME..., or of all, before you run them.

    The folder of each claim gets a file with the claim, the predictions, a date and a hash of these. The
    report states when each result was predicted. Predictions that have not changed keep their date.
    """
    from grpo_ref.lab.sweeping import predict

    predict(_selected(names), out, tag)


@command.command("run", epilog="Example:  grpo-ref experiment run group_mean kl_estimators --seeds 64")
@names_argument
@plain_option
@seeds_option
@seed_option
@quick_option
@cache_option
@click.option(
    "--jobs",
    type=int,
    callback=_jobs,
    default=-1,
    show_default="one per core",
    help="Number of processes on this machine.",
)
@click.option(
    "--backend",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    show_default=True,
    help="Run on this machine or on a Dask cluster.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, as in tcp://127.0.0.1:8786.")
def run(
    names: tuple[str, ...],
    plain: bool,
    seeds: int | None,
    seed: int,
    quick: bool,
    cache: Path,
    jobs: int,
    backend: str,
    scheduler: str | None,
) -> None:
    """Run the experiments NAME..., or all, and print their verdicts.

    Each result is stored immediately, under a hash of code and settings. Finished work is not repeated, and
    an interrupted run continues.
    """
    from grpo_ref.lab.sweeping import run

    if (backend == "dask") != (scheduler is not None):
        raise click.UsageError("--backend dask and --scheduler ADDRESS go together")
    run(
        _selected(names, quick),
        seeds=_seeds(seeds, quick),
        seed=seed,
        cache=cache,
        workers=jobs,
        scheduler=scheduler,
    )


@command.command("report", epilog="Example:  grpo-ref experiment report --out report")
@out_option
@readme_option
@texts_option
@seeds_option
@seed_option
@quick_option
@cache_option
def report(
    out: Path,
    readme: Path | None,
    texts: Path | None,
    seeds: int | None,
    seed: int,
    quick: bool,
    cache: Path,
) -> None:
    """Write one page for each claim, with figures and results, and a table of all claims.

    A page begins with the answer in its hand-written text. If there is no text, or if the text was written
    for other outcomes, the answer follows from the verdicts.
    """
    from grpo_ref.lab.sweeping import report

    experiments = {experiment.name: experiment for experiment in _selected((), quick)}
    report(
        experiments,
        out,
        readme,
        texts=texts or out,
        seeds=_seeds(seeds, quick),
        seed=seed,
        cache=cache,
    )
    click.echo(f"wrote {out / 'README.md'} and {out / 'report.html'}")


@command.command("pages", epilog="Example:  grpo-ref experiment pages --out docs/experiments")
@out_option
@readme_option
@texts_option
def pages(out: Path, readme: Path | None, texts: Path | None) -> None:
    """Write the pages again from the results in the folders of the claims, after you have changed a text."""
    from grpo_ref.lab.sweeping import rewrite

    rewrite(EXPERIMENTS, out, readme, texts=texts or out)
    click.echo(f"wrote {out / 'README.md'} and {out / 'report.html'}")
