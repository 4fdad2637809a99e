"""How each trainer says a recipe: the keys to set, and what it computes otherwise."""

from html import escape

from grpo_ref.recipes import RECIPES
from grpo_ref.trainers import DIALECTS
from grpo_ref.trainers.convert import nearest


def table(name: str) -> str:
    """The nearest configuration of each trainer for a recipe, as a Markdown table."""
    rows = (_row(dialect, name) for dialect in DIALECTS)
    return "\n".join(["| trainer | keys | what differs |", "|---|---|---|", *rows])


def _row(dialect: str, name: str) -> str:
    target = DIALECTS[dialect]
    found = nearest(target, RECIPES[name])
    keys = "<br>".join(_code(f"{key}={value!r}") for key, value in found.config.items()) or "its defaults"
    lost = "<br>".join(
        f"{part}: {_code(theirs)} for {_code(ours)}" for part, (ours, theirs) in found.lost.items()
    )
    return f"| {target.version} | {keys} | {lost or 'nothing'} |"


def _code(text: object) -> str:
    return f"<code>{escape(str(text)).replace('|', '&#124;')}</code>"
