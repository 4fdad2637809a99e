"""Arguments that must be one of several names, with a suggestion after a misspelled name."""

from collections.abc import Callable, Collection, Iterable
from typing import Any

import click

from grpo_ref.listing import listed, nearest


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a sentence that helps after a misspelled name."""
    close = nearest(name, known)
    return f"Did you mean {close!r}?" if close else f"Choose one of: {', '.join(listed(known))}."


class Name(click.ParamType[str]):
    """An argument that must be one of several names. A misspelled name gets a suggestion.

    Args:
      kind: kind of thing that is named, such as "recipe".
      known: function that returns the names. It is called only if the argument is given, so that `--help`
        does not import them.
    """

    def __init__(self, kind: str, known: Callable[[], Collection[str]]) -> None:
        self.name, self.known = kind, known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name itself, or fail with a suggestion."""
        known = self.known()
        if value not in known:
            self.fail(f"no {self.name} is called {value!r}. {suggestion(value, known)}", param, ctx)
        return str(value)
