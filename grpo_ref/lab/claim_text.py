"""Read the hand-written text about a claim, and fill the numbers of the results into it.

`text.md` begins with front matter in YAML, followed by sections:

    answer       the answer, in one or two sentences
    do           a key of `ACTIONS`: what a practitioner should do
    advice       one short sentence for a practitioner, in the words of a trainer's configuration
    outcomes     policy -> outcomes of the main predictions for which the text was written
    depends_on   what a mixed verdict depends on, in a few words; optional
    caption      caption of the first figure; optional

Numbers are written as placeholders: `{row 3}` is the difference of the third prediction with its interval,
`{row 3 mean}`, `{row 3 low}` and `{row 3 high}` are single numbers, and `{row 3 at 0.1}` is the difference on
the tuning tasks with both arms at a setting of 0.1. `{network row 3}` is a number of the network if there are
results with a table and with a network.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from grpo_ref.lab.numbers import at_equal_text, decimals_of, interval_text, signed

FILE = "text.md"
"""Name of the file in the folder of a claim."""
ACTIONS = {
    "use": "Use it",
    "avoid": "Avoid it",
    "depends": "It depends",
    "either": "Either is fine",
    "open": "Open",
}
"""Value of `do` -> the words that a reader sees, in the order of the table of all claims."""
MEANING, LIMITS, CHANGED, DETAIL = (
    "What it means for your configuration",
    "What this does not show",
    "Changed after a look",
    "In detail",
)
"""Headings that a text may have."""
REQUIRED = {"answer", "do", "advice", "outcomes"}
OPTIONAL = {"depends_on", "caption"}
HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
PLACE = re.compile(r"\{(?:(table|network) )?row (\d+)(?: (mean|low|high|at \S+?))?\}")
"""A placeholder for a number."""
Findings = Mapping[Any, Sequence[Mapping[str, Any]]]
"""Policy -> the predictions in its results."""
Outcomes = dict[str, list[str]]
"""Policy ("table" or "network") -> outcomes of its main predictions."""


class ClaimText(NamedTuple):
    """The text about a claim.

    Attributes:
      answer: the answer, in one or two sentences.
      do: key of `ACTIONS`.
      advice: a short sentence for a practitioner.
      outcomes: outcomes for which the text was written.
      depends_on: what a mixed verdict depends on, or "".
      caption: caption of the first figure, or "".
      sections: heading -> Markdown.
    """

    answer: str
    do: str
    advice: str
    outcomes: Outcomes
    depends_on: str
    caption: str
    sections: Mapping[str, str]


def read_text(folder: Path) -> ClaimText | None:
    """Return the text in the folder of a claim, or None if the folder has none.

    Raises:
      ValueError: if the file is not a text about a claim.
    """
    path = folder / FILE
    try:
        return parsed(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_texts(claims: Iterable[str], folder: Path) -> dict[str, ClaimText]:
    """Return name of a claim -> its text, for the claims that have one.

    Args:
      claims: names of the claims.
      folder: folder with a folder for each claim.

    Raises:
      ValueError: if a file is not a text about a claim.
    """
    return {name: text for name in claims if (text := read_text(folder / name))}


def parsed(content: str) -> ClaimText:
    r"""Return the text in the content of a file.

    Raises:
      ValueError: if the front matter or a heading is wrong.

    >>> head = "---\nanswer: It does.\ndo: use\nadvice: Use it.\noutcomes: {table: [holds]}\n---\n"
    >>> text = parsed(head + "\n## What this does not show\n\nMuch.\n")
    >>> text.do, text.sections
    ('use', {'What this does not show': 'Much.'})
    """
    begin, _, rest = content.partition("---\n")
    head, end, body = rest.partition("\n---\n")
    if begin or not end:
        raise ValueError("expected front matter between two lines of ---")
    try:
        fields = yaml.safe_load(head)
    except yaml.YAMLError as error:
        raise ValueError(f"the front matter is not YAML: {error}") from error
    keys = set(fields) if isinstance(fields, dict) else set()
    if not keys >= REQUIRED or keys - REQUIRED - OPTIONAL:
        known = f"{', '.join(sorted(REQUIRED))}, and optionally {', '.join(sorted(OPTIONAL))}"
        raise ValueError(f"expected the keys {known}; got {', '.join(sorted(keys))}")
    if fields["do"] not in ACTIONS:
        raise ValueError(f"do: expected one of {', '.join(ACTIONS)}, got {fields['do']!r}")
    opening, *parts = HEADING.split(body)
    sections = {title: text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)}
    unknown = set(sections) - {MEANING, LIMITS, CHANGED, DETAIL}
    if unknown or opening.strip():
        expected = ", ".join((MEANING, LIMITS, CHANGED, DETAIL))
        raise ValueError(f"expected only sections with the headings {expected}; got {sorted(unknown)}")
    return ClaimText(
        answer=str(fields["answer"]).strip(),
        do=fields["do"],
        advice=str(fields["advice"]).strip(),
        outcomes={str(policy): list(outcomes) for policy, outcomes in fields["outcomes"].items()},
        depends_on=str(fields.get("depends_on", "")).strip(),
        caption=str(fields.get("caption", "")).strip(),
        sections=sections,
    )


def filled(text: str, findings: Findings) -> str:
    """Return a text with the numbers of the results in place of its placeholders.

    Args:
      text: Markdown.
      findings: policy -> the predictions in its results. A placeholder without a policy means the first one.

    Raises:
      ValueError: if there is no such row.

    >>> finding = {"mean": -0.0168, "low": -0.041, "high": 0.0071}
    >>> filled("It is {row 1}, so {row 1 mean} on average.", {"table": [finding]})
    'It is −0.017 [−0.041, +0.007], so −0.017 on average.'
    """

    def number(match: re.Match[str]) -> str:
        policy, row, which = match[1] or next(iter(findings)), int(match[2]), match[3]
        rows = findings.get(policy, ())
        if not 1 <= row <= len(rows):
            raise ValueError(f"{match[0]}: the {policy} has {len(rows)} rows")
        finding = rows[row - 1]
        if which is None:
            return interval_text(finding)
        if which.startswith("at "):
            return at_equal_text(finding, which.removeprefix("at "))
        return signed(finding[which], decimals_of(finding))

    return PLACE.sub(number, text)
