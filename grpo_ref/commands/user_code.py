"""Import your own code by MODULE:NAME or FILE.py:NAME, from the current folder or an installed package."""

import importlib
import inspect
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import click

from grpo_ref.render.choices import Name


def is_own(text: str) -> bool:
    """Return whether a text has the form MODULE:NAME, rather than a name of the library."""
    return ":" in text


def imported(text: str, *, kind: str = "NAME") -> Any:
    """Import the object that MODULE:NAME or FILE.py:NAME names.

    The current folder, or the folder of the file, is searched first.

    Args:
      text: text on the command line. NAME may be Class.method or object.method.
      kind: name of the part after the colon in error messages.

    Raises:
      click.UsageError: if the text does not have this form, or the import fails for any reason.
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
    """Look up an attribute. If it is a method, instantiate its class first."""
    attribute = getattr(owner, name)
    static = inspect.getattr_static(owner, name)
    is_bound = isinstance(static, staticmethod | classmethod) or not callable(attribute)
    if not inspect.isclass(owner) or is_bound:
        return attribute
    try:
        return getattr(owner(), name)
    except TypeError as error:
        raise TypeError(
            f"{owner.__name__}() cannot be made without arguments ({error}); name a method of an object"
            f" instead, as in trainer.{name}, or a function"
        ) from error


class NameOrOwn(Name):
    """An argument that is one of a list of names, or MODULE:NAME."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text unchanged, or raise an error that suggests a name."""
        return str(value) if is_own(str(value)) else super().convert(value, param, ctx)
