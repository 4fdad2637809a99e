"""Tables in the terminal, or sentences row by row if plain text was requested."""

from typing import Any

from rich.console import Console
from rich.table import Table

from grpo_ref.render.output import is_plain


def new_console(**settings: Any) -> Console:
    """Return a console for standard output, without color if plain text was requested."""
    return Console(color_system=None if is_plain() else "auto", **settings)


def print_table(console: Console, table: Table) -> None:
    """Print a table. As plain text, each row is a line with the name of its column before each cell."""
    if not is_plain():
        console.print(table)
        return
    if table.title:
        console.print(f"{table.title}.", markup=False, soft_wrap=True)
    names = [str(column.header) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        parts = [f"{name}: {cell}" if name else str(cell) for name, cell in zip(names, cells, strict=True)]
        line = "; ".join(" ".join(cell.split()) for cell in parts).removesuffix(".")
        console.print(f"{line}.", markup=False, soft_wrap=True)
