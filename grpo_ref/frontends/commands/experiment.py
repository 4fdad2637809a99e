"""`grpo-ref experiment`: test the claims of the literature, and write down what the tests show."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from grpo_ref import plots
from grpo_ref.experiments import EXPERIMENTS
from grpo_ref.experiments.framework.cache import Cache
from grpo_ref.experiments.framework.experiment import Experiment
from grpo_ref.experiments.framework.summary import Summary, save, summary
from grpo_ref.experiments.framework.sweep import collected, jobs_of, sweep
from grpo_ref.experiments.framework.verdicts import ClaimResult
from grpo_ref.files import replace_text
from grpo_ref.frontends.cli import Name
from grpo_ref.frontends.experiment_report import (
    effect,
    html_page,
    in_readme,
    markdown_page,
    verdict_table,
)
from grpo_ref.frontends.progress import ProgressBar

SEEDS, QUICK_SEEDS = 128, 16
INTERRUPTED = 130
STYLES = {"supported": "green", "opposite": "red", "depends": "yellow", "not supported": "magenta"}

names_argument = click.argument(
    "names", nargs=-1, type=Name("experiment", lambda: EXPERIMENTS), metavar="[NAME]..."
)
seeds_option = click.option(
    "--seeds", type=click.IntRange(2), show_default=str(SEEDS), help="Independent runs of each arm."
)
seed_option = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Base seed.")
quick_option = click.option(
    "--quick", is_flag=True, help=f"{QUICK_SEEDS} seeds: a first look, too few for some verdicts."
)
cache_option = click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/experiments"),
    show_default=True,
    help="Folder of stored results.",
)


def _seeds(seeds: int | None, quick: bool) -> int:
    """How many runs were asked for."""
    if quick and seeds is not None:
        raise click.UsageError(f"--quick means {QUICK_SEEDS} seeds: give --quick or --seeds, not both")
    return QUICK_SEEDS if quick else seeds or SEEDS


def _jobs(context: click.Context, option: click.Parameter, jobs: int) -> int:
    """A number of processes, or -1 for one a core."""
    if jobs < 1 and jobs != -1:
        raise click.BadParameter(f"expected at least 1, or -1 for one per core, got {jobs}")
    return jobs


@click.group("experiment", epilog="Example:  grpo-ref experiment run clip_higher --quick")
def command() -> None:
    """Test what the literature claims, on toy tasks, over many seeds, with confidence intervals."""


@command.command("list", epilog="Example:  grpo-ref experiment list")
def list_command() -> None:
    """List the experiments with their claims."""
    table = Table(box=None, pad_edge=False)
    for heading in ("experiment", "group", "claim"):
        table.add_column(heading, no_wrap=heading != "claim")
    for experiment in EXPERIMENTS.values():
        table.add_row(experiment.name, experiment.group, experiment.claim)
    Console().print(table)


@command.command("run", epilog="Example:  grpo-ref experiment run group_mean kl_estimators --seeds 64")
@names_argument
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
    help="Processes on this machine.",
)
@click.option(
    "--backend",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    show_default=True,
    help="Where the work is done.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, as in tcp://127.0.0.1:8786.")
def run(
    names: tuple[str, ...],
    seeds: int | None,
    seed: int,
    quick: bool,
    cache: Path,
    jobs: int,
    backend: str,
    scheduler: str | None,
) -> None:
    """Run the experiments NAMEs, or all, and print their verdicts.

    Every result is stored at once, under a hash of code and settings: what was done before is not done again,
    and an interrupted run continues.
    """
    if (backend == "dask") != (scheduler is not None):
        raise click.UsageError("--backend dask and --scheduler ADDRESS go together")
    chosen = [EXPERIMENTS[name] for name in dict.fromkeys(names or EXPERIMENTS)]
    seeds, store = _seeds(seeds, quick), Cache(cache)
    work = [job for experiment in chosen for job in jobs_of(experiment, seeds=seeds, seed=seed)]
    try:
        with ProgressBar(f"{_counted(len(chosen))}, {seeds} seeds", "part", len(work)) as progress:
            for done, job in enumerate(sweep(work, store, workers=jobs, scheduler=scheduler), start=1):
                progress.show(done, job.experiment)
    except KeyboardInterrupt:
        click.echo("\nstopped; what is done is stored, continue with the same command", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except ImportError as error:
        raise click.ClickException(f"{error}; it comes with: pip install 'grpo-ref[sweep]'") from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    for experiment in chosen:
        _print(experiment, collected(experiment, store, seeds=seeds, seed=seed))


def _counted(number: int) -> str:
    return f"{number} experiment{'s' * (number != 1)}"


def _print(experiment: Experiment, result: ClaimResult) -> None:
    console = Console(highlight=False)
    seeds = result.findings[0].estimate.seeds
    verdict = f"[{STYLES[result.verdict]}]{result.verdict}[/]"
    console.print(f"[bold]{experiment.name}[/]  {verdict}  ({seeds} seeds)")
    console.print(f"  {experiment.claim}", markup=False, soft_wrap=True)
    for prediction, estimate, outcome in result.findings:
        numbers = f"{prediction.measure} {effect(estimate.mean, estimate.low, estimate.high)}"
        console.print(f"    {outcome:9}  {prediction.says}: {numbers}", markup=False, soft_wrap=True)


@command.command("report", epilog="Example:  grpo-ref experiment report --out report")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs/report"),
    show_default=True,
    help="Folder for the page (README.md and report.html), results.json and the figures.",
)
@click.option(
    "--readme",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File whose table to renew.",
)
@seeds_option
@seed_option
@quick_option
@cache_option
def report(out: Path, readme: Path | None, seeds: int | None, seed: int, quick: bool, cache: Path) -> None:
    """Write one page with all claims, verdicts, effect sizes and figures, from the stored results."""
    seeds = _seeds(seeds, quick)
    results = _stored(EXPERIMENTS.values(), Cache(cache), seeds, seed)
    try:
        if readme is not None:
            in_readme(readme.read_text(encoding="utf-8"), "")  # raises now if the file has no place for it
        _write(out, readme, results, summary(EXPERIMENTS, results, seeds=seeds, seed=seed))
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"wrote {out / 'README.md'} and {out / 'report.html'}")


def _write(out: Path, readme: Path | None, results: Mapping[str, ClaimResult], found: Summary) -> None:
    """Figures, results.json, the page in both forms, and the table in a README."""
    out.mkdir(parents=True, exist_ok=True)
    with ProgressBar("figures", "figure", len(results)) as progress:
        for done, (name, result) in enumerate(results.items(), start=1):
            plots.plot_experiment(EXPERIMENTS[name], result, out / f"{name}.png")
            progress.show(done, name)
    save(out / "results.json", found)
    page = markdown_page(EXPERIMENTS, found)
    replace_text(out / "README.md", page)
    replace_text(out / "report.html", html_page(page, out))
    if readme is not None:
        link = Path(os.path.relpath(out, readme.parent)) / "README.md"
        table = verdict_table(EXPERIMENTS, found, page=link.as_posix())
        replace_text(readme, in_readme(readme.read_text(encoding="utf-8"), table))


def _stored(experiments: Iterable[Experiment], cache: Cache, seeds: int, seed: int) -> dict[str, ClaimResult]:
    """The results that are there; those that are not are named."""
    results, missing = {}, []
    for experiment in experiments:
        try:
            results[experiment.name] = collected(experiment, cache, seeds=seeds, seed=seed)
        except ValueError:
            missing.append(experiment.name)
    if missing:
        others = "others are reported with --seeds, --quick and --seed"
        print(f"not run yet with {seeds} seeds from {seed} ({others}): {', '.join(missing)}", file=sys.stderr)
    if not results:
        raise click.ClickException("nothing to report; first: grpo-ref experiment run")
    return results
