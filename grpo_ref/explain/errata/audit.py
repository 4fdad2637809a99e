"""Say which entries of the errata touched a launch: certainly, or possibly and under which condition."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass, replace
from typing import Any

from grpo_ref.explain.description import assumed_keys, recipe_of, rests_on, takes, without_trap
from grpo_ref.explain.dialect import Dialect, numbered
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.entry import Entry, entries, releases
from grpo_ref.explain.explanation import Report, is_own_entry, report
from grpo_ref.explain.launch import Launch
from grpo_ref.explain.version import FORK, KEYS, STATED, choose_version

CERTAIN, POSSIBLE = "certain", "possible"


@dataclass(frozen=True)
class Touch:
    """An entry that touched a launch.

    Attributes:
      entry: the entry.
      status: "certain", or "possible" if it depends on something that the file does not show.
      conditions: for a possible touch, what has to be so, each as the end of a sentence that begins with "if".
      keys: the keys of the entry that the file gives, each with its value and its line, or 0 if the line is not clear.
    """

    entry: Entry
    status: str
    conditions: tuple[str, ...] = ()
    keys: tuple[tuple[str, Any, int], ...] = ()

    @property
    def is_of_data(self) -> bool:
        """True if the file gives no key of the entry, and only the data of the run decide."""
        return bool(self.entry.only_if) and not self.keys


@dataclass(frozen=True)
class Audit:
    """The audit of one launch.

    Attributes:
      trainer: name of the dialect.
      release: the release, in words: "TRL 0.22.1", or "TRL, release not stated".
      touches: the entries that touched it; the certain ones first, then by the size of their effect.
      undecided: entries that depend on values that only the run knows, each with the reasons.
      notes: sentences on how the release and the trainer are known.
    """

    trainer: str
    release: str
    touches: tuple[Touch, ...] = ()
    undecided: tuple[tuple[Entry, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A row of equal releases that a launch may have run with: the dialect, and the releases."""

    dialect: Dialect
    releases: tuple[str, ...]


class Given(set[str]):
    """The keys that a configuration gives, which note what a condition asks for.

    >>> given = Given({"beta"})
    >>> "beta" in given, bool({"epsilon", "beta"} & given), sorted(given.asked)
    (True, True, ['beta', 'epsilon'])
    """

    def __init__(self, names: AnySet[str]) -> None:
        super().__init__(names)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __and__(self, others: AnySet[object]) -> set[str]:
        self.asked |= set(map(str, others))
        return set(self).intersection(map(str, others))

    __rand__ = __and__


def audit(launch: Launch, text: str = "", release: str = "") -> Audit:
    """Return the entries that touched a launch.

    Args:
      launch: the launch as it was read, with its trainer.
      text: the text of its file, in which the lines of the keys are searched.
      release: the release that was run, if the user knows it; "" for the release that the file states.

    Raises:
      ValueError: if the launch belongs to another family, or no key of it is understood.
    """
    launch = replace(launch, version=release or launch.version, why=launch.why or "it was named")
    candidates, known_by, notes = _candidates(launch)
    chosen = candidates[-1].dialect
    plain = replace(launch, candidates=(), version="" if known_by != STATED else launch.version)
    explained = report(chosen, plain, strict=False)
    candidates = [
        each for each in candidates if each.dialect is chosen or takes(each.dialect, explained.found.config)
    ]
    touches, undecided = [], []
    for entry in entries(launch.trainer):
        judged = _judged(entry, explained, candidates, known_by, text)
        if isinstance(judged, Touch):
            touches.append(judged)
        elif judged:
            undecided.append((entry, judged))
    touches.sort(key=lambda each: (each.status, -(each.entry.effect or 0.0)))
    title = chosen.title
    stated = chosen.version if known_by == STATED else f"{title}, release not stated"
    return Audit(launch.trainer, stated, tuple(touches), tuple(undecided), tuple(notes))


def _candidates(launch: Launch) -> tuple[list[Candidate], str, list[str]]:
    """Return the releases that a launch may have run with, the way in which they are known, and sentences on it."""
    dialect = DIALECTS[launch.trainer]
    order = releases(dialect)
    notes: list[str] = []
    if launch.version:
        try:
            stated = dialect.at(launch.version).lenient()
            lacking = _lacking(stated, dialect, launch)
            if lacking:
                notes.append(_refused(stated, lacking))
            return [Candidate(stated, (stated.release,))], STATED, notes
        except ValueError as error:
            notes.append(f"{error}. The audit takes all releases that accept the file.")
    version = choose_version(replace(launch, version=""))
    candidates = [
        Candidate(
            each.lenient(), tuple(order[order.index(_first_release(each)) : order.index(each.release) + 1])
        )
        for each in (*version.candidates, version.dialect)
    ]
    if launch.at_least:
        least = numbered(launch.at_least)
        later = [
            replace(each, releases=kept)
            for each in candidates
            if (
                kept := tuple(name for name in each.releases if not numbered(name) or numbered(name) >= least)
            )
        ]
        candidates = later or candidates
    if version.known_by == FORK:
        notes.append(version.cautions[0])
    elif version.known_by == KEYS:
        known = _removed_later(version.dialect, dialect, launch)
        notes.append(
            f"Later releases do not have {_shortened(known)}." if known else "Later releases refuse it."
        )
    return candidates, version.known_by, notes


MOST_NAMED, NAMED_OF_MANY = 8, 5
"""Largest number of missing keys that are all named, and the number that is named of more keys."""


def _shortened(keys: Sequence[str]) -> str:
    """Join keys, and count those behind the fifth key if there are more than 8.

    >>> _shortened(["a", "b"]), _shortened([*"abcdefghi"])
    ('a, b', 'a, b, c, d, e and 4 more')
    """
    if len(keys) <= MOST_NAMED:
        return ", ".join(keys)
    return f"{', '.join(keys[:NAMED_OF_MANY])} and {len(keys) - NAMED_OF_MANY} more"


def _lacking(release: Dialect, dialect: Dialect, launch: Launch) -> list[str]:
    """Return the keys of a launch that a release does not have and that another release has.

    Keys that the launch adds to the configuration, as Hydra's `+key=1` does, are accepted by any release.
    """
    every = (*dialect.others, dialect)
    return [
        key
        for key in launch.keys
        if key not in launch.added and not release.has(key) and any(each.has(key) for each in every)
    ]


def _refused(release: Dialect, lacking: Sequence[str]) -> str:
    """Return a sentence on the keys that a release does not have. A program with flags stops at such a key."""
    absent = f"{release.version} does not have {_shortened(lacking)}"
    if release.program.style == "flags":
        return f"{absent}, so this release does not accept the file."
    return f"{absent}. It ignores the file's {'key' if len(lacking) == 1 else 'keys'}, or stops."


def _removed_later(release: Dialect, dialect: Dialect, launch: Launch) -> list[str]:
    """Return the keys of a launch that a release has and some later release does not have."""
    every = (*dialect.others, dialect)
    place = [each.release for each in every].index(release.release)
    return [
        key
        for key in launch.keys
        if release.has(key) and not all(each.has(key) for each in every[place + 1 :])
    ]


def _first_release(dialect: Dialect) -> str:
    """Return the oldest release that does not differ from a dialect."""
    spans = DIALECTS[dialect.name].history.spans
    same = next((first for first, last in spans if last == dialect.release), dialect.release)
    return dialect.first or same


def _judged(
    entry: Entry, explained: Report, candidates: Sequence[Candidate], known_by: str, text: str
) -> Touch | tuple[str, ...]:
    """Return the touch of an entry; or the reasons for which it is undecided, which are none if it is not touched."""
    dialect, config = explained.dialect, explained.found.config
    yes: list[str] = []
    unmeasured: list[str] = []
    no: list[str] = []
    assumed: set[str] = set()
    unknown: dict[str, None] = {}
    for each in candidates:
        states = {name: entry.state(name) for name in each.releases}
        if not entry.has_keys(each.dialect):
            states = dict.fromkeys(states, "no")
        elif not entry.has_keys(each.dialect, near=True):
            # Releases that were not examined count only if the near configuration can be given to them.
            states = {name: "yes" if state == "yes" else "no" for name, state in states.items()}
        if {*states.values()} == {"no"}:
            no.extend(each.releases)
            continue
        settings = each.dialect.settings(config, assumed_keys(each.dialect, config, explained.found.unsure))
        # A key that is not read is not a part of the configuration that is explained.
        given = Given(each.dialect.given({**explained.found.without_effect, **config}))
        holds = entry.condition(settings, given)
        own = {str(each.dialect.key(key)) for key in config}
        read = settings.read | {name for name in map(each.dialect.key, given.asked) if name}
        if read & settings.unknown - own:
            unknown |= dict.fromkeys(sorted(read & settings.unknown - own))
            continue
        if holds:
            assumed |= read - own - each.dialect.keys.behaviours
        for name, state in states.items():
            (no if not holds or state == "no" else yes if state == "yes" else unmeasured).append(name)
    if unknown:
        return tuple(_doubt(key, explained) for key in unknown)
    if not yes and not unmeasured:
        return ()
    doubts = _doubts(entry, explained)
    if doubts:
        return doubts
    conditions = [*_of_releases(dialect, yes, unmeasured, bool(no), known_by)]
    if entry.only_if:
        conditions.append(entry.only_if)
    conditions.extend(_of_programs(explained, assumed))
    conditions.extend(_of_subclasses(entry, explained))
    keys = _given(entry, explained, text)
    return Touch(entry, POSSIBLE if conditions else CERTAIN, tuple(conditions), keys)


def _of_releases(
    dialect: Dialect, yes: Sequence[str], unmeasured: Sequence[str], has_others: bool, known_by: str
) -> Iterator[str]:
    """Yield the conditions on the release, if there are any."""
    if known_by == FORK:
        yield f"the fork computes as {dialect.version} does"
        return
    if known_by == STATED and yes:
        return
    title = dialect.title
    is_only_one = not DIALECTS[dialect.name].history.releases  # other releases exist, and are not described
    if yes and (has_others or unmeasured or known_by == KEYS or is_only_one):
        yield f"{title} {rows(yes, releases(DIALECTS[dialect.name]))}"
    if unmeasured:
        yield (
            f"{title} {rows(unmeasured, releases(DIALECTS[dialect.name]))} behaves as the later releases do,"
            " which was not examined"
        )


def rows(names: Sequence[str], order: Sequence[str]) -> str:
    """Name releases by rows of neighbours.

    >>> rows(["0.1", "0.2", "0.5"], ["0.1", "0.2", "0.3", "0.5"])
    '0.1 to 0.2 or 0.5'
    """
    places = sorted(order.index(name) for name in names)
    neighbours: list[list[int]] = []
    for place in places:
        if not neighbours or place != neighbours[-1][-1] + 1:
            neighbours.append([])
        neighbours[-1].append(place)
    texts = [order[row[0]] + (f" to {order[row[-1]]}" if len(row) > 1 else "") for row in neighbours]
    return " or ".join(texts)


def _of_programs(explained: Report, assumed: set[str]) -> Iterator[str]:
    """Yield the conditions on a custom program and on defaults that it may set."""
    program = explained.launch.program
    sets = f" and does not set {_listed(sorted(assumed))}" if assumed else ""
    if program and is_own_entry(explained.dialect, program):
        yield f"{program} reads these keys as the trainer itself does"
    elif program:
        yield f"{program} trains as {explained.dialect.title} does{sets}"
    elif assumed and not explained.launch.is_sure:
        yield f"the program that reads this file does not set {_listed(sorted(assumed))}"


OF_ADVANTAGES = {"advantage", "reward", "keep", "admit", "distill", "corrections"}
OF_LOSS = {
    "surrogate",
    "level",
    "aggregate",
    "kl_coef",
    "penalty",
    "penalty_aggregate",
    "corrections",
    "addition",
}
"""The parts of a recipe that TRL computes when it scores completions, and those that it computes with the loss."""
PARTS_OF_METHODS = {
    "_generate_and_score_completions": OF_ADVANTAGES,
    "_calculate_rewards": {"reward"},
    "compute_loss": OF_LOSS,
    "_compute_loss": OF_LOSS,
}


def _of_subclasses(entry: Entry, explained: Report) -> Iterator[str]:
    """Yield a condition for each class of the script that overrides a method which computes a part of the entry.

    If no part of the recipe shows the entry, any of the methods may decide.
    """
    if not explained.launch.subclasses:
        return
    dialect, config = explained.dialect, explained.found.config
    outside = recipe_of(dialect, without_trap(dialect, config, entry.as_trap()))
    changed = set(explained.recipe.differences(outside)) if outside else set()
    for each in explained.launch.subclasses:
        methods = [name for name in each.methods if not changed or changed & PARTS_OF_METHODS[name]]
        if methods:
            yield f"your subclass {each.name}, which overrides {' and '.join(methods)}, still does so"


def _listed(names: Sequence[str]) -> str:
    """Join names: "a, b or c".

    >>> _listed(["a", "b", "c"])
    'a, b or c'
    """
    return " or ".join([", ".join(names[:-1])] * (len(names) > 1) + [*names[-1:]])


def _doubts(entry: Entry, explained: Report) -> tuple[str, ...]:
    """Return the unknown keys and parts on which an entry rests."""
    dialect, trap = explained.dialect, entry.as_trap()
    outside = recipe_of(dialect, without_trap(dialect, explained.found.config, trap))
    changed = explained.recipe.differences(outside) if outside else {}
    if not rests_on(dialect, trap, changed, explained.found.unsure):
        return ()
    names = {dialect.key(key) for key in (*entry.example, *entry.near)}
    keys = [each for each in explained.found.unsure if dialect.key(each.key) in names]
    parts = [each for each in explained.found.unsure if {*each.parts, *each.unless} & changed.keys()]
    return tuple(dict.fromkeys(f"{each.reason}: {each.value.why}" for each in keys or parts))


def _doubt(key: str, explained: Report) -> str:
    """Return the reason for which the value of a key is unknown."""
    for each in explained.found.unsure:
        if explained.dialect.key(each.key) == key:
            return f"{each.reason}: {each.value.why}"
    files = ", ".join(explained.launch.missing)
    return f"{key}: {files} may set it and was not found" if files else f"{key}: its value is unknown"


def _given(entry: Entry, explained: Report, text: str) -> tuple[tuple[str, Any, int], ...]:
    """Return the keys of an entry that the file gives, each with its value and line."""
    names = {explained.dialect.key(key) for key in (*entry.keys, *entry.example)}
    config = {**explained.found.config, **explained.found.without_effect}
    given = [(key, value) for key, value in config.items() if explained.dialect.key(key) in names]
    return tuple((key, value, line_of(key, text)) for key, value in given)


def line_of(key: str, text: str) -> int:
    """Return the only line that sets a key, counted from 1; 0 if there is none, or more than one.

    >>> line_of("actor.clip_ratio", chr(10).join(["# clip_ratio=0.1", "actor.clip_ratio=0.2"]))
    2
    """
    name = re.escape(key.rpartition(".")[2]).replace("_", "[_-]")
    sets = re.compile(rf"(?:(?<![\w-])|(?<=--))[\"']?{name}[\"']?(\s*[:=]|\s+[^\s\\-]|\s*\\?$)")
    numbers = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if sets.search(line) and not line.lstrip().startswith(("#", "//"))
    ]
    return numbers[0] if len(numbers) == 1 else 0


def as_data(result: Audit) -> Mapping[str, Any]:
    """Return an audit as data for JSON."""
    return {
        "trainer": result.trainer,
        "release": result.release,
        "touched": [
            {
                "entry": each.entry.id,
                "title": each.entry.title,
                "kind": each.entry.kind,
                "status": each.status,
                "if": list(each.conditions),
                "releases": each.entry.span,
                "effect": each.entry.effect,
                "keys": [
                    {"key": key, "value": value, "line": line or None} for key, value, line in each.keys
                ],
            }
            for each in result.touches
        ],
        "undecided": [{"entry": entry.id, "unknown": list(reasons)} for entry, reasons in result.undecided],
        "notes": list(result.notes),
    }
