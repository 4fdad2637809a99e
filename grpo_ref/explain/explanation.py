"""The report of `grpo-ref explain` in pieces, for the terminal, for a web page and for a paper."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from grpo_ref.explain import Dialect, Explanation, Understood, explain, understood
from grpo_ref.explain.description import NEGLIGIBLE, Part, differs, span, takes
from grpo_ref.explain.dialect import numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.understanding import NOT_FOUND, doubts_of_groups, refuse_if_nothing_is_left, unread
from grpo_ref.recipes import Recipe

LOSS = "loss = -Σ W (c s(r, A) - β d)"
"""The four lines of `grpo_ref.loss` as one formula."""
SIGNS = {"surrogate": "s", "advantage": "A", "aggregate": "W", "penalty": "d", "correction": "c"}
OWN_PROGRAM = "is a custom script. It may override settings that are not listed here."
NO_VERSION = "No described version has all of its keys, so the file is for a fork."


class Piece(NamedTuple):
    """A piece of the report.

    Attributes:
      kind: "heading", "paragraph", "note", "formula", "part", "sentence" or "equation" (both belong to the
        part before), "key", "trap", "about" or "source" (both belong to the trap before).
      text: text of the piece.
      name: name of a part, or title of a formula, or "".
    """

    kind: str
    text: str
    name: str = ""


class Report(NamedTuple):
    """The explanation of one launch.

    Attributes:
      dialect: dialect of the trainer, in the version that is launched.
      launch: the launch as it was read.
      found: its keys, sorted.
      explanation: the objective that the keys compute.
      others: other versions that the file may be written for, if it does not state one.
    """

    dialect: Dialect
    launch: Launch
    found: Understood
    explanation: Explanation
    others: Sequence[Dialect] = ()

    @property
    def recipe(self) -> Recipe:
        """The recipe that the trainer computes."""
        return self.explanation.recipe

    @property
    def sentence(self) -> str:
        """The objective in one sentence."""
        return self.explanation.paragraph

    @property
    def warnings(self) -> list[str]:
        """The titles of the warnings."""
        return [trap.name for trap in self.explanation.traps]

    def data(self) -> Mapping[str, Any]:
        """Return the whole report as data for JSON."""
        return as_data(self)

    def __str__(self) -> str:
        lines = [f"{self.dialect.version} computes", f"  {self.sentence}", *self.launch.cautions]
        return "\n".join([*lines, *(f"! {title}" for title in self.warnings)])

    def __repr__(self) -> str:
        return str(self)


def dialect_of(launch: Launch) -> tuple[Dialect, Launch]:
    """Return the dialect of a launch in the requested version, or else the newest version with all its keys.

    Args:
      launch: the launch as it was read. Notes are added if its version is not described, or not stated.
    """
    dialect, found = _versioned(launch)
    return dialect, replace(found, cautions=[*dict.fromkeys([*launch.cautions, *found.cautions])])


def _versioned(launch: Launch) -> tuple[Dialect, Launch]:
    """Return the dialect in the version of a launch, and the launch with cautions about the version."""
    dialect = DIALECTS[launch.trainer]
    try:
        if launch.version:
            return dialect.at(launch.version), replace(launch, cautions=[])
    except ValueError as error:
        note = f"{error}. {dialect.version} is explained."
        return dialect, replace(launch, cautions=[note])
    if not launch.why:
        return dialect, launch
    forks = [dialect.program.forks] if dialect.program.forks else []
    fitting = _fitting(dialect, launch.keys)
    if not fitting:
        return dialect, replace(launch, cautions=[f"{NO_VERSION} {dialect.version} is explained.", *forks])
    told = _taken(fitting, launch.keys)
    found, before = told[-1], told[:-1]
    why = (
        "It has keys that later versions do not have" if found is fitting[-1] else "Later versions refuse it"
    )
    notes = [] if found is dialect else [f"{why}, so {found.version} is explained."]
    notes += _otherwise(found, before, launch.keys)
    return found, replace(launch, cautions=[*notes, *forks])


def _others(dialect: Dialect, launch: Launch) -> list[Dialect]:
    """Return the earlier versions that a file without a stated version may be written for."""
    if launch.version or not launch.why:
        return []
    fitting = _fitting(DIALECTS[launch.trainer], launch.keys)
    *before, found = _taken(fitting, launch.keys) if fitting else [dialect]
    return [each.lenient() for each in before] if found.version == dialect.version else []


def _fitting(dialect: Dialect, keys: Mapping[str, Any]) -> list[Dialect]:
    """Return the versions that have all keys of a file, up to the version that an obsolete key indicates."""
    fitting = dialect.fitting(keys)
    told = [
        dialect.history.clues[name] for key in keys if (name := key.split(".")[-1]) in dialect.history.clues
    ]
    newest = min(map(numbered, told), default=None)
    if newest is None:
        return fitting
    return [each for each in fitting if () < numbered(each.first or each.release) <= newest]


def _taken(fitting: list[Dialect], keys: Mapping[str, Any]) -> list[Dialect]:
    """Return the versions up to the newest one that accepts a file; all of them if each one refuses it."""
    newest = fitting[-1]
    config = understood(newest, keys, strict=False, forked=True).config
    for count in range(len(fitting), 0, -1):
        if takes(fitting[count - 1], config):
            return fitting[:count]
    return fitting


def _otherwise(dialect: Dialect, before: list[Dialect], keys: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what earlier versions with all of these keys compute differently, and how they average."""
    dialect, before = dialect.lenient(), [each.lenient() for each in before]
    config = understood(dialect, keys, strict=False, forked=True).config
    if any(differs(each, dialect, config) for each in before):
        yield (
            "The file does not state a version. Results for older versions that accept the same keys are in"
            " brackets."
        )
    spans: dict[str, list[Dialect]] = {}
    for each in before:
        mean = each.objective.mean(each.settings(config)) if takes(each, config) else ""
        if mean != dialect.objective.mean(dialect.settings(config)):
            spans.setdefault(mean, []).append(each)
    for mean, versions in spans.items():
        if mean:
            yield f"The file does not state a version. With {span(versions)}, averages are taken over {mean}."


def report(dialect: Dialect, launch: Launch, *, strict: bool = True, lenient: bool = True) -> Report:
    """Explain a launch.

    Args:
      dialect: dialect of its trainer, in its version.
      launch: the launch as it was read.
      strict: if true, a key that looks like a typo in one that matters is an error.
      lenient: if true, a configuration that this version would not run is explained with a caution, if
        another version or a fork may have run it and its objective is clear.

    Raises:
      ValueError: for a typo, for a value that the trainer would refuse, for a missing key without which the
        objective belongs to another family, or if no key that matters was understood.
    """
    is_of_today = bool(launch.version) and dialect.version == DIALECTS[launch.trainer].version
    today, dialect = dialect, dialect.lenient() if lenient and launch.why and not is_of_today else dialect
    found = understood(dialect, launch.keys, strict=strict, forked=bool(launch.why), added=launch.added)
    found.unsure.extend(unread(dialect, found.config, launch.missing))
    matters = {dialect.key(key) for key in [*found.config, *(each.key for each in found.unsure)]} - {None}
    if launch.keys and not matters and (found.strangers or not launch.is_sure):
        named = ", ".join([*launch.keys][:5])
        raise ValueError(f"{dialect.version}: none of its keys that matter is there, but {named}")
    missing = [about for key, about in dialect.keys.required.items() if key not in matters]
    if launch.is_whole and missing:
        raise ValueError(f"{dialect.name}: {missing[0]}")
    if launch.why:
        refuse_if_nothing_is_left(dialect, found)
        found.unsure.extend(doubts_of_groups(dialect, found, launch.program, is_sure=launch.is_sure))
    others = _others(dialect, launch)
    explanation = explain(dialect, found.config, found.unsure, others)
    own = [f"{launch.program} {OWN_PROGRAM}"] if launch.program else []
    launch = replace(launch, cautions=[*own, *launch.cautions, *_stopped(today, found.config)])
    parts = [_doubted(dialect, found, part) for part in explanation.parts]
    return Report(dialect, launch, found, explanation._replace(parts=parts), others)


def _stopped(dialect: Dialect, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on the reason why this version would refuse a configuration."""
    try:
        dialect.recipe(**config)
    except ValueError as error:
        told = str(error).rstrip(".")
        yield (
            f"{dialect.version} would not run it ({told}). Another version or a fork may have run it, so its keys"
            " are explained anyway."
        )


def _doubted(dialect: Dialect, found: Understood, part: Part) -> Part:
    """Return the part, or "not known" if the key that chooses it has an unknown value or belongs to a fork."""
    names = {part.name, *("kl_coef", "penalty_aggregate")[: 2 * (part.name == "penalty")]}
    for key, value, parts in found.unsure:
        chooses = (
            dialect.key(key) in {*dialect.keys.choices, *dialect.keys.inexpressible} or key in found.strangers
        )
        chooses = chooses or value.text == NOT_FOUND
        if names & {*parts} and chooses:
            return Part(part.name, f"not known ({key} = {value.text})", "", "")
    return part


def pieces(told: Report, *, everything: bool = False) -> Iterator[Piece]:
    """Yield the pieces of the report: sentence, formula, warnings, parts, keys.

    Args:
      told: the report.
      everything: if true, keys without effect are listed; otherwise they are only counted.
    """
    found, explanation = told.found, told.explanation
    yield from _first(told)
    yield from _formula(explanation)
    yield from _warnings(explanation)
    yield Piece("heading", "part by part")
    for part in explanation.parts:
        yield Piece("part", part.value, part.name)
        if part.sentence:
            yield Piece("sentence", part.sentence)
        if part.equation:
            yield Piece("equation", part.equation)
    yield from _numbers(explanation)
    if explanation.keys:
        yield Piece("heading", "the keys")
    for key, value, about in explanation.keys:
        yield Piece("key", f"{key} = {value!r}: {about}")
    yield from _without_effect(told.dialect, found, everything)
    if told.launch.notes:
        yield Piece("heading", "how it was read")
    for note in told.launch.notes:
        yield Piece("note", note)


def _first(told: Report) -> Iterator[Piece]:
    """Yield the trainer, its objective in a sentence, and the unknown keys."""
    yield Piece("heading", f"{told.dialect.version} computes")
    if told.launch.why:
        yield Piece("note", f"The trainer is {told.dialect.name}: {told.launch.why}.")
    yield Piece("paragraph", told.explanation.paragraph)
    if told.explanation.mean:
        yield Piece("note", f"Every average is taken over {told.explanation.mean}.")
    for caution in told.launch.cautions:
        yield Piece("note", caution)
    for key, value, parts in told.found.unsure:
        if value.text == NOT_FOUND:
            continue
        depends = f" {', '.join(parts)} may differ from this report." if parts else ""
        yield Piece("note", f"Not known: {key} = {value.text}, because {value.why}.{depends}")
    unsure = {each.key for each in told.found.unsure}
    for key, near in told.found.strangers.items():
        if key in unsure and key not in told.launch.added:
            continue
        nearest = f" The nearest key is {near}." if near else ""
        yield Piece(
            "note", f"{told.dialect.version} has no key {key}; what it does is not told here.{nearest}"
        )


def _formula(explanation: Explanation) -> Iterator[Piece]:
    yield Piece("heading", "the formula")
    yield Piece("formula", LOSS if explanation.recipe.kl_coef else LOSS.replace(" - β d", ""))
    for part in explanation.parts:
        if part.name in SIGNS and part.equation:
            yield Piece("formula", part.equation, f"{part.name} {SIGNS[part.name]}")


def _warnings(explanation: Explanation) -> Iterator[Piece]:
    count = len(explanation.traps)
    yield Piece("heading", f"{count} warning{'s' * (count != 1)}")
    for trap in explanation.traps:
        differs = f"; without it the gradient on a typical batch differs by {trap.change:.0%}"
        seen = differs if trap.change > NEGLIGIBLE else ""
        yield Piece("trap", f"! {trap.name}{seen}")
        yield Piece("about", trap.text)
        yield Piece("source", f"[{trap.source}]")


def _without_effect(dialect: Dialect, found: Understood, everything: bool) -> Iterator[Piece]:
    """Yield the keys that do not affect the objective: their number, or all of them."""
    count = len(found.without_effect)
    if everything:
        for key, value in found.without_effect.items():
            yield Piece("key", f"{key} = {value!r}: This key does not touch the objective.")
    elif count:
        keys = "1 other key of it does" if count == 1 else f"{count} other keys of it do"
        yield Piece("note", f"{keys} not touch the objective.")


def _numbers(explanation: Explanation) -> Iterator[Piece]:
    recipe = explanation.recipe
    yield Piece(
        "part", f"{recipe.kl_coef:g}{'' if recipe.kl_coef else ', so the loss has no penalty'}", "kl_coef"
    )
    if explanation.entropy_coef:
        yield Piece("part", f"{explanation.entropy_coef:g} times the entropy of the policy is added", "bonus")
    low, high = recipe.log_ratio_limits
    if (low, high) != (-math.inf, math.inf):
        limits = f"the log-ratio is limited to [{low:g}, {high:g}], with no slope outside"
        yield Piece("part", limits, "limits")


def as_data(told: Report) -> Mapping[str, Any]:
    """Return the report as data for JSON."""
    explanation, found = told.explanation, told.found
    return {
        "trainer": told.dialect.name,
        "version": told.dialect.version,
        "found_by": told.launch.why,
        "sentence": explanation.paragraph,
        "averages_over": explanation.mean,
        "parts": [part._asdict() for part in explanation.parts],
        "kl_coef": explanation.recipe.kl_coef,
        "entropy_coef": explanation.entropy_coef,
        "warnings": [trap._asdict() for trap in explanation.traps],
        "keys": [{"key": key, "value": value, "about": about} for key, value, about in explanation.keys],
        "unknown": [
            {"key": key, "text": value.text, "why": value.why, "parts": parts}
            for key, value, parts in found.unsure
        ],
        "strangers": found.strangers,
        "without_effect": {key: str(value) for key, value in found.without_effect.items()},
        "cautions": told.launch.cautions,
        "notes": told.launch.notes,
    }
