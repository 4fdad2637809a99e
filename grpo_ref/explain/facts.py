"""Stage 4: the facts of an objective, each known, unknown or one of several by version, with the evidence for it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, Dialect, flat
from grpo_ref.explain.understanding import Unsure, changing_parts

KNOWN, UNKNOWN, BY_VERSION = "known", "unknown", "by version"
"""The states of a fact."""


class Fact(NamedTuple):
    """One fact about the objective.

    Attributes:
      name: the part of the objective, "surrogate".
      state: one of `KNOWN`, `UNKNOWN` and `BY_VERSION`.
      value: the part in a phrase.
      evidence: keys with the values that the launch gives, "default of TRL 1.16.0", or the reason why the fact is
        unknown.
    """

    name: str
    state: str
    value: str
    evidence: tuple[str, ...]


def facts(
    dialect: Dialect,
    config: Mapping[str, Any],
    phrases: Mapping[str, str],
    by_version: Mapping[str, Mapping[str, str]],
    unsure: Sequence[Unsure],
) -> list[Fact]:
    """Return the facts of an objective.

    Args:
      dialect: dialect of the trainer, in its release.
      config: the keys that are given and known.
      phrases: the phrase for each part of the objective.
      by_version: for each part, other phrases with the span of releases that they hold for.
      unsure: the keys whose effect is unknown.
    """
    given = {key: changing_parts(dialect, config, key) for key in flat(config)}
    listed = []
    for name, phrase in phrases.items():
        reasons = tuple(
            dict.fromkeys(
                f"{each.reason}: {each.value.why}" for each in unsure if name in (*each.parts, *each.unless)
            )
        )
        keys = tuple(f"{key} = {flat(config)[key]}" for key, parts in given.items() if name in _spoken(parts))
        if not phrase and not reasons and not by_version.get(name):
            continue
        if reasons:
            listed.append(Fact(name, UNKNOWN, phrase, reasons))
        elif by_version.get(name):
            others = tuple(f"{versions}: {text or 'none'}" for text, versions in by_version[name].items())
            listed.append(Fact(name, BY_VERSION, phrase, (*others, *keys)))
        else:
            listed.append(Fact(name, KNOWN, phrase, keys or (f"default of {dialect.version}",)))
    size = dialect.keys.concepts.get(COMPLETIONS, "")
    for each in unsure:
        if COMPLETIONS in each.parts:
            listed.append(Fact(COMPLETIONS, UNKNOWN, each.value.text, (f"{each.reason}: {each.value.why}",)))
            break
    else:
        if size:
            is_given = size in {dialect.key(key) for key in config}
            value = str(dialect.concept(COMPLETIONS, config))
            source = f"{size} = {value}" if is_given else f"default of {dialect.version}"
            listed.append(Fact(COMPLETIONS, KNOWN, value, (source,)))
    return listed


def _spoken(parts: set[str]) -> set[str]:
    """Return the parts whose phrases show a change: the level is part of the surrogate's phrase."""
    shown = {"level": "surrogate", "penalty": "kl_coef", "penalty_aggregate": "kl_coef", BONUS: "bonus"}
    return {shown.get(part, part) for part in parts}
