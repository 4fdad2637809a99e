"""Links to the code: public names lead to their entry in the reference, all others to their line."""

import inspect
from collections.abc import Callable
from os.path import relpath
from pathlib import Path
from typing import Any

from website.reference import STAGES
from website.tree import ROOT

PUBLIC = {name for names in STAGES.values() for name in names}


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
    place = f"source/{file.relative_to(ROOT).as_posix()}.html"
    return f"[{text}](line:{relpath(place, Path(page).parent)}#L-{line})"
