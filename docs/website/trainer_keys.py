"""The keys that make each trainer compute a recipe, and the parts that still differ.

The search for the nearest configurations takes minutes, so its results are stored in `nearest_keys.json`.
`make nearest-keys` renews the file, and tests/site/test_recipe_pages.py recomputes a sample.
"""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from grpo_ref.explain.commands.convert import WRITTEN
from grpo_ref.explain.conversion import Conversion, nearest
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.phrases import SPOKEN_WITH, sentences
from grpo_ref.recipes import CATALOG
from website.same_numbers import is_same

STORED = Path(__file__).with_name("nearest_keys.json")
BUDGET = 20480
"""DAPO's generation budget in tokens. The buffer of its overlong penalty is 0.2 of it, 4096 tokens."""
FIRST = ("trl", "verl", "openrlhf")
"""The trainers that a recipe's page shows first."""


SAID = {"trl": ("loss_type", "beta"), "unsloth": ("loss_type", "beta")}
"""Keys that a recipe's page always shows, because earlier releases have other defaults."""


class Difference(NamedTuple):
    """A part for which a trainer computes other numbers than a recipe, in the words of both."""

    part: str
    requested: str
    actual: str


class Nearest(NamedTuple):
    """The nearest configuration of a trainer: its keys, and the parts that still differ."""

    config: dict[str, Any]
    differences: tuple[Difference, ...]


Everywhere = dict[str, Nearest]
"""Name of a dialect -> the trainer's nearest configuration."""


def title(dialect: Dialect) -> str:
    """Return a trainer's name without its version.

    >>> title(DIALECTS["open_instruct"])
    'Open Instruct'
    """
    return re.split(r" (?=[\da-f.]{5,}\b)", dialect.version)[0]


def nearest_of_all() -> dict[str, Everywhere]:
    """Return the stored configuration of each trainer, for each recipe of `CATALOG`."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    return {
        recipe: {dialect: _read(each) for dialect, each in everywhere.items()}
        for recipe, everywhere in stored.items()
    }


def _read(stored: dict[str, Any]) -> Nearest:
    return Nearest(stored["config"], tuple(Difference(*each) for each in stored["differences"]))


def computed(recipe: str, dialect: str) -> Nearest:
    """Search for the nearest configuration of a trainer, with DAPO's budget of 20480 tokens.

    >>> computed("dr_grpo", "trl")
    Nearest(config={'loss_type': 'dr_grpo', 'scale_rewards': 'none'}, differences=())
    """
    conversion = nearest(DIALECTS[dialect], CATALOG[recipe], max_length=BUDGET)
    return Nearest(conversion.config, tuple(_differences(recipe, DIALECTS[dialect], conversion)))


def _differences(name: str, dialect: Dialect, conversion: Conversion) -> list[Difference]:
    recipe, actual = CATALOG[name], dialect.recipe(**conversion.config)
    requested, ours = (
        sentences(
            each, group_size=None, budget=None, entropy_coef=0.0, unknown={}, words=dialect.objective.phrases
        )
        for each in (recipe, actual)
    )
    differences = []
    for part, texts in conversion.lost.items():
        if not is_same(recipe, actual, part):
            spoken = SPOKEN_WITH.get(part, part)
            phrases = (requested[spoken], ours[spoken])
            differences.append(Difference(part, *(phrases if phrases[0] != phrases[1] else texts)))
    return differences


def code(text: str) -> str:
    """Return code for a cell of a table."""
    return f"`{text}`".replace("|", r"\|")


def keys(each: Nearest) -> str:
    """Return the keys of a configuration, each on its own line of a table cell."""
    return "<br>".join(code(f"{key}={value!r}") for key, value in each.config.items()) or "the defaults"


def differing(each: Nearest) -> list[str]:
    """Return the parts that differ."""
    return [difference.part for difference in each.differences]


CORE = {"level", "surrogate", "advantage", "corrections", "distill"}
"""Parts without which a configuration is another algorithm, so that its keys would mislead."""


def in_trainers(conversions: Everywhere) -> str:
    """Return the section of a recipe's page with each trainer's keys.

    The trainers of `FIRST` come first, unless a part of `CORE` differs. The others are folded: those that
    compute the recipe with their keys, then a table with the parts for which the rest differs.
    """
    first = [name for name in FIRST if not CORE & set(differing(conversions[name]))]
    shown = "\n\n".join(_block(name, conversions[name]) for name in first)
    others = {name: each for name, each in conversions.items() if name not in first}
    exact = {name: each for name, each in others.items() if not each.differences}
    folded = []
    if exact:
        names = ", ".join(title(DIALECTS[name]) for name in exact)
        blocks = "\n\n".join(_block(name, each) for name, each in exact.items())
        folded.append(f"::::{{dropdown}} Keys for {names}\n{blocks}\n::::")
    if different := {name: each for name, each in others.items() if each.differences}:
        count = _count(len(different), others=bool(shown or exact))
        folded.append(f"::::{{dropdown}} {count}: what differs\n{_table(different)}\n::::")
    return "\n\n".join([shown or NOWHERE, *folded])


NOWHERE = "TRL, verl and OpenRLHF cannot express this recipe."


def _count(number: int, *, others: bool) -> str:
    return f"{number} {'other ' * others}trainer{'s' * (number != 1)}"


def _block(name: str, each: Nearest) -> str:
    dialect = DIALECTS[name]
    head = f"**[{title(dialect)}](../trainers/{name}.md)**{dialect.version.removeprefix(title(dialect))}"
    said = {key: dialect.keys.defaults[key] for key in SAID.get(name, ())}
    block = f"```text\n{_notation(dialect, said | each.config)}\n```"
    return "\n\n".join([head, block, *map(_sentence, each.differences)])


def _notation(dialect: Dialect, config: dict[str, Any]) -> str:
    """Return the keys as `grpo-ref convert --format line` writes them, without the command."""
    if not config:
        return "# the defaults"
    _, *arguments = WRITTEN["line"](dialect, config).split(" \\\n")
    return "\n".join(argument.strip() for argument in arguments)


def _sentence(difference: Difference) -> str:
    return (
        f"Not expressed: {difference.requested or difference.part}."
        f" The trainer has {difference.actual or 'nothing of the kind'}."
    )


def _table(conversions: Everywhere) -> str:
    rows = (
        f"| [{title(DIALECTS[name])}](../trainers/{name}.md) | {_cell(each)} |"
        for name, each in conversions.items()
    )
    return "\n".join(["| trainer | what differs |", "|---|---|", *rows])


def _cell(each: Nearest) -> str:
    return "<br>".join(map(_difference, each.differences)).replace("|", r"\|")


def _difference(difference: Difference) -> str:
    part, requested, actual = difference
    if requested and actual:
        return f"{actual} instead of {requested}"
    return f"extra: {actual}" if actual else f"missing: {requested or part}"


def main() -> None:
    """Write the file: one line for each pair of a recipe and a trainer."""
    recipes = []
    for recipe in CATALOG:
        lines = (f'    "{name}": {json.dumps(computed(recipe, name)._asdict())}' for name in DIALECTS)
        recipes.append(f'  "{recipe}": {{\n' + ",\n".join(lines) + "\n  }")
    STORED.write_text("{\n" + ",\n".join(recipes) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
