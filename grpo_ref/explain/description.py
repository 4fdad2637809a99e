"""Describe the objective of a configuration: part by part, key by key, with the traps that it falls into."""

import inspect
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import BONUS, COMPLETIONS, CONCEPTS, DIVISOR, Averages, Dialect, flat
from grpo_ref.explain.facts import Fact, facts
from grpo_ref.explain.gradient_change import change
from grpo_ref.explain.phrases import joined, sentences
from grpo_ref.explain.shared_traps import SHARED_TRAPS
from grpo_ref.explain.trap import Trap, sprung
from grpo_ref.explain.understanding import NOT_FOUND, Unsure, unsettled
from grpo_ref.recipes import Recipe, Slot

NEGLIGIBLE = 0.005
"""Relative change of the gradient below which a difference is not reported."""


class Part(NamedTuple):
    """One part of the objective.

    Attributes:
      name: name of the slot.
      value: the kernel with its settings.
      sentence: description of the part in one sentence.
      equation: formula of the part, or "".
    """

    name: str
    value: str
    sentence: str
    equation: str


class Warned(NamedTuple):
    """A warning: a trap of the trainer, or a shared trap.

    Attributes:
      name: the trap in a few words.
      text: the effect, and how to avoid it.
      source: the publication or code that describes the trap.
      change: relative change of the gradient on a typical batch without the trap, see `change`; 0 if the
        gradient does not show it.
    """

    name: str
    text: str
    source: str
    change: float


class Explanation(NamedTuple):
    """The explanation of a configuration.

    Attributes:
      recipe: the recipe that the configuration computes.
      paragraph: the recipe in one sentence.
      averages: the set over which the trainer averages.
      parts: the parts of the recipe in order.
      keys: each given key with its value and a sentence on its effect here.
      traps: the traps that the configuration falls into; the one that changes the gradient most first.
      entropy_coef: the weight of the entropy bonus, which is not a part of a recipe.
      facts: the parts in phrases, each with its evidence.
    """

    recipe: Recipe
    paragraph: str
    averages: Averages
    parts: list[Part]
    keys: list[tuple[str, Any, str]]
    traps: list[Warned]
    entropy_coef: float
    facts: list[Fact]


def explain(
    dialect: Dialect,
    config: Mapping[str, Any],
    unsure: Sequence[Unsure] = (),
    others: Sequence[Dialect] = (),
) -> Explanation:
    """Explain a configuration.

    Args:
      dialect: dialect of the trainer.
      config: configuration in the trainer's keys, nested or dotted.
      unsure: keys that are absent from `config` because their values are unknown. No warning rests on them.
      others: other versions that the file may be written for.

    Raises:
      ValueError: if a key is unknown, or if the trainer would refuse a value.
    """
    recipe = dialect.recipe(**config)
    keys = [(key, value, _about(dialect, config, key)) for key, value in flat(config).items()]
    return Explanation(
        recipe=recipe,
        paragraph=in_words(dialect, config, unsure, others),
        averages=dialect.objective.averages(dialect.settings(config)),
        parts=_parts(recipe),
        keys=keys,
        traps=sorted(_warnings(dialect, config, recipe, unsure, others), key=lambda warned: -warned.change),
        entropy_coef=dialect.concept(BONUS, config, 0.0),
        facts=facts(dialect, flat(config), *_phrases(dialect, config, unsure, others), unsure),
    )


def in_words(
    dialect: Dialect,
    config: Mapping[str, Any],
    unsure: Sequence[Unsure] = (),
    others: Sequence[Dialect] = (),
) -> str:
    """Return one sentence that describes the objective of a configuration.

    Args:
      dialect: dialect of the trainer.
      config: configuration in the trainer's keys, nested or dotted.
      unsure: keys that are absent from `config` because their values are unknown.
      others: other versions that the file may be written for. Where they differ, the sentence names both.
    """
    said, spans = _phrases(dialect, config, unsure, others)
    parts = [_with_others(said[part], spans[part]) for part in said]
    return joined(parts)


def _phrases(
    dialect: Dialect, config: Mapping[str, Any], unsure: Sequence[Unsure], others: Sequence[Dialect]
) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return a phrase for each part, and for each part the other phrases with the span of releases that have them."""
    said = _said(dialect, config, unsure)
    releases: dict[str, dict[str, list[Dialect]]] = {part: {} for part in said}
    for other in others:
        if differs(other, dialect, config):
            for part, text in _said(other, config, unsure).items():
                if text != said[part]:
                    releases[part].setdefault(text, []).append(other)
    return said, {
        part: {text: span(each) for text, each in texts.items()} for part, texts in releases.items()
    }


def _given(dialect: Dialect, config: Mapping[str, Any], unsure: Sequence[Unsure]) -> str:
    """Name the keys of the launch itself, if parts are unknown because a file is missing: "given: beta = 0.01"."""
    if not any(each.value.text == NOT_FOUND for each in unsure):
        return ""
    keys = [
        f"{key} = {value}" for key, value in flat(config).items() if dialect.key(key) in dialect.keys.table
    ]
    return f"given: {', '.join(keys)}" if keys else ""


def takes(dialect: Dialect, config: Mapping[str, Any]) -> bool:
    """Return true if a version refuses nothing in a configuration."""
    return recipe_of(dialect, config) is not None


def differs(other: Dialect, dialect: Dialect, config: Mapping[str, Any]) -> bool:
    """Return true if another version accepts the configuration and computes a visibly different objective."""
    theirs = recipe_of(other, config)
    if theirs is None:
        return False
    ours = dialect.recipe(**config)
    if (theirs.kl_coef < 0.0) != (ours.kl_coef < 0.0):
        return True  # however small its weight, a penalty that is maximized has the opposite effect
    bonuses = [each.concept(BONUS, config) or 0.0 for each in (dialect, other)]
    if bonuses[0] != bonuses[1]:
        return True
    if replace(theirs, source=ours.source) == ours:
        return False  # the usual case, known without two gradients
    return not change(theirs, ours) < NEGLIGIBLE


def _with_others(ours: str, spans: Mapping[str, str]) -> str:
    """Add to the description of a part the versions in which it differs, in brackets."""
    if not ours:
        return ", ".join(f"{text} with {versions} only" for text, versions in spans.items())
    others = [f"{versions}: {text or 'none'}" for text, versions in spans.items()]
    return f"{ours} [{'; '.join(others)}]" if others else ours


def span(versions: Sequence[Dialect]) -> str:
    """Name a row of versions of one trainer by its first and last release: "TRL 0.14.0 to 0.18.2"."""
    first, last = versions[0].first or versions[0].release, versions[-1].release
    return f"{versions[0].title} {first}" + (f" to {last}" if first != last else "")


def _said(dialect: Dialect, config: Mapping[str, Any], unsure: Sequence[Unsure]) -> dict[str, str]:
    """Describe each part of the configured recipe in one phrase, by the part's name."""
    recipe = dialect.recipe(**config)
    holes = {str(dialect.key(each.key)): each.value.text for each in unsure}
    budget = dialect.budget(config) if "max_length" in recipe.aggregate.reads else {}
    named = {name: holes.get(dialect.keys.concepts.get(name, "")) for name in (COMPLETIONS, DIVISOR, BONUS)}
    doubted = [f"(not known: {each.key} = {each.value.text})" for each in unsure if COMPLETIONS in each.parts]
    bonus = {} if named[BONUS] is None else {"bonus": str(named[BONUS])}
    unknown = {part: each.reason for each in reversed(unsure) for part in each.parts}
    unknown.pop(COMPLETIONS, None)
    phrases = sentences(
        recipe,
        group_size=next(iter(doubted), named[COMPLETIONS] or dialect.concept(COMPLETIONS, config)),
        budget=named[DIVISOR] or next(iter(budget.values()), None),
        entropy_coef=dialect.concept(BONUS, config, 0.0),
        unknown=unknown | bonus,
        words=dialect.objective.phrases,
    )
    for each in unsure:
        for part in each.unless:
            if phrases.get(part) and "unless" not in phrases[part]:
                phrases[part] += f" (unless {each.key} changes it)"
    return phrases


def _warnings(
    dialect: Dialect,
    config: Mapping[str, Any],
    recipe: Recipe,
    unsure: Sequence[Unsure],
    others: Sequence[Dialect],
) -> Iterator[Warned]:
    """Yield the warnings that are certain: the traps of the trainer, and the shared traps.

    If a trap holds in most of the possible releases, the warning names the others. If it holds in few, there is none.
    """
    is_known = not any(COMPLETIONS in each.parts for each in unsure)
    size = dialect.concept(COMPLETIONS, config) if is_known else None
    unknown = assumed_keys(dialect, config, unsure)
    doubted = {part for each in unsure for part in (*each.parts, *each.unless)}
    candidates = [other for other in others if takes(other, config)]
    for trap in sprung(dialect.traps, dialect.settings(config, unknown), dialect.given(config)):
        outside = recipe_of(dialect, without_trap(dialect, config, trap))
        if rests_on(dialect, trap, recipe.differences(outside) if outside else {}, unsure):
            continue
        lacking = [other for other in candidates if not _has_trap(other, trap, config)]
        if 2 * len(lacking) <= len(candidates):
            name = (
                f"{trap.name} (does not apply to {', '.join(span([each]) for each in lacking)})"
                if lacking
                else trap.name
            )
            yield Warned(name, trap.text, trap.source, _change(recipe, outside, size))
    for common in SHARED_TRAPS:
        if not common.holds(recipe, size) or doubted & {*recipe.differences(common.instead(recipe))}:
            continue
        if all(common.holds(other.recipe(**config), size) for other in candidates):
            yield Warned(
                common.name, common.text, common.source, _change(recipe, common.instead(recipe), size)
            )


def assumed_keys(dialect: Dialect, config: Mapping[str, Any], unsure: Sequence[Unsure]) -> set[str]:
    """Return the keys whose value in the settings is only an assumption."""
    missing = [each.key for each in unsure if each.value.text == NOT_FOUND]
    holes = {name for each in unsure if (name := dialect.key(each.key)) is not None}
    return holes | unsettled(dialect, config, missing)


def _has_trap(other: Dialect, trap: Trap, config: Mapping[str, Any]) -> bool:
    """Return true if a configuration falls into this trap in another release too."""
    names = {each.name for each in sprung(other.traps, other.settings(config), other.given(config))}
    return trap.name in names


def rests_on(dialect: Dialect, trap: Trap, changed: Mapping[str, Any], unsure: Sequence[Unsure]) -> bool:
    """Return true if a trap depends on unknown keys, or on nothing but unknown parts."""
    read = {dialect.key(key) for key in flat({**trap.example, **trap.near})}
    doubted = {part for each in unsure for part in (*each.parts, *each.unless)}
    is_of_keys = any(dialect.key(each.key) in read for each in unsure if dialect.key(each.key))
    return is_of_keys or (bool(changed) and changed.keys() <= doubted)


def recipe_of(dialect: Dialect, config: Mapping[str, Any]) -> Recipe | None:
    """Return the recipe of a configuration; None if the version refuses the configuration."""
    try:
        return dialect.recipe(**config)
    except ValueError:
        return None


def _change(recipe: Recipe, other: Recipe | None, size: int | None) -> float:
    """Return the relative change of the gradient; 1 if a gradient is not finite, 0 if there is no other recipe."""
    if other is None:
        return 0.0
    try:
        measured = change(recipe, other, group_size=int(size or 8))
    except ValueError:
        return 0.0
    return measured if math.isfinite(measured) else 1.0


def without_trap(dialect: Dialect, config: Mapping[str, Any], trap: Trap) -> dict[str, Any]:
    """Return the configuration, changed just enough to avoid the trap."""
    inside, near = flat(trap.example), flat(trap.near)
    differing = [key for key in {**inside, **near} if inside.get(key, trap) != near.get(key, trap)]
    names = {dialect.key(key) for key in differing}
    kept = {key: value for key, value in flat(config).items() if dialect.key(key) not in names}
    return kept | {key: near[key] for key in differing if key in near}


def _parts(recipe: Recipe) -> list[Part]:
    rewards: list[tuple[str, Slot | Any]] = [("advantage", recipe.advantage)]
    if recipe.distill is not None and recipe.distill.settings.get("reward_coef") == 0.0:
        rewards = [("advantage", recipe.distill)]  # the teacher's advantages replace those of the rewards
    elif recipe.distill is not None:
        rewards.append(("distill", recipe.distill))
    kernels: list[tuple[str, Slot | Any]] = [
        *rewards,
        ("level", recipe.level),
        ("surrogate", recipe.surrogate),
        *(("correction", part) for part in recipe.corrections),
        *([("penalty", recipe.penalty)] if recipe.kl_coef else []),
        ("aggregate", recipe.aggregate),
        *([("average KL", recipe.penalty_aggregate)] if recipe.kl_coef and recipe.penalty_aggregate else []),
        ("keep", recipe.keep),
        ("admit", recipe.admit),
        ("reward", recipe.reward),
    ]
    return [_part(name, kernel) for name, kernel in kernels]


def _part(name: str, part: Any) -> Part:
    kernel = part.kernel if isinstance(part, Slot) else part
    paragraphs = inspect.cleandoc(kernel.__doc__ or "").split("\n\n")
    equation = next((text for text in paragraphs if text.startswith("    ")), "")
    value = str(part) if isinstance(part, Slot) else kernel.__name__
    return Part(name, value, " ".join(paragraphs[0].split()), textwrap.dedent(equation))


def _about(dialect: Dialect, config: Mapping[str, Any], key: str) -> str:
    """Describe the effect of a key in this configuration in a sentence: the parts that change without the key."""
    name = dialect.key(key) or key
    if key not in dialect.read(config):
        return f"Its section is not read: {dialect.keys.sections[key.split('.')[0]][0]} chooses another."
    if name not in dialect.keys.defaults:
        return _told(dialect, key, name) or "This key does not touch the objective."
    others = {other: value for other, value in flat(config).items() if other != key}
    try:
        changed = dialect.recipe(**config).differences(dialect.recipe(**others))
    except ValueError:
        return "This key is needed: without it the configuration is refused."
    if changed:
        *first, last = (f"{part} = {text}" for part, text in changed.items())
        return f"This sets {', '.join(first)}{' and ' * bool(first)}{last}."
    same = dialect.settings(config)[name] == dialect.settings(others)[name]
    own = dialect.keys.table[name].own_default
    default = "This is the default." if own is None else f"Without this key, {dialect.title} takes {own!r}."
    return _told(dialect, key, name) or (default if same else "This changes nothing in this configuration.")


def _told(dialect: Dialect, key: str, name: str) -> str:
    """Return the dialect's own description of a key, by either of its names; or that of its concept."""
    concepts = {held: CONCEPTS[concept] for concept, held in dialect.keys.concepts.items()}
    about = {**concepts, **dialect.keys.effects}
    return about.get(key.split(".")[-1], about.get(name, ""))
