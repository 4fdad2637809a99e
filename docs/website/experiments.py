"""The experiments: one page for each claim of the report, and the table of verdicts."""

from website.claims import head, sections, title_of
from website.links import Links
from website.see_also import with_neighbours
from website.tree import EXPERIMENTS, ROOT, write

SOURCE = "grpo_ref/lab/claims"


def write_experiments(links: Links) -> None:
    """Write the table of verdicts and a page for each claim."""
    for name, text in sections().items():
        page = f"experiments/{name}"
        code = f"\n\nCode: [{name}.py](../../{SOURCE}/{name}.py)." * _has_source(name)
        section = links.rewritten(f"# {title_of(name)}\n{text}{code}\n", path=EXPERIMENTS, page=page)
        write(f"{page}.md", with_neighbours(section, page))
    text = links.rewritten(head(), path=EXPERIMENTS, page="experiments/index")
    pages = "\n".join(sections())
    write("experiments/index.md", f"{text}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def _has_source(name: str) -> bool:
    return (ROOT / SOURCE / f"{name}.py").is_file()
