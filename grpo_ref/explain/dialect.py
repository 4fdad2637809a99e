"""Define a dialect: a trainer's keys, their defaults, and the function that turns them into a recipe."""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.explain.phrases import Phrase
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap
from grpo_ref.loss import policy_loss
from grpo_ref.micro_batches import Across
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
UNITS = {
    "budget": "The generation budget: the largest number of tokens of a completion.",
    "characters": "A number of characters of a text.",
    "coefficient": "A weight of a term, a factor or an exponent.",
    "count": "A number of prompts, completions, batches, passes or devices.",
    "discount": "A factor for each step along the tokens.",
    "nats": "A log-probability, a log-ratio, a divergence or an entropy.",
    "probability": "A probability, or a difference of two probabilities.",
    "ratio": "A ratio of probabilities, or the distance of such a ratio from 1.",
    "reward": "A reward, or an advantage.",
    "share": "A part of a whole, from 0 to 1.",
    "temperature": "The temperature of a softmax, or the steepness of a gate.",
    "tokens": "A number of tokens, other than the generation budget.",
}
"""Units of numbers in keys and in settings of kernels. A number is never tried for a key of another unit."""
NO_CLIP_LOW = math.nextafter(1.0, 0.0)
"""Replacement for a lower clip width of 1 or more, which trainers accept. No ratio reaches this bound."""
FLOAT32 = 2.0**-22
"""Error of a few roundings in float32, relative to the terms: four times half of the last digit."""
COUNTS = (COMPLETIONS, PASSES)
KEPT = 1_000
"""Recipes, and names of keys, that a dialect keeps at most."""
"""Concepts that are counts of at least 1."""


@dataclass(frozen=True)
class Key:
    """A key that changes the objective, as a table `[keys.NAME]` of `keys.toml`.

    Attributes:
      default: the trainer's default, unless `own_default` is set.
      own_default: the trainer's default if its objective is not of this family. `default` is assumed instead.
      path: dotted path of the only group in which the key counts; "" if it may be given anywhere.
      home: its full path in the trainer's own files, if that differs from the path and the name.
      aliases: old or longer names of the key.
      choices: its values, if it has only a few. `convert` tries them all.
      concept: the setting of `CONCEPTS` that the key holds, or "".
      needs: another key that must be true; otherwise this key does nothing.
      unit: names of `UNITS`, with a space between them if the unit depends on other keys. `convert` tries only numbers
        of these units.
      window: true if the key also takes a lower and an upper bound as text, "0.5_5.0".
      together: values of other keys without which this number does nothing. `convert` sets them with the number.
      derived_from: the key from which the trainer computes this one. The trainer refuses both together, but
        the log of a run holds both.
      renamed: pairs of an old and a new name of a value. A third item is the only alias under which the old name counts.
      written: true if `convert` must write the key out, because the trainer's own default differs.
      behaviour: true for behaviour that has no key in the trainer, and so cannot be given.
      of_command: true if only the command that starts the trainer sets the key, by `defaults_by_command`. No file does.
      required: without the key the trainer optimizes an objective of another family: a sentence on that family.
      about: a sentence on the effect of the key, if no part of a recipe shows it.
      meaning: a sentence that is true where the value of a behaviour is true, or that names what a list holds. The
        pages of what changed when quote it.
    """

    default: Any = None
    own_default: Any = None
    path: str = ""
    home: str = ""
    aliases: tuple[str, ...] = ()
    choices: tuple[Any, ...] = ()
    concept: str = ""
    needs: str = ""
    unit: frozenset[str] = frozenset()
    window: bool = False
    together: Mapping[str, Any] = field(default_factory=dict)
    derived_from: str = ""
    renamed: tuple[tuple[Any, ...], ...] = ()
    written: bool = False
    behaviour: bool = False
    of_command: bool = False
    required: str = ""
    about: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Inexpressible:
    """A key that no recipe can express, as a table `[inexpressible.NAME]` of `keys.toml`.

    Attributes:
      neutral: the only value at which the key does nothing.
      effect: a sentence on its effect at other values.
      replaces: the parts of a recipe that the key replaces by something that only the run knows, such as a custom
        function; "addition" for a loss beside that of the policy. The other parts are still explained. Without it,
        nothing can be explained.
      path: as in `Key`.
    """

    neutral: Any
    effect: str
    replaces: tuple[str, ...] = ()
    path: str = ""


@dataclass(frozen=True)
class Keys:
    """The keys of one version of a trainer. The file `keys.toml` has the same tables.

    A key with a dot in its name, such as "rollout.n", counts only in that group, which may be an ignored group.

    Attributes:
      table: each key that changes the objective.
      inexpressible: each key that no recipe here can express.
      harmless: keys that exist and do not affect the objective.
      aliases: other names of harmless keys.
      about: a sentence on the effect of a harmless key.
      groups: names of groups that keys may be given in. If empty, a key inside a group is unknown.
      ignored: names of groups whose other keys do not affect the objective.
      sections: each group that is read only if a key has a value, with that key and value.
      variants: pairs of a key and a value, each with the defaults that change with it.
      hyphens: true if names may be written with "-" in place of "_".
      schedule: keys of the batch, of staleness, sampling and rewards, each with its default if it has one; see
        `grpo_ref.explain.schedule`.
    """

    table: Mapping[str, Key]
    inexpressible: Mapping[str, Inexpressible] = field(default_factory=dict)
    harmless: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    sections: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    variants: Mapping[tuple[str, Any], Mapping[str, Any]] = field(default_factory=dict)
    hyphens: bool = False
    schedule: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The default of each key that changes the objective."""
        return {name: key.default for name, key in self.table.items()}

    @cached_property
    def behaviours(self) -> frozenset[str]:
        """The names that stand for behaviour without a key. They cannot be given."""
        return frozenset(name for name, key in self.table.items() if key.behaviour)

    @cached_property
    def choices(self) -> Mapping[str, tuple[Any, ...]]:
        """The values of each key that has only a few."""
        return {name: key.choices for name, key in self.table.items() if key.choices}

    @cached_property
    def concepts(self) -> Mapping[str, str]:
        """The key of each setting of `CONCEPTS` that the trainer has."""
        return {key.concept: name for name, key in self.table.items() if key.concept}

    @cached_property
    def needs(self) -> Mapping[str, str]:
        """The key that must be true for another key to count."""
        return {name: key.needs for name, key in self.table.items() if key.needs}

    @cached_property
    def derived(self) -> Mapping[str, str]:
        """The key from which the trainer computes another key."""
        return {name: key.derived_from for name, key in self.table.items() if key.derived_from}

    @cached_property
    def required(self) -> Mapping[str, str]:
        """The keys without which the objective belongs to another family, each with a sentence on that family."""
        return {name: key.required for name, key in self.table.items() if key.required}

    @cached_property
    def effects(self) -> Mapping[str, str]:
        """A sentence on the effect of each key that no part of a recipe shows."""
        own = {name: key.about for name, key in self.table.items() if key.about}
        return {**own, **self.about}

    @cached_property
    def written(self) -> frozenset[str]:
        """The keys that `convert` must write out."""
        return frozenset(name for name, key in self.table.items() if key.written)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The key that each name means, aliases included."""
        own = {name: name for name in (*self.table, *self.inexpressible, *self.harmless)}
        others = {alias: name for name, key in self.table.items() for alias in key.aliases}
        return {**own, **self.aliases, **others}

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The dotted path of the only group in which a key counts."""
        paths = {name: key.path for name, key in self.table.items()}
        paths |= {name: key.path for name, key in self.inexpressible.items()}
        return {name: path for name, path in paths.items() if path}


@dataclass(frozen=True)
class Program:
    """The ways to start a trainer, as the table `[program]` of `keys.toml`.

    Attributes:
      package: name under which the trainer is installed.
      module: name under which it is imported, if that differs.
      starts: patterns of commands that start it: `-m module`, a script's path, or two words.
      scripts: names of its own scripts that other projects use too. They count if the keys identify the trainer.
      relatives: patterns of modules and scripts that read the trainer's keys and may have another loss, such as recipes
        that are not in `starts`. Their advantages and their surrogate are unknown.
      command: the command that `convert` writes.
      style: "flags" or "overrides", the arguments of that command.
      defaults_by_command: commands or names of scripts that start it with other defaults, as regular expressions.
        Given keys override them.
      files: names of its own configuration files, each with the keys that differ from the defaults.
      classes: its configuration classes, as patterns of their full names, each with the keys that the class sets.
      signs: keys of which at least one must be present before keys alone identify the trainer.
      tells: keys that no other trainer has. One of them, with one more key that matters, identifies it.
      parent: name of the trainer whose keys it has all adopted.
      plugins: keys that load the user's own code, which may read keys of its own. Beside one of them, a key that looks
        like a typo is only unknown.
      forks: a sentence on known differences of forks that keep the trainer's name.
    """

    package: str = ""
    module: str = ""
    starts: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    relatives: tuple[str, ...] = ()
    command: str = ""
    style: str = "overrides"
    defaults_by_command: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    signs: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    parent: str = ""
    plugins: tuple[str, ...] = ()
    forks: str = ""


@dataclass(frozen=True)
class Averages:
    """The set over which a trainer averages, and the way to combine the losses of micro-batches.

    Attributes:
      text: the set, as a part of a sentence; "" if it is unknown.
      over: "step" if the tokens or completions of the whole optimizer step are counted first; "micro-batch" if each
        micro-batch of each rank is divided by its own number; "other" if the weights of a step depend on more than
        the step's tokens and its micro-batches, or are unknown.
      across: the way to combine the losses of micro-batches, as in `grpo_ref.micro_batches.effective_weights`. It
        matters only for "micro-batch".
    """

    text: str = ""
    over: Literal["step", "micro-batch", "other"] = "other"
    across: Across = "mean"


def _nowhere_stated(settings: Settings) -> Averages:
    return Averages()


def _nothing_stops(settings: Settings) -> None:
    """Refuse no configuration. This is the default of `Objective.check_run`."""


@dataclass(frozen=True)
class Objective:
    """The functions that give the meaning of the settings.

    Attributes:
      build: function from all settings to the recipe. It raises a ValueError for values that the trainer refuses.
      check_run: function from all settings that raises a ValueError if a run would stop for a reason that leaves the
        objective unchanged: batches that cannot be split, missing GPUs.
      averages: function from all settings to the set over which the trainer averages.
      phrases: phrases for the trainer's own kernels in a sentence, see `grpo_ref.explain.phrases`.
      forms: each kernel of the trainer's own, with the common kernel that it is related to.
    """

    build: Callable[[Settings], Recipe]
    check_run: Callable[[Settings], None] = _nothing_stops
    averages: Callable[[Settings], Averages] = _nowhere_stated
    phrases: Mapping[Callable[..., Any], Phrase] = field(default_factory=dict)
    forms: Mapping[Callable[..., Any], Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Absent:
    """A mark for a release that does not have a key and behaves as with this value."""

    value: Any


@dataclass(frozen=True)
class Name:
    """A name that only some releases have, as a table `[names.NAME]` of `history.toml`.

    Attributes:
      of: the key that it names; "" for a key that does not affect the objective.
      since: the first release that has it; "" for the first described release.
      removed: the first release after its removal; "" if the newest release has it.
    """

    of: str = ""
    since: str = ""
    removed: str = ""


@dataclass(frozen=True)
class History:
    """The releases of a trainer and their differences, as in `history.toml`.

    Attributes:
      described: the version that `keys.toml` describes.
      releases: all releases that are covered, the oldest first. Empty if only the described version is covered.
      later: those of `releases` that were published after the described version.
      changes: for each key, its default from each release on, or `Absent` if the release does not have the key.
      names: the names that only some releases have.
      averages: the set over which it averages from each release on; None is that of `Objective.averages`.
      clues: keys that identify a release if nothing else does, each with the newest release that it was usual in.
      aliases: other names of releases, such as a tag or a month, with the release.
    """

    described: str = ""
    releases: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    names: Mapping[str, Name] = field(default_factory=dict)
    averages: Mapping[str, Averages | None] = field(default_factory=dict)
    clues: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def spans(self) -> list[tuple[str, str]]:
        """The first and last release of each row of neighbouring releases without any difference."""
        dated = [*self.changes.values(), self.averages]
        borders = {numbered(each) for timeline in dated for each in timeline}
        borders |= {
            numbered(each) for name in self.names.values() for each in (name.since, name.removed) if each
        }
        rows: list[list[str]] = []
        for before, release in zip(("", *self.releases), self.releases, strict=False):
            at, last = numbered(release), numbered(before)
            if not before or any(last < border <= at for border in borders):
                rows.append([])
            rows[-1].append(release)
        return [(row[0], row[-1]) for row in rows]

    def at(self, timeline: Mapping[str, Any], release: str) -> Any:
        """Return the value of a timeline in a release: that of the last change up to it."""
        made = [change for change in timeline if numbered(change) <= numbered(release)]
        return timeline[max(made, key=numbered) if made else min(timeline, key=numbered)]

    def has(self, name: Name, release: str) -> bool:
        """Return true if a release has a name. The empty release is the described version."""
        if not release:
            return not name.removed
        at = numbered(release)
        return (not name.since or numbered(name.since) <= at) and (
            not name.removed or at < numbered(name.removed)
        )


@dataclass(frozen=True)
class Dialect:
    """One trainer in one version: its configuration format, and the objective that each configuration means.

    Attributes:
      name: name of the trainer in `grpo-ref explain NAME`, and of its folder.
      title: name for display, "TRL".
      release: the version, "1.16.0", or a commit with its date.
      objective: the functions that give the meaning of the settings.
      keys: the keys of this version.
      program: the ways to start it.
      history: its other releases.
      traps: configurations that differ from what their author is likely to think.
      foreign: names of keys that only other releases have. They are understood, but a file that has one is written
        for another release.
      first: the oldest release without any difference from this one, if there are several; else "".
    """

    name: str
    title: str
    release: str
    objective: Objective
    keys: Keys
    program: Program = field(default_factory=Program)
    history: History = field(default_factory=History)
    traps: tuple[Trap, ...] = ()
    foreign: frozenset[str] = frozenset()
    first: str = ""

    @property
    def version(self) -> str:
        """Title and release, "TRL 1.16.0"."""
        return f"{self.title} {self.release}"

    def recipe(self, **config: Any) -> Recipe:
        """Return the recipe that the trainer computes with this configuration.

        Raises:
          ValueError: if keys are unknown, or if the trainer would refuse a value.
        """
        # An explanation asks for the same recipes again and again: for a part, for a trap, for each release.
        asked = repr(flat(config))
        if asked not in self._recipes:
            if len(self._recipes) >= KEPT:
                self._recipes.clear()
            self._recipes[asked] = self._build(config)
        return self._recipes[asked]

    @cached_property
    def _recipes(self) -> dict[str, Recipe]:
        """The recipes of configurations that were asked for, by the text of the configuration."""
        return {}

    def _build(self, config: Mapping[str, Any]) -> Recipe:
        settings = self.settings(config)
        try:
            recipe = self.objective.build(settings)
            self.objective.check_run(settings)
            _try_out(recipe)
        except (TypeError, ZeroDivisionError, AttributeError) as error:
            raise ValueError(
                f"{self.name}: {self._suspects(flat(config))} has the wrong type: {error}"
            ) from error
        return recipe

    def lenient(self) -> "Dialect":
        """Return a copy of the dialect that accepts configurations which would stop a run for unrelated reasons."""
        return self._lenient

    @cached_property
    def _lenient(self) -> "Dialect":
        return replace(self, objective=replace(self.objective, check_run=_nothing_stops))

    def settings(self, config: Mapping[str, Any], unknown: Iterable[str] = ()) -> Settings:
        """Return all settings: the defaults, changed by the configuration. The configuration may be nested.

        Args:
          config: the configuration.
          unknown: keys whose value is only an assumption.

        Raises:
          ValueError: if keys are unknown (all are named), a value has the wrong type, a count is below 1, or
            no recipe here can express a value.
        """
        given = {}
        if strangers := self.unknown(config):
            raise ValueError(f"{self.name} has no key {', '.join(strangers)}")
        for key, value in self.read(config).items():
            name = str(self.key(key))
            if name in self.keys.table:
                meant = _renamed(self.keys.table[name].renamed, value, key)
                given[name] = _same_kind(key, meant, self.keys.defaults[name])
                self._check_size(key, name, meant)
            elif name in self.keys.inexpressible and value != self.keys.inexpressible[name].neutral:
                raise ValueError(
                    f"{self.name}: {key} = {value!r} cannot be expressed here. {self.keys.inexpressible[name].effect}"
                )
        return Settings({**self.defaults_beside(given), **given}, frozenset(unknown))

    def at(self, version: str) -> "Dialect":
        """Return the dialect of another release.

        Args:
          version: a release such as "0.14.0", or another name of a release; "" is the version described here.

        Raises:
          ValueError: if the release is not covered.
        """
        version = self.history.aliases.get(version, version)
        if not version or version in self.release.split() or _same_release(version, self.release):
            return self
        release = next((each for each in self.history.releases if _same_release(version, each)), "")
        if not release:
            raise ValueError(f"{self.title}: version {version!r} is not covered; {self._nearest(version)}")
        history, table = self.history, dict(self.keys.table)
        for name, timeline in history.changes.items():
            value = history.at(timeline, release)
            is_absent = isinstance(value, Absent)
            default = value.value if is_absent else value
            table[name] = replace(table[name], default=default, behaviour=is_absent)
        present = {name: each for name, each in history.names.items() if history.has(each, release)}
        averages = history.at(history.averages, release) if history.averages else None
        keys = replace(
            self.keys,
            table=table,
            harmless=self.keys.harmless | {name for name, each in present.items() if not each.of},
            aliases={**self.keys.aliases, **{name: each.of for name, each in present.items() if each.of}},
        )
        absent = keys.behaviours
        return replace(
            self,
            release=release,
            keys=keys,
            objective=replace(self.objective, averages=lambda settings: averages)
            if averages
            else self.objective,
            foreign=frozenset(name for name, each in history.names.items() if not history.has(each, release)),
            traps=tuple(
                trap
                for trap in self.traps
                if not absent & {self.key(key) for key in (*trap.example, *trap.near)}
            ),
            history=replace(history, changes={}, releases=()),
        )

    def _nearest(self, version: str) -> str:
        """Name the covered release that is nearest to a version."""
        releases = self.history.releases
        if not releases:
            return f"only {self.release} is"
        if not numbered(version):
            return f"expected a number from {releases[0]} to {releases[-1]}, or {self.release}"
        older = [each for each in releases if numbered(each) <= numbered(version)]
        return f"the nearest is {older[-1] if older else releases[0]}"

    def fitting(self, keys: Iterable[str]) -> list["Dialect"]:
        """Return the releases that have all of these keys, the oldest first and this version last.

        Keys that no release has are ignored. Of neighbouring releases without any difference, the last one counts.

        Args:
          keys: keys as in a configuration.
        """
        every = [*self.others, self]
        known = [key for key in keys if any(each.has(key) for each in every)]
        return [each for each in every if all(each.has(key) for key in known)]

    @cached_property
    def others(self) -> tuple["Dialect", ...]:
        """The older releases that differ from one another, the oldest first. One dialect stands for a span of them."""
        return tuple(
            replace(self.at(last), first=first)
            for first, last in self.history.spans
            if not _same_release(last, self.release)
        )

    def has(self, key: str) -> bool:
        """Return true if this version has the key under this name."""
        name = key.replace("-", "_") if self.keys.hyphens else key
        return self.key(key) is not None and name not in self.foreign

    def defaults_beside(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults of all keys, including the defaults that change with a value in this configuration."""
        chosen = [others for (key, value), others in self.keys.variants.items() if config.get(key) == value]
        return {**self.keys.defaults, **{name: value for others in chosen for name, value in others.items()}}

    def given(self, config: Mapping[str, Any]) -> set[str]:
        """Return the keys that a configuration gives, by the names used and by those in the defaults."""
        return {str(self.key(key)) for key in self.read(config)} | set(flat(config))

    def read(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of a configuration, dotted, without the sections that are not read."""
        keys = flat(config)
        values = {str(self.key(key)): value for key, value in keys.items()}
        unread = {
            section
            for section, (name, value) in self.keys.sections.items()
            if values.get(name, self.keys.defaults[name]) != value
        }
        return {key: value for key, value in keys.items() if key.split(".")[0] not in unread}

    def concept(self, name: str, config: Mapping[str, Any], default: Any = None) -> Any:
        """Return the value in effect of the key for a concept; the default if the trainer has no such key."""
        key = self.keys.concepts.get(name, "")
        if not key:
            return default
        settings, needs = self.settings(config), self.keys.table[key].needs
        if needs and not settings[needs]:
            return 0.0 if name == BONUS else self.keys.defaults[key]
        return settings[key]

    def _suspects(self, config: Mapping[str, Any]) -> str:
        """Name the keys whose value has another type than the default, and whose type could not be checked."""
        defaults = {key: self.keys.defaults.get(str(self.key(key))) for key in config}
        strange = [
            f"{key} = {value!r}" for key, value in config.items() if type(value) is not type(defaults[key])
        ]
        return ", ".join(strange) or "a value"

    def _check_size(self, key: str, name: str, value: Any) -> None:
        """Raise a ValueError for a count below 1, or a divisor that is not positive."""
        if not isinstance(value, (int, float)):
            return
        concept = self.keys.table[name].concept
        if value < 1 and concept in COUNTS:
            raise ValueError(f"{key}: expected at least 1, got {value!r}")
        if value <= 0 and concept == DIVISOR:
            raise ValueError(f"{key}: expected a number > 0, got {value!r}")

    def budget(self, config: Mapping[str, Any]) -> dict[str, int]:
        """Return the key of the length in a constant denominator, with its value; empty for the padded length."""
        key = self.keys.concepts.get(DIVISOR, "")
        value = self.settings(config).get(key)
        return {} if value is None else {key: value}

    def unknown(self, config: Mapping[str, Any]) -> list[str]:
        """Return the keys that the trainer does not have, each with the nearest key that it has."""
        known = [name for name in self.keys.names if name not in self.keys.behaviours]
        named = []
        for key in flat(config):
            if self.key(key) is None:
                close = difflib.get_close_matches(key.split(".")[-1], known, n=1, cutoff=0.75)
                named.append(f"{key!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
        return named

    def path(self, name: str) -> str:
        """Return the full path of a key, as in the trainer's files and on its command line.

        Args:
          name: name of the key in the defaults.
        """
        key = self.keys.table.get(name)
        if key is not None and key.home:
            return key.home
        place = self.keys.paths.get(name, "")
        inner = name.rsplit(".", 1)[-1] if place.endswith(name.rpartition(".")[0]) else name
        return f"{place}.{inner}" if place else name

    def key(self, key: str) -> str | None:
        """Return the name that a key has in the table, for any groups or alias; None if it is unknown."""
        if key not in self._names:
            if len(self._names) >= KEPT:
                self._names.clear()
            self._names[key] = self._find(key)
        return self._names[key]

    @cached_property
    def _names(self) -> dict[str, str | None]:
        """The names of keys that were asked for."""
        return {}

    def _find(self, key: str) -> str | None:
        *groups, short = (key.replace("-", "_") if self.keys.hyphens else key).split(".")
        is_ignored = bool(self.keys.ignored & set(groups))
        for begin in range(len(groups) + 1):
            name = self.keys.names.get(".".join([*groups[begin:], short]))
            if (
                name is not None
                and name not in self.keys.behaviours
                and (begin < len(groups) or not is_ignored)
                and self._stands_right(name, groups)
            ):
                return name
        return key if is_ignored else None

    def _stands_right(self, name: str, groups: list[str]) -> bool:
        """Return true if a key may be given in these groups.

        A key with a fixed place must be given with the last groups of the path to that place.
        """
        if name in self.keys.paths and groups:
            return f".{self.keys.paths[name]}".endswith(f".{'.'.join(groups)}")
        return set(groups) - self.keys.ignored <= self.keys.groups


@cache
def numbered(version: str) -> tuple[int, ...]:
    """Return the parts of a version number; empty for a name. A post-release counts as one more part.

    >>> numbered("0.14.1"), numbered("0.2.0.post2"), numbered("2025-08"), numbered("main")
    ((0, 14, 1), (0, 2, 0, 2), (2025, 8), ())
    >>> numbered("0.3.1.dev"), numbered("0.3.1.dev0")
    ((0, 3, 1), (0, 3, 1))
    """
    is_number = re.fullmatch(r"(\d+(?:[.-]\d+)+(?:\.post\d+)?)(?:\.dev\d*)?", version)
    return tuple(map(int, re.split(r"\.post|[.-]", is_number[1]))) if is_number else ()


def _same_release(version: str, release: str) -> bool:
    """Return true if two numbers name one release: "0.14" and "0.14.0". A development version is not its release."""
    if (".dev" in version) is not (".dev" in release):
        return False
    parts = [numbered(version), numbered(release)]
    longest = max(map(len, parts))
    return bool(parts[0]) and len({(*each, *[0] * (longest - len(each))) for each in parts}) == 1


def _renamed(names: Iterable[tuple[Any, ...]], value: Any, key: str) -> Any:
    """Return the new name of a value that is given under a key. True is not 1 here."""
    fitting = (
        new
        for old, new, *alias in names
        if old == value and type(old) is type(value) and (not alias or key.split(".")[-1] == alias[0])
    )
    return next(fitting, value)


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
        turn_ids=np.zeros(ones.shape, dtype=int),
        turn_rewards=rewards[..., None],
        anchor_states=np.zeros((*rewards.shape, 1), dtype=int),
        old_log_probs=-ones,
        rollout_log_probs=-ones,
        ref_log_probs=-ones,
        greedy_rewards=np.zeros_like(rewards),
        score_norms=ones,
    )


def _try_out(recipe: Recipe) -> None:
    """Pass one token through every part, so that a setting out of range raises an error here."""
    ones = np.ones((1, 1, 1))
    fields = ("entropies", "noise")
    tops = ("top_log_probs", "top_rollout_log_probs")
    others: dict[str, Any] = {name: ones for name in fields} | {name: -ones[..., None] for name in tops}
    others["teacher_log_probs"] = -ones
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
