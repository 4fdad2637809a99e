"""Implement `grpo-ref explain`: which objective does this configuration really optimize?"""

import json
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.render.choices import Name
from grpo_ref.render.output import columns, is_plain, plain_option

if TYPE_CHECKING:
    from grpo_ref.explain import Dialect
    from grpo_ref.explain.explanation import Piece, Report
    from grpo_ref.explain.launch import Launch

WIDTH, UNBROKEN = 100, 10_000
SENTENCE, EQUATION = " " * 13, " " * 15

HELP = f"""Say in words and equations what a trainer's configuration optimizes, and warn of traps.

CONFIG is a file as it was launched, or - for standard input: a shell script, YAML, JSON, TOML, a Python
script or a notebook with GRPOConfig(...), or what the trainer logged. It may be a launch line, too, or flags
(--beta 0.04) and overrides (actor.clip_ratio=0.2), alone or behind a file that they change. Nothing is run.

The trainer is found from the content; or put its name first: {", ".join([*DIALECTS][:-1])} or
{[*DIALECTS][-1]}. Two configurations are compared, difference by difference.

Exit status 2 if it cannot be read, if a key looks like a typo in one that matters, or if the trainer would
refuse it. A file that another version may have run is explained with a caution, unless --strict is given.
"""


@click.command(
    "explain",
    help=HELP,
    epilog="Example:  grpo-ref explain train.sh   grpo-ref explain trl loss_type=dr_grpo beta=0.04",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("config", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--trainer", type=Name("dialect", lambda: DIALECTS), help="The trainer, if it cannot be detected."
)
@click.option("--version", "version", default="", help="The trainer's version, such as 0.14.0 for TRL.")
@click.option("--diff", nargs=2, metavar="OLD NEW", help="What changes for this file between two versions.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "latex"]),
    default="text",
    help="The format of the output. The default is text.",
)
@click.option("--all", "everything", is_flag=True, help="List unknown keys and keys without effect, too.")
@click.option(
    "--trace", "is_traced", is_flag=True, help="Print the result of each stage: read, detect, version, ..."
)
@click.option("--strict", is_flag=True, help="Exit with status 1 if there is a warning, for a check in CI.")
@click.option("--skip-unknown", is_flag=True, help="Ignore keys that look like typos.")
@plain_option
def command(
    config: tuple[str, ...],
    trainer: str | None,
    version: str,
    diff: tuple[str, str] | None,
    form: str,
    everything: bool,
    is_traced: bool,
    strict: bool,
    skip_unknown: bool,
    plain: bool,
) -> None:
    """Print the objective of one configuration, or the differences of two."""
    from grpo_ref.explain.explanation import report, trace

    try:
        asked = diff or ((version,) if version else ())
        reports = [
            report(*pair, strict=not skip_unknown, lenient=not strict)
            for pair in _launched(config, trainer or "", asked)
        ]
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if is_traced:
        text = "\n".join(line for each in reports for line in trace(each))
    elif len(reports) == 1:
        text = WRITTEN[form](reports[0], everything)
    else:
        text = "\n".join(_compared(*reports))
    click.echo(_without_columns(text) if plain else text)
    raise click.exceptions.Exit(1 if strict and any(each.explanation.traps for each in reports) else 0)


def _launched(
    config: tuple[str, ...], trainer: str, versions: tuple[str, ...]
) -> list[tuple["Dialect", "Launch"]]:
    """Return each configuration with its dialect; or one configuration, in each of the requested versions."""
    from grpo_ref.explain.command_line import launched
    from grpo_ref.explain.explanation import dialect_of

    found = [launch for _, launch in launched(config, trainer)]
    if len(found) > 2 or (len(versions) > 1 and len(found) > 1):
        raise ValueError(f"expected one configuration, or two to compare, got {len(found)}")
    if versions:
        return [
            (DIALECTS[launch.trainer].at(each), replace(launch, version=each))
            for each in versions
            for launch in found
        ]
    return [dialect_of(launch) for launch in found]


def _compared(ours: "Report", theirs: "Report") -> Iterator[str]:
    """Yield both sentences, and each difference with its effect on the gradient."""
    from grpo_ref.explain.gradient_change import change
    from grpo_ref.explain.recipe_differences import contrast

    for name, each in (("A", ours), ("B", theirs)):
        yield _filled(f"{name} ({each.dialect.version}): {each.explanation.paragraph}", "     ")
    recipes = ours.explanation.recipe, theirs.explanation.recipe
    differences = contrast(*recipes)
    whole = change(*recipes)
    averages = ours.explanation.averages, theirs.explanation.averages
    text = (
        f"together the gradient on a typical batch differs by {whole:.0%}"
        if differences
        else "the same objective"
        if averages[0] == averages[1]
        else "only the tokens that averages are taken over differ"
    )
    count = "1 difference" if len(differences) == 1 else f"{len(differences)} differences"
    yield "\n" + click.style(f"{count}: {text}", bold=True)
    for each_difference in differences:
        share = each_difference.change
        small = "less than 1% of the gradient on a typical batch, close to the reference"
        large = f"{share:.0%} of the gradient"
        seen = "not by itself" if math.isnan(share) else small if share < 0.005 else large
        yield click.style(f"{each_difference.part} ({seen})", bold=True)
        yield from _both(each_difference.ours, each_difference.theirs)
    if averages[0] != averages[1] and all(each.text for each in averages):
        yield click.style("Every average is taken over", bold=True)
        yield from _both(*(each.text for each in averages))
    yield from _other_behaviour(ours.dialect, theirs.dialect)


def _other_behaviour(ours: "Dialect", theirs: "Dialect") -> Iterator[str]:
    """Yield the behaviour that differs between two releases of a trainer and that neither recipe nor average shows."""
    if ours.name != theirs.name:
        return
    for name, key in ours.keys.table.items():
        values = key.default, theirs.keys.table[name].default
        if key.behaviour and key.about and values[0] != values[1]:
            yield click.style(textwrap.fill(key.about, _width()), bold=True)
            yield from _both(*map(str, values))


def _both(ours: str, theirs: str) -> Iterator[str]:
    yield from (_filled(f"{name}  {text}", "     ") for name, text in (("A", ours), ("B", theirs)))


def _text(report: "Report", everything: bool) -> str:
    from grpo_ref.explain.explanation import pieces

    found = pieces(report, everything=everything)
    return "\n".join(LOOKS[piece.kind](piece) for piece in found).lstrip("\n")


def _json(report: "Report", everything: bool) -> str:
    from grpo_ref.explain.explanation import as_data

    return json.dumps(as_data(report), indent=2, ensure_ascii=False, default=str)


def _markdown(report: "Report", everything: bool) -> str:
    from grpo_ref.explain.explanation import pieces

    found = pieces(report, everything=everything)
    return "\n".join(MARKDOWN[piece.kind](piece) for piece in found).strip()


def _latex(report: "Report", everything: bool) -> str:
    from grpo_ref.explain.latex import document

    return document(report)


def _without_columns(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in click.unstyle(text).splitlines())


def _filled(text: str, indent: str) -> str:
    """Wrap a text into lines, indented by two spaces, and the later lines by `indent`."""
    return textwrap.fill(
        text, _width(), initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False
    )


def _width() -> int:
    """Return the width of the terminal, at most what is easy to read. Plain text is not wrapped."""
    return UNBROKEN if is_plain() else min(WIDTH, columns())


def _formula(piece: "Piece") -> str:
    return f"  {piece.name:13}" + textwrap.indent(piece.text, EQUATION).lstrip()


LOOKS: "Mapping[str, Callable[[Piece], str]]" = {
    "heading": lambda piece: "\n" + click.style(piece.text, bold=True),
    "paragraph": lambda piece: _filled(piece.text, "  "),
    "note": lambda piece: _filled(piece.text, "  "),
    "formula": _formula,
    "part": lambda piece: f"  {piece.name:10} {piece.text}",
    "sentence": lambda piece: textwrap.indent(textwrap.fill(piece.text, _width() - len(SENTENCE)), SENTENCE),
    "equation": lambda piece: textwrap.indent(piece.text, EQUATION),
    "key": lambda piece: _filled(piece.text, "      "),
    "trap": lambda piece: click.style(piece.text, fg="yellow"),
    "about": lambda piece: _filled(piece.text, "  "),
    "source": lambda piece: f"  {piece.text}",
}
"""For each kind of piece, the function that prints it in a terminal."""
MARKDOWN: "Mapping[str, Callable[[Piece], str]]" = {
    "heading": lambda piece: f"\n## {piece.text}\n",
    "paragraph": lambda piece: f"{piece.text}\n",
    "note": lambda piece: f"{piece.text}\n",
    "formula": lambda piece: f"{piece.name}\n\n```text\n{piece.text}\n```\n",
    "part": lambda piece: f"**{piece.name}** `{piece.text}`\n",
    "sentence": lambda piece: f"{piece.text}\n",
    "equation": lambda piece: f"```text\n{piece.text}\n```\n",
    "key": lambda piece: f"* {piece.text}",
    "trap": lambda piece: f"**{piece.text.removeprefix('! ')}**\n",
    "about": lambda piece: f"{piece.text}\n",
    "source": lambda piece: f"{piece.text}\n",
}
"""For each kind of piece, the function that writes it in Markdown."""
WRITTEN: "Mapping[str, Callable[[Report, bool], str]]" = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "latex": _latex,
}
