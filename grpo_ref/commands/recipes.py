"""`grpo-ref recipes`: list the algorithms by their differences from GRPO."""

from collections.abc import Iterator, Mapping

import click

import grpo_ref
from grpo_ref.render.choices import Name
from grpo_ref.render.output import columns, plain_option

BASE = "grpo"
HEADING = "Textbook forms, which papers and trainers do not compute"
"""Heading of the recipes that come last."""


@click.command("recipes", epilog="Example:  grpo-ref recipes dapo")
@click.argument("name", type=Name("recipe", lambda: grpo_ref.RECIPES), required=False)
@click.option("--markdown", is_flag=True, help="Print the tables as Markdown.")
@plain_option
def command(name: str | None, markdown: bool, plain: bool) -> None:
    """List the algorithms by their differences from GRPO, or show every part of one of them."""
    if name is not None:
        parts = grpo_ref.RECIPES[name].parts().items()
        lines = [f"{part}: {text}." for part, text in parts] if plain else [str(grpo_ref.RECIPES[name])]
        click.echo("\n".join(lines))
    elif markdown:
        click.echo(as_markdown())
    elif plain:
        click.echo(_as_lines())
    else:
        click.echo(_as_list(), nl=False)


def as_markdown() -> str:
    """Return the algorithms as a table in Markdown, and the textbook forms as another one below it."""
    tables = [
        [f"| `{name}` | {_difference(name, recipe)} | {recipe.source} |" for name, recipe in recipes.items()]
        for recipes in (grpo_ref.recipes.CATALOG, grpo_ref.recipes.TEXTBOOK_FORMS)
    ]
    head = ["| recipe | what it is | source |", "|---|---|---|"]
    return "\n".join([*head, *tables[0], "", f"## {HEADING}", "", *head, *tables[1]])


def _as_lines() -> str:
    """Return the algorithms as text without columns, with the textbook forms below their heading."""
    catalog, textbook = (
        [f"{name}: {text}." for name, text in _descriptions(recipes)]
        for recipes in (grpo_ref.recipes.CATALOG, grpo_ref.recipes.TEXTBOOK_FORMS)
    )
    return "\n".join([*catalog, f"{HEADING}:", *textbook])


def _as_list() -> str:
    """Return the list of the algorithms, as wide as the terminal, with the textbook forms at the end."""
    formatter = click.HelpFormatter(width=columns())
    formatter.write_dl(list(_descriptions(grpo_ref.recipes.CATALOG)))
    with formatter.section(HEADING):
        formatter.write_dl(list(_descriptions(grpo_ref.recipes.TEXTBOOK_FORMS)))
    return formatter.getvalue()


def _descriptions(recipes: Mapping[str, "grpo_ref.Recipe"]) -> Iterator[tuple[str, str]]:
    """Generate each name with its differences from GRPO and its source."""
    for name, recipe in recipes.items():
        yield name, f"{_difference(name, recipe).replace('`', '')}. {recipe.source}"


def _difference(name: str, recipe: "grpo_ref.Recipe") -> str:
    if name == BASE:
        parts = {part: text for part, text in recipe.parts().items() if part != "source"}
        return ", ".join(f"{part} = `{text}`" for part, text in parts.items())
    changes = ", ".join(f"{part} = `{text}`" for part, text in recipe.differences(grpo_ref.GRPO).items())
    return f"{BASE}, but {changes}"
