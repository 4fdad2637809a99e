"""What the pages of the theme lack for a screen reader, mended in their HTML after the build."""

import re
from pathlib import Path

SEARCH = re.compile(r'(<button[^>]*search-button__button[^>]*?) title="Search" aria-label="Search"')
"""The name of the button leaves out the keys that it shows; on a phone it shows nothing at all."""
EMPTY_HEAD = re.compile(r"<th([^>]*)>((?:<p>)?\s*(?:</p>)?)</th>")
"""The corner of a table with heads on two sides."""
FOLD = '<summary><span class="toctree-toggle"'
"""What folds a part of the contents has a picture alone."""
SIGNATURE = re.compile(r'<dt class="sig [^>]*>.*?</dt>', re.DOTALL)
"""Its parameters are a list of definitions without anything that is defined."""
LINES = {"<dl>": '<div class="sig-lines">', "</dl>": "</div>", "<dd>": "<div>", "</dd>": "</div>"}


def mend(site: Path) -> None:
    """Mend every page of a site."""
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        mended = mended_page(text)
        if mended != text:
            file.write_text(mended, encoding="utf-8")


def mended_page(text: str) -> str:
    """The page with a name for each control, no list that is none, and no head without a word.

    >>> mended_page('<summary><span class="toctree-toggle"></span></summary>')
    '<summary aria-label="Pages of this part"><span class="toctree-toggle"></span></summary>'
    >>> mended_page('<tr><th class="head"></th><th>part</th></tr>')
    '<tr><td class="head"></td><th>part</th></tr>'
    >>> mended_page('<dt class="sig py"><dl><dd>x</dd></dl></dt><dd>what it does</dd>')
    '<dt class="sig py"><div class="sig-lines"><div>x</div></div></dt><dd>what it does</dd>'
    """
    named = FOLD.replace("<summary", '<summary aria-label="Pages of this part"')
    text = SEARCH.sub(r'\1 aria-label="Search Ctrl+K"', text).replace(FOLD, named)
    return SIGNATURE.sub(_in_lines, EMPTY_HEAD.sub(r"<td\1>\2</td>", text))


def _in_lines(match: re.Match[str]) -> str:
    signature = match[0]
    for tag, other in LINES.items():
        signature = signature.replace(tag, other)
    return signature
