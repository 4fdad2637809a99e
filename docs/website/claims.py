"""The claims: their sections in the report of the experiments, and their titles."""

import re

from website.tree import EXPERIMENTS, ROOT

SECTION = re.compile(r"^## (\w+)\n", re.MULTILINE)
ACRONYMS = {"grpo": "GRPO", "kl": "KL"}


def sections() -> dict[str, str]:
    """Return the section of each claim in the report."""
    _, *rest = _split()
    return dict(zip(rest[::2], rest[1::2], strict=True))


def _split() -> list[str]:
    """Return the head of the report, then each name and its section."""
    return SECTION.split((ROOT / EXPERIMENTS).read_text(encoding="utf-8"))


def head() -> str:
    """Return the text above the sections of the report."""
    return _split()[0]


def title_of(name: str) -> str:
    """Return the title of an experiment's page.

    >>> title_of("kl_in_reward")
    'KL in reward'
    """
    parts = [ACRONYMS.get(word, word) for word in name.split("_")]
    return " ".join([parts[0][0].upper() + parts[0][1:], *parts[1:]])
