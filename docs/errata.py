"""Compute the effects of the errata: python docs/errata.py

An effect is the relative change of the gradient, |g - g'| / max(|g|, |g'|). An entry chooses the two sides:

* `border`: the two releases at a measured border, with their own gradients;
* `across`: the example in two releases;
* `without`: the example and another configuration;
* by default: the example and the near configuration.

Except at a border, the gradients are those of `grpo_ref.explain.gradient_change`. The result is written to
`grpo_ref/explain/errata/effects.json`.
"""

import json
import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grpo_ref.explain.dialect import COMPLETIONS, Dialect, flat
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.entry import FOLDER, Entry, dialect_at, entries, written_entries
from grpo_ref.explain.gradient_change import change
from grpo_ref.files import replace_file

BORDERS = Path(__file__).parents[1] / "conformance" / "grpo_conformance" / "releases"
EFFECTS = FOLDER / "effects.json"


def main() -> None:
    """Write the effects of all entries."""
    text = effects_text().encode()
    replace_file(EFFECTS, lambda file: file.write(text))


def effects_text() -> str:
    """Return the content of the file of effects."""
    effects = {}
    for name in DIALECTS:
        ours = {entry.id: entry for entry in entries(name)} if written_entries(name) else {}
        for written in written_entries(name):
            effects[written["id"]] = effect(ours[written["id"]], written.get("effect", {}))
    return json.dumps(effects, indent=1, ensure_ascii=False) + "\n"


def effect(entry: Entry, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the effect of an entry, and the two sides that are compared.

    Args:
      entry: the entry.
      spec: the table `effect` of the entry, which chooses the two sides.
    """
    if "none" in spec:
        return {"change": None, "of": spec["none"]}
    if "border" in spec:
        size = measured(entry.trainer, spec["release"], spec["border"])
        return {"change": rounded(size), "of": f"measured at the border {spec['release']}: {spec['border']}"}
    dialect = DIALECTS[entry.trainer]
    if "across" in spec:
        ours, theirs = (dialect_at(dialect, release) for release in spec["across"])
        size = of_configurations(ours, entry.example, theirs, entry.example)
        return {"change": rounded(size), "of": f"the example in {' and '.join(spec['across'])}"}
    release = dialect_at(dialect, sample_release(entry))
    near = spec.get("without", entry.near)
    size = of_configurations(release, entry.example, release, near)
    return {"change": rounded(size), "of": f"{line(entry.example)} and {line(near)} in {release.version}"}


def sample_release(entry: Entry) -> str:
    """Return the release in which the configurations of an entry are compared."""
    return entry.last or (
        entry.seen if entry.first == "unknown" or _is_later(entry) else DIALECTS[entry.trainer].release
    )


def _is_later(entry: Entry) -> bool:
    """Return true if an entry begins after the described version."""
    return entry.first in DIALECTS[entry.trainer].history.later


def of_configurations(
    ours: Dialect, config: Mapping[str, Any], theirs: Dialect, other: Mapping[str, Any]
) -> float:
    """Return the relative difference of the gradients of two configurations, each in its release."""
    size = ours.concept(COMPLETIONS, config) or 8
    return change(ours.recipe(**config), theirs.recipe(**other), int(size))


def measured(trainer: str, release: str, case: str) -> float:
    """Return the measured change of a case at a border.

    Raises:
      ValueError: if the case does not change at the border.
    """
    for border in borders(trainer):
        if border["release"] == release and "change" in border["cases"].get(case, {}):
            return float(border["cases"][case]["change"])
    raise ValueError(f"{trainer}: {case!r} does not change at {release}")


def borders(trainer: str) -> Iterator[Mapping[str, Any]]:
    """Yield the measured borders of a trainer; none if its releases were not run."""
    file = BORDERS / f"{trainer}_borders.toml"
    if file.is_file():
        yield from tomllib.loads(file.read_text(encoding="utf-8"))["border"]


def border_name(border: Mapping[str, Any]) -> str:
    """Return the name under which entries refer to a border: its release and keys.

    >>> border_name({"release": "1.9.1", "keys": ["loss_type"]})
    '1.9.1: loss_type'
    >>> border_name({"release": "1.6.0", "keys": []})
    '1.6.0:'
    """
    return f"{border['release']}: {', '.join(border['keys'])}".strip()


def rounded(size: float) -> float | str:
    """Return an effect with four decimals; "inf" if it is not finite, which JSON lacks.

    >>> rounded(0.123456), rounded(float("nan"))
    (0.1235, 'inf')
    """
    return round(size, 4) if math.isfinite(size) else "inf"


def line(config: Mapping[str, Any]) -> str:
    """Return a configuration in one line.

    >>> line({"beta": 0.04, "loss_type": "grpo"}), line({})
    ('beta=0.04 loss_type=grpo', 'the defaults')
    """
    return " ".join(f"{key}={value}" for key, value in flat(config).items()) or "the defaults"


if __name__ == "__main__":
    main()
