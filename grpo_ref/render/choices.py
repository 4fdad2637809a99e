"""Arguments that must be one of some names, with a suggestion after a misspelt one."""

from collections.abc import Callable, Iterable
from typing import Any

import click

from grpo_ref.listing import nearest


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence that helps after a misspelt name."""
    close = nearest(name, known)
    return f"Did you mean {close!r}?" if close else f"Choose one of: {', '.join(known)}."


class Name(click.ParamType[str]):
    """An argument that must be one of some names; a misspelt one gets a suggestion.

    Args:
      kind: what it is a name of.
      known: gives the names; it is called when an argument is there, so that `--help` need not import them.
    """

    def __init__(self, kind: str, known: Callable[[], Iterable[str]]) -> None:
        self.name, self.known = kind, known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself, or an error with a suggestion."""
        known = list(self.known())
        if value not in known:
            self.fail(f"no {self.name} is called {value!r}. {suggestion(value, known)}", param, ctx)
        return str(value)
