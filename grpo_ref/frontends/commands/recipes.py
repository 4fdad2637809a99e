"""`grpo-ref recipes`: the table of algorithms by their differences."""

import click
from rich import box
from rich.console import Console
from rich.table import Table

from grpo_ref.frontends.cli import Name
from grpo_ref.recipes import GRPO, RECIPES, Recipe

BASE = "grpo"


@click.command("recipes", epilog="Example:  grpo-ref recipes dapo")
@click.argument("name", type=Name("recipe", RECIPES), required=False)
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def command(name: str | None, markdown: bool) -> None:
    """List the algorithms by their differences from GRPO, or show every part of one of them."""
    if name is not None:
        click.echo(RECIPES[name])
    elif markdown:
        click.echo(as_markdown())
    else:
        Console().print(_as_table())


def as_markdown() -> str:
    """The table as Markdown."""
    rows = [
        f"| `{name}` | {_difference(name, recipe)} | {recipe.source} |" for name, recipe in RECIPES.items()
    ]
    return "\n".join(["| recipe | what it is | source |", "|---|---|---|", *rows])


def _as_table() -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("recipe", style="bold", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    table.add_column("source", overflow="fold")
    for name, recipe in RECIPES.items():
        table.add_row(name, _difference(name, recipe).replace("`", ""), recipe.source)
    return table


def _difference(name: str, recipe: Recipe) -> str:
    if name == BASE:
        parts = {part: text for part, text in recipe.parts().items() if part != "source"}
        return ", ".join(f"{part} = `{text}`" for part, text in parts.items())
    changes = ", ".join(f"{part} = `{text}`" for part, text in recipe.differences(GRPO).items())
    return f"{BASE}, but {changes}"
