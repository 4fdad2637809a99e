"""The experiments: one page for each claim of the report, and the table of verdicts."""

from website.claims import head, sections, title_of
from website.links import Links
from website.see_also import with_neighbours
from website.tree import EXPERIMENTS, ROOT, write

WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---"
"""Front matter that removes the list of headings, so that there is room for the table."""

SOURCE = "grpo_ref/lab/claims"
CLAUSES = "| clause |"
"""Beginning of a block of a section that only some claims have."""


def write_experiments(links: Links) -> None:
    """Write the table of verdicts and a page for each claim."""
    for name, text in sections().items():
        page = f"experiments/{name}"
        section = links.rewritten(page_of_claim(name, text), path=EXPERIMENTS, page=page)
        write(f"{page}.md", f"{WIDE}\n\n{with_neighbours(section, page)}")
    text = links.rewritten(head(), path=EXPERIMENTS, page="experiments/index")
    pages = "\n".join(sections())
    write("experiments/index.md", f"{text}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def page_of_claim(name: str, section: str) -> str:
    """Return the page of a claim: the verdict, figures and table; the rest is folded.

    Args:
      name: name of the experiment.
      section: section of the report, without its heading.
    """
    parts = section.strip().split("\n\n")
    clauses = parts.pop(3) if parts[3].startswith(CLAUSES) else ""
    _, claim, verdict, method, table, predicted, panels, differences, *exhibit = parts
    run = f"Run it: `grpo-ref experiment run {name}`."
    code = f" Code: [{name}.py](../../{SOURCE}/{name}.py)." * _has_source(name)
    blocks = [
        f"# {title_of(name)}",
        claim,
        verdict,
        clauses,
        panels,
        differences,
        table,
        _folded("Tasks, settings and measures", f"{method}\n\n{predicted}"),
        *exhibit,
        run + code,
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _folded(title: str, text: str) -> str:
    return f":::{{dropdown}} {title}\n{text}\n:::" if text else ""


def _has_source(name: str) -> bool:
    return (ROOT / SOURCE / f"{name}.py").is_file()
