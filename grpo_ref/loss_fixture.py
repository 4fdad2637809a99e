"""A pytest fixture: `check_loss` compares a loss of yours with a trainer's or a recipe's.

In `conftest.py`:

    pytest_plugins = ["grpo_ref.loss_fixture"]

In a test:

    def test_loss(check_loss):
        check_loss(loss, dialect="trl", config={"loss_type": "dapo"}, framework="torch")
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from grpo_ref.check import assert_matches
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.recipes import RECIPES, Recipe


@pytest.fixture
def check_loss() -> Callable[..., None]:
    """The function `assert_loss`, for tests."""
    return assert_loss


def assert_loss(
    loss: Callable[..., Any],
    *,
    dialect: str | None = None,
    config: Mapping[str, Any] | None = None,
    recipe: str | Recipe | None = None,
    **options: Any,
) -> None:
    """Raise an AssertionError that says what is different, unless a loss is a trainer's or a recipe's.

    Args:
      loss: your function; see `grpo_ref.check`.
      dialect: the trainer, such as "trl" or "verl".
      config: its keys; those left out have the trainer's defaults. The budget of a constant denominator is
        taken from here.
      recipe: a recipe or its name, in place of a trainer.
      options: as in `grpo_ref.check.assert_matches`: framework, dtype, nan_in_padding, max_length, ...

    Raises:
      AssertionError: with the first difference, the mistake, and the smallest batch that shows it.
      ValueError: unless exactly one of dialect and recipe is given, or if one is unknown.

    >>> import numpy as np
    >>> def mine(logps, advantages, mask):
    ...     return -np.where(mask > 0, advantages[:, None] * logps, 0.0).sum() / len(mask)
    >>> assert_loss(mine, recipe="reinforce", batches=20)
    """
    if (dialect is None) == (recipe is None):
        raise ValueError("name what to compare with: either dialect=... or recipe=...")
    if dialect is None:
        chosen = recipe if isinstance(recipe, Recipe) else _listed("recipe", RECIPES, recipe)
    else:
        trainer, settings = _listed("dialect", DIALECTS, dialect), dict(config or {})
        chosen = trainer.recipe(**settings)
        if "max_length" in chosen.aggregate.reads:
            options = {"max_length": next(iter(trainer.budget(settings).values()), None)} | options
    assert_matches(loss, chosen, **options)


def _listed(kind: str, known: Mapping[str, Any], name: Any) -> Any:
    if name not in known:
        raise ValueError(f"{kind}: expected one of {', '.join(known)}, got {name!r}")
    return known[name]
