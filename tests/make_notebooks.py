"""Make notebooks/*.ipynb from the scripts beside them, and run them; run as `make notebooks`.

A reader on a code host sees the numbers and the figures. So that they stay small, figures have few colors; so
that they stay true, a test runs every notebook and compares.
"""

import base64
import io
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))
COLORS = 64
KEPT = ("text/plain", "image/png")
"""Kinds of outputs that need no program to be seen."""
QUIET = ["--log-level=40"]
"""The kernel warns of others on this machine, which is nothing to a reader."""
SECONDS = 900
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""The matrices are small; where a core is busy, two threads waiting for one another are far slower."""


def made_from(script: Path) -> Any:
    """The notebook of a script: no outputs, and cells numbered instead of named at random."""
    notebook = jupytext.read(script)
    for number, cell in enumerate(notebook.cells):
        cell["id"], cell["metadata"] = f"cell-{number}", {}
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def run(notebook: Any) -> Any:
    """The notebook with its outputs, run in an empty folder."""
    metadata = dict(notebook.metadata)
    with TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=SECONDS, resources=place, extra_arguments=QUIET)
        client.coalesce_streams = True  # else what a cell prints comes in as many parts as it happens to
        client.execute(env=os.environ | ONE_THREAD)
    notebook.metadata = metadata
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            if "data" in output:
                output.data = {kind: data for kind, data in output.data.items() if kind in KEPT}
                output.metadata = {}
    return notebook


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
