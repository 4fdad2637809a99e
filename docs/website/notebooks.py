"""The notebooks, with the outputs that are committed with them; a test sees that the code gives the same."""

import nbformat

from website.links import Links
from website.tree import NOTEBOOKS, ROOT, write

ABOUT = (
    "The story with pictures. A test runs every notebook and compares each number and figure with what is"
    " shown here; `grpo-ref notebooks` copies the notebooks into a folder of yours and opens them."
)


def write_notebooks(links: Links) -> None:
    """Write the notebooks, and the page that lists them.

    Args:
      links: rewrites theirs.
    """
    for path, page in NOTEBOOKS.items():
        notebook = nbformat.read(ROOT / path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = links.rewritten(cell.source, path=path, page=page)
        write(f"{page}.ipynb", nbformat.writes(notebook))
    pages = "\n".join(page.partition("/")[2] for page in NOTEBOOKS.values())
    write("notebooks/index.md", f"# Notebooks\n\n{ABOUT}\n\n```{{toctree}}\n\n{pages}\n```\n")
