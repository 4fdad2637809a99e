"""Read the clauses of claims that make several assertions from `clauses.toml`."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from grpo_ref.lab.framework.experiment import Clause


def clauses_of(name: str) -> tuple[Clause, ...]:
    """Return the clauses of a claim; nothing if the claim makes one assertion.

    >>> clauses_of("entropy_law")[4].text, clauses_of("two_grpo")
    ('It predicts the ceiling to within 0.03.', ())
    """
    return tuple(Clause(each["clause"], tuple(each["decided_by"])) for each in _read().get(name, ()))


@cache
def _read() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads((files("grpo_ref.lab") / "clauses.toml").read_text(encoding="utf-8"))
