"""A pytest plugin: the fixture `check_loss` compares your loss with a recipe's or a trainer's.

pytest loads the plugin if grpo_ref is installed. In a test:

    def test_loss(check_loss):
        check_loss(loss, "dapo")
        check_loss(loss, dialect="trl", config={"loss_type": "dapo"}, framework="torch")
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from grpo_ref.recipes import Recipe


@pytest.fixture
def check_loss() -> Callable[..., None]:
    """Return the function `assert_loss`."""
    return assert_loss


def assert_loss(
    loss: Callable[..., Any],
    recipe: "str | Recipe | None" = None,
    *,
    dialect: str | None = None,
    config: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Raise an AssertionError that describes the difference, unless a loss is a recipe's or a trainer's.

    Args:
      loss: your function; `grpo_ref.check` describes its parameters and what it may return.
      recipe: a recipe or its name, such as "dapo".
      dialect: trainer to compare with instead, such as "trl" or "verl".
      config: configuration keys of the trainer. Missing keys have the trainer's defaults. A constant
        denominator is read from these keys.
      options: as in `grpo_ref.check.assert_matches`: framework, dtype, nan_in_padding, max_length, ...

    Raises:
      AssertionError: with the first difference, the mistake, and the smallest batch that shows it.
      ValueError: unless exactly one of recipe and dialect is given, or if one is unknown.

    >>> import numpy as np
    >>> def mine(logps, advantages, mask):
    ...     return -np.where(mask > 0, advantages[:, None] * logps, 0.0).sum() / len(mask)
    >>> assert_loss(mine, "reinforce", batches=20)
    """
    # pytest imports this module in every project of an environment where grpo_ref is installed. So NumPy and
    # the trainers are imported by the first test that uses them.
    from grpo_ref.check import assert_matches
    from grpo_ref.explain.dialects import DIALECTS
    from grpo_ref.recipes import RECIPES, Recipe

    if (dialect is None) == (recipe is None):
        raise ValueError("name what to compare with: either recipe=... or dialect=...")
    if dialect is None:
        chosen = recipe if isinstance(recipe, Recipe) else _listed("recipe", RECIPES, recipe)
    else:
        trainer, settings = _listed("dialect", DIALECTS, dialect), dict(config or {})
        chosen = trainer.recipe(**settings)
        if "max_length" in chosen.aggregate.reads:
            options = {"max_length": next(iter(trainer.budget(settings).values()), None)} | options
    assert_matches(loss, chosen, **options)


def _listed(kind: str, known: Mapping[str, Any], name: Any) -> Any:
    """Look up a name, or raise a ValueError that lists the known names."""
    if name not in known:
        raise ValueError(f"{kind}: expected one of {', '.join(known)}, got {name!r}")
    return known[name]
