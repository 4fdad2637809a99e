"""Links to the code: a documented name to its entry in the reference, any other function to its line."""

import importlib
import inspect
from collections.abc import Callable
from os.path import relpath
from pathlib import Path
from typing import Any

from package_map import PUBLIC

from website.tree import ROOT


def page_of(path: str) -> str:
    """Return the name of a module's page.

    >>> page_of("grpo_ref.fast.logits")
    'api/fast-logits'
    """
    return "api/" + path.partition(".")[2].replace(".", "-")


def documented(name: str) -> Any:
    """Import a documented name from its module.

    >>> documented("k3").__module__
    'grpo_ref.penalties'
    """
    return getattr(importlib.import_module(PUBLIC[name]), name)


def anchor_of(name: str) -> str:
    """Return the full name of a documented name, which is the anchor of its entry.

    >>> anchor_of("k3")
    'grpo_ref.penalties.k3'
    """
    return f"{PUBLIC[name]}.{name}"


def to_kernel(kernel: Callable[..., Any], text: str, *, page: str) -> str:
    """Return a link to a function of the package.

    Args:
      kernel: the function.
      text: the text of the link, shown as code.
      page: name of the page that the link is on.
    """
    if kernel.__name__ in PUBLIC:
        return f"[`{text}`](#{anchor_of(kernel.__name__)})"
    file, (_, line) = Path(inspect.getfile(kernel)), inspect.getsourcelines(kernel)
    return to_line(file, line, f"`{text}`", page=page)


def to_line(file: Path, line: int, text: str, *, page: str) -> str:
    """Return a link to a line of a file. The file must have a page of source."""
    return f"[{text}](line:{line_of(file, line, page=page)})"


def line_of(file: Path, line: int, *, page: str) -> str:
    """Return the relative URL of a line of a file, seen from a page.

    >>> line_of(ROOT / "grpo_ref/loss.py", 7, page="api/loss")
    '../source/grpo_ref/loss.py.html#L-7'
    """
    place = f"source/{file.relative_to(ROOT).as_posix()}.html"
    return f"{relpath(place, Path(page).parent)}#L-{line}"
