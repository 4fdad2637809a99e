"""The laboratory: its report as one page for each claim, and the table of verdicts."""

import re

from website.links import Links
from website.tree import LABORATORY, ROOT, write

SECTION = re.compile(r"^## (\w+)\n", re.MULTILINE)
SOURCE = "grpo_ref/lab/claims"


def write_laboratory(links: Links) -> None:
    """Write the page of verdicts and a page for each claim."""
    head, *rest = SECTION.split((ROOT / LABORATORY).read_text(encoding="utf-8"))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    for name, text in sections.items():
        page = f"laboratory/{name}"
        source = f"\n\nIts arms and predictions: [{name}.py](../../{SOURCE}/{name}.py)." * _has_source(name)
        write(f"{page}.md", links.rewritten(f"# {name}\n{text}{source}\n", path=LABORATORY, page=page))
    text = links.rewritten(head, path=LABORATORY, page="laboratory/index")
    pages = "\n".join(sections)
    write("laboratory/index.md", f"{text}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def _has_source(name: str) -> bool:
    return (ROOT / SOURCE / f"{name}.py").is_file()
