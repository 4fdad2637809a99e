"""The traps of miles: those of slime that concern it, in its own releases."""

from collections.abc import Set
from dataclasses import replace

from grpo_ref.explain.dialects.miles.functions import as_in_miles, as_in_slime
from grpo_ref.explain.dialects.slime.traps import TRAPS as OF_SLIME
from grpo_ref.explain.settings import Settings
from grpo_ref.explain.trap import Trap

RELEASES = {"2026-07": "2026-06", "2025-11": "2025-11", "2025-12": "", "": ""}
"""For each release in which an example of slime falls into its trap, the one of miles. "" is the described version."""
SINCE = {
    "slime of August 2026": "miles of July 2026",
    "slime of December 2025": "miles of December 2025",
    " slime of January 2026 masks them.": " slime masks them since January 2026.",
}


def _of_miles(trap: Trap) -> Trap:
    """Return a trap of slime for the keys, functions and releases of miles."""

    def sprung(s: Settings, given: Set[str]) -> bool:
        return trap.sprung(as_in_slime(s), given)

    text = trap.text
    for theirs, ours in SINCE.items():
        text = text.replace(theirs, ours)
    return replace(
        trap,
        sprung=sprung,
        text=text,
        example=as_in_miles(trap.example),
        near=as_in_miles(trap.near),
        release=RELEASES[trap.release],
    )


TRAPS = tuple(_of_miles(trap) for trap in OF_SLIME if trap.example.get("advantage_estimator") != "cispo")
"""The traps, in the order in which they are reported. miles has no cispo."""
