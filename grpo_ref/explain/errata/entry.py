"""An entry of the errata: what a trainer computes, what was stated, and in which releases."""

import json
import math
import tomllib
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from grpo_ref.explain.dialect import Dialect, flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Condition, Trap

FOLDER = Path(__file__).parent
UNKNOWN = "unknown"
"""The first release of a behaviour if no release before `seen` was examined."""
KINDS = {
    "differs-from-documentation": "the documentation, or a comment or message of the trainer, states something else",
    "differs-from-paper": "the paper that the name refers to defines something else",
    "differs-from-name": "the name of the key or of the value suggests something else",
    "key-ignored": "a key or value is accepted and not read",
    "silent-default": "a default acts that the file does not mention",
    "overridden": "the trainer replaces a given value",
    "changed-under-the-same-key": "another release computes something else under the same keys",
    "stops-training": "training stops, although the configuration is valid",
    "numerical": "rounding, NaN or an empty set changes the result",
}
"""The kinds of entries, each with what is common to its entries."""
EVIDENCE = ("measured by running", "read in source", "documented")


@dataclass(frozen=True)
class When:
    """The condition of an entry that does not refer to a trap. All parts must hold.

    Attributes:
      values: for each key, the values under which the entry holds.
      other_than: for each key, the values under which it does not hold.
      given: keys of which at least one must be given.
      not_given: keys that must not be given.
    """

    values: Mapping[str, list[Any]] = field(default_factory=dict)
    other_than: Mapping[str, list[Any]] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    not_given: tuple[str, ...] = ()

    def __call__(self, settings: Settings, given: Set[str]) -> bool:
        """Return true if a configuration meets the condition."""
        return (
            all(_is_one_of(settings[key], values) for key, values in self.values.items())
            and not any(_is_one_of(settings[key], values) for key, values in self.other_than.items())
            and (not self.given or bool({*self.given} & given))
            and not {*self.not_given} & given
        )


def _is_one_of(value: Any, values: list[Any]) -> bool:
    """Return true if a value is in a list; true is not 1, and "none" stands for None, which TOML lacks.

    >>> _is_one_of(True, [1]), _is_one_of(None, ["none"]), _is_one_of(2.0, [2])
    (False, True, True)
    """
    return any(
        (value == each and isinstance(value, bool) == isinstance(each, bool))
        or (value is None and each == "none")
        for each in values
    )


@dataclass(frozen=True)
class Entry:
    """A behaviour of a trainer that surprises.

    Attributes:
      id: the stable name, in kebab case, which begins with the trainer's.
      trainer: name of the dialect.
      title: the behaviour in a few words.
      first: the first release that behaves so; "unknown" if no release before `seen` was examined.
      last: the last release that behaves so; "" if the newest known release still does.
      gaps: releases between the first and the last that do not behave so.
      seen: the oldest release in which the behaviour was examined.
      keys: the keys that decide it.
      kind: one of `KINDS`.
      computed: the behaviour in full sentences.
      stated: what is expected, and the reason.
      stated_by: the document, key or paper that states it.
      evidence: one of `EVIDENCE`.
      only_if: a condition on the data that a launch file does not show, or "".
      links: addresses of issues, pull requests and papers.
      example, near: a configuration that is touched, and a similar one that is not.
      effect: relative change of the gradient, see `docs/errata.py`; infinite or NaN if a gradient is; None if it
        cannot be computed.
      effect_of: the two sides that were compared, or the reason for which there is no effect.
      test: the test that shows it, as a node id.
      borders: the measured borders of `grpo_conformance.releases` that begin or end it, each as "release: keys".
      condition: true for the settings and given keys of a configuration that is touched.
    """

    id: str
    trainer: str
    title: str
    first: str
    last: str
    seen: str
    keys: tuple[str, ...]
    kind: str
    computed: str
    stated: str
    stated_by: str
    evidence: str
    only_if: str
    links: tuple[str, ...]
    example: Mapping[str, Any]
    near: Mapping[str, Any]
    effect: float | None
    effect_of: str
    test: str
    gaps: tuple[str, ...]
    borders: tuple[str, ...]
    condition: Condition = field(repr=False)

    def state(self, release: str) -> Literal["yes", "no", "unknown"]:
        """Return "yes" if a release behaves so, "no" if it does not, "unknown" if that was not examined.

        Args:
          release: a release of `releases(DIALECTS[self.trainer])`.
        """
        order = releases(DIALECTS[self.trainer])
        place = order.index(release)
        if release in self.gaps:
            return "no"
        if self.last and place > order.index(self.last):
            return "no"
        if self.first == UNKNOWN:
            return "yes" if place >= order.index(self.seen) else "unknown"
        return "yes" if place >= order.index(self.first) else "no"

    def has_keys(self, release: Dialect, *, near: bool = False) -> bool:
        """Return true if a release can be given the example.

        The release may lack a key of the example if it behaves as with the value of the example.

        Args:
          release: the dialect of a release.
          near: if true, the release must have all keys of the near configuration too.
        """
        key, absent = DIALECTS[self.trainer].key, release.keys.behaviours
        lacks = {
            name for name in flat(self.example) if key(name) in absent and not self._is_default(name, release)
        }
        return not lacks and not (near and {key(name) for name in flat(self.near)} & absent)

    def _is_default(self, name: str, release: Dialect) -> bool:
        """Return true if a release behaves as with the value that the example gives a key."""
        key = str(DIALECTS[self.trainer].key(name))
        return bool(release.keys.defaults[key] == flat(self.example)[name])

    def example_in(self, release: Dialect) -> dict[str, Any]:
        """Return the example without the keys that a release does not have.

        Args:
          release: the dialect of a release.
        """
        return {name: value for name, value in flat(self.example).items() if release.key(name) is not None}

    @property
    def span(self) -> str:
        """The releases that behave so, as a reader writes them: "0.22.0 to 0.22.1"."""
        first = f"{self.seen} or before" if self.first == UNKNOWN else self.first
        last = self.last or "today"
        return first if first == last else f"{first} to {last}"

    def as_trap(self) -> Trap:
        """Return the entry as a trap, for code that asks which keys it reads."""
        return Trap(self.title, self.condition, self.computed, self.stated_by, self.example, self.near)


def releases(dialect: Dialect) -> list[str]:
    """Return the releases that are known, the oldest first, the described version included."""
    history = dialect.history
    before = [each for each in history.releases if each not in history.later]
    described = [] if dialect.release in before else [dialect.release]
    return [*before, *described, *history.later]


def dialect_at(dialect: Dialect, release: str) -> Dialect:
    """Return the dialect of one of `releases`, which accepts what another release or a fork may have run."""
    return (dialect if release == dialect.release else dialect.at(release)).lenient()


@cache
def entries(trainer: str = "") -> tuple[Entry, ...]:
    """Return the entries of a trainer, or of all trainers.

    Args:
      trainer: name of the dialect; "" for all.
    """
    names = [trainer] if trainer else [name for name in DIALECTS if (FOLDER / f"{name}.toml").is_file()]
    effects = json.loads((FOLDER / "effects.json").read_text(encoding="utf-8"))
    return tuple(
        _entry(name, written, effects.get(written["id"], {}))
        for name in names
        for written in written_entries(name)
    )


def written_entries(trainer: str) -> list[dict[str, Any]]:
    """Return the entries of a trainer as they are written; none if it has no file."""
    file = FOLDER / f"{trainer}.toml"
    if not file.is_file():
        return []
    written: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))["entry"]
    return written


TEST = "tests/explain/test_errata.py::test_the_example_is_touched_and_the_near_one_is_not"


def _entry(trainer: str, written: Mapping[str, Any], effect: Mapping[str, Any]) -> Entry:
    """Return an entry, with what it takes over from its trap."""
    dialect = DIALECTS[trainer]
    trap = trap_of(dialect, written["trap"]) if "trap" in written else None
    when = written.get("when", {})
    condition: Condition = When(
        when.get("values", {}),
        when.get("other_than", {}),
        tuple(when.get("given", ())),
        tuple(when.get("not_given", ())),
    )
    change = effect.get("change")
    return Entry(
        id=written["id"],
        trainer=trainer,
        title=written.get("title") or (trap.name if trap else ""),
        first=written["first"],
        last=written["last"],
        seen=written.get("seen") or (trap.release if trap else "") or dialect.release,
        keys=tuple(written["keys"]),
        kind=written["kind"],
        computed=written.get("computed") or (trap.text if trap else ""),
        stated=written["stated"],
        stated_by=written["stated_by"],
        evidence=written["evidence"],
        only_if=written.get("only_if", ""),
        links=tuple(written.get("links", ())),
        example=trap.example if trap else written["example"],
        near=trap.near if trap else written["near"],
        effect=None if change is None else float(change),
        effect_of=str(effect.get("of", "")),
        test=written.get("test") or f"{TEST}[{written['id']}]",
        gaps=tuple(written.get("gaps", ())),
        borders=tuple(written.get("borders", ())),
        condition=trap.sprung if trap else condition,
    )


def trap_of(dialect: Dialect, name: str) -> Trap:
    """Return a trap of a trainer by its name.

    Raises:
      ValueError: if the trainer has no such trap.
    """
    named = next((trap for trap in dialect.traps if trap.name == name), None)
    if named is None:
        raise ValueError(f"{dialect.title} has no trap {name!r}")
    return named


def effect_text(effect: float | None) -> str:
    """Return a relative change of the gradient in words; "" if it is unknown.

    >>> effect_text(0.5431), effect_text(0.0004), effect_text(float("inf")), effect_text(None)
    ('54%', 'less than 0.1%', 'an infinite or undefined amount', '')
    """
    if effect is None:
        return ""
    if not math.isfinite(effect):
        return "an infinite or undefined amount"
    if effect < 0.001:
        return "less than 0.1%"
    return f"{effect:.1%}" if effect < 0.01 else f"{effect:.0%}"
