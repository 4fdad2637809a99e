"""Run a student's text as a program in a page: its output is shown verbatim, and its figures as SVG.

The text of this module runs in a WebAssembly interpreter that has nothing of the judge (`program.ts`).
"""

import io
import json
import linecache
import os
import sys
import traceback
import warnings
from typing import Any

LIBRARY = "/usr/local/lib/plots"
"""Folder of matplotlib, if the page has loaded it. matplotlib writes its list of fonts there."""


def prepare() -> None:
    """Set matplotlib up to draw figures to files only."""
    sys.path.append(LIBRARY)
    sys.path_importer_cache.clear()
    os.access = lambda *_, **__: True  # folders of the page can be written, but have no rights that say so
    os.environ.update(MPLBACKEND="svg", MPLCONFIGDIR=LIBRARY)
    warnings.filterwarnings("ignore", message=".*non-interactive, and thus cannot be shown")


def run(path: str, text: str) -> None:
    """Run a text as Python runs a file. An error is printed with the program's own lines only.

    Args:
      path: name of the file.
      text: content of the file.
    """
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    try:
        exec(compile(text, path, "exec"), {"__name__": "__main__", "__file__": path})
    except BaseException as error:
        begun = error.__traceback__
        traceback.print_exception(error.with_traceback(begun.tb_next if begun else None))


def figures() -> str:
    """Return all open figures as a JSON list of SVG texts."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    drawn = []
    for number in pyplot.get_fignums() if pyplot else ():
        file = io.StringIO()
        pyplot.figure(number).savefig(file, format="svg")
        drawn.append(file.getvalue())
    return json.dumps(drawn)
