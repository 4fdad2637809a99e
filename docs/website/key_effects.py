"""Find the effect of each key of a trainer by changing it: the parts and settings of the recipe that change.

A key may matter in some configurations only. So it is changed in many: with each value of the other keys, and
in the configurations of the traps and of the recorded cases.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Dialect, flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.parity.replay import RECORDINGS, read
from grpo_ref.recipes import Recipe, Slot

Config = dict[str, Any]
PARTS = tuple(field.name for field in fields(Recipe) if field.name != "source")
NUMBERS = (0.37, 3.7)
"""Values for a number: one below 1 and one above, because some keys change their meaning at 1."""
STEP = 1.01
"""Factor of the second value of a number. The settings that change between the two depend on the number."""
REFUSED = (ValueError, TypeError, ZeroDivisionError)
"""Errors of `Dialect.build` for a configuration that the trainer would refuse."""


class Change(NamedTuple):
    """One part of a recipe that a key changes.

    Attributes:
      part: name of the part.
      now: the new kernel with its settings, or the new number.
      settings: names of the settings that changed; for a new kernel, all of its settings.
    """

    part: str
    now: Any
    settings: tuple[str, ...]


class Effect(NamedTuple):
    """The effect of one value of a key.

    Attributes:
      value: value of the key.
      beside: the other keys of the configuration.
      changes: the changes, one for each part.
    """

    value: Any
    beside: Config
    changes: tuple[Change, ...]


def effects_of_choices(dialect: Dialect, key: str) -> list[Effect]:
    """Return the effect of each value of a key with few values, with as few other keys as possible.

    >>> from grpo_ref.explain.dialects import DIALECTS
    >>> [effect] = effects_of_choices(DIALECTS["open_instruct"], "loss_fn")
    >>> effect.value, effect.changes[0].part
    ('cispo', 'surrogate')
    """
    default = dialect.keys.defaults[key]
    others = [value for value in values_of(dialect, key) if value != default]
    first = (next(_effects(dialect, key, (default, value)), None) for value in others)
    return [effect for effect in first if effect is not None]


def effects_of_number(dialect: Dialect, key: str) -> list[Effect]:
    """Return the effects of a number, in every configuration in which it matters.

    >>> from grpo_ref.explain.dialects import DIALECTS
    >>> effects = effects_of_number(DIALECTS["trl"], "sapo_temperature_pos")
    >>> effects[0].beside, effects[0].changes[0].settings
    ({'loss_type': 'sapo'}, ('tau_positive',))
    """
    numbers = [(number, STEP * number) for number in NUMBERS]
    pairs = [([number, number], [STEP * number, STEP * number]) for number in NUMBERS]
    return [effect for values in (*numbers, *pairs) for effect in _effects(dialect, key, values)]


def has_choices(dialect: Dialect, key: str) -> bool:
    """Return True if a key has only a few values."""
    return isinstance(dialect.keys.defaults[key], bool) or (
        key in dialect.keys.choices and not isinstance(dialect.keys.defaults[key], float)
    )


def values_of(dialect: Dialect, key: str) -> tuple[Any, ...]:
    """Return the values of a key that has only a few; otherwise nothing."""
    return (
        (True, False) if isinstance(dialect.keys.defaults[key], bool) else dialect.keys.choices.get(key, ())
    )


def _effects(dialect: Dialect, key: str, values: tuple[Any, Any]) -> Iterator[Effect]:
    """Yield the effect of the second value, for every configuration in which it differs from the first."""
    for context in contexts(dialect.name):
        beside = {name: value for name, value in context.items() if dialect.key(name) != key}
        if changed := _changes(dialect, *({**beside, key: value} for value in values)):
            yield Effect(values[1], beside, changed)


@cache
def contexts(name: str) -> tuple[Config, ...]:
    """Return configurations in which a key may matter: the shortest first, unrealistic ones last.

    Args:
      name: name of the trainer's dialect.
    """
    dialect = DIALECTS[name]
    choices = [{key: value} for key in dialect.keys.defaults for value in values_of(dialect, key)]
    numbers = [key for key in dialect.keys.defaults if key not in dialect.keys.choices]
    unset = [{key: None} for key in numbers if isinstance(dialect.keys.defaults[key], float)]
    made_up = [{key: NUMBERS[-1]} for key in numbers if dialect.keys.defaults[key] is None]
    of_traps = [config for trap in dialect.traps for config in (trap.example, trap.near)]
    cases = [case["config"] for case in recorded(dialect)]
    configs = sorted([{}, *choices, *unset, *map(flat, (*of_traps, *cases))], key=len) + made_up
    # Many recorded cases share a configuration. A key that the trainer lacks would stop it in any case.
    different = {repr(sorted(each.items())): each for each in configs if not dialect.unknown(each)}
    return tuple(different.values())


def recorded(dialect: Dialect) -> list[dict[str, Any]]:
    """Return the recorded cases of a trainer."""
    file = RECORDINGS / "by_hand" / f"{dialect.name}.json"
    return read(file)[1] if file.is_file() else []


def _changes(dialect: Dialect, before: Config, after: Config) -> tuple[Change, ...]:
    try:
        old, new = (dialect.objective.build(dialect.settings(config)) for config in (before, after))
    except REFUSED:
        return ()
    return tuple(
        change for part in PARTS for change in _of_part(part, getattr(old, part), getattr(new, part))
    )


def _of_part(part: str, old: Any, new: Any) -> Iterator[Change]:
    before, after = _slots(old), _slots(new)
    known = {each.kernel: each.settings for each in before}
    for each in after:
        if each not in before:
            were = known.get(each.kernel, {})
            yield Change(
                part, each, tuple(name for name, value in each.settings.items() if were.get(name) != value)
            )
    if old != new and not after:
        yield Change(part, new, ())


def _slots(part: Any) -> Iterable[Slot]:
    """Return the kernels of a part with their settings; nothing for a number."""
    parts = part if isinstance(part, tuple) else (part,)
    return [each if isinstance(each, Slot) else Slot(each) for each in parts if callable(each)]
