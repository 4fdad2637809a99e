"""How a configuration is named on the command line; `config_file` reads it."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def config_argument(command: Command) -> Command:
    """The argument CONFIG: any number of files and KEY=VALUE pairs."""
    return click.argument("config", nargs=-1)(command)


def skip_option(command: Command) -> Command:
    """The option --skip-unknown."""
    return click.option("--skip-unknown", is_flag=True, help="Name unknown keys and go on without them.")(
        command
    )
