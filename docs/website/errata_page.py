"""The page of the errata: a table of all entries, and a section for each entry."""

from collections.abc import Iterator, Mapping
from typing import Any

from grpo_ref.explain.dialect import flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.entry import KINDS, Entry, effect_text, entries
from website.docstrings import cited
from website.links import Links
from website.trainer_keys import title
from website.tree import ROOT, write

PATH, PAGE = "grpo_ref/explain/errata/README.md", "trainers/errata"
WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n"


def write_errata(links: Links) -> None:
    """Write the page."""
    text = links.rewritten((ROOT / PATH).read_text(encoding="utf-8"), path=PATH, page=PAGE)
    begin, heading, fields = text.rstrip().partition("## The fields")
    parts = [WIDE + begin.rstrip(), _table(), *_kinds(), heading + fields, *_sections(), ""]
    write(f"{PAGE}.md", "\n\n".join(parts))


def _kinds() -> Iterator[str]:
    yield "## The kinds"
    yield "\n".join(f"* **{kind}**: {about}" for kind, about in KINDS.items())


def _table() -> str:
    head = ["| trainer | behaviour | releases | kind | effect | evidence |", "|---|---|---|---|---|---|"]
    rows = "\n".join([*head, *map(_row, entries())])
    return f"## All entries\n\nClick a column header to sort.\n\n:::{{div}} sortable wide errata\n{rows}\n:::"


def _row(entry: Entry) -> str:
    cells = [
        title(DIALECTS[entry.trainer]),
        f"{{ref}}`{_escaped(entry.title)} <{entry.id}>`",
        entry.span,
        entry.kind,
        effect_text(entry.effect),
        entry.evidence,
    ]
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Return a text that can be the title of a reference in a table.

    >>> _escaped("a | b < c")
    'a ∣ b ‹ c'
    """
    return text.replace("|", "∣").replace("<", "‹").replace(">", "›").replace("`", "'")


def _sections() -> Iterator[str]:
    for name, dialect in DIALECTS.items():
        if ours := entries(name):
            yield f"## {title(dialect)}"
            yield from map(_section, ours)


def _section(entry: Entry) -> str:
    """Return an entry: what is computed and what was stated, the releases, the effect, the test and links."""
    facts = {
        "Computed": entry.computed,
        "Stated": f"{entry.stated} ({cited(entry.stated_by)})",
        "Releases": entry.span + _gaps(entry),
        "Only if": entry.only_if,
        "Keys": ", ".join(f"`{key}`" for key in entry.keys),
        "Touched": f"`{_line(entry.example)}`",
        "Not touched": "" if entry.near == entry.example else f"`{_line(entry.near)}`",
        "Effect": _effect(entry),
        "Kind and evidence": f"{entry.kind}; {entry.evidence}",
        "Test": f"`{entry.test}`",
        "Links": ", ".join(f"<{link}>" for link in entry.links),
    }
    lines = "\n".join(f"{name}\n: {text}\n" for name, text in facts.items() if text)
    return f"({entry.id})=\n### {_escaped(entry.title)}\n\n`{entry.id}`\n\n{lines}"


def _gaps(entry: Entry) -> str:
    return f", except {', '.join(entry.gaps)}" if entry.gaps else ""


def _line(config: Mapping[str, Any]) -> str:
    """Return a configuration in one line."""
    return " ".join(f"{key}={value}" for key, value in flat(config).items()) or "the defaults"


def _effect(entry: Entry) -> str:
    """Return the effect with the two sides that were compared, or the reason for which there is none."""
    size = effect_text(entry.effect)
    return f"{size}; {entry.effect_of}" if size else f"not computed. {entry.effect_of}"
