"""What a dialect is: a trainer's keys, their defaults, and how they become a recipe."""

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
from grpo_ref.explain.trap import Trap
from grpo_ref.explain.words import Words
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
"""What trainers say in different words and no recipe holds -> what a key of that meaning does."""
NO_CLIP_LOW = math.nextafter(1.0, 0.0)
"""What a width of 1 or more is below the ratio 1, which trainers accept: a bound that no ratio reaches."""
FLOAT32 = 2.0**-22
"""What a few roundings in float32 are, as a share of the terms: four times the half of its last digit."""
COUNTS = (COMPLETIONS, PASSES)
"""Concepts of which there is at least one."""

Call = Callable[["Dialect", Mapping[str, Any], SimpleNamespace], dict[str, Any]]
"""What a recorded case may hold: the dialect, a configuration and the arrays that it is given -> numbers by name."""


class Measured(NamedTuple):
    """What a metric of a trainer is computed from.

    Attributes:
      settings: every key with its value.
      recipe: what the trainer computes with them.
      record: the (P, G, ...) arrays that the call was given.
      numbers: what the call gave; after "loss", the metrics of `policy_loss` are there as "metrics".
    """

    settings: SimpleNamespace
    recipe: Recipe
    record: SimpleNamespace
    numbers: Mapping[str, Any]


class Rounded(NamedTuple):
    """A metric that its trainer adds up in float32, whatever the loss is computed in.

    Attributes:
      value: the metric.
      size: of its terms. They may cancel; what float32 rounds off is a share of this, not of the value.
    """

    value: Any
    size: Any


Metric = Callable[[Measured], Any]
"""What a trainer logs under some name: one number, or `Rounded`; None where it logs none of this part of a step."""


def counted(*names: str) -> Metric:
    """The metric that is the sum of these metrics of `policy_loss`."""
    return lambda measured: sum(measured.numbers["metrics"][name] for name in names)


class Version(NamedTuple):
    """What is different in another version of a trainer than the one that its dialect describes.

    Attributes:
      title: as it is shown, "TRL 0.14.0".
      defaults: of its keys, where they are others; and of keys that it does not have, what it does.
      absent: the keys that it does not have.
      aliases: names that keys had in it.
      others: keys that only it has, and that do not touch the objective.
      mean: over what it averages, where that is another.
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
    """No configuration of which there is an objective is refused."""


@dataclass(frozen=True)
class Dialect:
    """One trainer's way to say which objective it optimizes.

    Everything that is known of a trainer stands here, so that explaining, converting and replaying need not
    know which trainer it is.

    | attribute  | what it holds                                                                                |
    |------------|----------------------------------------------------------------------------------------------|
    | `name`     | The name as in `grpo-ref explain NAME`; the trainer's folder has the same.                   |
    | `version`  | What the defaults and the behaviour were read from.                                          |
    | `build`    | A function from all settings to the recipe.                                                  |
    | `defaults` | Each key that changes the objective, with the trainer's default.                             |
    | `stops`    | A function from all settings that raises a ValueError for what stops a run and leaves the    |
    |            | objective as it is: batches that cannot be cut, GPUs that are not there.                     |
    | `choices`  | The values of each key that has only a few; `convert` tries them all.                        |
    | `others`   | The keys that exist and do not touch the objective.                                          |
    | `beyond`   | Each key that no recipe here can express: the one value at which it does nothing, and a      |
    |            | sentence on what it does at any other.                                                       |
    | `replaced` | Those of `beyond` in whose place something stands that only the run knows, as a function of    |
    |            | one's own, each with the parts of the recipe that it takes the place of: the others are told. |
    | `aliases`  | Each old or longer name of a key, with the key.                                              |
    | `derived`  | Each key that the trainer works out from another one and refuses together with it, with that  |
    |            | one. What a run logs holds both.                                                              |
    | `groups`   | The names of groups that keys may be given in; without any, a grouped key is unknown.        |
    | `ignored`  | The names of groups of which no key touches the objective.                                   |
    | `places`   | Each key that counts in one group alone, with the dotted path of that group.                 |
    | `always`   | The keys that `convert` has to spell out, as the default of the trainer itself is another.   |
    | `concepts` | The keys for what no recipe holds: one of `CONCEPTS`, with the trainer's key for it.         |
    | `former`   | Each key whose values had other names before, with these and what they are now;             |
    | `switches` | Each key that does nothing unless another key is true, with that key.                        |
    | `about`    | Each key whose effect no part of a recipe shows, with a sentence on what it does.            |
    | `traps`    | The configurations that do something else than their author is likely to think.              |
    | `variants` | A key with one of its values, as a pair -> the defaults that are others with it.              |
    | `forms`    | Each kernel of the trainer's own, with the common kernel that it is a form of.               |
    | `metrics`  | Each metric that the trainer logs, with the function that computes it.                       |
    | `calls`    | What only this trainer's recorded cases hold, by name, beside `grpo_ref.explain.calls`.     |
    | `starts`   | Patterns of what starts the trainer: `-m module`, a script's path, or two words.             |
    | `by_start` | What starts it with other defaults, each with these; given keys go before them.              |
    | `started`  | How it is started: a command, and whether it takes "flags" or "overrides".                   |
    | `homes`    | The full paths of keys that stand in no `places`, as its files have them; "" is the group of |
    |            | all others. Hydra wants a + before those that its own files do not have.                     |
    | `files`    | Names of the configuration files of its own, each with the keys in which it is other than    |
    |            | the defaults.                                                                                |
    | `package`  | The name under which it is installed and imported.                                           |
    | `module`   | The name under which it is imported, where that is another one.                              |
    | `made`     | Its configuration classes, as patterns of their full names, each with the keys that making   |
    |            | it sets.                                                                                     |
    | `sections` | Each group that is read only where a key has a value, with that key and value.               |
    | `signs`    | Keys of which one has to be there, for keys alone to tell that they are the trainer's.       |
    | `tells`    | Keys that no other trainer has: one of them with another key that matters tells it.          |
    | `parent`   | The name of the trainer all of whose keys it has as well.                                    |
    | `needed`   | Keys without which the trainer does something of another family, and what it does then.      |
    | `words`    | What its own kernels are called in a sentence, see `grpo_ref.explain.words`.                |
    | `mean`     | From all settings, over what the trainer averages: "each micro-batch of each rank".          |
    | `forks`    | What its forks that keep its name are known to compute otherwise, a sentence.                |
    | `versions` | Other versions by number, each with what is different in it.                                 |
    | `clues`    | Keys that tell a version where nothing else does: each with that version.                    |
    | `absent`   | Keys that count with their value in `defaults` and cannot be given: those of a newer version, |
    |            | and of this one what no key says and other versions did otherwise.                           |
    | `foreign`  | Names that only other versions have for its keys. They are understood; a file that has one   |
    |            | is of another version.                                                                       |

    A key with a dot in its name, as in "rollout.n", counts in that group alone; it may be one of an ignored
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
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    calls: Mapping[str, Call] = field(default_factory=dict)
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
    words: Mapping[Callable[..., Any], Words] = field(default_factory=dict)
    mean: Callable[[SimpleNamespace], str] = _nowhere_said
    forks: str = ""
    versions: Mapping[str, Version] = field(default_factory=dict)
    clues: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()

    def recipe(self, **config: Any) -> Recipe:
        """The recipe that the trainer computes with this configuration.

        Raises:
          ValueError: if keys are unknown, or a value is one that the trainer would refuse.
        """
        settings = self.settings(config)
        try:
            recipe = self.build(settings)
            self.stops(settings)
            _try_out(recipe)
        except (TypeError, ZeroDivisionError, AttributeError) as error:
            raise ValueError(
                f"{self.name}: {self._suspects(flat(config))} is of the wrong kind: {error}"
            ) from error
        return recipe

    def lenient(self) -> "Dialect":
        """The dialect that refuses no configuration for what stops a run and leaves the objective as it is."""
        return replace(self, stops=_nothing_stops)

    def settings(self, config: Mapping[str, Any]) -> SimpleNamespace:
        """The defaults, changed where the configuration says otherwise; nested groups may be given as such.

        Raises:
          ValueError: if keys are unknown, all of them named, or a value is of the wrong kind, or a count is
            below 1, or a value means what no recipe here can express.
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
        """The dialect of another version: the newest one described that is not newer than it.

        Args:
          version: a number such as "0.14.0", or a name in `versions`; "" is the version described here.

        Raises:
          ValueError: if it is older than all that are described, or neither a number nor a name.
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
        """The versions that have all of these keys which any version has, the oldest first and this one last.

        Args:
          keys: as a configuration gives them.
        """
        described = [self.at(name) for name in sorted(filter(numbered, self.versions), key=numbered)]
        every = [*described, self]
        known = [key for key in keys if any(each._has(key) for each in every)]
        return [each for each in every if all(each._has(key) for key in known)]

    def _has(self, key: str) -> bool:
        """Whether this version has the key under this name."""
        return self.key(key) is not None and key not in self.foreign

    def _not_newer(self, version: str) -> str:
        """The newest of the versions that are not newer than this one; "" if that is the one described."""
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
        """The defaults of all keys, with those that a value in this configuration makes others."""
        chosen = [others for (key, value), others in self.variants.items() if config.get(key) == value]
        return {**self.defaults, **{name: value for others in chosen for name, value in others.items()}}

    def given(self, config: Mapping[str, Any]) -> set[str]:
        """The keys that a configuration spells out, by the names it gives them and by those in the defaults."""
        return {str(self.key(key)) for key in self.read(config)} | set(flat(config))

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a configuration, dotted, without those of sections that are not read."""
        keys = flat(config)
        values = {str(self.key(key)): value for key, value in keys.items()}
        unread = {
            section
            for section, (name, value) in self.sections.items()
            if values.get(name, self.defaults[name]) != value
        }
        return {key: value for key, value in keys.items() if key.split(".")[0] not in unread}

    def concept(self, name: str, config: Mapping[str, Any], default: Any = None) -> Any:
        """The value of the key for a concept, as it counts; the default where the trainer has no such key."""
        key, settings = self.concepts.get(name, ""), vars(self.settings(config))
        is_off = key in self.switches and not settings[self.switches[key]]
        if is_off:
            return 0.0 if name == BONUS else self.defaults[key]
        return settings.get(key, default)

    def _suspects(self, config: Mapping[str, Any]) -> str:
        """The keys whose value is of another kind than the default, so that its kind could not be told."""
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
        """The key of the length that a constant denominator is, with its value; empty if it is the padded one."""
        key = self.concepts.get(DIVISOR, "")
        value = getattr(self.settings(config), key, None)
        return {} if value is None else {key: value}

    def unknown(self, config: Mapping[str, Any]) -> list[str]:
        """The keys that the trainer does not have, each with the nearest one that it has."""
        names = [*self.defaults, *self.aliases, *self.others, *self.beyond]
        known = [name for name in names if name not in self.absent]
        told = []
        for key in flat(config):
            if self.key(key) is None:
                close = difflib.get_close_matches(key.split(".")[-1], known, n=1, cutoff=0.75)
                told.append(f"{key!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
        return told

    def path(self, name: str) -> str:
        """The full path of a key, as the trainer's own files and its command line have it.

        Args:
          name: as in the defaults.
        """
        if name in self.homes:
            return self.homes[name]
        place = self.places.get(name, self.homes.get("", "") if "." not in name else "")
        inner = name.rsplit(".", 1)[-1] if place.endswith(name.rpartition(".")[0]) else name
        return f"{place}.{inner}" if place else name

    def key(self, key: str) -> str | None:
        """The key by its name in the defaults, whatever groups or alias it was given with; None if unknown."""
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
        """Whether a key may be given in these groups: the last ones of the path to its place, if it has one."""
        if name in self.places and groups:
            return f".{self.places[name]}".endswith(f".{'.'.join(groups)}")
        return set(groups) - self.ignored <= self.groups


@cache
def numbered(version: str) -> tuple[int, ...]:
    """The parts of a version's number, "0.14.1" as (0, 14, 1); empty for a name."""
    return tuple(map(int, version.split("."))) if re.fullmatch(r"\d+(\.\d+)+", version) else ()


def _same_kind(key: str, value: Any, default: Any) -> Any:
    """The value, if it is a number where the default is one, and a truth value where that is.

    Numbers may be None, for "not set", or text, and two of them may be a window, as in "0.5_5.0" or "1e-1_1e1".
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
    """Whether Python reads a number in it."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def learns_alone(recipe: Recipe) -> bool:
    """Whether a completion has an advantage in a group of its own.

    >>> from grpo_ref import GRPO, REINFORCE
    >>> learns_alone(GRPO), learns_alone(REINFORCE)
    (False, True)
    """
    with np.errstate(all="ignore"):
        return bool(np.any(np.nan_to_num(recipe.advantage(_record(np.array([[1.0], [0.0]]))))))


def compares_in_groups(recipe: Recipe) -> bool:
    """Whether it matters which completions are of one prompt.

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
    """What advantages are made of, with one token in each completion."""
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
    """One token through every part, so that a setting out of range is noticed here."""
    ones = np.ones((1, 1, 1))
    fields = ("entropies", "noise")
    tops = ("top_log_probs", "top_old_log_probs")
    others: dict[str, Any] = {name: ones for name in fields} | {name: -ones[..., None] for name in tops}
    with np.errstate(all="ignore"):
        recipe.advantage(_record(np.ones((2, 2))))
        policy_loss(-ones, ones, ones, recipe=recipe, ref_log_probs=-ones, max_length=1, **others)


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested groups as dotted keys.

    >>> flat({"actor": {"clip_ratio_low": 0.2}, "n": 8})
    {'actor.clip_ratio_low': 0.2, 'n': 8}
    """
    keys: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{prefix}{key}"
        keys |= flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return keys


class NoneOfThese(ValueError):
    """A value that a trainer does not know, which a fork of it may.

    Args:
      name: of the key.
      value: that it was given.
      known: the values that the trainer knows.
    """

    def __init__(self, name: str, value: Any, known: Iterable[Any]) -> None:
        super().__init__(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
        self.name, self.value, self.known = name, value, tuple(known)


class NotExpressed(NoneOfThese):
    """A value that a trainer has and no recipe here can express, of one part alone: the others can be told.

    Args:
      name: of the key.
      value: that it was given.
      why: no recipe can express it, a part of a sentence.
    """

    def __init__(self, name: str, value: Any, why: str) -> None:
        ValueError.__init__(self, f"{name}: {value} cannot be expressed here, {why}")
        self.name, self.value, self.known, self.why = name, value, (), why


def one_of(name: str, value: Any, known: Mapping[Any, Any]) -> Any:
    """The entry of a table, or a `NoneOfThese` that names the key and what it may be."""
    if value not in known:
        raise NoneOfThese(name, value, known)
    return known[value]
