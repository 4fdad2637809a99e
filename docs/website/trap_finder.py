"""Find the traps of the trainers that concern a recipe."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Dialect, flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.trap import Trap, sprung
from website.key_effects import REFUSED, values_of
from website.parts import definitions, own_kernels, parts_of
from website.trainer_keys import Everywhere, differing


class Warned(NamedTuple):
    """A trap of a trainer, and the anchor of its heading on the trainer's page."""

    dialect: Dialect
    trap: Trap
    anchor: str


def traps_of(name: str, nearest: Everywhere) -> list[Warned]:
    """Return the traps that concern a recipe.

    A trap concerns a recipe if a trainer's configuration of the recipe falls into it, or if it is about a key
    that selects a kernel that the recipe introduced.

    Args:
      name: name of the recipe.
      nearest: nearest configuration of each trainer.
    """
    return [
        Warned(dialect, trap, anchor(dialect, place))
        for dialect in DIALECTS.values()
        for place, trap in enumerate(dialect.traps)
        if trap in _fallen_into(name, dialect, nearest) or _is_about(dialect, trap, name)
    ]


def _is_about(dialect: Dialect, trap: Trap, name: str) -> bool:
    """Return True if a trap is about kernels that a recipe introduced.

    A recipe without a parent shares its kernels with many others, so all kernels of the trap must be its own.
    """
    kernels, own = concerned(dialect, flat(trap.example)), own_kernels(name)
    return bool(kernels & own) and (bool(definitions()[name].parent) or kernels <= own)


def anchor(dialect: Dialect, place: int) -> str:
    """Return the anchor of a trap on the trainer's page, from its index in the list of traps."""
    return f"trap-{dialect.name.replace('_', '-')}-{place}"


def _fallen_into(name: str, dialect: Dialect, nearest: Everywhere) -> list[Trap]:
    """Return the traps of the nearest configuration, if it computes the recipe."""
    conversion = nearest[dialect.name]
    if differing(name, dialect.name, conversion):
        return []
    return sprung(dialect.traps, dialect.settings(conversion.config), dialect.given(conversion.config))


def concerned(dialect: Dialect, config: Mapping[str, Any]) -> set[str]:
    """Return the kernels that a configuration uses because of one of its keys.

    >>> concerned(DIALECTS["trl"], {"loss_type": "dr_grpo", "epsilon": 0.1})
    {'fixed_length'}
    """
    kernels, changed = _kernels(dialect, config), set()
    for key, value in config.items():
        for other in _others(dialect, str(dialect.key(key)), value):
            changed |= kernels - (_kernels(dialect, {**config, key: other}) or kernels)
    return changed


def _others(dialect: Dialect, key: str, value: Any) -> tuple[Any, ...]:
    """Return the default; or if the value is the default, the other values."""
    default = dialect.keys.defaults.get(key, value)
    return values_of(dialect, key) if value == default and key in dialect.keys.defaults else (default,)


def _kernels(dialect: Dialect, config: Mapping[str, Any]) -> set[str]:
    """Return the kernels of a configuration; nothing if the trainer would refuse it."""
    try:
        return {part.kernel.__name__ for part in parts_of(dialect.objective.build(dialect.settings(config)))}
    except REFUSED:
        return set()
