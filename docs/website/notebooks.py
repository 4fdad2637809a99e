"""The notebooks, run for the site and kept until they or the code change."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from joblib import Memory, Parallel, delayed
from nbclient import NotebookClient

from website.links import Links
from website.tree import CACHE, NOTEBOOKS, ROOT, write


def write_notebooks(links: Links, code: str, *, run: bool) -> None:
    """Write the notebooks with their outputs.

    Args:
      links: rewrites theirs.
      code: outputs of the last time are used only if this hash of the code is the same.
      run: whether to run them at all; else they are shown without outputs.
    """
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in NOTEBOOKS]
    if run:
        executed = Memory(CACHE, verbose=0).cache(_executed)
        texts = Parallel(n_jobs=-1)(delayed(executed)(text, code) for text in texts)
    for (path, page), text in zip(NOTEBOOKS.items(), texts, strict=True):
        write(f"{page}.ipynb", _with_links(text, links, path, page))
    pages = "\n".join(page.partition("/")[2] for page in NOTEBOOKS.values())
    write("notebooks/index.md", f"# Notebooks\n\n{ABOUT}\n\n```{{toctree}}\n\n{pages}\n```\n")


ABOUT = (
    "The story with pictures. Every number and figure below was computed when this site was built; `grpo-ref"
    " notebooks` copies the notebooks into a folder of yours and opens them."
)


QUIET = ["--log-level=40"]
"""The kernel warns of others on this machine, which is of no use to somebody who builds the site."""


def _executed(text: str, code: str) -> str:
    """A notebook with its outputs, run in an empty folder."""
    notebook = nbformat.reads(text, as_version=4)
    os.environ.setdefault("IPYTHONDIR", str(Path(CACHE).absolute() / "ipython"))
    with TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, resources=place, extra_arguments=QUIET).execute()
    return nbformat.writes(notebook)


def _with_links(text: str, links: Links, path: str, page: str) -> str:
    notebook = nbformat.reads(text, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = links.rewritten(cell.source, path=path, page=page)
    return nbformat.writes(notebook)
