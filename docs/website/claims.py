"""The claims: their names, the experiments that test them, and their pages."""

from pathlib import Path

from grpo_ref.lab import EXPERIMENTS
from grpo_ref.lab.framework.claim import claims_of
from website.tree import CLAIMS, ROOT

ALL = claims_of(EXPERIMENTS)
"""Name of each claim -> claim, in the order of the experiments."""
TESTED = {name: claim for name, claim in ALL.items() if f"experiments/{name}" in CLAIMS.values()}
"""The claims that have results, and so a page."""
WAITING = ALL.keys() - TESTED.keys()
"""Names of the claims that have no results yet."""


def path_of(name: str) -> str:
    """Return the path of the page of a claim, from the root of the project."""
    return f"docs/experiments/{name}/README.md"


def text_of(name: str) -> str:
    """Return the page of a claim."""
    return Path(ROOT / path_of(name)).read_text(encoding="utf-8")


def title_of(name: str) -> str:
    """Return the title of a claim's page.

    >>> title_of("clip_higher")
    'Does clip-higher prevent entropy collapse?'
    """
    return TESTED[name].first.title
