"""Stage 3: choose the release of the trainer that a launch is explained for, and say how it is known."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grpo_ref.explain.description import differs, span, takes
from grpo_ref.explain.dialect import Averages, Dialect, numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.understanding import understood

STATED, KEYS, UNSTATED, FORK = "stated", "keys", "not stated", "fork"
"""Ways in which a release is known: the file or the user states it; its keys fit only older releases; all newer
releases fit too; no covered release has all keys."""


@dataclass(frozen=True)
class Version:
    """The release that a launch is explained for.

    Attributes:
      dialect: the trainer in that release.
      known_by: one of `STATED`, `KEYS`, `UNSTATED` and `FORK`.
      candidates: older releases that accept the same keys, if the release is not stated; one dialect for each span of
        equal releases.
      cautions: whole sentences on the release for the reader.
    """

    dialect: Dialect
    known_by: str
    candidates: tuple[Dialect, ...] = ()
    cautions: tuple[str, ...] = ()


def choose_version(launch: Launch) -> Version:
    """Return the release that a launch states, or else the newest one that accepts its keys.

    Args:
      launch: the launch as it was read, with its trainer.
    """
    dialect = DIALECTS[launch.trainer]
    if launch.version:
        try:
            return Version(dialect.at(launch.version), STATED)
        except ValueError as error:
            return Version(dialect, UNSTATED, cautions=(f"{error}. {dialect.version} is explained.",))
    if not launch.why:  # keys alone, with the name of the trainer: the described version is meant
        return Version(dialect, STATED)
    forks = [dialect.program.forks] if dialect.program.forks else []
    fitting = _fitting(dialect, launch.keys) or _fitting(dialect, _that_matter(dialect, launch.keys))
    if not fitting:
        nearest = _nearest(dialect, launch.keys)
        reason = f"No covered release has all of its keys, so the file is for a fork. {nearest.version} is the nearest."
        return Version(nearest, FORK, cautions=(reason, *forks))
    accepted = _accepting(fitting, launch.keys)
    chosen, before = accepted[-1], accepted[:-1]
    if chosen is dialect:
        cautions = [*_differences(chosen, before, launch.keys), *forks]
        return Version(chosen, UNSTATED, tuple(each.lenient() for each in before), tuple(cautions))
    why = (
        "It has keys that later versions do not have" if chosen is fitting[-1] else "Later versions refuse it"
    )
    cautions = [
        f"{why}, so {chosen.version} is explained.",
        *_differences(chosen, before, launch.keys),
        *forks,
    ]
    return Version(chosen, KEYS, tuple(each.lenient() for each in before), tuple(cautions))


def _fitting(dialect: Dialect, keys: Mapping[str, Any]) -> list[Dialect]:
    """Return the releases that have all keys of a file, up to the one that an obsolete key indicates."""
    fitting = dialect.fitting(keys)
    clues = dialect.history.clues
    indicated = [clues[name] for key in keys if (name := key.split(".")[-1]) in clues]
    newest = min(map(numbered, indicated), default=None)
    if newest is None:
        return fitting
    return [each for each in fitting if () < numbered(each.first or each.release) <= newest]


def _that_matter(dialect: Dialect, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that change the objective in some release, or that indicate one.

    Forks keep keys of memory, profilers and the like that newer releases have renamed. Such keys do not decide the
    release if no release has all keys.
    """
    every, clues = (*dialect.others, dialect), dialect.history.clues
    return {
        key: value
        for key, value in keys.items()
        if key.split(".")[-1] in clues or any(each.key(key) in each.keys.table for each in every)
    }


def _nearest(dialect: Dialect, keys: Mapping[str, Any]) -> Dialect:
    """Return the release that lacks the fewest of these keys; the oldest of equals, since forks start from old code."""
    known = _that_matter(dialect, keys)
    return min((*dialect.others, dialect), key=lambda each: sum(not each.has(key) for key in known))


def _accepting(fitting: list[Dialect], keys: Mapping[str, Any]) -> list[Dialect]:
    """Return the releases up to the newest one that accepts a file; all of them if each one refuses it."""
    config = understood(fitting[-1], keys, strict=False, forked=True).config
    for count in range(len(fitting), 0, -1):
        if takes(fitting[count - 1], config):
            return fitting[:count]
    return fitting


def _differences(dialect: Dialect, before: list[Dialect], keys: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on what older releases with all of these keys compute differently, and how they average."""
    dialect, before = dialect.lenient(), [each.lenient() for each in before]
    config = understood(dialect, keys, strict=False, forked=True).config
    if any(differs(each, dialect, config) for each in before):
        yield (
            "The file does not state a version. Results for older versions that accept the same keys are in brackets."
        )
    spans: dict[str, list[Dialect]] = {}
    for each in before:
        averages = each.objective.averages(each.settings(config)) if takes(each, config) else Averages()
        if averages != dialect.objective.averages(dialect.settings(config)):
            spans.setdefault(averages.text, []).append(each)
    for text, versions in spans.items():
        if text:
            yield f"With {span(versions)}, averages are taken over {text}."
