"""`grpo-ref explain`: which objective does this configuration really optimize?"""

import textwrap
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

import grpo_ref
from grpo_ref import frontends
from grpo_ref.frontends.cli import Name
from grpo_ref.frontends.config_options import config_argument, skip_option, without_unknown
from grpo_ref.frontends.output import columns, is_plain, plain_option
from grpo_ref.trainers import DIALECTS

if TYPE_CHECKING:
    from grpo_ref.frontends.explanation import Piece

WIDTH, UNBROKEN = 100, 10_000
SENTENCE, EQUATION = " " * 13, " " * 15

HELP = f"""Say in words and equations what a trainer's configuration optimizes, and warn of traps.

DIALECT is {", ".join([*DIALECTS][:-1])} or {[*DIALECTS][-1]}. CONFIG is a YAML or JSON file, or KEY=VALUE, or
several of both, of which the later ones win. Exit status 2 for an unknown key or value.
"""


@click.command("explain", help=HELP, epilog="Example:  grpo-ref explain trl loss_type=dr_grpo beta=0.04")
@click.argument("dialect", type=Name("dialect", lambda: DIALECTS))
@config_argument
@click.option("--strict", is_flag=True, help="Exit with status 1 if there is a warning, for a check in CI.")
@skip_option
@plain_option
def command(dialect: str, config: tuple[str, ...], strict: bool, skip_unknown: bool, plain: bool) -> None:
    """Print the parts, the keys and the warnings."""
    try:
        given = frontends.config_file.read_config(config)
        if skip_unknown:
            given = without_unknown(DIALECTS[dialect], given)
        explanation = grpo_ref.trainers.explain(DIALECTS[dialect], given)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    found = frontends.explanation.pieces(DIALECTS[dialect].version, explanation)
    told = "\n".join(LOOKS[piece.kind](piece) for piece in found).lstrip("\n")
    click.echo(_without_columns(told) if plain else told)
    raise click.exceptions.Exit(1 if strict and explanation.traps else 0)


def _without_columns(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in click.unstyle(text).splitlines())


def _filled(text: str, indent: str) -> str:
    """The text in lines, two spaces in, and the later ones as far as the indent."""
    return textwrap.fill(
        text, _width(), initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False
    )


def _width() -> int:
    """As wide as the terminal, but not wider than is read with ease; plain text is not broken."""
    return UNBROKEN if is_plain() else min(WIDTH, columns())


LOOKS: "Mapping[str, Callable[[Piece], str]]" = {
    "heading": lambda piece: "\n" + click.style(piece.text, bold=True),
    "part": lambda piece: f"  {piece.name:10} {piece.text}",
    "sentence": lambda piece: textwrap.indent(textwrap.fill(piece.text, _width() - len(SENTENCE)), SENTENCE),
    "equation": lambda piece: textwrap.indent(piece.text, EQUATION),
    "key": lambda piece: _filled(piece.text, "      "),
    "trap": lambda piece: click.style(piece.text, fg="yellow"),
    "about": lambda piece: _filled(piece.text, "  "),
    "source": lambda piece: f"  {piece.text}",
}
"""How each kind of piece looks in a terminal."""
