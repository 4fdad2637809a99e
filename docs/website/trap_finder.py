"""The traps of the trainers that concern a recipe."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Dialect, flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.trap import Trap, sprung
from website.key_effects import REFUSED, values_of
from website.parts import definitions, own_kernels, parts_of
from website.trainer_keys import Everywhere, differing


class Warned(NamedTuple):
    """A trap of a trainer, and the place of its heading on the trainer's page."""

    dialect: Dialect
    trap: Trap
    anchor: str


def traps_of(name: str, nearest: Everywhere) -> list[Warned]:
    """The traps that concern a recipe.

    These are those that a trainer's configuration of it falls into, and those about a key that decides
    whether the trainer has a kernel of the recipe's own.

    Args:
      name: of the recipe.
      nearest: the nearest configuration of each trainer.
    """
    return [
        Warned(dialect, trap, anchor(dialect, place))
        for dialect in DIALECTS.values()
        for place, trap in enumerate(dialect.traps)
        if trap in _fallen_into(name, dialect, nearest) or _is_about(dialect, trap, name)
    ]


def _is_about(dialect: Dialect, trap: Trap, name: str) -> bool:
    """Whether a trap is about a kernel that a recipe introduced; those of GRPO are in others too."""
    kernels, own = concerned(dialect, flat(trap.example)), own_kernels(name)
    return bool(kernels & own) and (bool(definitions()[name].parent) or kernels <= own)


def anchor(dialect: Dialect, place: int) -> str:
    """Where a trainer's trap stands on its page, by its place in the list."""
    return f"trap-{dialect.name.replace('_', '-')}-{place}"


def _fallen_into(name: str, dialect: Dialect, nearest: Everywhere) -> list[Trap]:
    """What `explain` warns of, where the configuration computes the recipe."""
    found = nearest[dialect.name]
    if differing(name, dialect.name, found):
        return []
    return sprung(dialect.traps, dialect.settings(found.config), dialect.given(found.config))


def concerned(dialect: Dialect, config: Mapping[str, Any]) -> set[str]:
    """The kernels that a configuration has because of one of its keys.

    >>> concerned(DIALECTS["trl"], {"loss_type": "dr_grpo", "epsilon": 0.1})
    {'fixed_length'}
    """
    ours, found = _kernels(dialect, config), set()
    for key, value in config.items():
        for other in _others(dialect, str(dialect.key(key)), value):
            found |= ours - (_kernels(dialect, {**config, key: other}) or ours)
    return found


def _others(dialect: Dialect, key: str, value: Any) -> tuple[Any, ...]:
    """What a value is compared with: the default, or if it is the default, the other values."""
    default = dialect.defaults.get(key, value)
    return values_of(dialect, key) if value == default and key in dialect.defaults else (default,)


def _kernels(dialect: Dialect, config: Mapping[str, Any]) -> set[str]:
    """The kernels of a configuration; none of one that the trainer would refuse."""
    try:
        return {part.kernel.__name__ for part in parts_of(dialect.build(dialect.settings(config)))}
    except REFUSED:
        return set()
