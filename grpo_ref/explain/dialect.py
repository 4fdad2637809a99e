"""Define a dialect: a trainer's keys, their defaults, and the function that turns them into a recipe."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.explain.phrases import Phrase
from grpo_ref.explain.trap import Trap
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

COMPLETIONS = "completions per prompt"
PASSES = "passes over a batch"
BONUS = "weight of the entropy bonus"
DIVISOR = "length that is divided by"
CONCEPTS = {
    COMPLETIONS: "This is the number of completions per prompt. It decides what an advantage is compared with.",
    PASSES: "This is how often each batch is used. From the second time on there are ratios to clip.",
    BONUS: "The entropy of the policy, times this number, is added to what is maximized.",
    DIVISOR: "This is the length in tokens that a constant denominator divides by, `max_length` elsewhere here.",
}
"""Settings that have different keys in each trainer and are not part of a recipe, with a sentence on their effect."""
NO_CLIP_LOW = math.nextafter(1.0, 0.0)
"""Replacement for a lower clip width of 1 or more, which trainers accept. No ratio reaches this bound."""
COUNTS = (COMPLETIONS, PASSES)
"""Concepts that are counts of at least 1."""


class Version(NamedTuple):
    """The differences of another version of a trainer from the version that its dialect describes.

    Attributes:
      title: name and version for display, "TRL 0.14.0".
      defaults: defaults that differ. A key that the version lacks has the value that it behaves as.
      absent: keys that the version lacks.
      aliases: other names of keys in this version.
      others: keys that only this version has and that do not affect the objective.
      mean: the set over which it averages, if that differs.
      foreign: as in `Dialect`.
    """

    title: str
    defaults: Mapping[str, Any] = MappingProxyType({})
    absent: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = MappingProxyType({})
    others: frozenset[str] = frozenset()
    mean: str = ""
    foreign: frozenset[str] = frozenset()


def _nowhere_said(settings: SimpleNamespace) -> str:
    return ""


def _nothing_stops(settings: SimpleNamespace) -> None:
    """Refuse no configuration. This is the default of `Dialect.stops`."""


@dataclass(frozen=True)
class Dialect:
    """One trainer's configuration format, and the objective that each configuration means.

    All knowledge about a trainer is here, so that explaining and converting work for any trainer.

    | attribute  | contents                                                                                     |
    |------------|----------------------------------------------------------------------------------------------|
    | `name`     | Name of the trainer in `grpo-ref explain NAME`, and of its folder.                           |
    | `version`  | Version or commit that the defaults and the behaviour were read from.                        |
    | `build`    | Function from all settings to the recipe.                                                    |
    | `defaults` | Each key that changes the objective, with the trainer's default.                             |
    | `stops`    | Function from all settings that raises a ValueError if a run would stop for a reason that    |
    |            | leaves the objective unchanged: batches that cannot be split, missing GPUs.                  |
    | `choices`  | Values of each key that has only a few. `convert` tries them all.                            |
    | `others`   | Keys that exist and do not affect the objective.                                             |
    | `beyond`   | Each key that no recipe here can express: the only value at which it does nothing, and a     |
    |            | sentence on its effect at other values.                                                      |
    | `replaced` | Those keys of `beyond` that replace a part by something that only the run knows, such as a   |
    |            | custom function, each with the parts that it replaces. The other parts are still explained.  |
    | `aliases`  | Each old or longer name of a key, with the key.                                              |
    | `derived`  | Each key that the trainer computes from another key, with that key. The trainer refuses both |
    |            | together, but the log of a run holds both.                                                   |
    | `groups`   | Names of groups that keys may be given in. If empty, a key inside a group is unknown.        |
    | `ignored`  | Names of groups whose keys do not affect the objective.                                      |
    | `places`   | Each key that counts only inside one group, with the dotted path of that group.              |
    | `always`   | Keys that `convert` must write out, because the trainer's own default differs.               |
    | `concepts` | Each setting of `CONCEPTS` that the trainer has, with its key.                               |
    | `former`   | Each key with values that were renamed, with their old and new names.                        |
    | `switches` | Each key that does nothing unless another key is true, with that key.                        |
    | `about`    | Each key whose effect no part of a recipe shows, with a sentence on its effect.              |
    | `traps`    | Configurations that differ from what their author is likely to think.                        |
    | `variants` | Pairs of a key and a value, each with the defaults that change with it.                      |
    | `forms`    | Each kernel of the trainer's own, with the common kernel that it is related to.              |
    | `starts`   | Patterns of commands that start the trainer: `-m module`, a script's path, or two words.     |
    | `by_start` | Commands that start it with other defaults, each with these defaults. Given keys override    |
    |            | them.                                                                                        |
    | `started`  | The command that starts it, and "flags" or "overrides" for the arguments that it takes.      |
    | `homes`    | Full paths of keys outside `places`, as in the trainer's files; "" is the group of all       |
    |            | others. Hydra needs a + before keys that the trainer's own files do not have.                |
    | `files`    | Names of the trainer's own configuration files, each with the keys that differ from the      |
    |            | defaults.                                                                                    |
    | `package`  | Name under which the trainer is installed and imported.                                      |
    | `module`   | Name under which it is imported, if that differs.                                            |
    | `made`     | Its configuration classes, as patterns of their full names, each with the keys that the      |
    |            | class sets.                                                                                  |
    | `sections` | Each group that is read only if a key has a value, with that key and value.                  |
    | `signs`    | Keys of which at least one must be present before keys alone identify the trainer.           |
    | `tells`    | Keys that no other trainer has. One of them, with one more key that matters, identifies it.  |
    | `parent`   | Name of the trainer whose keys it has all adopted.                                           |
    | `needed`   | Keys without which the trainer optimizes an objective of another family, with that family.   |
    | `words`    | Phrases for its own kernels in a sentence, see `grpo_ref.explain.phrases`.                     |
    | `mean`     | Function from all settings to the set over which the trainer averages: "each micro-batch of  |
    |            | each rank".                                                                                  |
    | `forks`    | A sentence on known differences of forks that keep the trainer's name.                       |
    | `versions` | Other versions by number, each with its differences.                                         |
    | `clues`    | Keys that identify a version if nothing else does, each with that version.                   |
    | `absent`   | Keys that always have the value in `defaults` and cannot be given: keys of a newer version,  |
    |            | and behaviour without a key that other versions did differently.                             |
    | `foreign`  | Names that only other versions have for its keys. They are understood, but a file that has   |
    |            | one is written for another version.                                                          |

    A key with a dot in its name, such as "rollout.n", counts only in that group, which may be an ignored
    group.
    """

    name: str
    version: str
    build: Callable[[SimpleNamespace], Recipe]
    defaults: Mapping[str, Any]
    stops: Callable[[SimpleNamespace], None] = _nothing_stops
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    beyond: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)
    always: tuple[str, ...] = ()
    concepts: Mapping[str, str] = field(default_factory=dict)
    former: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    switches: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    traps: tuple[Trap, ...] = ()
    variants: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    forms: Mapping[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict)
    starts: tuple[str, ...] = ()
    by_start: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    started: tuple[str, str] = ("", "overrides")
    homes: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    package: str = ""
    module: str = ""
    made: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sections: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    signs: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    parent: str = ""
    needed: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[Callable[..., Any], Phrase] = field(default_factory=dict)
    mean: Callable[[SimpleNamespace], str] = _nowhere_said
    forks: str = ""
    versions: Mapping[str, Version] = field(default_factory=dict)
    clues: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()

    def recipe(self, **config: Any) -> Recipe:
        """Return the recipe that the trainer computes with this configuration.

        Raises:
          ValueError: if keys are unknown, or if the trainer would refuse a value.
        """
        settings = self.settings(config)
        try:
            recipe = self.build(settings)
            self.stops(settings)
            _try_out(recipe)
        except (TypeError, ZeroDivisionError, AttributeError) as error:
            raise ValueError(
                f"{self.name}: {self._suspects(flat(config))} has the wrong type: {error}"
            ) from error
        return recipe

    def lenient(self) -> "Dialect":
        """Return a copy of the dialect that accepts configurations which would stop a run for unrelated reasons."""
        return replace(self, stops=_nothing_stops)

    def settings(self, config: Mapping[str, Any]) -> SimpleNamespace:
        """Return all settings: the defaults, changed by the configuration. The configuration may be nested.

        Raises:
          ValueError: if keys are unknown (all are named), a value has the wrong type, a count is below 1, or
            no recipe here can express a value.
        """
        given = {}
        if unknown := self.unknown(config):
            raise ValueError(f"{self.name} has no key {', '.join(unknown)}")
        for key, value in self.read(config).items():
            name = str(self.key(key))
            if name in self.defaults:
                was_named = isinstance(value, (str, bool))
                names = {**self.former.get(name, {}), **self.former.get(key, {})}
                meant = names.get(value, value) if was_named else value
                given[name] = _same_kind(key, meant, self.defaults[name])
                self._check_size(key, name, meant)
            elif name in self.beyond and value != self.beyond[name][0]:
                raise ValueError(
                    f"{self.name}: {key} = {value!r} cannot be expressed here. {self.beyond[name][1]}"
                )
        return SimpleNamespace(**{**self.defaults_beside(given), **given})

    def at(self, version: str) -> "Dialect":
        """Return the dialect of another version: the newest described one that is not newer than it.

        Args:
          version: a number such as "0.14.0", or a name in `versions`; "" is the version described here.

        Raises:
          ValueError: if the version is older than all described ones, or is neither a number nor a name.
        """
        if not version or version in self.version.split():
            return self
        name = version if version in self.versions else self._not_newer(version)
        if not name:
            return self
        other = self.versions[name]
        return replace(
            self,
            version=f"{other.title.rpartition(' ')[0]} {version}" if numbered(version) else other.title,
            mean=(lambda settings: other.mean) if other.mean else self.mean,
            defaults={**self.defaults, **other.defaults},
            aliases={**self.aliases, **other.aliases},
            others=self.others | other.others,
            absent=other.absent,
            foreign=other.foreign,
            traps=tuple(
                trap
                for trap in self.traps
                if not other.absent & {self.key(key) for key in (*trap.example, *trap.near)}
            ),
            versions={},
        )

    def fitting(self, keys: Iterable[str]) -> list["Dialect"]:
        """Return the versions that have all of these keys, the oldest first and this version last.

        Keys that no version has are ignored.

        Args:
          keys: keys as in a configuration.
        """
        described = [self.at(name) for name in sorted(filter(numbered, self.versions), key=numbered)]
        every = [*described, self]
        known = [key for key in keys if any(each._has(key) for each in every)]
        return [each for each in every if all(each._has(key) for key in known)]

    def _has(self, key: str) -> bool:
        """Return true if this version has the key under this name."""
        return self.key(key) is not None and key not in self.foreign

    def _not_newer(self, version: str) -> str:
        """Return the newest described version that is not newer than this one; "" if that is the dialect's own."""
        ours = next((word for word in self.version.split() if numbered(word)), "")
        described = sorted((parts, name) for name in [*self.versions, ours] if (parts := numbered(name)))
        fitting = [name for parts, name in described if parts <= numbered(version)]
        if not numbered(version) or not fitting:
            known = ", ".join([*self.versions, ours])
            raise ValueError(
                f"{self.name}: version {version!r} is not described here; expected one of {known}"
            )
        return "" if fitting[-1] == ours else fitting[-1]

    def defaults_beside(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults of all keys, including the defaults that change with a value in this configuration."""
        chosen = [others for (key, value), others in self.variants.items() if config.get(key) == value]
        return {**self.defaults, **{name: value for others in chosen for name, value in others.items()}}

    def given(self, config: Mapping[str, Any]) -> set[str]:
        """Return the keys that a configuration gives, by the names used and by those in the defaults."""
        return {str(self.key(key)) for key in self.read(config)} | set(flat(config))

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of a configuration, dotted, without the sections that are not read."""
        keys = flat(config)
        values = {str(self.key(key)): value for key, value in keys.items()}
        unread = {
            section
            for section, (name, value) in self.sections.items()
            if values.get(name, self.defaults[name]) != value
        }
        return {key: value for key, value in keys.items() if key.split(".")[0] not in unread}

    def concept(self, name: str, config: Mapping[str, Any], default: Any = None) -> Any:
        """Return the value in effect of the key for a concept; the default if the trainer has no such key."""
        key, settings = self.concepts.get(name, ""), vars(self.settings(config))
        is_off = key in self.switches and not settings[self.switches[key]]
        if is_off:
            return 0.0 if name == BONUS else self.defaults[key]
        return settings.get(key, default)

    def _suspects(self, config: Mapping[str, Any]) -> str:
        """Name the keys whose value has another type than the default, and whose type could not be checked."""
        defaults = {key: self.defaults.get(str(self.key(key))) for key in config}
        strange = [
            f"{key} = {value!r}" for key, value in config.items() if type(value) is not type(defaults[key])
        ]
        return ", ".join(strange) or "a value"

    def _check_size(self, key: str, name: str, value: Any) -> None:
        """Raise a ValueError for a count below 1, or a divisor that is not positive."""
        if not isinstance(value, (int, float)):
            return
        if value < 1 and name in {self.concepts.get(concept) for concept in COUNTS}:
            raise ValueError(f"{key}: expected at least 1, got {value!r}")
        if value <= 0 and name == self.concepts.get(DIVISOR):
            raise ValueError(f"{key}: expected a number > 0, got {value!r}")

    def budget(self, config: Mapping[str, Any]) -> dict[str, int]:
        """Return the key of the length in a constant denominator, with its value; empty for the padded length."""
        key = self.concepts.get(DIVISOR, "")
        value = getattr(self.settings(config), key, None)
        return {} if value is None else {key: value}

    def unknown(self, config: Mapping[str, Any]) -> list[str]:
        """Return the keys that the trainer does not have, each with the nearest key that it has."""
        names = [*self.defaults, *self.aliases, *self.others, *self.beyond]
        known = [name for name in names if name not in self.absent]
        told = []
        for key in flat(config):
            if self.key(key) is None:
                close = difflib.get_close_matches(key.split(".")[-1], known, n=1, cutoff=0.75)
                told.append(f"{key!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
        return told

    def path(self, name: str) -> str:
        """Return the full path of a key, as in the trainer's files and on its command line.

        Args:
          name: name of the key in the defaults.
        """
        if name in self.homes:
            return self.homes[name]
        place = self.places.get(name, self.homes.get("", "") if "." not in name else "")
        inner = name.rsplit(".", 1)[-1] if place.endswith(name.rpartition(".")[0]) else name
        return f"{place}.{inner}" if place else name

    def key(self, key: str) -> str | None:
        """Return the name that a key has in the defaults, for any groups or alias; None if it is unknown."""
        *groups, short = key.split(".")
        is_ignored = bool(self.ignored & set(groups))
        for begin in range(len(groups) + 1):
            given = ".".join([*groups[begin:], short])
            name = self.aliases.get(given, given)
            known = name in self.defaults or name in self.others or name in self.beyond
            if (
                known
                and name not in self.absent
                and ("." in given or not is_ignored)
                and self._stands_right(name, groups)
            ):
                return name
        return key if is_ignored else None

    def _stands_right(self, name: str, groups: list[str]) -> bool:
        """Return true if a key may be given in these groups.

        A key with a fixed place must be given with the last groups of the path to that place.
        """
        if name in self.places and groups:
            return f".{self.places[name]}".endswith(f".{'.'.join(groups)}")
        return set(groups) - self.ignored <= self.groups


@cache
def numbered(version: str) -> tuple[int, ...]:
    """Return the parts of a version number, (0, 14, 1) for "0.14.1"; empty for a name."""
    return tuple(map(int, version.split("."))) if re.fullmatch(r"\d+(\.\d+)+", version) else ()


def _same_kind(key: str, value: Any, default: Any) -> Any:
    """Check the type of a value against the default: a number for a number, a truth value for a truth value.

    A number may be None, for "not set", or text. Two numbers may be a window, as in "0.5_5.0" or "1e-1_1e1".
    """
    kinds = {bool: "True or False", int: "a number", float: "a number", list: "a list"}
    expected = kinds.get(type(default), "")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    window = isinstance(value, str) and all(_is_number(part) for part in value.split("_"))
    fits = {"a number": number or value is None or window, "": True}.get(
        expected, isinstance(value, type(default))
    )
    if not fits:
        raise ValueError(f"{key}: expected {expected}, got {value!r}")
    return value


def _is_number(text: str) -> bool:
    """Return true if Python can read the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def learns_alone(recipe: Recipe) -> bool:
    """Return true if a completion can have an advantage in a group of size 1.

    >>> from grpo_ref import GRPO, REINFORCE
    >>> learns_alone(GRPO), learns_alone(REINFORCE)
    (False, True)
    """
    with np.errstate(all="ignore"):
        return bool(np.any(np.nan_to_num(recipe.advantage(_record(np.array([[1.0], [0.0]]))))))


def compares_in_groups(recipe: Recipe) -> bool:
    """Return true if advantages depend on which completions belong to one prompt.

    >>> from grpo_ref import GRPO, REINFORCE
    >>> compares_in_groups(GRPO), compares_in_groups(REINFORCE)
    (True, False)
    """
    with np.errstate(all="ignore"):
        together, apart = (
            np.ravel(recipe.advantage(_record(np.array([[1.0, 0.0]]).reshape(shape))))
            for shape in ((1, 2), (2, 1))
        )
    return not np.array_equal(together, apart, equal_nan=True)


def _record(rewards: Array) -> SimpleNamespace:
    """Return the arrays that advantages are computed from, with one token in each completion."""
    tokens = rewards[..., None]
    ones = np.ones_like(tokens)
    return SimpleNamespace(
        rewards=rewards,
        components=tokens,
        weights=np.ones(1),
        mask=ones,
        lengths=np.ones_like(rewards),
        old_log_probs=-ones,
        rollout_log_probs=-ones,
        ref_log_probs=-ones,
    )


def _try_out(recipe: Recipe) -> None:
    """Pass one token through every part, so that a setting out of range raises an error here."""
    ones = np.ones((1, 1, 1))
    fields = ("entropies", "noise")
    tops = ("top_log_probs", "top_old_log_probs")
    others: dict[str, Any] = {name: ones for name in fields} | {name: -ones[..., None] for name in tops}
    with np.errstate(all="ignore"):
        recipe.advantage(_record(np.ones((2, 2))))
        policy_loss(-ones, ones, ones, recipe=recipe, ref_log_probs=-ones, max_length=1, **others)


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten nested groups into dotted keys.

    >>> flat({"actor": {"clip_ratio_low": 0.2}, "n": 8})
    {'actor.clip_ratio_low': 0.2, 'n': 8}
    """
    keys: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{prefix}{key}"
        keys |= flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return keys


class NoneOfThese(ValueError):
    """Raised for a value that a trainer does not know. A fork of the trainer may know it.

    Args:
      name: name of the key.
      value: the value that was given.
      known: the values that the trainer knows.
    """

    def __init__(self, name: str, value: Any, known: Iterable[Any]) -> None:
        super().__init__(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
        self.name, self.value, self.known = name, value, tuple(known)


class NotExpressed(NoneOfThese):
    """Raised for a value that no recipe here can express. It concerns one part; the others can be explained.

    Args:
      name: name of the key.
      value: the value that was given.
      why: the reason, as a part of a sentence.
    """

    def __init__(self, name: str, value: Any, why: str) -> None:
        ValueError.__init__(self, f"{name}: {value} cannot be expressed here, {why}")
        self.name, self.value, self.known, self.why = name, value, (), why


def one_of(name: str, value: Any, known: Mapping[Any, Any]) -> Any:
    """Return an entry of a table, or raise a `NoneOfThese` that names the key and its possible values."""
    if value not in known:
        raise NoneOfThese(name, value, known)
    return known[value]
