"""Sort the keys of a real file: those that matter, those that do not, and those that are unknown."""

import difflib
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import (
    BONUS,
    COMPLETIONS,
    Dialect,
    NoneOfThese,
    NotExpressed,
    compares_in_groups,
    learns_alone,
)
from grpo_ref.explain.launch.values import Unknown
from grpo_ref.explain.unknown_keys import OTHER_FAMILY, OTHER_LOSS, is_off, touched
from grpo_ref.recipes import Recipe

SLIP = 2
"""Number of letters by which a key may differ from a known one to count as a typo; at most one letter in six."""
NOT_FOUND = "not found"
TRIED = (0.5, 2.0, 3, True, False)
"""Values that are tried for an unknown one, to find the parts of the objective that depend on it."""


class Unsure(NamedTuple):
    """A key whose effect on the objective is unknown.

    Attributes:
      key: the key as it was given.
      value: the value as written, and the reason why it is unknown: only the run knows it, or only a fork.
      parts: the parts of the recipe that depend on the key; or "bonus", or the number of completions.
      unless: parts that hold unless a missing file changes them: the launch itself sets some of their keys.
    """

    key: str
    value: Unknown
    parts: tuple[str, ...]
    unless: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The key with its value as written; or the file that was not found."""
        return (
            f"{self.key} {NOT_FOUND}" if self.value.text == NOT_FOUND else f"{self.key} = {self.value.text}"
        )


class Understood(NamedTuple):
    """The keys of a file, sorted.

    Attributes:
      config: keys that the trainer reads for its objective, with known values.
      unsure: keys whose value or effect is unknown.
      without_effect: known keys that do not affect the objective.
      strangers: keys that this trainer does not have, each with the nearest one that it has, or "".
    """

    config: dict[str, Any]
    unsure: list[Unsure]
    without_effect: dict[str, Any]
    strangers: dict[str, str]


def understood(
    dialect: Dialect,
    keys: Mapping[str, Any],
    *,
    strict: bool = True,
    forked: bool = False,
    added: Container[str] = (),
) -> Understood:
    """Sort the keys of a file.

    Args:
      dialect: dialect of the trainer.
      keys: dotted keys with their values.
      strict: if true, a key that looks like a typo in one that matters is an error.
      forked: if true, a key or value that the trainer does not have may belong to a fork, and the parts that
        it may change are unknown. If false, the trainer's check refuses such a value.
      added: keys that are added to the configuration with a "+". If such a key looks like a typo, it is
        ignored.

    Raises:
      ValueError: for a typo, or a value that the trainer would refuse.

    >>> from grpo_ref.explain.dialects import DIALECTS
    >>> found = understood(DIALECTS["trl"], {"beta": 0.04, "bf16": True, "my_reward": "math"})
    >>> found.config, found.without_effect, found.strangers
    ({'beta': 0.04}, {'bf16': True}, {'my_reward': ''})
    """
    config: dict[str, Any] = {}
    without: dict[str, Any] = {}
    strangers: dict[str, str] = {}
    holes: dict[str, Unknown] = {}
    replaced: list[Unsure] = []
    for given, stated in keys.items():
        key, value = _positive(dialect, given, stated)
        name = dialect.key(key)
        if name is None:
            strangers[key] = _nearest(dialect, key)
        elif name not in dialect.keys.defaults and name not in dialect.keys.inexpressible:
            without[key] = value
        elif isinstance(value, Unknown):
            holes[key] = value
        elif forked and name in dialect.keys.inexpressible and _replaces(dialect, name, value):
            replaced.append(
                Unsure(
                    key,
                    Unknown(str(value), _reason(dialect, name)),
                    dialect.keys.inexpressible[name].replaces,
                )
            )
        else:
            config[key] = _without_holes(key, value)
    if forked:
        holes |= _given_twice(dialect, config)
    slips = [
        f"{key!r} (did you mean {near!r}?)"
        for key, near in strangers.items()
        if key not in added and _is_slip(dialect, key, near)
    ]
    has_plugin = bool({*dialect.program.plugins} & {dialect.key(key) for key in keys})
    if slips and strict and not has_plugin:
        raise ValueError(f"{dialect.name} has no key {', '.join(slips)}")
    others = _values_of_forks(dialect, config, strict) if forked else {}
    unsure = [Unsure(key, value, _depending(dialect, config, key)) for key, value in holes.items()]
    unsure += [
        Unsure(key, value, _depending(dialect, config, key, known)) for key, (value, known) in others.items()
    ]
    unsure += replaced
    if forked:
        unsure += _keys_of_forks(dialect, {key: keys[key] for key in strangers}, config)
    return Understood(config, unsure, without, strangers)


def _given_twice(dialect: Dialect, config: dict[str, Any]) -> dict[str, Unknown]:
    """Remove settings that two names give different values from the configuration, and return them as unknown.

    A fork may use both names: Search-R1 samples `rollout.n_agent` completions and leaves `rollout.n` at 1.
    """
    names: dict[str, list[str]] = {}
    for key in dialect.read(config):
        names.setdefault(str(dialect.key(key)), []).append(key)
    unknown = {}
    for keys in names.values():
        values = [config[key] for key in keys]
        if any(value != values[0] for value in values):
            why = f"{' and '.join(keys)} are names of one setting, with different values"
            unknown[keys[0]] = Unknown(" or ".join(map(str, values)), why)
            for key in keys:
                del config[key]
    return unknown


def _replaces(dialect: Dialect, name: str, value: Any) -> bool:
    """Return true if a value replaces parts of the objective by something that only the run knows."""
    key = dialect.keys.inexpressible[name]
    return bool(key.replaces) and value != key.neutral


def _reason(dialect: Dialect, name: str) -> str:
    """Return the reason why a key cannot be expressed, as the end of a sentence."""
    sentence = dialect.keys.inexpressible[name].effect
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"


def _values_of_forks(
    dialect: Dialect, config: dict[str, Any], strict: bool
) -> dict[str, tuple[Unknown, tuple[Any, ...]]]:
    """Remove the values that the trainer does not have from the configuration. Return them, each with its known ones.

    Raises:
      ValueError: for a value that looks like a typo, or is an estimator of another family.
    """
    found: dict[str, tuple[Unknown, tuple[Any, ...]]] = {}
    while (error := _not_had(dialect, config)) is not None:
        given = [
            key for key, value in config.items() if (dialect.key(key), value) == (error.name, error.value)
        ]
        value = str(error.value)
        near = difflib.get_close_matches(value, map(str, error.known), n=1, cutoff=0.8)
        is_slip = any(_is_nearly(value, each) for each in near)
        is_another = error.name in dialect.keys.choices and OTHER_FAMILY.search(value)
        if not given or is_another or (is_slip and strict):
            raise error
        why = f"{dialect.version} has no such value; a fork may have it"
        if isinstance(error, NotExpressed):
            why = f"no recipe here can express it, {error.why}"
        found[given[0]] = Unknown(str(config.pop(given[0])), why), tuple(error.known)
    return found


def _not_had(dialect: Dialect, config: Mapping[str, Any]) -> NoneOfThese | None:
    """Return the trainer's error for the first value that it does not have; None if there is no such value."""
    try:
        dialect.recipe(**config)
    except NoneOfThese as error:
        return error
    except ValueError:
        return None
    return None


def _keys_of_forks(
    dialect: Dialect, strangers: Mapping[str, Any], config: Mapping[str, Any]
) -> Iterator[Unsure]:
    """Yield the keys that the trainer does not have and whose names concern the objective.

    Raises:
      ValueError: for a key whose name indicates another loss.
    """
    why = f"{dialect.version} has no such key; a fork may have it"
    for key, value in strangers.items():
        if OTHER_LOSS.search(key.lower().replace(".", " ")) and not is_off(value):
            raise ValueError(
                f"{key} = {value}: {dialect.version} has no such key. Its name indicates a fork with another loss,"
                " which is not of this family."
            )
        parts = touched(key, value, dict(strangers))
        if parts and not _is_said(dialect, config, parts, value):
            yield Unsure(key, value if isinstance(value, Unknown) else Unknown(str(value), why), parts)


def doubts_of_groups(dialect: Dialect, found: Understood, program: str, *, is_sure: bool) -> Iterator[Unsure]:
    """Yield what is unknown about a file's groups: their size, or the baseline in a group of one.

    Args:
      dialect: dialect of the trainer.
      found: its keys, sorted.
      program: the program that is started, if it is not the trainer's. It may have its own default.
      is_sure: true if the trainer's own program reads the keys.
    """
    name, size = dialect.keys.concepts.get(COMPLETIONS, ""), dialect.concept(COMPLETIONS, found.config)
    is_given = name in map(dialect.key, [*found.config, *(each.key for each in found.unsure)])
    is_said = is_given or any(COMPLETIONS in each.parts for each in found.unsure)
    recipe, key = dialect.recipe(**found.config), dialect.path(name)
    if is_given and not is_sure and size == 1 and not learns_alone(recipe):
        reader = program or "the program that reads it"
        why = f"in a group of one there is nothing to compare with, and {reader} has its advantages in another way"
        yield Unsure(key, Unknown("1", why), ("advantage",))
    elif not is_said and compares_in_groups(recipe):
        yield from _size_of_a_fork(dialect, found)
        if program:
            why = f"it is not given, and {program} may have a default of its own; that of {dialect.version} is {size}"
            yield Unsure(key, Unknown("?", why), (COMPLETIONS,))
        elif size == 1:
            why = f"it is not given, and the default of {dialect.version}, 1, would leave nothing to compare"
            yield Unsure(key, Unknown("?", why), (COMPLETIONS,))


def doubts_of_program(dialect: Dialect, program: str) -> Iterator[Unsure]:
    """Yield the doubt about a program that reads the trainer's keys and may have another loss.

    Args:
      dialect: dialect of the trainer.
      program: the program that is started, if it is not the trainer's; else "".
    """
    if any(re.fullmatch(pattern, program) for pattern in dialect.program.relatives):
        why = f"it is a custom script with the keys of {dialect.title}, and may have a loss and advantages of its own"
        yield Unsure("program", Unknown(program, why), ("advantage", "surrogate", "level", "aggregate"))


def _size_of_a_fork(dialect: Dialect, found: Understood) -> Iterator[Unsure]:
    """Yield keys named like a group size, in sections that the trainer does not read for its objective."""
    why = f"{dialect.version} does not read it; a fork may"
    for key, value in found.without_effect.items():
        if touched(key, value, found.without_effect) == (COMPLETIONS,):
            yield Unsure(key, Unknown(str(value), why), (COMPLETIONS,))


PARTS = (
    *(
        "surrogate",
        "level",
        "log_ratio_limits",
        "corrections",
        "advantage",
        "aggregate",
        "kl_coef",
        "penalty",
    ),
    *("penalty_aggregate", "distill", "reward", "keep", "admit"),
)
"""The parts of a recipe that keys may change, in the order of the sentence."""
NAMES = {
    "surrogate": "the surrogate",
    "advantage": "the advantage",
    "aggregate": "the average",
    "penalty": "the KL penalty",
    "kl_coef": "the weight of the KL penalty",
    "penalty_aggregate": "the average of the KL penalty",
    "corrections": "the corrections",
    "level": "the level of the ratio",
    "keep": "the filter of groups",
    "admit": "the filter of completions",
    "reward": "the reward",
    "bonus": "the entropy bonus",
    "addition": "the whole loss",
    COMPLETIONS: "the group size",
}
"""The parts of the objective as a reader calls them."""


def unsettled(dialect: Dialect, config: Mapping[str, Any], missing: Sequence[str]) -> set[str]:
    """Return the keys that a missing file may set: all that are not given, if a file is missing."""
    given = {dialect.key(key) for key in config}
    in_files = {name for name, key in dialect.keys.table.items() if not key.behaviour and not key.of_command}
    return in_files - given if missing else set()


def unread(dialect: Dialect, config: Mapping[str, Any], missing: Sequence[str]) -> list[Unsure]:
    """Return the parts that are unknown because files are missing: all that some key in such a file could change.

    Args:
      dialect: dialect of the trainer.
      config: the given keys.
      missing: the files that were not found.
    """
    keys = unsettled(dialect, config, missing)
    if not keys:
        return []
    parts = {part for key in keys for part in changing_parts(dialect, config, key)}
    parts |= {"kl_coef"} & {"kl_coef" for part in parts if part.startswith("penalty")}
    parts |= {name for name in (COMPLETIONS, BONUS) if dialect.keys.concepts.get(name) in keys}
    ordered = tuple(
        "bonus" if part == BONUS else part for part in (*PARTS, COMPLETIONS, BONUS) if part in parts
    )
    given = {part for key in config for part in changing_parts(dialect, config, key)}
    given |= {"penalty", "penalty_aggregate"} if "kl_coef" in given else set()
    given |= {"level"} if "surrogate" in given else set()
    unknown = tuple(part for part in ordered if part not in given)
    unless = tuple(part for part in ordered if part in given)
    why = Unknown(NOT_FOUND, "that file was not found")
    return [Unsure(path, why, unknown, unless) for path in missing]


def changing_parts(dialect: Dialect, config: Mapping[str, Any], key: str) -> set[str]:
    """Return the parts of the recipe that change for some value of a key. Unlike `_depending`, it runs no loss."""

    def build(**more: Any) -> Recipe | None:
        try:
            return dialect.objective.build(dialect.settings({**config, **more}))
        except (ValueError, TypeError, ZeroDivisionError, AttributeError):
            return None

    before = build()
    if before is None:
        return set()
    name = str(dialect.key(key) or key)
    default = dialect.keys.defaults.get(name)
    tried = [
        *dialect.keys.choices.get(name, ()),
        *TRIED,
        *([not default] if isinstance(default, bool) else []),
    ]
    recipes = [recipe for value in tried if (recipe := build(**{key: value})) is not None]
    return {part for recipe in recipes for part in before.differences(recipe)}


def refuse_if_nothing_is_left(dialect: Dialect, found: Understood) -> None:
    """Raise a ValueError if every number that a file gives for the objective is known only to the run.

    Args:
      dialect: dialect of the trainer.
      found: its keys, sorted.
    """
    size = dialect.keys.concepts.get(COMPLETIONS)
    holes = [each for each in found.unsure if each.key not in found.strangers]
    decide = [each for each in holes if each.parts or dialect.key(each.key) == size]
    if len(decide) < 2 or size not in [dialect.key(each.key) for each in decide]:
        return
    numbers = [key for key, value in found.config.items() if type(value) in (int, float)]
    if not any(_depending(dialect, found.config, key) for key in numbers):
        told = ", ".join(f"{each.key} = {each.value.text}" for each in decide)
        raise ValueError(
            f"{dialect.name}: every number of the objective is known only when it runs ({told})."
            " Explain the file or command that sets them."
        )


def _positive(dialect: Dialect, key: str, value: Any) -> tuple[str, Any]:
    """Return the key without the "no_" that parsers of flags put before keys that are on by default."""
    inner = key.removeprefix("no_")
    is_negated = inner != key and value is True and dialect.key(key) is None
    return (
        (inner, False) if is_negated and isinstance(dialect.keys.defaults.get(inner), bool) else (key, value)
    )


def _is_said(dialect: Dialect, config: Mapping[str, Any], parts: tuple[str, ...], value: Any) -> bool:
    """Return true if the trainer has the same number for the same part.

    This happens if a program passes its own key on to the trainer.
    """
    if parts == (COMPLETIONS,):
        return bool(value == dialect.concept(COMPLETIONS, config))
    same = [key for key, other in config.items() if other == value and isinstance(value, float)]
    return any(set(parts) & set(_depending(dialect, config, key)) for key in same)


def _nearest(dialect: Dialect, key: str) -> str:
    known = [name for name in dialect.keys.names if name not in dialect.keys.behaviours]
    return next(iter(difflib.get_close_matches(key.split(".")[-1], known, n=1, cutoff=0.75)), "")


def _is_slip(dialect: Dialect, key: str, near: str) -> bool:
    """Return true if a key is almost equal to a key that matters."""
    name = dialect.keys.names.get(near, near)
    matters = name in dialect.keys.defaults or name in dialect.keys.inexpressible
    return matters and _is_nearly(key.split(".")[-1], near.split(".")[-1])


def _is_nearly(given: str, meant: str) -> bool:
    """Return true if the words differ by a few letters.

    >>> _is_nearly("token-meen", "token-mean"), _is_nearly("token-sum", "token-mean")
    (True, False)
    """
    same = sum(block.size for block in difflib.SequenceMatcher(None, given, meant).get_matching_blocks())
    others = max(len(given), len(meant)) - same
    return 0 < others <= min(SLIP, max(1, len(meant) // 6))


def _without_holes(key: str, value: Any) -> Any:
    """Return the value, or `Unknown` if a part of it is unknown."""
    if isinstance(value, list) and any(isinstance(item, Unknown) for item in value):
        raise ValueError(f"{key}: a part of {[str(item) for item in value]} is unknown")
    return value


def _depending(
    dialect: Dialect, config: Mapping[str, Any], key: str, known: Sequence[Any] = ()
) -> tuple[str, ...]:
    """Return the parts of the recipe that change for some value of the key. The known values are tried, too."""
    name = str(dialect.key(key))
    tried = [*dialect.keys.choices.get(name, ()), *known, *TRIED]
    recipes = [recipe for value in tried if (recipe := _recipe(dialect, {**config, key: value})) is not None]
    before = _recipe(dialect, config)
    parts = [part for recipe in recipes if before is not None for part in before.differences(recipe)]
    return tuple(dict.fromkeys(parts))


def _recipe(dialect: Dialect, config: Mapping[str, Any]) -> Recipe | None:
    try:
        return dialect.recipe(**config)
    except ValueError:
        return None
