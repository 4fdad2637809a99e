"""Repair the theme's HTML for screen readers after the build."""

import re
from pathlib import Path

SEARCH = re.compile(r'(<button[^>]*search-button__button[^>]*?) title="([^"]*)" aria-label="\2"')
"""The search button. The theme's label lacks the keys that it displays, and a phone displays no text."""
EMPTY_HEADER = re.compile(r"<th([^>]*)>((?:<p>)?\s*(?:</p>)?)</th>")
"""The empty corner of a table with a header row and a header column."""
TOGGLE = '<summary><span class="toctree-toggle"'
"""The control that folds a part of the contents. It contains only an icon."""
SIGNATURE = re.compile(r'<dt class="sig [^>]*>.*?</dt>', re.DOTALL)
"""A signature. Sphinx writes its parameters as a definition list without terms."""
REPLACED_TAGS = {"<dl>": '<div class="sig-lines">', "</dl>": "</div>", "<dd>": "<div>", "</dd>": "</div>"}


def repair(site: Path) -> None:
    """Repair every page of a site."""
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        repaired = repaired_page(text)
        if repaired != text:
            file.write_text(repaired, encoding="utf-8")


def repaired_page(text: str) -> str:
    """Give every control a label, turn signatures into plain lines, and remove empty table headers.

    >>> repaired_page('<summary><span class="toctree-toggle"></span></summary>')
    '<summary aria-label="Pages of this part"><span class="toctree-toggle"></span></summary>'
    >>> repaired_page('<tr><th class="head"></th><th>part</th></tr>')
    '<tr><td class="head"></td><th>part</th></tr>'
    >>> repaired_page('<dt class="sig py"><dl><dd>x</dd></dl></dt><dd>what it does</dd>')
    '<dt class="sig py"><div class="sig-lines"><div>x</div></div></dt><dd>what it does</dd>'
    """
    labelled = TOGGLE.replace("<summary", '<summary aria-label="Pages of this part"')
    text = SEARCH.sub(r'\1 aria-label="\2 Ctrl+K"', text).replace(TOGGLE, labelled)
    return SIGNATURE.sub(_without_list, EMPTY_HEADER.sub(r"<td\1>\2</td>", text))


def _without_list(match: re.Match[str]) -> str:
    signature = match[0]
    for tag, replacement in REPLACED_TAGS.items():
        signature = signature.replace(tag, replacement)
    return signature
