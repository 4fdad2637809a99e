"""How the commands write: as wide as the terminal, or plainly, in sentences that a screen reader can say."""

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
UNLIMITED = 120
"""Columns of what is written to a file or a pipe, where nobody has said how many there are."""


def columns() -> int:
    """How wide lines may be: as COLUMNS says, or as the terminal is."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return UNLIMITED


def plain_option(command: Command) -> Command:
    """The option --plain, which the environment variable GRPO_REF_PLAIN sets for all commands."""
    option = click.option(
        "--plain",
        is_flag=True,
        envvar="GRPO_REF_PLAIN",
        help="Whole sentences without color and columns, for screen readers; GRPO_REF_PLAIN=1 for always.",
    )
    return option(command)
