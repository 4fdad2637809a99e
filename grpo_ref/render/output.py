"""How the commands write: as wide as the terminal, or plainly, in sentences that a screen reader can say."""

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""
PLAIN = "GRPO_REF_PLAIN"
"""The environment variable that asks every command for plain text."""
UNLIMITED = 120
"""Columns of what is written to a file or a pipe, where nobody has said how many there are."""


def columns() -> int:
    """How wide lines may be: as COLUMNS says, or as the terminal is."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return UNLIMITED


def is_plain() -> bool:
    """Whether plain text was asked for, by --plain of the command that runs or by GRPO_REF_PLAIN."""
    context = click.get_current_context(silent=True)
    return bool(os.environ.get(PLAIN) or (context and context.params.get("plain")))


def plain_option(command: Command) -> Command:
    """The option --plain, which the environment variable of `PLAIN` sets for all commands."""
    option = click.option(
        "--plain",
        is_flag=True,
        envvar=PLAIN,
        help=f"Whole sentences without color and columns, for screen readers; with {PLAIN}=1 always.",
    )
    return option(command)
