"""How each trainer says a recipe: the keys to set, and what it computes otherwise."""

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
    lost = "<br>".join(_loss(part, *texts) for part, texts in found.lost.items())
    return f"| {target.version} | {keys} | {lost or 'nothing'} |"


def _loss(part: str, ours: str, theirs: str) -> str:
    return f"{part}: {_code(theirs)} instead of {_code(ours)}"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|")
