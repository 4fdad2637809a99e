"""`grpo-ref explain` in a page: the report on a configuration that the reader pasted."""

import re
from collections.abc import Iterator
from typing import Any

from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.explanation import Piece, Report, dialect_of, pieces, report
from grpo_ref.explain.launch import Launch, launches
from grpo_ref.recipes import CATALOG
from grpo_ref.recipes.titles import title_of
from grpo_ref.render.maths import UnknownMaths, mathml

RECIPES = {title_of(name): f"recipe/{name}.html" for name in CATALOG}
"""Title of a recipe -> address of its page from the root of the site."""
LONGEST_FIRST = sorted(RECIPES, key=len, reverse=True)
MENTIONED = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, LONGEST_FIRST))})(?![\w-])")
Link = tuple[str, str]
"""A part of a text, and the address to which it links, from the root of the site."""


def trainers() -> dict[str, str]:
    """Return the trainers by name, each with the version that is described."""
    return {name: dialect.version for name, dialect in DIALECTS.items()}


def explained(trainer: str, text: str, skips: bool) -> dict[str, Any]:
    """Return the report on a configuration, or the error in it.

    Args:
      trainer: name of the trainer. If it refuses the text and another trainer is detected, that one is taken.
      text: a configuration or a script; without any keys, the report is on the trainer's defaults.
      skips: whether to ignore keys that look like typos of important keys, as --skip-unknown does.

    Returns:
      "pieces", each with kind, text and name (see `explanation.Piece`), "html", a typeset formula or "", and
        "links" (see `Link`); "warnings", their number; and "trainer", its name. Or "error", a sentence.
    """
    try:
        description = _report(trainer, text, skips)
    except ValueError as error:
        try:
            trainer = launches(text)[0].trainer
            description = _report(trainer, text, skips)
        except ValueError:
            return {"error": str(error)}
    shown = [
        {**piece._asdict(), "html": _typeset(piece), "links": links}
        for piece, links in _with_links(description, DIALECTS[trainer])
    ]
    warnings = next(
        piece["text"] for piece in shown if piece["kind"] == "heading" and "warning" in piece["text"]
    )
    return {"pieces": shown, "warnings": warnings, "trainer": trainer}


def _report(trainer: str, text: str, skips: bool) -> Report:
    launch = launches(text, trainer=trainer)[0] if text.strip() else Launch(trainer, "", {}, is_sure=True)
    dialect, launch = dialect_of(launch)
    return report(dialect, launch, strict=not skips)


def _with_links(description: Report, today: Dialect) -> Iterator[tuple[Piece, list[Link]]]:
    """Yield each piece with its links: the first mention of a recipe, a trap, and a key.

    Traps and keys are on the page of the trainer. The page describes one version, so it may lack some.
    """
    page = f"trainers/{today.name}.html"
    traps = {f"! {trap.name}": place for place, trap in enumerate(today.traps)}
    keys = iter(description.explanation.keys)
    unlinked = dict(RECIPES)
    for piece in pieces(description):
        links: list[Link] = []
        if piece.kind == "trap":
            place = next((place for name, place in traps.items() if piece.text.startswith(name)), None)
            if place is not None:
                name = today.traps[place].name
                links.append((name, f"{page}#{trap_anchor(today, place)}"))
        elif piece.kind == "key":
            given, value, _ = next(keys)
            key = today.key(given)
            if key is not None and key in keys_in_tables(today):
                links.append((given, f"{page}#{key_anchor(key)}"))
            if value in CATALOG:
                links.append((repr(value), f"recipe/{value}.html"))
        elif piece.kind in ("paragraph", "sentence", "about"):
            titles = dict.fromkeys(MENTIONED.findall(piece.text))
            links += [(title, unlinked.pop(title)) for title in titles if title in unlinked]
        yield piece, links


def trap_anchor(dialect: Dialect, place: int) -> str:
    """Return the anchor of a trap on the trainer's page, from its index in the list of traps."""
    return f"trap-{dialect.name.replace('_', '-')}-{place}"


def key_anchor(key: str) -> str:
    """Return the anchor of a key in the tables of the trainer's page."""
    return f"key-{key}"


def keys_in_tables(dialect: Dialect) -> list[str]:
    """Return the keys that have a row in the tables of the trainer's page."""
    described = [key for key in dialect.keys.defaults if key not in dialect.keys.behaviours]
    return [*described, *dialect.keys.inexpressible]


def _typeset(piece: Piece) -> str:
    """Return a formula as HTML; "" for other pieces, and for a formula that the grammar does not know."""
    if piece.kind not in ("formula", "equation"):
        return ""
    try:
        return mathml(piece.text)
    except UnknownMaths:
        return ""
