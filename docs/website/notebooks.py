"""The notebooks, with their committed outputs. A test checks that the code still gives these outputs."""

import nbformat

from website.links import Links
from website.see_also import see_also
from website.tree import NOTEBOOKS, ROOT, write

ABOUT = (
    "The notebooks explain GRPO with code and pictures. A test runs each notebook and compares its numbers"
    " and figures with the ones shown here. `grpo-ref notebooks` copies the notebooks to a folder and opens"
    " them."
)


def write_notebooks(links: Links) -> None:
    """Write the notebooks, and the page that lists them.

    Args:
      links: rewrites the links of the notebooks.
    """
    for path, page in NOTEBOOKS.items():
        notebook = nbformat.read(ROOT / path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = links.rewritten(cell.source, path=path, page=page)
            for output in cell.get("outputs", ()):
                if figure := output.get("metadata", {}).get("image/png"):
                    # the figures have twice the pixels of their size
                    cell.metadata["mystnb"] = {
                        "image": {"alt": figure["alt"], "width": f"{figure['width']}px"}
                    }
        notebook.cells.append(
            nbformat.v4.new_markdown_cell(f"## See also\n\n{see_also(page)}", id="see-also")
        )
        write(f"{page}.ipynb", nbformat.writes(notebook))
    pages = "\n".join(page.partition("/")[2] for page in NOTEBOOKS.values())
    write("notebooks/index.md", f"# Notebooks\n\n{ABOUT}\n\n```{{toctree}}\n\n{pages}\n```\n")
