"""The claims: their sections in the report of the experiments, and their titles."""

import re

from grpo_ref.lab import EXPERIMENTS
from website.tree import EXPERIMENTS as REPORT
from website.tree import ROOT

SECTION = re.compile(r"^## (\w+)\n", re.MULTILINE)


def sections() -> dict[str, str]:
    """Return the section of each claim in the report."""
    _, *rest = _split()
    return dict(zip(rest[::2], rest[1::2], strict=True))


def _split() -> list[str]:
    """Return the head of the report, then each name and its section."""
    return SECTION.split((ROOT / REPORT).read_text(encoding="utf-8"))


def head() -> str:
    """Return the text above the sections of the report."""
    return _split()[0]


def title_of(name: str) -> str:
    """Return the title of an experiment's page.

    >>> title_of("clip_higher")
    'Does clip-higher prevent entropy collapse?'
    """
    return EXPERIMENTS[name].title
