"""The report of `grpo-ref explain` in pieces, for the terminal, for a web page and for a paper."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from grpo_ref.explain import Dialect, Explanation, Understood, explain, understood
from grpo_ref.explain.description import NEGLIGIBLE, Part, span
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.objective_id import ObjectiveId, identify
from grpo_ref.explain.schedule import Line, schedule
from grpo_ref.explain.shared_traps import SHARED_TRAPS
from grpo_ref.explain.understanding import (
    NAMES,
    NOT_FOUND,
    doubts_of_groups,
    doubts_of_program,
    refuse_if_nothing_is_left,
    unread,
)
from grpo_ref.explain.version import choose_version
from grpo_ref.recipes import Recipe

SIGNS = {"surrogate": "s", "advantage": "A", "aggregate": "W", "penalty": "d", "correction": "c"}
MOST_NAMED = 8
"""Largest number of unknown keys that are named without --all."""
OWN_PROGRAM = "is a custom script. It may override settings that are not listed here."


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
      schedule: updates per batch, staleness, sampling and rewards, as far as the launch gives them.
    """

    dialect: Dialect
    launch: Launch
    found: Understood
    explanation: Explanation
    others: Sequence[Dialect] = ()
    schedule: Sequence[Line] = ()

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

    @property
    def objective_id(self) -> ObjectiveId:
        """The objective ID, or the reasons for which there is none."""
        return identify(self.dialect, self.found, self.others)

    def data(self) -> Mapping[str, Any]:
        """Return the whole report as data for JSON."""
        return as_data(self)

    def __str__(self) -> str:
        lines = [f"{self.dialect.version} computes", f"  {self.sentence}", *self.launch.cautions]
        return "\n".join([*lines, *(f"! {title}" for title in self.warnings)])

    def __repr__(self) -> str:
        return str(self)


def dialect_of(launch: Launch) -> tuple[Dialect, Launch]:
    """Return the dialect of a launch in the release that `choose_version` finds, and the launch with its cautions."""
    version = choose_version(launch)
    return version.dialect, replace(
        launch,
        cautions=[*dict.fromkeys([*launch.cautions, *version.cautions])],
        candidates=version.candidates,
        known_by=version.known_by,
    )


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
    if launch.is_whole and missing and not launch.missing:
        raise ValueError(f"{dialect.name}: {missing[0]}")
    if launch.why:
        refuse_if_nothing_is_left(dialect, found)
        found.unsure.extend(doubts_of_groups(dialect, found, launch.program, is_sure=launch.is_sure))
        found.unsure.extend(doubts_of_program(dialect, launch.program))
    others = () if launch.version else launch.candidates
    explanation = explain(dialect, found.config, found.unsure, others)
    own = [f"{launch.program} {OWN_PROGRAM}"] if launch.program else []
    launch = replace(
        launch, cautions=[*own, *launch.cautions, *([] if launch.missing else _stopped(today, found.config))]
    )
    if is_own_entry(dialect, launch.program):
        certain = {trap.name for trap in SHARED_TRAPS}
        explanation = explanation._replace(traps=[trap for trap in explanation.traps if trap.name in certain])
    parts = [_doubted(dialect, found, part) for part in explanation.parts]
    lines = schedule(dialect, found.config, launch.keys, bool(launch.missing or launch.program))
    return Report(dialect, launch, found, explanation._replace(parts=parts), others, lines)


def is_own_entry(dialect: Dialect, program: str) -> bool:
    """Return true if a program is an entry point of a fork or recipe, which may read the trainer's keys in another way."""
    return program.split(".")[0] in {
        dialect.program.package,
        dialect.program.module,
        "recipe",
        "verl_recipe",
    } - {""}


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
    """Return the part, or "not known" if it depends on a key with an unknown value or effect."""
    names = {part.name, *("kl_coef", "penalty_aggregate")[: 2 * (part.name == "penalty")]}
    reasons = [each.reason for each in found.unsure if names & {*each.parts}]
    return Part(part.name, f"not known ({reasons[0]})", "", "") if reasons else part


def pieces(told: Report, *, everything: bool = False) -> Iterator[Piece]:
    """Yield the pieces of the report: sentence, warnings, what is unknown, schedule, formula, ID, parts, keys.

    Args:
      told: the report.
      everything: if true, unknown keys and keys without effect are listed; otherwise they are only named or counted.
    """
    explanation = told.explanation
    yield Piece("heading", f"{told.dialect.version} computes")
    yield Piece("paragraph", explanation.paragraph)
    yield from _warnings(explanation)
    yield from _unknown(told, everything)
    yield from _context(told)
    yield from _formula(explanation)
    yield from _identity(told.objective_id)
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
    yield from _without_effect(told.dialect, told.found, everything)
    if told.launch.notes:
        yield Piece("heading", "how it was read")
    for note in told.launch.notes:
        yield Piece("note", note)


def _unknown(told: Report, everything: bool) -> Iterator[Piece]:
    """Yield the unknown values, each with the reason, and the unknown keys in one line."""
    unsure = [each for each in told.found.unsure if each.value.text != NOT_FOUND]
    strangers = {
        key: near
        for key, near in told.found.strangers.items()
        if key not in {each.key for each in unsure} or key in told.launch.added
    }
    if not (unsure or strangers or told.launch.missing):
        return
    yield Piece("heading", "not known")
    for path in told.launch.missing:
        yield Piece("note", f"{path} was not found. Whatever it sets is unknown.")
    for key, value, parts, _ in unsure:
        names = _in_a_row([NAMES.get(part, part) for part in parts])
        depends = f" So {names} may differ from this report." if parts else ""
        shown = key if value.text == key else f"{key} = {value.text}"
        yield Piece("note", f"{shown}: {value.why}.{depends}")
    if strangers and everything:
        for key, near in strangers.items():
            nearest = f" The nearest key is {near}." if near else ""
            yield Piece(
                "note", f"{told.dialect.version} has no key {key}, so its effect is unknown.{nearest}"
            )
    elif strangers:
        texts = [f"{key} (nearest: {near})" if near else key for key, near in strangers.items()]
        named = ", ".join(texts[:MOST_NAMED])
        more = f" and {len(strangers) - MOST_NAMED} more (--all lists them)" * (len(strangers) > MOST_NAMED)
        keys = "this key" if len(strangers) == 1 else f"these {len(strangers)} keys"
        effect = "its effect is" if len(strangers) == 1 else "their effects are"
        yield Piece(
            "note", f"{told.dialect.version} does not have {keys}, so {effect} unknown: {named}{more}."
        )


def _in_a_row(names: Sequence[str]) -> str:
    """Join names as in a sentence: "the reward, the level and the average"."""
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + [*names[-1:]])


def _context(told: Report) -> Iterator[Piece]:
    """Yield what surrounds the objective: its trainer, averages, cautions and schedule."""
    yield Piece("heading", "the run")
    if told.launch.why:
        yield Piece("note", f"The trainer is {told.dialect.name}: {told.launch.why}.")
    if told.explanation.averages.text:
        yield Piece("note", f"Every average is taken over {told.explanation.averages.text}.")
    for line in told.schedule:
        yield Piece("note", line.text)
    for caution in told.launch.cautions:
        yield Piece("note", caution)


def trace(told: Report) -> Iterator[str]:
    """Yield the result of each of the five stages, line by line: read, detect, version, objective, report."""
    launch, dialect = told.launch, told.dialect
    yield "1 read"
    yield f"  {len(launch.keys)} keys" + (f", {len(launch.missing)} missing files" if launch.missing else "")
    yield from (f"  {key} = {value}" for key, value in launch.keys.items())
    yield from (f"  missing: {path}" for path in launch.missing)
    yield "2 detect"
    yield f"  {dialect.name}: {launch.why or 'named by the user'}"
    if launch.program:
        yield f"  {launch.program} is a custom script"
    yield "3 version"
    yield f"  {dialect.version} ({launch.known_by or 'stated'})"
    yield from (f"  also possible: {span([each])}" for each in told.others)
    yield "4 objective"
    for fact in told.explanation.facts:
        yield f"  {fact.name} ({fact.state}): {fact.value or 'none'}"
        yield from (f"    {evidence}" for evidence in fact.evidence)
    for line in told.schedule:
        yield f"  {line.name} (known): {line.text}"
        yield from (f"    {evidence}" for evidence in line.evidence)
    yield "5 report"
    yield f"  {told.sentence}"
    yield from (f"  ! {title}" for title in told.warnings)


def _formula(explanation: Explanation) -> Iterator[Piece]:
    yield Piece("heading", "the formula")
    yield Piece("formula", loss_formula(explanation.recipe))
    for part in explanation.parts:
        if part.name in SIGNS and part.equation:
            yield Piece("formula", part.equation, f"{part.name} {SIGNS[part.name]}")
    yield Piece("note", "rᵢ is the reward of completion i, rₜ the probability ratio of token t.")


def _identity(identity: ObjectiveId) -> Iterator[Piece]:
    """Yield the objective ID with its line of LaTeX, or the reasons for which there is none."""
    yield Piece("heading", "the objective ID")
    if identity.unknown:
        yield Piece("note", f"There is no ID, because this is not known: {'; '.join(identity.unknown)}.")
        return
    same = f", the same as that of the recipe {identity.recipe}" if identity.recipe else ""
    yield Piece("note", f"{identity.id}{same}")
    yield Piece("note", identity.latex)


def loss_formula(recipe: Recipe) -> str:
    """Return the four lines of `grpo_ref.loss` as one formula, without the parts that the recipe does not have."""
    surrogate = "c s(r, A)" if recipe.corrections else "s(r, A)"
    return f"loss = -Σ W ({surrogate} - β d)" if recipe.kl_coef else f"loss = -Σ W {surrogate}"


def _warnings(explanation: Explanation) -> Iterator[Piece]:
    count = len(explanation.traps)
    yield Piece("heading", f"{count} warning{'s' * (count != 1)}")
    for trap in explanation.traps:
        differs = f"; on a typical batch this changes the gradient by {trap.change:.0%}"
        seen = differs if trap.change > NEGLIGIBLE else ""
        yield Piece("trap", f"! {trap.name}{seen}")
        yield Piece("about", trap.text)
        yield Piece("source", f"[{trap.source}]")


def _without_effect(dialect: Dialect, found: Understood, everything: bool) -> Iterator[Piece]:
    """Yield the keys that do not affect the objective: their number, or all of them."""
    count = len(found.without_effect)
    if everything:
        for key, value in found.without_effect.items():
            effect = dialect.keys.effects.get(str(dialect.key(key)), "This key does not touch the objective.")
            yield Piece("key", f"{key} = {value!r}: {effect}")
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
        "averages_over": explanation.averages.text,
        "parts": [part._asdict() for part in explanation.parts],
        "kl_coef": explanation.recipe.kl_coef,
        "entropy_coef": explanation.entropy_coef,
        "objective_id": told.objective_id._asdict(),
        "warnings": [trap._asdict() for trap in explanation.traps],
        "keys": [{"key": key, "value": value, "about": about} for key, value, about in explanation.keys],
        "unknown": [
            {"key": key, "text": value.text, "why": value.why, "parts": parts}
            for key, value, parts, _ in found.unsure
        ],
        "strangers": found.strangers,
        "without_effect": {key: str(value) for key, value in found.without_effect.items()},
        "facts": [fact._asdict() for fact in explanation.facts],
        "schedule": [line._asdict() for line in told.schedule],
        "cautions": told.launch.cautions,
        "notes": told.launch.notes,
    }
