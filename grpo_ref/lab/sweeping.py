"""List experiments, run them with live progress, and write the page about them, for the command line."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

import click
from rich.table import Table

from grpo_ref.files import replace_text
from grpo_ref.lab.framework.cache import Cache
from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.predictions import FOLDER, write_predictions
from grpo_ref.lab.framework.summary import Summary, effect, save, summary
from grpo_ref.lab.framework.sweep import at_middle, collected, jobs_of, sweep_all, tuning_jobs
from grpo_ref.lab.framework.verdicts import ClaimResult, verdict_text
from grpo_ref.lab.report import (
    html_page,
    in_readme,
    markdown_page,
    verdict_table,
)
from grpo_ref.render.output import INTERRUPTED
from grpo_ref.render.progress import ProgressBar
from grpo_ref.render.tables import new_console, print_table

STYLES = {
    "supported": "green",
    "negligible": "cyan",
    "opposite": "red",
    "undecided": "magenta",
    "mixed": "yellow",
}
FEW = 8
"""Number of tasks, or of seeds if there is one task, below which no verdict is given."""


def print_list(experiments: Iterable[Experiment]) -> None:
    """Print the experiments with their claims."""
    table = Table(box=None, pad_edge=False)
    for heading in ("experiment", "group", "claim"):
        table.add_column(heading, no_wrap=heading != "claim")
    for experiment in experiments:
        table.add_row(experiment.name, experiment.group, experiment.claim)
    print_table(new_console(), table)


def quicker(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the experiments without tuned settings, for a first look."""
    return [at_middle(one) for one in experiments]


def predict(experiments: Sequence[Experiment], out: Path) -> None:
    """Write down what the experiments predict, and print which files are new.

    Args:
      experiments: the claims.
      out: folder of the page, which contains the folder of the predictions.
    """
    folder, today = out / FOLDER, date.today()
    for experiment in experiments:
        new = write_predictions(experiment, folder, today)
        click.echo(f"{folder / experiment.name}.json: {'written' if new else 'unchanged'}")


def run(
    experiments: Sequence[Experiment],
    *,
    seeds: int,
    seed: int,
    cache: Path,
    workers: int,
    scheduler: str | None,
) -> None:
    """Run the experiments with live progress and print their verdicts.

    Args:
      experiments: experiments, in the order of the output.
      seeds: number of independent runs of each arm.
      seed: base seed.
      cache: folder of the stored results.
      workers: number of processes on this machine; -1 for one per core.
      scheduler: address of a Dask scheduler that runs the jobs, or None.

    Raises:
      click.ClickException: if a package is not installed, or a setting is refused.
      click.exceptions.Exit: after Ctrl-C.
    """
    store = Cache(cache)
    # Arms may share jobs, and a grid may be widened: the bar's total is adjusted while it runs.
    tuning = {(job.experiment, job.key) for one in experiments for job in tuning_jobs(one, seed=seed)}
    parts = len(tuning) + sum(len(jobs_of(one, seeds=seeds)) for one in experiments)
    work = sweep_all(experiments, store, seeds=seeds, seed=seed, workers=workers, scheduler=scheduler)
    try:
        with ProgressBar(f"{_counted(len(experiments))}, {seeds} seeds", "part", parts) as progress:
            for done, job in enumerate(work, start=1):
                progress.show(done, job.experiment)
    except KeyboardInterrupt:
        click.echo("\nstopped; finished work is stored, repeat the command to continue", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except ImportError as error:
        raise click.ClickException(f"{error}; install it with: pip install 'grpo-ref[sweep]'") from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    for experiment in experiments:
        _print(experiment, collected(experiment, store, seeds=seeds, seed=seed))


def report(
    experiments: Mapping[str, Experiment],
    out: Path,
    readme: Path | None,
    *,
    seeds: int,
    seed: int,
    cache: Path,
) -> None:
    """Write the page with all claims, its figures and the table in a README, from the stored results.

    Args:
      experiments: name -> experiment.
      out: folder for the page.
      readme: file whose table is updated, or None.
      seeds: number of independent runs of each arm in the stored results.
      seed: base seed of the stored results.
      cache: folder of the stored results.

    Raises:
      click.ClickException: if nothing is stored, or the README has no marks for the table.
    """
    results = _stored(experiments.values(), Cache(cache), seeds, seed)
    try:
        if readme is not None:
            in_readme(
                readme.read_text(encoding="utf-8"), ""
            )  # raise before anything is written if the marks are missing
        stored = summary(experiments, results, seeds=seeds, seed=seed, predictions=out / FOLDER)
        _write(experiments, out, readme, results, stored)
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def _counted(number: int) -> str:
    return f"{number} experiment{'s' * (number != 1)}"


def _print(experiment: Experiment, result: ClaimResult) -> None:
    console = new_console(highlight=False)
    counted, pairs = "tasks" if experiment.family else "seeds", result.findings[0].estimate.pairs
    parts = [clause.verdict for clause in result.clauses] or result.deciding
    text = verdict_text(result.verdict, parts)
    verdict = f"too few {counted} to judge" if pairs < FEW else f"[{STYLES[result.verdict]}]{text}[/]"
    console.print(f"[bold]{experiment.name}[/]  {verdict}  ({pairs} {counted})")
    console.print(f"  {experiment.claim}", markup=False, soft_wrap=True)
    if pairs >= FEW:
        for clause in result.clauses:
            console.print(f"    {clause.verdict:10}  {clause.text}", markup=False, soft_wrap=True)
    for finding in result.findings:
        prediction, estimate = finding.prediction, finding.estimate
        numbers = f"{prediction.measure} {effect(estimate.mean, estimate.low, estimate.high)}"
        shown = finding.outcome if pairs >= FEW else ""
        console.print(f"    {shown:10}  {prediction.says}: {numbers}", markup=False, soft_wrap=True)


def _write(
    experiments: Mapping[str, Experiment],
    out: Path,
    readme: Path | None,
    results: Mapping[str, ClaimResult],
    stored: Summary,
) -> None:
    """Write figures, results.json, the page as Markdown and HTML, and the table in a README."""
    from grpo_ref.lab.figures import plot_differences, plot_experiment  # matplotlib takes half a second

    out.mkdir(parents=True, exist_ok=True)
    with ProgressBar("figures", "figure", len(results)) as progress:
        for done, (name, result) in enumerate(results.items(), start=1):
            plot_experiment(experiments[name], result, out / f"{name}.png")
            counted = "tasks" if experiments[name].family else "seeds"
            plot_differences(stored["experiments"][name]["findings"], counted, out / f"{name}.svg")
            progress.show(done, name)
    save(out / "results.json", stored)
    page = markdown_page(experiments, stored)
    replace_text(out / "README.md", page)
    replace_text(out / "report.html", html_page(page, out))
    if readme is not None:
        link = Path(os.path.relpath(out, readme.parent)) / "README.md"
        table = verdict_table(experiments, stored, page=link.as_posix())
        replace_text(readme, in_readme(readme.read_text(encoding="utf-8"), table))


def _stored(experiments: Iterable[Experiment], cache: Cache, seeds: int, seed: int) -> dict[str, ClaimResult]:
    """Return the stored results, and print the names of experiments without results."""
    results, missing = {}, []
    for experiment in experiments:
        try:
            results[experiment.name] = collected(experiment, cache, seeds=seeds, seed=seed)
        except ValueError:
            missing.append(experiment.name)
    if missing:
        others = "use --seeds, --quick and --seed to report other runs"
        print(f"not run yet with {seeds} seeds from {seed} ({others}): {', '.join(missing)}", file=sys.stderr)
    if not results:
        raise click.ClickException("nothing to report; run this first: grpo-ref experiment run")
    return results
