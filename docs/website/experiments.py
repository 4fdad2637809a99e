"""The experiments: one page for each claim of the report, and the table of verdicts."""

import re

from website.links import Links
from website.tree import EXPERIMENTS, ROOT, write

SECTION = re.compile(r"^## (\w+)\n", re.MULTILINE)
SOURCE = "grpo_ref/lab/claims"
ACRONYMS = {"grpo": "GRPO", "kl": "KL"}


def write_experiments(links: Links) -> None:
    """Write the table of verdicts and a page for each claim."""
    head, *rest = SECTION.split((ROOT / EXPERIMENTS).read_text(encoding="utf-8"))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    for name, text in sections.items():
        page = f"experiments/{name}"
        code = f"\n\nCode: [{name}.py](../../{SOURCE}/{name}.py)." * _has_source(name)
        section = f"# {title_of(name)}\n{text}{code}\n"
        write(f"{page}.md", links.rewritten(section, path=EXPERIMENTS, page=page))
    text = links.rewritten(head, path=EXPERIMENTS, page="experiments/index")
    pages = "\n".join(sections)
    write("experiments/index.md", f"{text}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def title_of(name: str) -> str:
    """Return the title of an experiment's page.

    >>> title_of("kl_in_reward")
    'KL in reward'
    """
    parts = [ACRONYMS.get(word, word) for word in name.split("_")]
    return " ".join([parts[0][0].upper() + parts[0][1:], *parts[1:]])


def _has_source(name: str) -> bool:
    return (ROOT / SOURCE / f"{name}.py").is_file()
