"""The section "See also" at the end of a page: the neighbours of the page in the map of links."""

import re

from grpo_ref.web.build import Site
from grpo_ref.web.statements import Group, Link
from grpo_ref.web.symptoms import anchor
from website.link_map import FOLDERS, Node, linked_in, related, texts, titles
from website.links import COURSE, in_markdown, seen_from, to_exercise

GROUPS = {
    "derivation": "Derivation",
    "chapter": "Chapters",
    "exercise": "Exercises",
    "recipe": "Recipes",
    "claim": "Tested claims",
    "notebook": "Notebooks",
    "symptom": "Symptoms",
    "kernel": "Reference",
}
"""Kind -> heading of its group."""
IN_COURSE = ("derivation", "notebook", "recipe", "claim", "symptom")
"""Kinds of pages to which the course links from an exercise."""
SYMPTOMS = "howto/symptoms"
SECTION = re.compile(r"^## (.+)\n(?:(?!## ).*\n?)*", re.MULTILINE)
KINDS = {folder: kind for kind, folder in FOLDERS.items()}
"""Folder of the site -> kind of its pages."""


def see_also(page: str) -> str:
    """Return the neighbours of a page as a list in Markdown, or "" if the page has none.

    Args:
      page: name of the page in the site, as "recipe/dapo".
    """
    folder, _, name = page.partition("/")
    groups = groups_of(Node(KINDS.get(folder, ""), name))
    return "\n".join(f"* **{title}:** {_listed(nodes, page)}" for title, nodes in groups.items())


def with_neighbours(text: str, page: str) -> str:
    """Return the text of a page with its neighbours at the end: on the page on symptoms, of each section."""
    if page == SYMPTOMS:
        return SECTION.sub(_with_line, text)
    lines = see_also(page)
    return f"{text.rstrip()}\n\n## See also\n\n{lines}\n" if lines else text


def _with_line(section: re.Match[str]) -> str:
    groups = groups_of(Node("symptom", anchor(section[1])))
    parts = [f"{title}: {_listed(nodes, SYMPTOMS)}." for title, nodes in groups.items()]
    return f"{section[0].rstrip()}\n\n**See also.** {' '.join(parts)}\n\n"


def groups_of(entry: Node) -> dict[str, list[Node]]:
    """Return the neighbours of an entry by the heading of their group.

    Neighbours to which the last section of the page links already are omitted.
    """
    if entry not in titles():
        return {}
    text, path = texts().get(entry, ("", ""))
    last = set(linked_in(text.rpartition("\n## ")[2], path))
    groups = {
        GROUPS[kind]: [each for each in nodes if each not in last] for kind, nodes in related(entry).items()
    }
    return {title: nodes for title, nodes in groups.items() if nodes}


def address_of(entry: Node) -> str:
    """Return the address of an entry from the root of the site."""
    return to_exercise(entry.name) if entry.kind == "exercise" else entry.address


def to_entry(entry: Node, page: str, text: str = "") -> str:
    """Return a link to an entry, in Markdown.

    Args:
      entry: an entry of the map.
      page: name of the page that the link is on.
      text: text of the link; default: the title.
    """
    shown = text or (f"`{entry.title}`" if entry.kind == "kernel" else entry.title)
    return f"[{shown}]({in_markdown(page, address_of(entry))})"


def _listed(nodes: list[Node], page: str) -> str:
    return ", ".join(to_entry(each, page) for each in nodes)


def of_site() -> Site:
    """Return the links of the course to the rest of the site."""
    entries = {kind: [each for each in titles() if each.kind == kind] for kind in ("chapter", "exercise")}
    return Site(
        root="../",
        chapters={
            each.name.partition("_")[2]: seen_from(COURSE, each.address) for each in entries["chapter"]
        },
        exercises={each.name: _in_course(each) for each in entries["exercise"]},
    )


def _in_course(exercise: Node) -> list[Group]:
    return [
        Group(GROUPS[kind], [Link(each.title, seen_from(COURSE, each.address)) for each in nodes])
        for kind, nodes in related(exercise).items()
        if kind in IN_COURSE
    ]
