"""What a user has written: MODULE:NAME or FILE.py:NAME, imported from here or from what is installed."""

import importlib
import inspect
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import click

from grpo_ref.render.choices import Name


def is_own(text: str) -> bool:
    """Whether a text means something of the user's, MODULE:NAME, and not a name of ours."""
    return ":" in text


def imported(text: str, *, kind: str = "NAME") -> Any:
    """What MODULE:NAME or FILE.py:NAME means; the current folder, or the file's, is searched first.

    Args:
      text: as given on the command line; NAME may be Class.method or object.method.
      kind: what to call the part after the colon, in errors.

    Raises:
      click.UsageError: if the text has no such form, or the import fails for whatever reason.
    """
    module, _, name = text.rpartition(":")
    if not module or not name:
        raise click.UsageError(f"expected MODULE:{kind} or FILE.py:{kind}, got {text!r}")
    folder = ""
    if module.endswith(".py"):
        path = Path(module)
        folder, module = str(path.parent), path.stem
    sys.path.insert(0, folder)
    try:
        return reduce(_attribute, name.split("."), importlib.import_module(module))
    except (Exception, SystemExit) as error:
        raise click.UsageError(f"{text}: {error}") from error
    finally:
        sys.path.remove(folder)


def _attribute(owner: Any, name: str) -> Any:
    """An attribute; of a class whose method is asked for, that of an object made without arguments."""
    found = getattr(owner, name)
    static = inspect.getattr_static(owner, name)
    if not inspect.isclass(owner) or isinstance(static, staticmethod | classmethod) or not callable(found):
        return found
    try:
        return getattr(owner(), name)
    except TypeError as error:
        raise TypeError(
            f"{owner.__name__}() cannot be made without arguments ({error}); name a method of an object"
            f" instead, as in trainer.{name}, or a function"
        ) from error


class NameOrOwn(Name):
    """An argument that is one of some names, or MODULE:NAME."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself, or an error with a suggestion."""
        return str(value) if is_own(str(value)) else super().convert(value, param, ctx)
