"""A page for each trainer with older releases: what changed in the objective, release by release.

Every release of TRL and verl ran on the same batches, so these pages state the measured effect of a change.
For the other trainers, the page lists the differences of `history.toml`, which come from reading the code.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import inf, isinf
from typing import Any, NamedTuple

from grpo_ref.explain.dialect import Absent, Dialect, Key, numbered
from website.trainer_keys import code, title
from website.tree import ROOT

MEASURED = (
    "Every release ran the same configurations on the same five small batches. *Largest effect* is the"
    " largest change of the gradient among the configurations that the change touches, relative to the larger"
    " gradient. If the gradient is multiplied by one number, the number is in parentheses. An empty cell"
    " means that a file of the earlier release cannot notice the change: a new key, or an error that is gone."
)
READ = (
    "The list comes from reading the code of these versions. It has no sizes, because the effect depends on"
    " your configuration."
)
ASK = "To see what an upgrade changes for your file: `grpo-ref explain FILE --diff OLD NEW`."


class Event(NamedTuple):
    """One change: the first release with it, a sentence, the measured effect or "", links to the source."""

    release: str
    text: str
    effect: str = ""
    links: tuple[str, ...] = ()


def has_history(dialect: Dialect) -> bool:
    """Return true if older releases of a trainer are described."""
    return bool(dialect.history.releases)


def history_page(dialect: Dialect) -> str:
    """Return the page "what changed when" of a trainer, in Markdown."""
    measured = _measured(dialect.name)
    name, later = title(dialect), dialect.history.later
    first, last = dialect.history.releases[0], later[-1] if later else dialect.release
    head = (
        f"# What changed when in {name}\n\nChanges of the objective from {name} {first} to {last}, the newest"
        f" first.{_standing(dialect)} A configuration file can compute another gradient after an upgrade,"
        f" although no key of the file changed. {MEASURED if measured else READ}\n\n{ASK}"
    )
    events = measured or list(_read(dialect))
    mentioned = {key for event in measured for key in _read_keys(dialect) if f"`{key}`" in event.text}
    others = [event for key in _read_keys(dialect) if key not in mentioned for event in _of_key(dialect, key)]
    rest = f"## Other keys\n\n{_table(others, sizes=False)}" if measured and others else ""
    return "\n\n".join(filter(None, [head, _table(events, sizes=bool(measured)), rest, _names(dialect), ""]))


def _standing(dialect: Dialect) -> str:
    """Say where a described commit stands relative to the releases; nothing if a release is described."""
    history = dialect.history
    if dialect.release in history.releases:
        return ""
    before = next(each for each in reversed(history.releases) if each not in history.later)
    after = f" and before {history.later[0]}" if history.later else ", the newest version in this list"
    return f" The trainer's page describes the commit {dialect.release}, which comes after {before}{after}."


def _measured(name: str) -> list[Event]:
    """Return the changes that running every release has shown; nothing if the releases were not run."""
    file = ROOT / f"conformance/grpo_conformance/releases/{name}_borders.toml"
    if not file.is_file():
        return []
    borders = tomllib.loads(file.read_text(encoding="utf-8"))["border"]
    return [
        Event(each["release"], each["cause"], _effect(each["cases"].values()), tuple(each["upstream"]))
        for each in borders
    ]


def _effect(cases: Iterable[Mapping[str, Any]]) -> str:
    """Return the largest change of the gradient as a percentage, with its factor if there is one.

    >>> _effect([{"change": 0.6667, "factor": 3.0}, {"change": 0.5}])
    '67 % (× 3)'
    """
    sized = [case for case in cases if "change" in case]
    if not sized:
        return ""
    largest = max(sized, key=lambda case: case["change"])
    if isinf(largest["change"]):
        return "NaN or infinite"
    factor = f" (× {largest['factor']:.3g})" if "factor" in largest else ""
    return f"{largest['change']:.0%}".replace("%", " %") + factor


def _read_keys(dialect: Dialect) -> list[str]:
    """Return the keys with a history that a configuration can have."""
    return [key for key in dialect.history.changes if not dialect.keys.table[key].behaviour]


def _read(dialect: Dialect) -> Iterator[Event]:
    for key in dialect.history.changes:
        yield from _of_key(dialect, key)


def _of_key(dialect: Dialect, key: str) -> Iterator[Event]:
    """Yield the changes of one key, or of one behaviour without a key."""
    record, timeline = dialect.keys.table[key], dialect.history.changes[key]
    steps = [*sorted(timeline.items(), key=lambda item: numbered(item[0])), (dialect.release, record.default)]
    if record.behaviour:
        steps[-1] = (dialect.release, Absent(record.default))
    for (_, before), (release, after) in pairwise(steps):
        if before != after:
            yield Event(release, _sentence(key, record, before, after))


def _sentence(key: str, record: Key, before: Any, after: Any) -> str:
    """Say what changes from one release to the next."""
    old, new = (each.value if isinstance(each, Absent) else each for each in (before, after))
    if isinstance(before, Absent) and isinstance(after, Absent):
        about = (record.meaning or record.about).rstrip(".") or f"`{key}`, which is not a key yet"
        return f"{about}: {_change(old, new)}."
    if isinstance(before, Absent):
        same = "" if old == new else f" Before, the trainer computed as with {_value(old)}."
        return f"`{key}` appears, with the default {_value(new)}.{same}"
    if isinstance(after, Absent):
        return f"`{key}` is removed. The trainer computes as with {_value(new)}."
    return f"The default of `{key}` changes from {_value(old)} to {_value(new)}."


def _change(old: Any, new: Any) -> str:
    """Return the change of a behaviour; of a list only what is new and what is gone.

    >>> _change(False, True), _change(["grpo"], ["grpo", "sapo"])
    ('no → yes', 'new `sapo`')
    """
    if isinstance(old, list) and isinstance(new, list):
        parts = {
            "new": [each for each in new if each not in old],
            "gone": [each for each in old if each not in new],
        }
        return "; ".join(f"{word} {', '.join(map(_value, each))}" for word, each in parts.items() if each)
    return f"{_value(old)} → {_value(new)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else code(str(value))


def _table(events: Iterable[Event], *, sizes: bool) -> str:
    # A described commit has no number. It is newer than all releases.
    ordered = sorted(events, key=lambda event: numbered(event.release) or (inf,), reverse=True)
    head = (
        ["| from | change | largest effect |", "|---|---|---|"]
        if sizes
        else ["| from | change |", "|---|---|"]
    )
    rows = (
        " | ".join([f"| {each.release}", each.text + _links(each), *([each.effect] if sizes else [])]) + " |"
        for each in ordered
    )
    return "\n".join([*head, *rows])


def _links(event: Event) -> str:
    """Return links to pull requests and issues, named by their numbers."""
    return "".join(f" [#{link.rpartition('/')[2]}]({link})" for link in event.links)


def _names(dialect: Dialect) -> str:
    """Return the keys without effect on the objective that came or went, folded."""
    rows = []
    for name, each in dialect.history.names.items():
        came = [f"since {each.since}"] if each.since else []
        went = [f"removed in {each.removed}"] if each.removed else []
        rows.append(f"`{name}` ({', '.join([*came, *went])})")
    if not rows:
        return ""
    return f":::{{dropdown}} Keys without effect on the objective that came or went\n{', '.join(rows)}\n:::"
