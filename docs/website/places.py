"""Links to the code: public names lead to their entry in the reference, all others to their line."""

import inspect
from collections.abc import Callable
from os.path import relpath
from pathlib import Path
from typing import Any

from package_map import PUBLIC

from website.tree import ROOT


def to_kernel(kernel: Callable[..., Any], text: str, *, page: str) -> str:
    """A link to a function of the package.

    Args:
      kernel: the function.
      text: what is shown, as code.
      page: the name of the page that the link is on.
    """
    if kernel.__name__ in PUBLIC:
        return f"[`{text}`](#grpo_ref.{kernel.__name__})"
    file, (_, line) = Path(inspect.getfile(kernel)), inspect.getsourcelines(kernel)
    return to_line(file, line, f"`{text}`", page=page)


def to_line(file: Path, line: int, text: str, *, page: str) -> str:
    """A link to a line of a file of the project, which the view of the source has to show."""
    return f"[{text}](line:{line_of(file, line, page=page)})"


def line_of(file: Path, line: int, *, page: str) -> str:
    """Where a line of a file is, seen from a page.

    >>> line_of(ROOT / "grpo_ref/loss.py", 7, page="api/loss")
    '../source/grpo_ref/loss.py.html#L-7'
    """
    place = f"source/{file.relative_to(ROOT).as_posix()}.html"
    return f"{relpath(place, Path(page).parent)}#L-{line}"
