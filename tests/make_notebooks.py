"""Make notebooks/*.ipynb from the scripts beside them; run as `make notebooks`."""

from pathlib import Path

import jupytext
import nbformat

FOLDER = Path(__file__).parents[1] / "notebooks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def made_from(script: Path) -> str:
    """The notebook of a script: no outputs, and cells numbered instead of named at random."""
    notebook = jupytext.read(script)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return nbformat.writes(notebook) + "\n"


def main() -> None:
    """Write them all."""
    for script in SCRIPTS:
        script.with_suffix(".ipynb").write_text(made_from(script), encoding="utf-8")


if __name__ == "__main__":
    main()
