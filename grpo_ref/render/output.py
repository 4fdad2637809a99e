"""The commands' output: as wide as the terminal, or as plain sentences for screen readers."""

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells."""
PLAIN = "GRPO_REF_PLAIN"
"""Environment variable that requests plain text from every command."""
UNLIMITED = 120
"""Columns of output to a file or a pipe, if the number is not set."""


def columns() -> int:
    """Return the largest width of a line, in columns: COLUMNS, or the width of the terminal."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return UNLIMITED


def is_plain() -> bool:
    """Return whether plain text was requested, by --plain of the running command or by GRPO_REF_PLAIN."""
    context = click.get_current_context(silent=True)
    return bool(os.environ.get(PLAIN) or (context and context.params.get("plain")))


def plain_option(command: Command) -> Command:
    """Add the option --plain, which the environment variable of `PLAIN` sets for all commands."""
    option = click.option(
        "--plain",
        is_flag=True,
        envvar=PLAIN,
        help=f"Print whole sentences without color and columns, for screen readers; always if {PLAIN}=1.",
    )
    return option(command)
