"""List experiments, run them with live progress, and write the page about them, for the command line."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import click
from rich.table import Table

from grpo_ref.files import replace_text
from grpo_ref.lab.claim_page import DIFFERENCES, FEW, PANELS, figure_of
from grpo_ref.lab.claim_results import Results, policies_in, results_of, save
from grpo_ref.lab.claim_text import FILE as TEXT
from grpo_ref.lab.claim_text import read_texts
from grpo_ref.lab.framework.cache import Cache
from grpo_ref.lab.framework.claim import Claim, claim_name, claims_of
from grpo_ref.lab.framework.experiment import Experiment
from grpo_ref.lab.framework.predictions import FILE, write_predictions
from grpo_ref.lab.framework.summary import effect
from grpo_ref.lab.framework.sweep import at_middle, collected, jobs_of, sweep_all, tuning_jobs
from grpo_ref.lab.framework.verdicts import ClaimResult, verdict_text
from grpo_ref.lab.report import html_page, in_readme, index_page, read_report, short_summary
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


def predict(experiments: Sequence[Experiment], out: Path, tag: str) -> None:
    """Write down what the experiments predict, and print which predictions are new.

    Args:
      experiments: the experiments.
      out: folder with a folder for each claim.
      tag: Git tag under which the predictions will be committed, or "".
    """
    today = date.today()
    for experiment in experiments:
        is_new = write_predictions(experiment, out, today, tag)
        path = out / claim_name(experiment) / FILE
        click.echo(f"{path}, {experiment.policy}: {'written' if is_new else 'unchanged'}")


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
    texts: Path,
    seeds: int,
    seed: int,
    cache: Path,
) -> None:
    """Write the results and figures of each claim into its folder, and then all pages.

    Claims that were reported before into the same folder stay in the table of all claims.

    Args:
      experiments: name -> experiment.
      out: folder with a folder for each claim.
      readme: file whose summary is updated, or None.
      texts: folder with a folder for each claim, in which its hand-written text is.
      seeds: number of independent runs of each arm in the stored results.
      seed: base seed of the stored results.
      cache: folder of the stored results.

    Raises:
      click.ClickException: if nothing is stored, a text is invalid, or the README has no marks.
    """
    results = _stored(experiments.values(), Cache(cache), seeds, seed)
    try:
        if readme is not None:
            in_readme(
                readme.read_text(encoding="utf-8"), ""
            )  # raise before anything is written if the marks are missing
        claims = claims_of({name: experiments[name] for name in results})
        read_texts(claims, texts)  # and if a text is invalid
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    with ProgressBar("figures", "figure", len(results)) as progress:
        done = 0
        for name, claim in claims.items():
            stored = results_of(claim, results, seeds=seeds, seed=seed, predictions=out)
            for experiment in _write_claim(claim, stored, results, out / name):
                done += 1
                progress.show(done, experiment.name)
    rewrite(experiments, out, readme, texts=texts)


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


def _write_claim(
    claim: Claim, stored: Results, results: Mapping[str, ClaimResult], folder: Path
) -> Iterator[Experiment]:
    """Write the figures and the results of a claim, and yield each experiment after its figures."""
    from grpo_ref.lab.figures import plot_differences, plot_panels  # matplotlib takes half a second

    folder.mkdir(parents=True, exist_ok=True)
    policies, drawn = policies_in(stored), set[str]()
    for policy in policies:
        experiment = claim.experiments[policy]
        stem, differences = (figure_of(policy, policies, files) for files in (PANELS, DIFFERENCES))
        stored[policy]["figures"] = plot_panels(experiment, results[experiment.name], folder, stem)
        counted = "tasks" if experiment.family else "seeds"
        plot_differences(stored[policy]["findings"], counted, folder / differences)
        drawn |= {differences, *(figure["file"] for figure in stored[policy]["figures"])}
        yield experiment
    for path in folder.iterdir():
        if path.suffix in (".svg", ".png") and path.name not in drawn:
            path.unlink()  # a panel of an earlier report
    save(folder, stored)


def rewrite(experiments: Mapping[str, Experiment], out: Path, readme: Path | None, *, texts: Path) -> None:
    """Write all pages again from the results in their folders, after a text has changed.

    Args:
      experiments: name -> experiment. Those without results in the folder have no page.
      out: folder with a folder for each claim.
      readme: file whose summary is updated, or None.
      texts: folder with a folder for each claim, in which its hand-written text is.

    Raises:
      click.ClickException: if there are no results, or a text is invalid, or the README has no marks.
    """
    try:
        report = read_report(experiments, out, texts)
        if not report.claims:
            raise ValueError(f"{out} has no results; write them with: grpo-ref experiment report")
        pages = {out / name / "README.md": report.page(name) for name in report.claims}
        pages[out / "README.md"] = index_page(report)
        if readme is not None:
            link = Path(os.path.relpath(out, readme.parent)) / "README.md"
            summary = short_summary(report, link.as_posix())
            pages[readme] = in_readme(readme.read_text(encoding="utf-8"), summary)
        for path, page in pages.items():
            replace_text(path, page)
        replace_text(out / "report.html", html_page(report, out))
        for name, outcomes in report.unwritten().items() if report.texts else ():
            text = "; ".join(f"{policy}: [{', '.join(each)}]" for policy, each in outcomes.items())
            click.echo(f"{texts / name / TEXT} is to be written for other outcomes: {text}", err=True)
    except ValueError as error:
        raise click.ClickException(str(error)) from error


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
