"""The map of kernels: the exercises, notebooks, claims and recipes that use each kernel."""

from website.link_map import Node, is_written, kernels, related
from website.places import documented, page_of, to_kernel
from website.reference import title_of
from website.see_also import to_entry
from website.tree import write

PAGE = "map"
COLUMNS = ("exercise", "notebook", "claim", "recipe")
"""Kinds of entries in the table, after the kernel and its stage."""


def write_map() -> None:
    """Write the page."""
    rows = (_row(path, name) for path, name in kernels())
    head = ["| kernel | stage | exercises | notebooks | claims | recipes |", "|---|---|---|---|---|---|"]
    table = "\n".join([*head, *rows])
    write(f"{PAGE}.md", f"{HEAD}\n\n:::{{div}} sortable compared\n{table}\n:::\n")


HEAD = """---
html_theme.sidebar_secondary.remove: true
---

# Where each kernel is used

Each row lists the exercises, notebooks, claims and recipes that use a kernel. In the exercises in bold you
write the kernel yourself. A notebook is listed if it calls the kernel. A claim is listed if its experiment
calls the kernel, or if only some of the settings that it compares use the kernel. A recipe is listed if it
uses the kernel, and neither GRPO nor its parent recipe does. The table is generated from the code. Click a
column header to sort."""


def _row(path: str, name: str) -> str:
    users = related(Node("kernel", name), in_full=True)
    cells = (", ".join(_link(each, name) for each in users.get(kind, ())) for kind in COLUMNS)
    stage = f"[{title_of(path)}]({page_of(path)}.rst)"
    return f"| {' | '.join([to_kernel(documented(name), name, page=PAGE), stage, *cells])} |"


def _link(entry: Node, kernel: str) -> str:
    number = entry.name[:2] if entry.kind == "notebook" else ""
    mark = "**" * (entry.kind == "exercise" and is_written(entry.name, kernel))
    return f"{mark}{to_entry(entry, PAGE, number)}{mark}"
