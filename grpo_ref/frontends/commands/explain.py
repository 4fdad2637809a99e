"""`grpo-ref explain`: which objective does this configuration really optimize?"""

import textwrap
from collections.abc import Iterator

import click

import grpo_ref
from grpo_ref import frontends
from grpo_ref.frontends.cli import Name
from grpo_ref.frontends.config_options import config_argument, skip_option
from grpo_ref.frontends.output import columns, is_plain, plain_option
from grpo_ref.trainers import DIALECTS

WIDTH, UNBROKEN = 100, 10_000


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
            given = frontends.config_file.without_unknown(DIALECTS[dialect], given)
        explanation = grpo_ref.trainers.explain(DIALECTS[dialect], given)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    told = "\n".join(_lines(DIALECTS[dialect].version, explanation))
    click.echo(
        "\n".join(" ".join(line.split()) for line in click.unstyle(told).splitlines()) if plain else told
    )
    raise click.exceptions.Exit(1 if strict and explanation.traps else 0)


def _without_columns(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in click.unstyle(text).splitlines())


def _lines(version: str, explanation: "grpo_ref.trainers.Explanation") -> Iterator[str]:
    """The parts, the keys and the warnings."""
    yield click.style(f"{version} computes", bold=True)
    yield _parts(explanation)
    if explanation.keys:
        yield click.style("\nthe keys", bold=True)
        yield _keys(explanation)
    yield click.style(f"\n{len(explanation.traps)} warning{'s' * (len(explanation.traps) != 1)}", bold=True)
    for trap in explanation.traps:
        yield click.style(f"! {trap.name}", fg="yellow")
        yield _filled(trap.text, "  ")
        yield f"  [{trap.source}]"


def _parts(explanation: "grpo_ref.trainers.Explanation") -> str:
    lines = []
    for part in explanation.parts:
        lines.append(f"  {part.name:10} {part.value}")
        lines.append(textwrap.indent(textwrap.fill(part.sentence, _width() - 13), " " * 13))
        lines += [textwrap.indent(part.equation, " " * 15)] * bool(part.equation)
    recipe = explanation.recipe
    lines.append(f"  {'kl_coef':10} {recipe.kl_coef:g}{'' if recipe.kl_coef else ', so there is no penalty'}")
    if explanation.entropy_coef:
        lines.append(f"  {'bonus':10} {explanation.entropy_coef:g} times the entropy of the policy is added")
    low, high = recipe.log_ratio_limits
    if (low, high) != (float("-inf"), float("inf")):
        lines.append(
            f"  {'limits':10} the log-ratio is limited to [{low:g}, {high:g}], with no slope outside"
        )
    return "\n".join(lines)


def _keys(explanation: "grpo_ref.trainers.Explanation") -> str:
    return "\n".join(
        _filled(f"{key} = {value!r}: {about}", "      ") for key, value, about in explanation.keys
    )


def _filled(text: str, indent: str) -> str:
    """The text in lines, two spaces in, and the later ones as far as the indent."""
    return textwrap.fill(
        text, _width(), initial_indent="  ", subsequent_indent=indent, break_on_hyphens=False
    )


def _width() -> int:
    """As wide as the terminal, but not wider than is read with ease; plain text is not broken."""
    return UNBROKEN if is_plain() else min(WIDTH, columns())
