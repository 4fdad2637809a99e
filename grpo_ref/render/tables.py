"""Tables in the terminal, or row by row in sentences where plain text was asked for."""

from typing import Any

from rich.console import Console
from rich.table import Table

from grpo_ref.render.output import is_plain


def new_console(**settings: Any) -> Console:
    """A console for standard output, which writes no color where plain text was asked for."""
    return Console(color_system=None if is_plain() else "auto", **settings)


def print_table(console: Console, table: Table) -> None:
    """Print a table; plainly, each row is a line in which every cell has the name of its column before it."""
    if not is_plain():
        console.print(table)
        return
    if table.title:
        console.print(f"{table.title}.", markup=False, soft_wrap=True)
    names = [str(column.header) for column in table.columns]
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        told = [f"{name}: {cell}" if name else str(cell) for name, cell in zip(names, cells, strict=True)]
        line = "; ".join(" ".join(cell.split()) for cell in told).removesuffix(".")
        console.print(f"{line}.", markup=False, soft_wrap=True)
