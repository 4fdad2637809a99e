"""`grpo-ref convert`: the nearest configuration in another trainer's dialect."""

import click

import grpo_ref
from grpo_ref import frontends
from grpo_ref.frontends.cli import Name
from grpo_ref.frontends.config_options import config_argument, skip_option, without_unknown
from grpo_ref.trainers import DIALECTS

DIALECT = Name("dialect", lambda: DIALECTS)


@click.command("convert", epilog="Example:  grpo-ref convert --from trl --to verl loss_type=dr_grpo")
@click.option("--from", "source", type=DIALECT, required=True, help="The dialect of CONFIG.")
@click.option("--to", "target", type=DIALECT, required=True, help="The dialect that is wanted.")
@config_argument
@click.option(
    "--strict", is_flag=True, help="Exit with status 1 if something cannot be expressed, for a check in CI."
)
@skip_option
def command(source: str, target: str, config: tuple[str, ...], strict: bool, skip_unknown: bool) -> None:
    """Print the nearest configuration of another trainer as YAML, and what cannot be expressed in it.

    CONFIG is a YAML or JSON file, or KEY=VALUE, or several of both, of which the later ones win. What is
    lost is told on standard error.
    """
    try:
        given = frontends.config_file.read_config(config)
        if skip_unknown:
            given = without_unknown(DIALECTS[source], given)
        found = grpo_ref.trainers.convert(DIALECTS[source], DIALECTS[target], given)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    for key, value in found.config.items():
        click.echo(f"{key}: {frontends.config_file.as_yaml(value)}")
    if not found.config:
        click.echo(f"# the defaults of {DIALECTS[target].version}")
    for part, (wanted, got) in found.lost.items():
        click.echo(
            f"This cannot be expressed in {target}: {part} = {wanted}; it has {got} instead.", err=True
        )
    for key, value in found.dropped.items():
        click.echo(f"This key has no counterpart in {target}: {key} = {value}", err=True)
    raise click.exceptions.Exit(1 if strict and (found.lost or found.dropped) else 0)
