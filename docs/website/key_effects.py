"""What each key of a trainer sets, found by turning it: which parts of the recipe change, and which settings.

A key may count in some configurations only, so it is turned in many: with each choice of the others, and in
the configurations of the traps and of the recorded cases.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from grpo_ref.explain import trainers
from grpo_ref.explain.dialect import Dialect, flat
from grpo_ref.explain.replay import read
from grpo_ref.recipes import Recipe, Slot

Config = dict[str, Any]
PARTS = tuple(field.name for field in fields(Recipe) if field.name != "source")
NUMBERS = (0.37, 3.7)
"""What a number is turned to: one is below 1 and one above, for keys that mean something else there."""
A_LITTLE = 1.01
"""By how much a number is turned further, to see the settings that follow it."""
REFUSED = (ValueError, TypeError, ZeroDivisionError)
"""What `Dialect.build` raises for a configuration that the trainer would refuse."""


class Change(NamedTuple):
    """One part of a recipe that a key changes.

    Attributes:
      part: its name.
      now: the kernel with its settings that stands there now, or the number.
      settings: the names of the kernel's settings that changed; all of them for another kernel.
    """

    part: str
    now: Any
    settings: tuple[str, ...]


class Effect(NamedTuple):
    """What one value of a key changes.

    Attributes:
      value: of the key.
      beside: the other keys that it was tried with.
      changes: part by part.
    """

    value: Any
    beside: Config
    changes: tuple[Change, ...]


def effects_of_choices(dialect: Dialect, key: str) -> list[Effect]:
    """What each value of a key with a few of them changes, with as few other keys as it needs.

    >>> from grpo_ref.explain.dialects import DIALECTS
    >>> [found] = effects_of_choices(DIALECTS["open_instruct"], "loss_fn")
    >>> found.value, found.changes[0].part
    ('cispo', 'surrogate')
    """
    default = dialect.defaults[key]
    others = [value for value in values_of(dialect, key) if value != default]
    tried = (_turned(dialect, key, (default, value)) for value in others)
    return [effect for found in tried for effect in found[:1]]


def effects_of_number(dialect: Dialect, key: str) -> list[Effect]:
    """What a number decides, in every configuration in which it counts.

    >>> from grpo_ref.explain.dialects import DIALECTS
    >>> found = effects_of_number(DIALECTS["trl"], "sapo_temperature_pos")
    >>> found[0].beside, found[0].changes[0].settings
    ({'loss_type': 'sapo'}, ('tau_positive',))
    """
    numbers = [(number, A_LITTLE * number) for number in NUMBERS]
    pairs = [([number, number], [A_LITTLE * number, A_LITTLE * number]) for number in NUMBERS]
    return [effect for values in (*numbers, *pairs) for effect in _turned(dialect, key, values)]


def has_choices(dialect: Dialect, key: str) -> bool:
    """Whether a key has only a few values."""
    return isinstance(dialect.defaults[key], bool) or (
        key in dialect.choices and not isinstance(dialect.defaults[key], float)
    )


def values_of(dialect: Dialect, key: str) -> tuple[Any, ...]:
    """The values of a key that has only a few."""
    return (True, False) if isinstance(dialect.defaults[key], bool) else dialect.choices.get(key, ())


def _turned(dialect: Dialect, key: str, values: tuple[Any, Any]) -> list[Effect]:
    """Every configuration in which the step from one value to the other changes something."""
    found = []
    for context in contexts(dialect):
        beside = {name: value for name, value in context.items() if dialect.key(name) != key}
        changed = _changes(dialect, *({**beside, key: value} for value in values))
        found += [Effect(values[1], beside, changed)] * bool(changed)
    return found


def contexts(dialect: Dialect) -> list[Config]:
    """Configurations in which a key may count: the shortest first, and those that nobody would write last."""
    choices = [{key: value} for key in dialect.defaults for value in values_of(dialect, key)]
    numbers = [key for key in dialect.defaults if key not in dialect.choices]
    unset = [{key: None} for key in numbers if isinstance(dialect.defaults[key], float)]
    made_up = [{key: NUMBERS[-1]} for key in numbers if dialect.defaults[key] is None]
    told = [config for trap in dialect.traps for config in (trap.example, trap.near)]
    cases = [case["config"] for case in recorded(dialect)]
    return sorted([{}, *choices, *unset, *map(flat, (*told, *cases))], key=len) + made_up


def recorded(dialect: Dialect) -> list[dict[str, Any]]:
    """The recorded cases of a trainer."""
    file = Path(trainers.__file__).parent / dialect.name / "recorded.json"
    return read(file)[1] if file.is_file() else []


def _changes(dialect: Dialect, before: Config, after: Config) -> tuple[Change, ...]:
    try:
        old, new = (dialect.build(dialect.settings(config)) for config in (before, after))
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
    """The kernels of a part with their settings; none of a number."""
    parts = part if isinstance(part, tuple) else (part,)
    return [each if isinstance(each, Slot) else Slot(each) for each in parts if callable(each)]
