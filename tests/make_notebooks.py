"""Make notebooks/*.ipynb from the scripts beside them, and run them; run as `make notebooks`.

A reader on a code host sees the numbers and the figures. So that they stay small, figures have few colors; so
that they stay true, a test runs every notebook and compares.

A script describes each figure below the code that draws it, for readers who do not see the figure:

    lines_figure(updates, lines, "update", "reward")
    # Figure: the reward rises from 0.1 to 0.8.

`made_from` removes the description from the code and makes it the alternative text of the figure.
"""

import base64
import io
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError
from PIL import Image

FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
COLORS = 64
KEPT = ("text/plain", "image/png")
"""Kinds of outputs that need no program to be seen."""
FIGURE = re.compile(r"\n# Figure: (.+(?:\n# .+)*)\Z")
"""Description of a figure, at the end of a cell."""
SCALE = 2
"""Pixels of a figure for each pixel of its size, so that it is sharp on dense screens."""
ARGUMENTS = ["--log-level=40", "--InlineBackend.figure_formats=retina"]
"""The kernel warns of others on this machine, which is nothing to a reader; figures have twice the pixels."""
SECONDS = (60, 900)
"""Time for a cell at the first and at the second try."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""The matrices are small; where a core is busy, two threads waiting for one another are far slower."""


def made_from(script: Path) -> Any:
    """The notebook of a script: no outputs, and cells numbered instead of named at random."""
    notebook = jupytext.read(script)
    for number, cell in enumerate(notebook.cells):
        cell["id"], cell["metadata"] = f"cell-{number}", {}
        if described := FIGURE.search(cell.source):
            cell.source = cell.source[: described.start()].rstrip()
            alternative = described[1].replace("\n# ", " ")
            cell.metadata = {"mystnb": {"image": {"alt": alternative}}}  # where the site looks for it
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def run(notebook: Any) -> Any:
    """The notebook with its outputs, run in an empty folder."""
    metadata = dict(notebook.metadata)
    of_cells = [dict(cell.metadata) for cell in notebook.cells]
    try:
        execute(notebook, seconds=SECONDS[0])
    except CellTimeoutError:
        # On a busy machine a message between kernel and client is sometimes lost, and both wait for ever.
        execute(notebook, seconds=SECONDS[1])
    notebook.metadata = metadata
    for cell, of_cell in zip(notebook.cells, of_cells, strict=True):
        cell.metadata = of_cell
        for output in cell.get("outputs", ()):
            if "data" in output:
                output.data = {kind: data for kind, data in output.data.items() if kind in KEPT}
                output.metadata = {"image/png": shown(cell, output)} if "image/png" in output.data else {}
    return notebook


def execute(notebook: Any, *, seconds: int) -> None:
    """Run all cells in a new kernel and an empty folder, each in at most so many seconds."""
    with TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=seconds, resources=place, extra_arguments=ARGUMENTS)
        client.coalesce_streams = True  # else what a cell prints comes in as many parts as it happens to
        client.execute(env=os.environ | ONE_THREAD)


def shown(cell: Any, output: Any) -> dict[str, Any]:
    """The size and the description of a figure, as notebook viewers read them."""
    width, height = (pixels // SCALE for pixels in picture(output).size)
    return {"width": width, "height": height} | alternative_text(cell)


def alternative_text(cell: Any) -> dict[str, str]:
    """The description of a cell's figure, as {"alt": ...}, or {} if the script has none."""
    described: dict[str, str] = cell.metadata.get("mystnb", {}).get("image", {})
    return described


def with_few_colors(notebook: Any) -> Any:
    """The notebook with smaller figures."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                file = io.BytesIO()
                picture(output).convert("RGB").quantize(COLORS).save(file, "png", optimize=True)
                output.data["image/png"] = base64.b64encode(file.getvalue()).decode()
    return notebook


def picture(output: Any) -> Image.Image:
    """The figure of an output."""
    return Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))


def main() -> None:
    """Write them all."""
    for script in SCRIPTS:
        print(script.stem, file=sys.stderr)
        notebook = with_few_colors(run(made_from(script)))
        script.with_suffix(".ipynb").write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
