"""What a user has written: MODULE:NAME, imported from the current folder or from what is installed."""

import importlib
import sys
from typing import Any

import click

from grpo_ref.frontends.cli import Name


def is_own(text: str) -> bool:
    """Whether a text means something of the user's, MODULE:NAME, and not a name of ours."""
    return ":" in text


def imported(text: str, *, kind: str = "NAME") -> Any:
    """What MODULE:NAME means; the current folder is searched first.

    Args:
      text: as given on the command line.
      kind: what to call the part after the colon, in errors.

    Raises:
      click.UsageError: if the text has no such form, or the import fails for whatever reason.
    """
    module, _, name = text.partition(":")
    if not module or not name:
        raise click.UsageError(f"expected MODULE:{kind}, got {text!r}")
    sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:
        raise click.UsageError(f"{text}: {error}") from error
    finally:
        sys.path.remove("")


class NameOrOwn(Name):
    """An argument that is one of some names, or MODULE:NAME."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself, or an error with a suggestion."""
        return str(value) if is_own(str(value)) else super().convert(value, param, ctx)
