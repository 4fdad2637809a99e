"""The experiments: the page of each claim, and the table of all claims."""

from website.claims import TESTED, path_of, text_of
from website.links import Links
from website.see_also import with_neighbours
from website.tree import EXPERIMENTS, ROOT, write

WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---"
"""Front matter that removes the list of headings, so that there is room for the tables."""
CODE = "../../../grpo_ref/lab/claims"
"""Folder of the code of the experiments, seen from the page of a claim."""
RELATED = "\nRelated claims: "
"""Beginning of the last paragraph of a page."""


def write_experiments(links: Links) -> None:
    """Write the table of all claims and a page for each claim."""
    for name in TESTED:
        page = f"experiments/{name}"
        text = links.rewritten(with_code(name, text_of(name)), path=path_of(name), page=page)
        write(f"{page}.md", f"{WIDE}\n\n{with_neighbours(text, page)}")
    index = (ROOT / EXPERIMENTS).read_text(encoding="utf-8")
    text = links.rewritten(index, path=EXPERIMENTS, page="experiments/index")
    pages = "\n".join(TESTED)
    write("experiments/index.md", f"{WIDE}\n\n{text}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def with_code(name: str, text: str) -> str:
    """Return the page of a claim with links to the code of its experiments, before the related claims."""
    files = [f"{experiment.name}.py" for experiment in TESTED[name].experiments.values()]
    code = f"Code: {', '.join(f'[{file}]({CODE}/{file})' for file in files)}.\n"
    before, mark, related = text.partition(RELATED)
    return f"{before}\n{code}{mark}{related}"
