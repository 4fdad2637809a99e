"""How a configuration is named on the command line; `config_file` reads it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grpo_ref import frontends

if TYPE_CHECKING:
    from grpo_ref.trainers import Dialect

Command = TypeVar("Command", bound=Callable[..., Any])


def config_argument(command: Command) -> Command:
    """The argument CONFIG: any number of files and KEY=VALUE pairs."""
    return click.argument("config", nargs=-1)(command)


def skip_option(command: Command) -> Command:
    """The option --skip-unknown."""
    return click.option("--skip-unknown", is_flag=True, help="Name unknown keys and go on without them.")(
        command
    )


def without_unknown(dialect: "Dialect", config: dict[str, Any]) -> dict[str, Any]:
    """The configuration without the keys that the dialect does not have, each named on standard error."""
    for text in dialect.unknown(config):
        click.echo(f"skipped: {dialect.name} has no key {text}", err=True)
    return frontends.config_file.known(dialect, config)
